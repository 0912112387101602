"""What a fix of a finding in Live does: the run's settings with it, for the next run."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from gpupanel.domain.problem import Fix
from gpupanel.domain.profile import Profile
from gpupanel.planning.resuming import changes_between
from gpupanel.runs.directory.profile_file import anchored
from gpupanel.ui.profile_actions import ProfileActions
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_page.page import LivePage
from gpupanel.ui.session import Session


class FindingFixes(QObject):
    """Puts settings into the session and starts nothing: the run that has them may go on.

    Several fixes of one run add up.
    """

    used = Signal()
    """The session has the settings of the run with the change."""

    def __init__(
        self,
        session: Session,
        profiles: ProfileActions,
        control: RunControl,
        page: LivePage,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._profiles = profiles
        self._control = control
        self._made: tuple[Profile, Profile] | None = None
        page.findings.fixes.fixRequested.connect(self._use)

    @Slot(object)
    def _use(self, fix: Fix) -> None:
        started = self._control.shown_profile
        if started is None:
            return
        if not self._is_there(started):
            if not self._profiles.may_lose_changes():
                return
            self._session.open_profile(started, None)
        self._session.apply_fix(fix)
        self._made = (started, self._session.profile)
        self.used.emit()

    def _is_there(self, started: Profile) -> bool:
        """Whether the session has the run's settings, as they are or with fixes of findings."""
        if self._made == (started, self._session.profile):
            return True
        return not changes_between(anchored(self._session.profile, Path.cwd()), started)
