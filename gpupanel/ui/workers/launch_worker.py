"""Starts runs and carries requests to them, off the GUI thread: each of them touches the disk."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.machine_settings import OutsideHoursError
from gpupanel.runs.trust.trusted import CodeNotTrustedError
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.workplace import workplace


@dataclass(frozen=True, slots=True)
class LaunchOrder:
    """What is to be started, and under which folder.

    Attributes:
        outside_hours: Also where its hours have not begun.
    """

    profile: Profile
    plan: LaunchPlan
    runs_dir: Path
    outside_hours: bool = False


@dataclass(frozen=True, slots=True)
class ResumeOrder:
    """Which run is to go on, and with which profile and plan instead of its own, if any.

    Attributes:
        accepts_changed_data: Also where its data is other than before.
        outside_hours: Also where its hours have not begun.
    """

    layout: RunLayout
    changed: tuple[Profile, LaunchPlan] | None = None
    accepts_changed_data: bool = False
    outside_hours: bool = False


Order = LaunchOrder | ResumeOrder
"""A run to be launched, or one to be resumed."""
StartDoubt = CodeNotTrustedError | OutsideHoursError
"""Why an order was not carried out, though it is when a person says so."""


class _Starter:
    """Starts runs, in the worker's thread, and knows which one was started last."""

    def __init__(self) -> None:
        self._started: RunLayout | None = None

    def start(self, order: Order) -> RunLayout | StartDoubt:
        """Carry out an order; gives the run, or what a person is to be asked first."""
        self._started = None
        now = order.outside_hours
        try:
            if isinstance(order, LaunchOrder):
                start = partial(workplace().launch, order.profile, order.plan, order.runs_dir)
                layout = start(outside_hours=now)
            else:
                layout, accepts = order.layout, order.accepts_changed_data
                go_on = partial(workplace().resume, layout, order.changed)
                go_on(accepts_changed_data=accepts, outside_hours=now)
        except (CodeNotTrustedError, OutsideHoursError) as error:
            return error
        self._started = layout
        return layout

    def ask(self, request: Request) -> None:
        """Ask something of the run that was started last, if it was."""
        if self._started is not None:
            workplace().ask(self._started, request)


class Launcher(WorkerFacade):
    """Launches and steers runs; ``refused`` says why something was not done."""

    launched = Signal(object)
    """The :class:`RunLayout` of a run that was started, or started again."""
    doubted = Signal(object, object)
    """An :data:`Order` was not carried out, because of this :data:`StartDoubt`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__("launcher", parent)
        self._starter = _Starter()

    def launch(self, profile: Profile, plan: LaunchPlan, runs_dir: Path) -> None:
        """Start a run under ``runs_dir``; ``launched`` or ``refused`` follows."""
        self._start(LaunchOrder(profile, plan, runs_dir))

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
        self._start(ResumeOrder(layout, changed, accepts_changed_data))

    def start_anyway(self, order: Order, doubt: StartDoubt) -> None:
        """Carry out an order again: a person was asked, and wants it.

        Code that they trust is trusted from now on; hours are passed over this once.
        """
        if isinstance(doubt, CodeNotTrustedError):
            self.submit(partial(workplace().trust, doubt.code))
            self._start(order)
        else:
            self._start(replace(order, outside_hours=True))

    def ask(self, layout: RunLayout, request: Request) -> None:
        """Ask something of a run; only where that fails ``refused`` follows."""
        self.submit(partial(workplace().ask, layout, request))

    def ask_started(self, request: Request) -> None:
        """Ask something of the run whose start was ordered last, once it is started."""
        self.submit(partial(self._starter.ask, request))

    def _start(self, order: Order) -> None:
        self.submit(partial(self._starter.start, order), partial(self._on_started, order))

    def _on_started(self, order: Order, started: RunLayout | StartDoubt) -> None:
        if isinstance(started, RunLayout):
            self.launched.emit(started)
        else:
            self.doubted.emit(order, started)
