"""The processes of a run by name: who is up, who waits, who failed."""

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui.widgets.labels import Tone, set_tone
from gpupanel.ui.widgets.layouts import discard
from gpupanel.ui.widgets.tips import wrapped

_COLUMNS = 6


@dataclass(frozen=True, slots=True)
class MemberState:
    """One process as people see it.

    Attributes:
        words: A mark, its name, what it does.
        tip: What else there is to know.
    """

    words: str
    tone: Tone
    tip: str


def member_states(plan: LaunchPlan, status: RunStatus) -> tuple[MemberState, ...]:
    """What each process of a gang does, in the gang's order."""
    failures = dict(status.failures)
    return tuple(
        _state(process.name, place, status, failures.get(place))
        for place, process in enumerate(plan.gang)
    )


def _state(name: str, place: int, status: RunStatus, failure: Problem | None) -> MemberState:
    name = name.removeprefix("the ")
    pid = f" Process {status.pids[place]}." if place < len(status.pids) else ""
    if failure is not None:
        return MemberState(f"✕ {name} failed", Tone.ERROR, f"{failure.message}{pid}")
    if status.has_ended:
        return MemberState(f"○ {name} ended", Tone.MUTED, f"Ended.{pid}")
    if not pid:
        return MemberState(f"○ {name} waits", Tone.MUTED, "Starts after the processes before it.")
    return MemberState(f"● {name} running", Tone.GOOD, f"Running.{pid}")


class GangRow(QWidget):
    """A word for each process; there is nothing to show where there is only one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("gang_row")
        self.setAccessibleName("Processes of the run")
        self._labels: list[QLabel] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(24)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(_COLUMNS, 1)

    def setStates(self, states: tuple[MemberState, ...]) -> None:
        """Shows what the processes do now."""
        while len(self._labels) > len(states):
            label = self._labels.pop()
            discard(self._grid, [label])
        while len(self._labels) < len(states):
            label = QLabel(self)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._grid.addWidget(label, *divmod(len(self._labels), _COLUMNS))
            self._labels.append(label)
        for label, state in zip(self._labels, states, strict=True):
            label.setText(state.words)
            label.setToolTip(wrapped(state.tip))
            set_tone(label, state.tone)
        # Words of different length must not move what stands beside them.
        for index, label in enumerate(self._labels):
            widest = label.fontMetrics().horizontalAdvance("● parameter server 10 failed")
            self._grid.setColumnMinimumWidth(index % _COLUMNS, min(widest, 160))
