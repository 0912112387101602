"""The processes that hold memory of one device."""

import time
from pathlib import PurePath

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QGridLayout,
    QLabel,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from gpupanel.domain.telemetry import DeviceProcess
from gpupanel.domain.visible_text import visible_line
from gpupanel.ui import formatting
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import ElidedLabel, Note
from gpupanel.ui.widgets.layouts import column_in, discard
from gpupanel.ui.widgets.tips import wrapped

NOBODY = "No process uses its memory now."
_WIDEST_MEMORY = formatting.mib(1023)
_WIDEST_USE = formatting.percent(100.0)
_TRAINER = " gpupanel.trainer "
_Identity = tuple[int, float | None]


def run_words(command: str | None) -> str:
    """Which run a process trains: "Run digits-3"; empty for a process of no run.

    Args:
        command: Its command line.
    """
    _, found, folder = (command or "").partition(_TRAINER)
    return f"Run {PurePath(folder).name}" if found and PurePath(folder).name else ""


class ProcessList(QWidget):
    """A row per process; rows keep their place while values change, new ones come last.

    Args:
        empty: What stands here while there is no process.
    """

    endRequested = Signal(object)
    """The button of a process of one's own was pressed: the :class:`DeviceProcess`."""

    def __init__(self, empty: str = NOBODY, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("process_list")
        self.setAccessibleName("Processes on this device")
        self._empty = Note(empty)
        self._rows: dict[_Identity, _ProcessRow] = {}
        self._run_processes: frozenset[int] = frozenset()
        self._layout = column_in(self)
        self._layout.addWidget(self._empty)

    def processes(self) -> tuple[DeviceProcess, ...]:
        """What is shown, from top to bottom."""
        return tuple(row.process() for row in self._rows.values())

    def setProcesses(self, processes: tuple[DeviceProcess, ...]) -> None:
        """Show these; those that come together stand in the order of what they hold."""
        shown = {(process.pid, process.started_s): process for process in processes}
        for identity in [known for known in self._rows if known not in shown]:
            self._remove(self._rows.pop(identity))
        for identity, row in self._rows.items():
            row.setProcess(shown[identity])
        new = [identity for identity in shown if identity not in self._rows]
        for identity in sorted(new, key=lambda each: -(shown[each].memory_used_mib or 0)):
            self._add(identity, shown[identity])
        self._empty.setVisible(not self._rows)

    def setRunProcesses(self, pids: frozenset[int]) -> None:
        """Say which processes are of a run that goes on: those are stopped with it."""
        self._run_processes = pids
        for row in self._rows.values():
            row.setOfRun(of_run=row.process().pid in pids)

    def _add(self, identity: _Identity, process: DeviceProcess) -> None:
        row = _ProcessRow(process)
        row.setOfRun(of_run=process.pid in self._run_processes)
        row.endRequested.connect(self.endRequested)
        self._rows[identity] = row
        self._layout.addWidget(row)

    def _remove(self, row: "_ProcessRow") -> None:
        discard(self._layout, [row])


class _ProcessRow(QWidget):
    """Name and memory; below, smaller, whose it is and its command line."""

    endRequested = Signal(object)

    def __init__(self, process: DeviceProcess, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._process = process
        self._of_run = False
        self._name = ElidedLabel()
        self._memory = QLabel()
        self._memory.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._memory.setMinimumWidth(
            self._memory.fontMetrics().horizontalAdvance(_WIDEST_MEMORY) + GRID // 2
        )
        self._use = QLabel()
        self._use.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._use.setMinimumWidth(self._use.fontMetrics().horizontalAdvance(_WIDEST_USE))
        self._about = ElidedLabel()
        self._about.setProperty("tone", "muted")
        self._about.setProperty("textSize", "small")
        self._end = QToolButton()
        self._end.setText("End…")
        self._end.setProperty("role", "link")
        self._end.clicked.connect(self._request_end)
        # The numbers of all rows stand below one another, with and without the button.
        policy = self._end.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._end.setSizePolicy(policy)
        self._arrange()
        self._show()

    def process(self) -> DeviceProcess:
        """The process that is shown."""
        return self._process

    def setProcess(self, process: DeviceProcess) -> None:
        """Show these values in the same place."""
        if process != self._process:
            self._process = process
            self._show()

    def setOfRun(self, *, of_run: bool) -> None:
        """Say whether the process is of a run that goes on."""
        if of_run != self._of_run:
            self._of_run = of_run
            self._show()

    def _show(self) -> None:
        process = self._process
        name = process.name or f"Process {process.pid}"
        self._name.setText(name)
        self._memory.setText(formatting.mib(process.memory_used_mib))
        self._use.setText(formatting.percent(process.utilization_percent))
        run = "This run" if self._of_run else run_words(process.command)
        parts = (run, str(process.pid), process.user or formatting.DASH, process.command or "")
        self._about.setText(visible_line(" · ".join(part for part in parts if part)))
        self._end.setVisible(process.is_mine and not self._of_run)
        self._end.setAccessibleName(f"End {name}, process {process.pid}")
        self._end.setToolTip(wrapped(f"Ask {name} to end, after a confirmation."))
        # Escaped line by line: a command line may hold what looks like rich text.
        self.setToolTip("".join(wrapped(line) for line in self._lines()))

    def _lines(self) -> tuple[str, ...]:
        process = self._process
        started = formatting.DASH
        if process.started_s is not None:
            started = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(process.started_s))
        lines = (
            f"{process.name or formatting.DASH}, process {process.pid}",
            f"User: {process.user or formatting.DASH}",
            f"Memory of this device: {formatting.mib(process.memory_used_mib)}",
            f"Uses the device {formatting.percent(process.utilization_percent)} of the time",
            f"Started: {started}",
            f"Command: {process.command or formatting.DASH}",
        )
        return (*lines, why) if (why := self._why_not()) else lines

    def _why_not(self) -> str:
        """Why it cannot be ended from here; empty when it can."""
        if self._of_run:
            return "It belongs to the current run: stop the run to end it."
        if self._process.is_mine:
            return ""
        if self._process.user is None:
            return (
                "Whose it is cannot be known here, as of a process in another container: it "
                "cannot be ended from here."
            )
        return f"It belongs to {self._process.user}: only they, or root, can end it."

    def _arrange(self) -> None:
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setHorizontalSpacing(GRID)
        layout.setVerticalSpacing(0)
        layout.setColumnStretch(0, 1)
        layout.addWidget(self._name, 0, 0)
        layout.addWidget(self._use, 0, 1)
        layout.addWidget(self._memory, 0, 2)
        layout.addWidget(self._about, 1, 0, 1, 3)
        layout.addWidget(self._end, 0, 3, 2, 1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    @Slot()
    def _request_end(self) -> None:
        self.endRequested.emit(self._process)
