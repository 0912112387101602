"""Starts, stops and shows runs; knows which run goes on and which one is shown."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from gpupanel.domain.events import CheckpointSaved
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.planning.prepare import Preparation
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui.run_state import RunState, state_after
from gpupanel.ui.session import Session
from gpupanel.ui.workers.launch_worker import Launcher, Order, StartDoubt
from gpupanel.ui.workers.run_reader import RunFacts
from gpupanel.ui.workers.run_worker import RunWatch

if TYPE_CHECKING:
    from gpupanel.runs.following.evaluation_figures import EvaluationFigures

END_NOW_AFTER_MS = 2_000
"""So long after Stop the run cannot be ended without saving: most have saved by then."""


class RunControl(QObject):
    """What the Start and Stop buttons do.

    Two runs can matter at once: the *active* one, which goes on and which Stop means, and the
    *shown* one, whose curves are seen. Mostly they are the same, and then one watch serves
    both.
    """

    shownChanged = Signal(object)
    """Another run is shown, from its beginning: its :class:`RunLayout`."""
    shownOpened = Signal(object)
    """What was fixed when the shown run was launched: :class:`RunFacts`."""
    followed = Signal(object)
    """What is new of the shown run: a :class:`FollowedRun`."""
    shownStatusChanged = Signal(object)
    """The status of the shown run: a :class:`RunStatus`."""
    ended = Signal(object)
    """The active run has ended: its last :class:`RunStatus`."""
    launched = Signal(object)
    """A run was started here, or started again: its :class:`RunLayout`."""
    launchedBeside = Signal(object)
    """A run was started that is looked at on the page of the shown one: its :class:`RunLayout`."""
    checkpointAsked = Signal()
    """The active run was asked to save a checkpoint: :attr:`is_saving_checkpoint`."""
    refused = Signal(object)
    """Problems because of which nothing was started or asked."""
    doubted = Signal(object, object)
    """A start waits for an answer: the :data:`Order`, and the :data:`StartDoubt`.

    :meth:`start_anyway` or :meth:`give_up_start` has to follow.
    """
    endDoubted = Signal()
    """The run is to end without saving: before :meth:`end_now` the person has to be asked."""

    def __init__(
        self, session: Session, launcher: Launcher, runs_dir: Path, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._launcher = launcher
        self._runs_dir = runs_dir
        self._active: RunWatch | None = None
        self._shown: RunWatch | None = None
        self._steered: RunLayout | None = None
        self._is_beside = False
        self._beside: RunLayout | None = None
        self._asked: Request | None = None
        self._saved_before: tuple[CheckpointSaved | None, tuple[Problem, ...]] | None = None
        self._is_closed = False
        self._after_stop = QTimer(self, singleShot=True, interval=END_NOW_AFTER_MS)
        # Qt's usual ones come up to a twentieth too early.
        self._after_stop.setTimerType(Qt.TimerType.PreciseTimer)
        self._after_stop.timeout.connect(self._refresh_state)
        launcher.launched.connect(self._on_launched)
        launcher.refused.connect(self._on_refused)
        launcher.doubted.connect(self._on_doubted)

    @property
    def active(self) -> RunLayout | None:
        """The run that goes on."""
        return None if self._active is None else self._active.layout

    @property
    def active_facts(self) -> RunFacts | None:
        """What was fixed when the active run was launched; ``None``: nothing was read yet."""
        return None if self._active is None else self._active.facts

    @property
    def steered(self) -> RunLayout | None:
        """The run whose state the session has: the one that goes on, or went on last here."""
        return self._steered

    @property
    def elsewhere(self) -> RunLayout | None:
        """The run that goes on, where neither it is shown nor the run whose page it belongs to."""
        return None if self.active in (self.shown, self._beside) else self.active

    @property
    def shown(self) -> RunLayout | None:
        """The run whose curves are shown."""
        return None if self._shown is None else self._shown.layout

    @property
    def shown_facts(self) -> RunFacts | None:
        """What was fixed when the shown run was launched; ``None``: nothing was read yet."""
        return None if self._shown is None else self._shown.facts

    @property
    def shown_profile(self) -> Profile | None:
        """Of the run that is shown; ``None`` while none is, or where it cannot be read."""
        return None if self.shown_facts is None else self.shown_facts.profile

    @property
    def shown_status(self) -> RunStatus | None:
        """The status of the shown run."""
        return None if self._shown is None else self._shown.status

    @property
    def shown_figures(self) -> "EvaluationFigures | None":
        """What the shown run found, where it evaluated."""
        return None if self._shown is None else self._shown.figures

    @property
    def is_saving_checkpoint(self) -> bool:
        """Whether the active run was asked here for a checkpoint, and has reported none since."""
        return self._active is not None and self._saved_before == _reported_saving(
            self._active.status
        )

    @Slot()
    def start(self) -> None:
        """Start a run of the profile as it is now, unless something is against it."""
        preparation = self._session.prepare_now()
        if self._session.buttons.start:
            self._launch(preparation)

    def start_known(self) -> None:
        """Start a run whose data is known: it ran before, or is the example."""
        preparation = self._session.prepare_now()
        if preparation.is_startable and not self._session.run_state.is_busy:
            self._launch(preparation)

    def start_beside(self, profile: Profile, plan: LaunchPlan) -> None:
        """Start a run of another profile than the session's, unless one goes on.

        The run that is shown stays so: what is started belongs to its page.
        """
        if not self._session.run_state.is_busy:
            self._order(profile, plan, is_beside=True)

    def _launch(self, preparation: Preparation) -> None:
        if preparation.plan is not None:
            self._order(self._session.profile, preparation.plan, is_beside=False)

    def _order(self, profile: Profile, plan: LaunchPlan, *, is_beside: bool) -> None:
        self._is_beside = is_beside
        self._set_run(RunState.LAUNCHING, None)
        self._launcher.launch(profile, plan, self._runs_dir)

    @Slot()
    def resume(self) -> None:
        """Let the shown run go on from its last checkpoint, unless another one goes on."""
        self._resume(None)

    def resume_with(self, profile: Profile, plan: LaunchPlan) -> None:
        """Let the shown run go on as that profile says, unless another one goes on."""
        self._resume((profile, plan))

    @Slot()
    def resume_with_changed_data(self) -> None:
        """Let the shown run go on though its data is other than before."""
        self._resume(None, accepts_changed_data=True)

    def start_anyway(self, order: Order, doubt: StartDoubt) -> None:
        """Start what waited: the person wants it."""
        self._launcher.start_anyway(order, doubt)

    def give_up_start(self) -> None:
        """Let what waited be: the person does not want it."""
        self._asked = None
        self._after_stop.stop()
        if self._active is not None:
            self._refresh_state()
            return
        self._set_run(RunState.IDLE, None)
        # One that goes on and was opened meanwhile.
        self._on_caught_up()

    @Slot()
    def stop(self) -> None:
        """Ask the active run to save and end."""
        if self._session.buttons.stop:
            self._after_stop.start()
            self._ask(Request.STOP)

    @Slot()
    def doubt_end(self) -> None:
        """Have the person asked whether the run that saves is to end without that."""
        if self._session.buttons.end_now:
            self.endDoubted.emit()

    def end_now(self, layout: RunLayout | None) -> None:
        """End a run at once, without saving.

        Args:
            layout: The active run when the person was asked; where another one is active by now,
                or it has ended, nothing happens.
        """
        if self._session.buttons.end_now and layout == self.active:
            self._ask(Request.END)

    @Slot()
    def suspend(self) -> None:
        """Ask the active run to save a checkpoint and free its devices."""
        if self._session.buttons.suspend:
            self._ask(Request.SUSPEND)

    @Slot()
    def save_checkpoint(self) -> None:
        """Ask the active run to save a checkpoint and go on."""
        if self._active is None or self._session.run_state is not RunState.RUNNING:
            return
        self._saved_before = _reported_saving(self._active.status)
        self._launcher.ask(self._active.layout, Request.CHECKPOINT)
        self.checkpointAsked.emit()

    def follow(self, layout: RunLayout) -> None:
        """Follow a run that goes on, and show it."""
        if self._is_closed:
            return
        self._drop(self._active)
        if self._shown is not self._active:
            self._drop(self._shown)
        self._shown = self._new_active(layout)
        self._show(self._shown)

    def follow_unseen(self, layout: RunLayout) -> None:
        """Follow a run that goes on, unless another one does; the one that is shown stays so."""
        if not self._is_closed and self._active is None:
            self._new_active(layout).start()

    def open(self, layout: RunLayout) -> None:
        """Show a run from its beginning; the active one goes on being followed.

        One that goes on becomes the active one.
        """
        if self._is_closed:
            return
        if self._shown is not self._active:
            self._drop(self._shown)
        elif self._active is not None:
            self._active.opened.disconnect(self.shownOpened)
            self._active.followed.disconnect(self.followed)
            self._active.statusChanged.disconnect(self.shownStatusChanged)
        self._shown = self._new_watch(layout)
        if self._session.run_state is RunState.ENDED:
            self._set_run(RunState.IDLE, None)
        self._show(self._shown)

    def pass_on_request(self) -> None:
        """Leave what was asked of a run that is being started to the thread that starts it.

        Nobody may be here any more to hear that it was started.
        """
        if self._asked is not None and self._active is None:
            self._launcher.ask_started(self._asked)
            self._asked = None

    def close(self) -> None:
        """Follow nothing any more; runs go on, and what was ordered is done."""
        self._is_closed = True
        self._after_stop.stop()
        self.pass_on_request()
        for watch in {self._active, self._shown}:
            if watch is not None:
                watch.stop()
                watch.retire()
        self._active = self._shown = None
        self._launcher.stop()

    def _resume(
        self,
        changed: tuple[Profile, LaunchPlan] | None,
        *,
        accepts_changed_data: bool = False,
    ) -> None:
        if self.shown is None or self._session.run_state.is_busy:
            return
        self._is_beside = False
        self._set_run(RunState.LAUNCHING, None)
        self._launcher.resume(self.shown, changed, accepts_changed_data=accepts_changed_data)

    def _ask(self, request: Request) -> None:
        """Ask it of the active run; while a launch is under way it waits for a directory."""
        self._asked = request
        if self._active is not None:
            self._launcher.ask(self._active.layout, request)
        self._refresh_state()

    def _new_active(self, layout: RunLayout) -> RunWatch:
        self._active = watch = self._new_watch(layout)
        self._steered, self._saved_before = layout, None
        watch.statusChanged.connect(self._on_active_status)
        self._set_run(self._state(RunStatus()), None)
        return watch

    def _new_watch(self, layout: RunLayout) -> RunWatch:
        watch = RunWatch(layout, self)
        watch.unreadable.connect(self._on_unreadable)
        watch.caughtUp.connect(self._on_caught_up)
        return watch

    def _show(self, watch: RunWatch) -> None:
        self._beside = None
        self.shownChanged.emit(watch.layout)
        watch.opened.connect(self.shownOpened)
        watch.followed.connect(self.followed)
        watch.statusChanged.connect(self.shownStatusChanged)
        watch.start()

    def _drop(self, watch: RunWatch | None) -> None:
        """Follow it no longer; its thread may be in the middle of a portion, and ends beside."""
        if watch is not None:
            watch.retire()

    @Slot(object)
    def _on_launched(self, layout: RunLayout) -> None:
        if self._is_closed:
            return
        if self._asked is not None:
            self._launcher.ask(layout, self._asked)
        if self._is_beside:
            self._beside = layout
            self.follow_unseen(layout)
            self.launchedBeside.emit(layout)
        else:
            self.follow(layout)
            self.launched.emit(layout)

    @Slot(object)
    def _on_refused(self, problems: tuple[Problem, ...]) -> None:
        self._saved_before = None
        self.checkpointAsked.emit()
        self.give_up_start()
        self.refused.emit(problems)

    @Slot(object, object)
    def _on_doubted(self, order: Order, doubt: StartDoubt) -> None:
        if not self._is_closed:
            self.doubted.emit(order, doubt)

    @Slot(object)
    def _on_unreadable(self, problem: Problem) -> None:
        """A run cannot be followed any more; another one can be started, or this one opened."""
        if self._active is not None and self._active.is_unreadable:
            self._release_active()
            self._set_run(RunState.IDLE, None)
        self.refused.emit((problem,))

    @Slot(object)
    def _on_active_status(self, status: RunStatus) -> None:
        state = self._state(status)
        if status.has_ended:
            self._release_active()
        self._set_run(state, status)
        if status.has_ended:
            self.ended.emit(status)

    @Slot()
    def _on_caught_up(self) -> None:
        """Take over a run that was only opened and turns out to go on.

        Stop must mean the run that is shown; another one that was followed goes on alone.
        """
        is_launching = self._active is None and self._session.run_state.is_busy
        if self._shown is None or self._shown is self._active or is_launching:
            return
        if not self._shown.goes_on:
            return  # it was the active one that caught up
        self._release_active()
        self._active, self._steered = self._shown, self._shown.layout
        self._active.statusChanged.connect(self._on_active_status)
        self._set_run(self._state(self._active.status), self._active.status)

    def _release_active(self) -> None:
        watch, self._active = self._active, None
        self._asked = self._saved_before = None
        self._after_stop.stop()
        if watch is None:
            return
        watch.statusChanged.disconnect(self._on_active_status)
        if watch is not self._shown:
            self._drop(watch)

    def _state(self, status: RunStatus) -> RunState:
        return state_after(status, self._asked)

    @Slot()
    def _refresh_state(self) -> None:
        """Report the state that follows from what was asked here since the last status."""
        status = self._session.run_status
        self._set_run(self._state(status or RunStatus()), status)

    def _set_run(self, state: RunState, status: RunStatus | None) -> None:
        self._session.set_run(state, status, stopped_now=self._after_stop.isActive())


def _reported_saving(status: RunStatus) -> tuple[CheckpointSaved | None, tuple[Problem, ...]]:
    """What changes when a checkpoint was saved, or could not be."""
    return status.checkpoint, status.problems[-1:]
