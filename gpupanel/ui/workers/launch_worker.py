"""Starts runs and carries requests to them, off the GUI thread: each of them touches the disk."""

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.launcher import launch, resume
from gpupanel.runs.trust.trusted import CodeNotTrustedError, trust
from gpupanel.runs.trust.user_code import UserCode
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.worker_thread import Worker, guarded_slot


@dataclass(frozen=True, slots=True)
class LaunchOrder:
    """What is to be started, and under which folder."""

    profile: Profile
    plan: LaunchPlan
    runs_dir: Path


@dataclass(frozen=True, slots=True)
class ResumeOrder:
    """Which run is to go on, and with which profile and plan instead of its own, if any.

    Attributes:
        accepts_changed_data: Also where its data is other than before.
    """

    layout: RunLayout
    changed: tuple[Profile, LaunchPlan] | None = None
    accepts_changed_data: bool = False


Order = LaunchOrder | ResumeOrder
"""A run to be launched, or one to be resumed."""


class _LaunchWorker(Worker):
    launched = Signal(object)
    notTrusted = Signal(object, object)

    def __init__(self) -> None:
        super().__init__()
        self._started: RunLayout | None = None

    @guarded_slot(object)
    def launch(self, order: LaunchOrder) -> None:
        self._started = None
        try:
            layout = launch(order.profile, order.plan, order.runs_dir)
        except CodeNotTrustedError as error:
            self.notTrusted.emit(order, error.code)
        else:
            self._tell_started(layout)

    @guarded_slot(object)
    def resume(self, order: ResumeOrder) -> None:
        self._started = None
        try:
            resume(order.layout, order.changed, accepts_changed_data=order.accepts_changed_data)
        except CodeNotTrustedError as error:
            self.notTrusted.emit(order, error.code)
        else:
            self._tell_started(order.layout)

    @guarded_slot(object, object)
    def start_trusted(self, order: Order, code: tuple[UserCode, ...]) -> None:
        trust(code)
        if isinstance(order, LaunchOrder):
            self.launch(order)
        else:
            self.resume(order)

    @guarded_slot(object, object)
    def ask(self, layout: RunLayout, request: Request) -> None:
        ask(layout, request)

    @guarded_slot(object)
    def ask_started(self, request: Request) -> None:
        if self._started is not None:
            ask(self._started, request)

    def _tell_started(self, layout: RunLayout) -> None:
        self._started = layout
        self.launched.emit(layout)


class Launcher(WorkerFacade):
    """Launches and steers runs; ``refused`` tells why something was not done."""

    launched = Signal(object)
    """The :class:`RunLayout` of a run that was started, or started again."""
    notTrusted = Signal(object, object)
    """An :data:`Order` was not carried out, because of this code: a tuple of ``UserCode``."""
    _launchOrdered = Signal(object)
    _resumeOrdered = Signal(object)
    _trustedOrdered = Signal(object, object)
    _requested = Signal(object, object)
    _startedRequested = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        self._worker = _LaunchWorker()
        super().__init__(self._worker, "launcher", parent)
        self._launchOrdered.connect(self._worker.launch)
        self._resumeOrdered.connect(self._worker.resume)
        self._trustedOrdered.connect(self._worker.start_trusted)
        self._requested.connect(self._worker.ask)
        self._worker.launched.connect(self.launched)
        self._startedRequested.connect(self._worker.ask_started)
        self._worker.notTrusted.connect(self.notTrusted)
        self._thread.start()

    def launch(self, profile: Profile, plan: LaunchPlan, runs_dir: Path) -> None:
        """Start a run under ``runs_dir``; ``launched`` or ``refused`` follows."""
        self._launchOrdered.emit(LaunchOrder(profile, plan, runs_dir))

    def resume(
        self,
        layout: RunLayout,
        changed: tuple[Profile, LaunchPlan] | None = None,
        *,
        accepts_changed_data: bool = False,
    ) -> None:
        """Start a run again from its last checkpoint; ``launched`` or ``refused`` follows.

        Args:
            layout: The run.
            changed: With what it goes on instead of its own profile and plan.
            accepts_changed_data: Also where its data is other than before.
        """
        self._resumeOrdered.emit(ResumeOrder(layout, changed, accepts_changed_data))

    def start_trusted(self, order: Order, code: tuple[UserCode, ...]) -> None:
        """Remember that the person trusts the code, and carry out the order again."""
        self._trustedOrdered.emit(order, code)

    def ask(self, layout: RunLayout, request: Request) -> None:
        """Ask something of a run; only where that fails ``refused`` follows."""
        self._requested.emit(layout, request)

    def ask_started(self, request: Request) -> None:
        """Ask something of the run whose start was ordered last, once it is started."""
        self._startedRequested.emit(request)
