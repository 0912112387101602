"""Has the shown run traced when a person asks for it, and shows what came of it."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.tools.tracing.tracing import has_profiler_page
from gpupanel.ui.live_page import LivePage
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.tools.trace.worker import RunTracer

if TYPE_CHECKING:
    from gpupanel.domain.run_layout import RunLayout
    from gpupanel.ui.tools.trace.dialog import TraceDialog


class TraceBinding(QObject):
    """Opens the dialog for the run that is shown: taking a trace, and reading earlier ones.

    Args:
        action: Opens it; can be chosen while a training is shown.
        live: Opens it, too.
        control: Knows the shown run.
        window: What the dialog stands before.
        tracer: Takes and reads traces.
    """

    refused = Signal(object)
    """Problems because of which nothing could be done: a tuple of :class:`Problem`."""
    tensorboardRequested = Signal(object)
    """TensorBoard is to show the run that was traced: its :class:`RunLayout`."""

    def __init__(
        self,
        action: QAction,
        live: LivePage,
        control: RunControl,
        window: QWidget,
        tracer: RunTracer | None = None,
    ) -> None:
        super().__init__(window)
        self.tracer = tracer or RunTracer()
        self.tracer.setParent(self)
        self._action, self._live, self._control, self._window = action, live, control, window
        self._dialog: TraceDialog | None = None
        self._layout: RunLayout | None = None
        action.triggered.connect(self.open)
        live.banner.traceRequested.connect(self.open)
        control.shownChanged.connect(self._see_run)
        control.shownStatusChanged.connect(self._see_run)
        self.tracer.refused.connect(self.refused)
        self._see_run()

    @Slot()
    def open(self) -> None:
        """Show the dialog for the shown run; the window stays usable behind it."""
        layout = self._control.shown
        if layout is None:
            return
        if self._dialog is None:
            self._dialog = self._new_dialog()
        if layout != self._layout:
            self.tracer.cancel()
        self._layout = layout
        self._dialog.setRun(layout, self._live.banner.title())
        self._see_run()
        self._dialog.show()
        self._dialog.activateWindow()
        if not self.tracer.is_busy():
            self.tracer.list(layout)

    def stop(self) -> None:
        """Withdraw the trace that is being taken."""
        if self._dialog is not None:
            self._dialog.close()
        self.tracer.stop()

    def _new_dialog(self) -> "TraceDialog":
        # Here and not above: most windows never need it.
        from gpupanel.ui.tools.trace.dialog import TraceDialog

        dialog = TraceDialog(has_page=has_profiler_page(), parent=self._window)
        dialog.takeRequested.connect(self._take)
        dialog.readRequested.connect(self._read)
        dialog.cancelRequested.connect(self.tracer.cancel)
        dialog.closed.connect(self.tracer.cancel)
        dialog.tensorboardRequested.connect(self._open_tensorboard)
        self.tracer.listed.connect(dialog.setTraces)
        self.tracer.traced.connect(dialog.setTrace)
        self.tracer.progressed.connect(dialog.setProgress)
        self.tracer.busyChanged.connect(dialog.setBusy)
        return dialog

    @Slot(int, object)
    def _take(self, steps: int, process: int | None) -> None:
        if self._layout is not None:
            self.tracer.take(self._layout, steps, process)

    @Slot(int)
    def _read(self, number: int) -> None:
        if self._layout is not None:
            self.tracer.read(self._layout, number)

    @Slot()
    def _open_tensorboard(self) -> None:
        if self._layout is not None:
            self.tensorboardRequested.emit(self._layout)

    @Slot()
    def _see_run(self) -> None:
        status = self._control.shown_status
        self._action.setEnabled(status is not None and not status.evaluates)
        self._live.banner.setTraceOffered(offered=_trains(status))
        if self._dialog is not None and self._layout == self._control.shown:
            self._dialog.setRunning(_trains(status))


def _trains(status: RunStatus | None) -> bool:
    """Whether it does training steps, or will."""
    return status is not None and not status.evaluates and not status.has_ended
