"""Begins a window that was asked for nothing: with the last session, a run's, or an example."""

from PySide6.QtCore import QObject, QSettings, Slot

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.profile import Profile
from gpupanel.planning.starting_profile import starting_profile
from gpupanel.ui.bindings.last_session import saved_session
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_state import RunState
from gpupanel.ui.session import Session
from gpupanel.ui.workers.run_reader import RunFacts


class StartingSession(QObject):
    """Whatever a person opens or changes meanwhile stays.

    Args:
        session: What begins.
        control: Follows a run that goes on: its profile is what a person then wants to see.
        settings: Keep the last session; where there is none, an example suits the devices.
        parent: The window.
    """

    def __init__(
        self, session: Session, control: RunControl, settings: QSettings, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._session, self._control = session, control
        last = saved_session(settings)
        if last is None:
            session.inventoryChanged.connect(self._begin_with_example)
        else:
            session.open_profile(last.profile, last.path, saved=last.saved)
        self._begun_with = session.profile
        control.shownOpened.connect(self._begin_with_run)

    @property
    def _is_untouched(self) -> bool:
        return self._session.profile == self._begun_with and not self._session.is_dirty

    @Slot(object)
    def _begin_with_example(self, inventory: DeviceInventory) -> None:
        session = self._session
        session.inventoryChanged.disconnect(self._begin_with_example)
        is_new = session.profile == Profile() and session.path is None
        if is_new and session.run_state is RunState.IDLE:
            session.open_profile(starting_profile(inventory), None)
            self._begun_with = session.profile

    @Slot(object)
    def _begin_with_run(self, facts: RunFacts) -> None:
        """Once: a run that goes on when the window opens is the first that is shown."""
        self._control.shownOpened.disconnect(self._begin_with_run)
        goes_on = self._control.active == facts.layout
        is_other = facts.profile is not None and facts.profile != self._session.profile
        if facts.profile is not None and goes_on and is_other and self._is_untouched:
            self._session.open_profile(facts.profile, None)
