"""The parts that a run is made of: its processes, its shares, its layers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QWidget

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.event_details import PlacedLayer
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui import formatting, measured_shares, theme
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.widgets.color_dot import ColorDot
from gpupanel.ui.widgets.device_report_box import DeviceReportBox
from gpupanel.ui.widgets.labels import Caption, ElidedLabel, Note, Tone, set_tone
from gpupanel.ui.widgets.layouts import CellGrid, column_in, discard
from gpupanel.ui.widgets.replica_table import ReplicaTable
from gpupanel.ui.widgets.share_bar import ShareBar
from gpupanel.ui.widgets.tips import wrapped

_COLUMNS = 6
_MOST_STATES = 24


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
    states = tuple(
        _state(process.name, place, status, failures.get(place))
        for place, process in enumerate(plan.gang)
    )
    return states if len(states) <= _MOST_STATES else _in_short(states)


def _in_short(states: Sequence[MemberState]) -> tuple[MemberState, ...]:
    """Of very many processes how many do the same, and those that failed one by one."""
    failed = [state for state in states if state.tone is Tone.ERROR]
    counts = Counter((state.words.split()[0], state.words.split()[-1]) for state in states)
    counted = tuple(
        MemberState(
            f"{mark} {count:,} {doing}",
            next(each.tone for each in states if each.words.endswith(doing)),
            f"{count:,} of {len(states):,} processes.",
        )
        for (mark, doing), count in counts.items()
    )
    return (*counted, *failed[:_MOST_STATES])


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


class LayersStrip(QWidget):
    """A row for each logical device: its colour, its parameters, its layers."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("layers_strip")
        self.setAccessibleName("Layers on devices")
        self._shown: tuple[tuple[PlacedLayer, ...], DeviceLabels] | None = None
        self._rows = CellGrid(stretched=3)
        layout = column_in(self, spacing=4)
        layout.addWidget(Caption("Layers"))
        layout.addWidget(self._rows)

    def setLayers(self, layers: Sequence[PlacedLayer], device_labels: DeviceLabels) -> None:
        """Shows where each layer went."""
        if self._shown == (tuple(layers), device_labels):
            return
        self._shown = (tuple(layers), device_labels)
        self.setAccessibleDescription("")
        places = sorted({layer.place for layer in layers})
        self._rows.set_cells(
            self._row([layer for layer in layers if layer.place == place], device_labels)
            for place in places
        )

    def _row(
        self, layers: Sequence[PlacedLayer], device_labels: DeviceLabels
    ) -> tuple[QWidget, ...]:
        first = layers[0]
        parameters = sum(layer.parameters for layer in layers)
        # Activations, pooling and the like go with the layer before them.
        holding = [layer for layer in layers if layer.parameters] or layers
        names = ", ".join(layer.name for layer in holding)
        where = QLabel(f"{device_labels.label(first.device_key)}  {first.logical_device}")
        size = QLabel(f"{formatting.count(parameters)} parameters")
        size.setProperty("tone", "muted")
        listed = ElidedLabel(names)
        lines = "; ".join(
            f"{layer.name}: {formatting.count(layer.parameters)} parameters" for layer in layers
        )
        listed.setToolTip(wrapped(f"{lines}."))
        self.setAccessibleDescription(f"{self.accessibleDescription()} {where.text()}: {names}.")
        return ColorDot(device_labels.color_number(first.device_key)), where, size, listed


_KEEP_TIP = "Saves these shares in the profile: the next run starts with them."

_SPEED_TIP = (
    "Speed of computing alone. Summing gradients and updating weights take more time, so the "
    "run does fewer examples per second; for a very small network, far fewer."
)


class SharesStrip(QWidget):
    """A bar in the colours of the devices, with the speed of each and the last change in words."""

    keepRequested = Signal(object)
    """These shares are to be given ones: a tuple of int."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("shares_strip")
        self._shares: tuple[int, ...] = ()
        self._kept: tuple[int, ...] | None = None
        self._is_measured = False
        self._bar = ShareBar(movable=False)
        self._bar.setAccessibleName("Current shares of the run")
        self._words = Note()
        self._words.setObjectName("share_words")
        self._words.setToolTip(wrapped(_SPEED_TIP))
        self._keep = QPushButton("&Keep these shares")
        self._keep.setObjectName("keep_shares")
        self._keep.setToolTip(wrapped(_KEEP_TIP))
        self._keep.clicked.connect(self._report)
        foot = QHBoxLayout()
        foot.setSpacing(16)
        foot.addWidget(Caption("Shares"))
        foot.addWidget(self._words, 1)
        foot.addWidget(self._keep)
        layout = column_in(self, spacing=0)
        layout.addLayout(foot)
        layout.addWidget(self._bar)

    def setStatus(self, plan: LaunchPlan, status: RunStatus, device_labels: DeviceLabels) -> None:
        """Shows what a run with balanced shares has measured so far."""
        is_measured = len(status.shares) == len(plan.replicas)
        self._shares = status.shares if is_measured else plan.shares
        speeds = status.speeds if is_measured else ()
        self._bar.setSegments(measured_shares.segments(plan, self._shares, speeds, device_labels))
        memory = measured_shares.memory_ends(plan, status, device_labels)
        self._words.setText(f"{measured_shares.last_change(status)} {memory}".strip())
        self._is_measured = is_measured
        self._show_button()

    @Slot()
    def _report(self) -> None:
        self._kept = self._shares
        self._show_button()
        self.keepRequested.emit(self._shares)

    def _show_button(self) -> None:
        is_kept = self._kept == self._shares
        self._keep.setText("Kept in the profile" if is_kept else "&Keep these shares")
        self._keep.setEnabled(self._is_measured and not is_kept)


class RunPartsPanel(QWidget):
    """Shows what TensorFlow answered to a run, its processes, shares and layers.

    Processes, shares and layers are shown only where there are any; of a program of the person's
    own, the devices that it sees.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("run_parts")
        self._plan: LaunchPlan | None = None
        self._status = RunStatus()
        self._device_labels = DeviceLabels()
        self._gang = GangRow()
        self.shares = SharesStrip()
        """The shares that the run measured, which can be kept."""
        self._layers = LayersStrip()
        self._seen = QWidget()
        self._seen_devices = ReplicaTable()
        self._answers = DeviceReportBox(wide=True)
        seen = column_in(self._seen)
        seen.addWidget(Caption("Devices as the program sees them"))
        seen.addWidget(self._seen_devices)
        layout = column_in(self)
        for part in (self._gang, self.shares, self._seen, self._layers, self._answers):
            layout.addWidget(part)
        theme.changes.changed.connect(self._show)
        self.setRun(None)

    def setRun(self, plan: LaunchPlan | None) -> None:
        """Another run is shown, from its beginning; ``None``: its plan is not known yet."""
        self._plan = plan
        self._status = RunStatus()
        self._show()

    def setStatus(self, status: RunStatus) -> None:
        """Show the run's status."""
        self._status = status
        self._show()

    def setInventory(self, inventory: DeviceInventory) -> None:
        """The devices, for their colours and names."""
        self._device_labels = DeviceLabels(inventory)
        self._show()

    def _show(self) -> None:
        plan, status = self._plan, self._status
        is_gang = plan is not None and len(plan.gang) > 1
        is_balanced = plan is not None and plan.balanced
        if plan is not None and is_gang:
            self._gang.setStates(member_states(plan, status))
        if plan is not None and is_balanced:
            self.shares.setStatus(plan, status, self._device_labels)
        is_program = bool(status.program)
        if plan is not None and is_program:
            self._seen_devices.setPlan(plan, self._device_labels, of_program=True)
        self._seen.setVisible(plan is not None and is_program)
        self._answers.setHidden(is_program)
        self._layers.setLayers(status.layers, self._device_labels)
        self._answers.setStatus(status, self._device_labels)
        self._gang.setVisible(is_gang)
        self.shares.setVisible(is_balanced)
        self._layers.setVisible(bool(status.layers))
        self.setVisible(plan is not None or bool(status.layers))
