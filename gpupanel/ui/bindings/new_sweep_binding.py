"""Prepares a sweep from the session, and has it started, or saved with the profile."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from gpupanel.domain.problem import Fix, Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.sweep import SweepSettings
from gpupanel.planning.fixes import apply_fix
from gpupanel.runs.history.past_speed import PastSpeed
from gpupanel.runs.readiness import Machine
from gpupanel.runs.sweeps.proposing import SweepProposal
from gpupanel.runs.sweeps.starting import Places, first_trial, places_on
from gpupanel.runs.trust.user_code import UserCode
from gpupanel.ui.profile_actions import ProfileActions
from gpupanel.ui.questions import Questions
from gpupanel.ui.session import Session
from gpupanel.ui.sweep_text import proposal_text
from gpupanel.ui.workers.history_worker import RunHistory
from gpupanel.ui.workers.sweep_start_worker import SweepStarter

if TYPE_CHECKING:
    from gpupanel.ui.dialogs.new_sweep_dialog import NewSweepDialog

DELAY_MS = 200
"""After the last change."""


class NewSweepBinding(QObject):
    """What is edited is the dialog's own until it is saved with the profile.

    Args:
        action: Opens the dialog.
        session: What the trials train, but for their values.
        profiles: Saves the profile.
        history: Hears how fast the training was before.
        starter: Finds out the trials, and starts them.
        questions: Asks whether code is trusted, and shows problems.
        window: What the dialog stands before.
    """

    started = Signal(str)
    """A sweep was handed to the queue: the name of its folder."""

    def __init__(
        self,
        action: QAction,
        session: Session,
        profiles: ProfileActions,
        history: RunHistory,
        starter: SweepStarter,
        questions: Questions,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._session, self._profiles, self._questions = session, profiles, questions
        self._window, self._starter = window, starter
        self._dialog: NewSweepDialog | None = None
        self._speed: PastSpeed | None = None
        self._saved = session.profile.sweep
        self._is_stopped = False
        self._action = action
        self._timer = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._timer.timeout.connect(self._ask)
        action.triggered.connect(self.open)
        self._offer(session.profile)
        session.profileChanged.connect(self._on_profile)
        session.preparationChanged.connect(self._ask_soon)
        history.pastSpeedFound.connect(self._on_speed)
        starter.proposed.connect(self._show)
        starter.started.connect(self._on_started)
        starter.refused.connect(self._on_refused)
        starter.notTrusted.connect(self._ask_for_trust)

    def stop(self) -> None:
        """Find out and start nothing any more; sweeps go on."""
        self._is_stopped = True
        self._timer.stop()
        self._starter.stop()

    @Slot()
    def open(self) -> None:
        """Show the dialog with the profile's sweep, or with what was prepared last."""
        if self._dialog is None:
            # Here and not above: most windows never need it.
            from gpupanel.ui.dialogs.new_sweep_dialog import NewSweepDialog

            self._dialog = NewSweepDialog(self._window)
            self._dialog.setSweep(self._session.profile.sweep or SweepSettings())
            self._dialog.valueChanged.connect(self._check)
            self._dialog.queueRequested.connect(self._start)
            self._dialog.saveRequested.connect(self._save)
            self._dialog.trials.fixRequested.connect(self._fix)
        self._dialog.setProfile(self._session.profile)
        self._dialog.show()
        self._dialog.activateWindow()
        self._check()

    def _profile(self) -> Profile:
        """The session's profile with the sweep as edited."""
        assert self._dialog is not None
        return self._session.profile.model_copy(update={"sweep": self._dialog.sweep()})

    def _offer(self, profile: Profile) -> None:
        """Of a program of the person's own names in its arguments are tried, where it has any."""
        script = profile.script
        self._action.setEnabled(script is None or bool(script.placeholders))

    @Slot(object)
    def _on_profile(self, profile: Profile) -> None:
        self._offer(profile)
        if self._dialog is None:
            self._saved = profile.sweep
            return
        if profile.sweep != self._saved:
            # Another profile was opened, or its sweep was changed, saved or removed.
            self._saved = profile.sweep
            self._dialog.setSweep(profile.sweep or SweepSettings())
        self._dialog.setProfile(profile)
        if self._dialog.isVisible():
            self._check()

    @Slot()
    def _check(self) -> None:
        if self._dialog is not None and self._dialog.sweep().has_trials:
            self._dialog.setChecking()
            self._ask_soon()

    @Slot()
    def _ask_soon(self) -> None:
        if self._dialog is not None and self._dialog.isVisible() and not self._is_stopped:
            self._timer.start()

    @Slot()
    def _ask(self) -> None:
        if self._dialog is not None and self._dialog.sweep().has_trials:
            self._starter.propose(self._profile())

    @Slot(object)
    def _show(self, proposal: SweepProposal) -> None:
        if self._dialog is None or self._timer.isActive() or proposal.profile != self._profile():
            return  # what is edited now is asked about
        places: Places = ()
        if self._session.inventory is not None:
            machine = Machine(self._session.inventory, self._session.sample)
            places = places_on(machine, proposal.profile)
        examples = self._session.trained_count
        words = proposal_text(proposal, max(1, len(places)), examples, self._speed)
        self._dialog.setProposal(proposal, words, self._problems_of(proposal))

    def _problems_of(self, proposal: SweepProposal) -> tuple[Problem, ...]:
        """What keeps the first trial from starting."""
        if not proposal.count:
            return ()
        typed = [
            each for each in self._session.prepare_now().problems if each.code == "input_invalid"
        ]
        preparation = self._session.prepare_other(first_trial(proposal.profile))
        if self._session.inventory is None or preparation.is_startable:
            return tuple(typed)
        return (*typed, *(each for each in preparation.problems if each.is_error))

    @Slot(object)
    def _on_speed(self, speed: PastSpeed | None) -> None:
        if speed != self._speed:
            self._speed = speed
            self._ask_soon()

    @Slot()
    def _start(self) -> None:
        if self._dialog is not None:
            self._dialog.setBusy(True)
            self._starter.start(self._profile())

    @Slot(str)
    def _on_started(self, name: str) -> None:
        if self._dialog is not None:
            self._dialog.setBusy(False)
            self._dialog.close()
        self.started.emit(name)

    @Slot(object)
    def _on_refused(self, problems: tuple[Problem, ...]) -> None:
        if self._dialog is not None:
            self._dialog.setBusy(False)
        self._questions.show_problems("The sweep was not started.", problems)

    @Slot(object, object)
    def _ask_for_trust(self, profile: Profile, code: tuple[UserCode, ...]) -> None:
        if self._is_stopped:
            return
        if self._questions.about_code(code):
            self._starter.start(profile, code)
        elif self._dialog is not None:
            self._dialog.setBusy(False)

    @Slot()
    def _save(self) -> None:
        self._session.edit(self._profile())
        self._profiles.save()

    @Slot(object)
    def _fix(self, fix: Fix) -> None:
        try:
            fixed = apply_fix(self._profile(), fix)
        except ProblemError as error:
            self._questions.show_problems("That could not be done.", error.problems)
            return
        assert self._dialog is not None
        if fixed.sweep is not None:
            self._dialog.setSweep(fixed.sweep)
        # What is tried is the dialog's own until it is saved.
        self._session.edit(fixed.model_copy(update={"sweep": self._session.profile.sweep}))
        self._check()
