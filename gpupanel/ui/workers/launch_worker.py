"""Starts runs and carries requests to them, off the GUI thread: each of them touches the disk."""

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.launcher import launch, resume
from gpupanel.runs.trust.trusted import CodeNotTrustedError, trust
from gpupanel.runs.trust.user_code import UserCode
from gpupanel.ui.workers.worker_thread import Worker, WorkerThread


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
    refused = Signal(object)
    notTrusted = Signal(object, object)

    @Slot(object)
    def launch(self, order: LaunchOrder) -> None:
        try:
            layout = launch(order.profile, order.plan, order.runs_dir)
        except CodeNotTrustedError as error:
            self.notTrusted.emit(order, error.code)
        except ProblemError as error:
            self.refused.emit(error.problems)
        else:
            self.launched.emit(layout)

    @Slot(object)
    def resume(self, order: ResumeOrder) -> None:
        try:
            resume(order.layout, order.changed, accepts_changed_data=order.accepts_changed_data)
        except CodeNotTrustedError as error:
            self.notTrusted.emit(order, error.code)
        except ProblemError as error:
            self.refused.emit(error.problems)
        else:
            self.launched.emit(order.layout)

    @Slot(object, object)
    def start_trusted(self, order: Order, code: tuple[UserCode, ...]) -> None:
        try:
            trust(code)
        except ProblemError as error:
            self.refused.emit(error.problems)
            return
        if isinstance(order, LaunchOrder):
            self.launch(order)
        else:
            self.resume(order)

    @Slot(object, object)
    def ask(self, layout: RunLayout, request: Request) -> None:
        try:
            ask(layout, request)
        except ProblemError as error:
            self.refused.emit(error.problems)


class Launcher(QObject):
    """Launches and steers runs; lives in the GUI thread before the thread that does it."""

    launched = Signal(object)
    """The :class:`RunLayout` of a run that was started, or started again."""
    refused = Signal(object)
    """Problems because of which something that was asked for was not done."""
    notTrusted = Signal(object, object)
    """An :data:`Order` was not carried out, because of this code: a tuple of ``UserCode``."""
    _launchOrdered = Signal(object)
    _resumeOrdered = Signal(object)
    _trustedOrdered = Signal(object, object)
    _requested = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = _LaunchWorker()
        self._thread = WorkerThread(self._worker, "launcher", self)
        self._launchOrdered.connect(self._worker.launch)
        self._resumeOrdered.connect(self._worker.resume)
        self._trustedOrdered.connect(self._worker.start_trusted)
        self._requested.connect(self._worker.ask)
        self._worker.launched.connect(self.launched)
        self._worker.refused.connect(self.refused)
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

    def stop(self) -> None:
        """Let the thread end after what is in hand; a run that was started goes on."""
        self._thread.join()
