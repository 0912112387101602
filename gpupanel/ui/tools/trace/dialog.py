"""Which operations the steps of a training spend their time in, device by device."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QLabel, QWidget
from typing_extensions import override

from gpupanel.domain.choice import Choice
from gpupanel.domain.number_text import count
from gpupanel.domain.problem import Severity
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.trace import (
    DEFAULT_TRACED_STEPS,
    MOST_TRACED_STEPS,
    TracedDevice,
    TraceRecord,
)
from gpupanel.domain.trace_text import record_sentence, traced_device_text
from gpupanel.domain.visible_text import visible_line
from gpupanel.runs.tools.tracing.tracing import RunTraces, Trace, TraceStage
from gpupanel.ui.inputs.choice_box import ChoiceBox
from gpupanel.ui.inputs.counter import Counter
from gpupanel.ui.theme import GRID
from gpupanel.ui.tools.tool_dialog import ToolDialog
from gpupanel.ui.tools.trace.operations import TracedOperationsTable, operations_text
from gpupanel.ui.widgets.labels import Note
from gpupanel.ui.widgets.layouts import row_in
from gpupanel.ui.widgets.problem_row import ProblemRow
from gpupanel.ui.widgets.tips import wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping

_EMPTY = (
    "The ten most expensive operations of each device, as TensorFlow's profiler sees them while "
    "the run trains: it continues meanwhile, a little slower."
)
_NOTE = (
    "Operations that run at the same time all count: together they may take longer than the steps."
)
_PAGE_TIP = "Opens TensorBoard, whose profiler shows all of this run's traces, event by event."
_NO_PAGE_TIP = (
    "TensorBoard's profiler is a package of its own, which is not installed: "
    "tensorboard-plugin-profile. It would show all of this run's traces, event by event."
)
_ENDED_TIP = "Only a training that is running can be traced."
_TAKE_TIP = "Traces the next steps of the training."


class TraceDialog(ToolDialog[RunTraces, TraceStage]):
    """Takes a trace of a running training, and shows those that were taken before."""

    takeRequested = Signal(int, object)
    """A trace of so many steps is wanted, of the process with that place; ``None``: the first."""
    readRequested = Signal(int)
    """The trace with that number is wanted."""
    tensorboardRequested = Signal()
    """TensorBoard is to show all of it."""

    def __init__(self, parent: QWidget | None = None, *, has_page: bool) -> None:
        """Nothing is known yet.

        Args:
            parent: Owns it.
            has_page: Whether TensorBoard's profiler is installed.
        """
        super().__init__("trace", "Trace steps", parent)
        self._trace: Trace | None = None
        self._run: RunLayout | None = None
        self._records: Mapping[int, TraceRecord] = {}
        self._processes: Mapping[int, str] = {}
        self._runs = False
        self._choices = QWidget()
        self._steps = Counter(1, unit="step")
        self._worker = ChoiceBox([])
        self._earlier = ChoiceBox([])
        self._worker_row, self._earlier_row = QWidget(), QWidget()
        self._arrange_choices()
        self._take = self._add_button("&Take a trace", "take", _TAKE_TIP)
        self._take.clicked.connect(self._emit_take)
        self._add_cancel("Ca&ncel", "Nothing of it is kept.")
        self._board = self._add_button(
            "Open Tensor&Board", "tensorboard", wrapped(_PAGE_TIP if has_page else _NO_PAGE_TIP)
        )
        self._has_page = has_page
        self._board.clicked.connect(self.tensorboardRequested)
        self._show_empty(_EMPTY)
        self._show_state()

    def _arrange_choices(self) -> None:
        self._steps.setMaximum(MOST_TRACED_STEPS)
        self._steps.setValue(DEFAULT_TRACED_STEPS)
        self._earlier.valueChanged.connect(self._emit_read)
        steps_row = QWidget()
        row = row_in(self._choices, spacing=2 * GRID)
        parts = (
            ("&Steps", "trace_steps", steps_row, self._steps),
            ("&Worker", "trace_worker", self._worker_row, self._worker),
            ("S&hown", "trace_earlier", self._earlier_row, self._earlier),
        )
        for title, name, holder, chooser in parts:
            chooser.setObjectName(name)
            label = QLabel(title)
            label.setBuddy(chooser)
            chooser.setAccessibleName(title.replace("&", ""))
            inner = row_in(holder, spacing=GRID)
            inner.addWidget(label)
            inner.addWidget(chooser, 1)
            row.addWidget(holder, 1 if holder is self._earlier_row else 0)
        row.addStretch(1)
        self._above.addWidget(self._choices)

    def trace(self) -> Trace | None:
        """What is shown; ``None`` before anything is known."""
        return self._trace

    @override
    def text(self) -> str:
        found = self._trace
        if found is None or found.record is None or not found.devices:
            return ""
        parts = [self._sentence_of(found)]
        if found.warning is not None:
            parts.append(found.warning.message)
        for device in found.devices:
            parts += ["", _device_name(found, device), operations_text(device, found.record)]
        return "\n".join(parts)

    def setRun(self, layout: RunLayout, title: str) -> None:
        """Be about that run; nothing is known of it yet.

        Args:
            layout: The run.
            title: As people call it.
        """
        if layout != self._run:
            self._run, self._trace = layout, None
            self._records, self._processes = {}, {}
            self._show_empty(_EMPTY)
        self.setWindowTitle(f"Trace steps: {visible_line(title)}")
        self._show_choices()
        self._show_state()

    def setRunning(self, running: bool) -> None:
        """Say whether the run does training steps now, which could be traced."""
        if running != self._runs:
            self._runs = running
            self._show_state()

    @Slot(object)
    @override
    def setAnswer(self, found: RunTraces) -> None:
        """Show the trace, and offer the others; the last one is wanted, where none is shown."""
        if found.layout != self._run:
            return
        if found.trace is not None:
            self._show_trace(found.trace)
        self._records, self._processes = found.records, found.processes
        self._show_choices()
        self._show_state()
        if self._trace is None and found.records:
            self.readRequested.emit(max(found.records))

    def _show_trace(self, found: Trace) -> None:
        """Show what a trace says; one that was withdrawn says nothing."""
        if found.record is None and not found.problems:
            return
        self._trace = found
        said = (*found.problems, *([found.warning] if found.warning else []))
        parts: list[QWidget] = [ProblemRow(each) for each in said]
        record = found.record
        if record is not None:
            for device in found.devices:
                title = QLabel(_device_name(found, device))
                title.setProperty("role", "title")
                title.setTextFormat(Qt.TextFormat.PlainText)
                parts += [title, TracedOperationsTable(device, record, title.text())]
        if found.devices:
            parts.append(Note(_NOTE))
        parts += [Note(f"The profiler says: {note}") for note in found.notes]
        self._show_page(*parts)

    @Slot(object)
    @override
    def setProgress(self, stage: TraceStage) -> None:
        """Show what is waited for."""
        self._doing = stage.value
        self._show_state()

    @override
    def _show_state(self) -> None:
        found, is_busy = self._trace, self._is_busy
        self._progress.setVisible(is_busy)
        self._steps.setEnabled(not is_busy)
        self._worker.setEnabled(not is_busy)
        self._earlier.setEnabled(not is_busy)
        self._take.setEnabled(self._runs and not is_busy)
        self._take.setToolTip(_TAKE_TIP if self._runs else _ENDED_TIP)
        self._cancel.setEnabled(is_busy)
        self._copy.setEnabled(bool(self.text()))
        self._board.setEnabled(self._has_page and bool(self._records))
        has_failed = found is not None and bool(found.problems)
        self._icon.setVisible(found is not None and not is_busy)
        warns = found is not None and found.warning is not None
        self._icon.setSeverity(
            Severity.ERROR if has_failed else Severity.WARNING if warns else None
        )
        if is_busy:
            self._title.setText("Tracing" if self._doing else "Traces of this run")
            self._sentence.setProse(self._doing or "Reading…")
        elif found is None:
            self._title.setText("No trace yet")
            self._sentence.setProse("" if self._runs else _ENDED_TIP)
        else:
            self._title.setText("Not traced" if has_failed else "Most expensive operations")
            self._sentence.setProse(self._sentence_of(found))

    def _show_choices(self) -> None:
        """The workers and the traces that there are, as far as they are known."""
        workers = [Choice(str(place), name) for place, name in self._processes.items()]
        _offer(self._worker, workers, self._worker.value())
        self._worker_row.setVisible(bool(workers))
        traces = [
            Choice(str(number), self._words(number, record))
            for number, record in sorted(self._records.items(), reverse=True)
        ]
        shown = None if self._trace is None else self._trace.record
        number = next((key for key, each in self._records.items() if each == shown), None)
        _offer(self._earlier, traces, str(number))
        self._earlier_row.setVisible(bool(traces))

    def _words(self, number: int, record: TraceRecord) -> str:
        """How a trace is called in the list of them: "Trace 2: steps 121 to 130"."""
        name = f"Trace {count(number)}"
        if record.problem is not None:
            return f"{name}: not taken"
        of = f", {self._processes[record.process]}" if record.process in self._processes else ""
        if record.steps is None or record.first_step is None:
            return f"{name}: {record.seconds:.1f} s{of}"
        first, last = record.first_step + 1, record.first_step + record.steps
        return f"{name}: steps {count(first)} to {count(last)}{of}"

    def _sentence_of(self, found: Trace) -> str:
        record = found.record
        if record is None or record.problem is not None:
            return ""
        return record_sentence(record, found.processes)

    @Slot()
    def _emit_take(self) -> None:
        worker = self._worker.value() if self._processes else ""
        self.takeRequested.emit(self._steps.value(), int(worker) if worker else None)

    @Slot(str)
    def _emit_read(self, number: str) -> None:
        self.readRequested.emit(int(number))


def _device_name(found: Trace, device: TracedDevice) -> str:
    """The device's name in the plan; without a plan, TensorFlow's."""
    if found.plan is None or found.record is None:
        return visible_line(device.name)
    return traced_device_text(device, found.plan, found.record.process)


def _offer(box: ChoiceBox, choices: list[Choice], value: str) -> None:
    """Offer other entries silently, that value shown where it is among them, else the first."""
    with QSignalBlocker(box):
        box.clear()
        if choices:
            box.setOffered(choices)
            offered = {choice.value for choice in choices}
            box.setValue(value if value in offered else choices[0].value)
