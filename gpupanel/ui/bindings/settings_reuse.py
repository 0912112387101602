"""Begins again with the settings of a run that there is: as they are, with a fix, or for longer."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from gpupanel.domain.problem import Fix
from gpupanel.domain.run_layout import RunLayout
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.resuming import changes_between, resume_differences
from gpupanel.runs.directory.profile_file import anchored
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui.profile_actions import ProfileActions
from gpupanel.ui.questions import Questions
from gpupanel.ui.run_actions import may_train_longer, offers_resume
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_page.page import LivePage
from gpupanel.ui.runs_page import RunsPage
from gpupanel.ui.session import Session


class SettingsReuse(QObject):
    """What "Use these settings" does in Live, in Runs and of a sweep; the run stays as it is."""

    used = Signal()
    """The session has the settings of a run."""

    def __init__(
        self,
        profiles: ProfileActions,
        control: RunControl,
        live: LivePage,
        runs: RunsPage,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._profiles, self._control = profiles, control
        live.banner.buttons.settingsRequested.connect(self._use_shown)
        runs.panel.settingsRequested.connect(self._use_of)
        runs.panel.setReusable(True)

    @Slot()
    def _use_shown(self) -> None:
        if self._control.shown is not None:
            self._use(self._control.shown)

    def _use(self, layout: RunLayout) -> None:
        if self._profiles.use_settings_of(layout):
            self.used.emit()

    @Slot(object)
    def use_settings_of(self, path: Path) -> None:
        """Bring the settings of the run in that directory into the session."""
        self._use(RunLayout(path))

    @Slot(object)
    def _use_of(self, run: RunSummary) -> None:
        self._use(RunLayout(run.path))


class RetryWithFix(QObject):
    """Tries the shown run again with a change.

    A run that has a checkpoint goes on from it, where the change leaves the training the same.
    Otherwise the run's profile comes into the session with the change, and is started.
    """

    notStarted = Signal()
    """The session has the changed profile, and says what is against starting it."""

    def __init__(
        self,
        session: Session,
        control: RunControl,
        profiles: ProfileActions,
        page: LivePage,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._control = control
        self._profiles = profiles
        page.banner.problem.fixes.fixRequested.connect(self._try)

    @Slot(object)
    def _try(self, fix: Fix) -> None:
        if not self._session.run_state.is_busy and not self._resume(fix):
            self._start(fix)

    def _resume(self, fix: Fix) -> bool:
        """Whether the run goes on from its checkpoint, with the change."""
        started = self._control.shown_profile
        if started is None or not offers_resume(self._control.shown_status):
            return False
        wanted = apply_fix(started, fix)
        plan = self._session.prepare_other(wanted).plan
        if plan is None or resume_differences(started, wanted) is not None:
            return False
        self._control.resume_with(wanted, plan)
        return True

    def _start(self, fix: Fix) -> None:
        started = self._control.shown_profile
        if started is None:
            return
        # The session's file keeps its place where it is what the run was started from.
        if changes_between(anchored(self._session.profile, Path.cwd()), started):
            if not self._profiles.may_lose_changes():
                return
            self._session.open_profile(started, None)
        self._session.apply_fix(fix)
        if self._session.prepare_now().is_startable:
            self._control.start_known()
        else:
            self.notStarted.emit()


class LongerTraining(QObject):
    """What "Train longer" does in Live: the run goes on from its end, with more epochs."""

    refused = Signal(object)
    """Problems because of which it cannot: a tuple of :class:`Problem`."""

    def __init__(
        self,
        session: Session,
        control: RunControl,
        page: LivePage,
        questions: Questions,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._control = control
        self._questions = questions
        page.banner.buttons.longerRequested.connect(self._ask)

    @Slot()
    def _ask(self) -> None:
        started = self._control.shown_profile
        if started is None or not self._may():
            return
        epochs = self._questions.about_epochs(started.training.epochs)
        # It may have been trained further meanwhile, by somebody else.
        if epochs is None or started != self._control.shown_profile or not self._may():
            return
        training = started.training.model_copy(update={"epochs": epochs})
        wanted = started.model_copy(update={"training": training})
        preparation = self._session.prepare_other(wanted)
        if preparation.plan is None or not preparation.is_startable:
            errors = [problem for problem in preparation.problems if problem.is_error]
            self.refused.emit(tuple(errors))
            return
        self._control.resume_with(wanted, preparation.plan)

    def _may(self) -> bool:
        return not self._session.run_state.is_busy and may_train_longer(self._control.shown_status)
