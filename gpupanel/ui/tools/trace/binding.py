"""Has the shown run traced when a person asks for it, and shows what came of it."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.problem import Problem
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_page.page import LivePage
from gpupanel.ui.tools.tool_binding import ToolDialogBinding
from gpupanel.ui.workers.tool_worker import ToolWorker
from gpupanel.ui.workers.workplace import workplace

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpupanel.runs.tools.tracing.tracing import RunTraces
    from gpupanel.ui.tools.trace.dialog import TraceDialog


class TraceBinding(ToolDialogBinding["TraceDialog"]):
    """Opens the dialog for the run that is shown: taking a trace, and reading earlier ones.

    A trace that is cancelled is withdrawn from the run. After each one, all that there are of the
    run are listed anew.

    Args:
        action: Opens it; can be chosen while a training is shown.
        live: Opens it, too.
        control: Knows the shown run.
        window: What the dialog stands before.
    """

    tensorboardRequested = Signal(object)
    """TensorBoard is to show the run that was traced: its :class:`RunLayout`."""

    def __init__(
        self, action: QAction, live: LivePage, control: RunControl, window: QWidget
    ) -> None:
        super().__init__(ToolWorker("trace of a run", self._without), window)
        self._action, self._live, self._control = action, live, control
        self._known: RunTraces | None = None
        action.triggered.connect(self.open)
        live.banner.buttons.traceRequested.connect(self.open)
        control.shownChanged.connect(self._see_run)
        control.shownStatusChanged.connect(self._see_run)
        self.worker.answered.connect(self._remember)
        self._see_run()

    @Slot()
    def open(self) -> None:
        """Show the dialog for the shown run; the window stays usable behind it."""
        layout = self._control.shown
        if layout is None:
            return
        # Here and in what follows: most windows trace no run.
        from gpupanel.runs.tools.tracing.tracing import RunTraces

        dialog = self._dialog_made()
        if self._known is None or layout != self._known.layout:
            self.worker.cancel()
            self._known = RunTraces(layout)
        dialog.setRun(layout, self._live.banner.title())
        self._see_run()
        dialog.show()
        dialog.activateWindow()
        if not self.worker.is_busy():
            traces = workplace().tools.traces
            self.worker.begin(lambda **_: traces(layout))

    @override
    def _dialog_class(self) -> "Callable[[QWidget], TraceDialog]":
        from gpupanel.runs.tools.tracing.tracing import has_profiler_page
        from gpupanel.ui.tools.trace.dialog import TraceDialog

        # The whole of a host's trace stays there.
        has_page = not workplace().host and has_profiler_page()
        return partial(TraceDialog, has_page=has_page)

    @override
    def _connected(self, dialog: "TraceDialog") -> "TraceDialog":
        dialog.takeRequested.connect(self._take)
        dialog.readRequested.connect(self._read)
        dialog.tensorboardRequested.connect(self._open_tensorboard)
        return super()._connected(dialog)

    @Slot(int, object)
    def _take(self, steps: int, process: int | None) -> None:
        if self._known is not None:
            take = workplace().tools.take_trace
            self.worker.begin(partial(take, self._known.layout, steps, process))

    @Slot(int)
    def _read(self, number: int) -> None:
        if self._known is not None:
            layout, read = self._known.layout, workplace().tools.read_trace
            self.worker.begin(lambda *, cancelled, **_: read(layout, number, cancelled=cancelled))

    @Slot(object)
    def _remember(self, found: "RunTraces") -> None:
        self._known = found

    def _without(self, problems: tuple[Problem, ...]) -> "RunTraces | None":
        """What is known, and why there is no trace."""
        from gpupanel.runs.tools.tracing.tracing import Trace

        known = self._known
        return known and replace(known, trace=Trace(known.layout, problems=problems))

    @Slot()
    def _open_tensorboard(self) -> None:
        if self._known is not None:
            self.tensorboardRequested.emit(self._known.layout)

    @Slot()
    def _see_run(self) -> None:
        status = self._control.shown_status
        self._action.setEnabled(status is not None and status.trains)
        self._live.banner.buttons.setTraceOffered(offered=_trains(status))
        is_shown = self._known is not None and self._known.layout == self._control.shown
        if self._dialog is not None and is_shown:
            self._dialog.setRunning(_trains(status))


def _trains(status: RunStatus | None) -> bool:
    """Whether it does training steps, or will."""
    return status is not None and status.trains and not status.has_ended
