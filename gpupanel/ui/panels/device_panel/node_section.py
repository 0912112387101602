"""The part of the device list that is about one node of a cluster."""

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QToolButton, QVBoxLayout, QWidget

from gpupanel.domain.cluster import ClusterNode, NodeState
from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.telemetry import DeviceReading
from gpupanel.domain.visible_text import visible_line
from gpupanel.ui.inputs.switch import Switch
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.device_bars import DeviceBars
from gpupanel.ui.widgets.labels import ElidedLabel, NameLabel, Note, Tone, set_tone
from gpupanel.ui.widgets.layouts import column_in, row_in
from gpupanel.ui.widgets.tips import wrapped

_ASKING: Final = "Asking it for its devices…"


class NodeSection(QFrame):
    """Name, address, state and utilization of a node; its cards stand below while it is open.

    Args:
        name: Of the node.
    """

    foldChanged = Signal(str, bool)
    """The node's name, and whether a person opened it."""
    useChanged = Signal(str)
    """The node's name: a person switched it on or off."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(f"node_{name}")
        self.setAccessibleName(visible_line(name))
        self.name = name
        """The node's name."""
        self._devices: tuple[PhysicalDevice, ...] = ()
        self._is_open = True
        self._node: ClusterNode | None = None
        self._head = QWidget()
        self._fold = QToolButton()
        self._fold.setProperty("role", "chevron")
        self._fold.setCheckable(True)
        self._title = NameLabel(name)
        self._title.setProperty("role", "title")
        self._switch = Switch()
        self._switch.setAccessibleName(f"Use {visible_line(name)}")
        self._facts = ElidedLabel()
        self._facts.setProperty("textSize", "small")
        set_tone(self._facts, Tone.MUTED)
        self._state = Note()
        self._bars = DeviceBars()
        cards = QWidget()
        self.cards = QVBoxLayout(cards)
        """What stands below while it is open."""
        self._cards = cards
        self._arrange()
        self._fold.clicked.connect(self._take_fold)
        self._switch.clicked.connect(self._take_use)
        self.setOpen(is_open=True)

    @property
    def is_open(self) -> bool:
        """Whether its devices are shown."""
        return self._is_open

    @property
    def devices(self) -> tuple[PhysicalDevice, ...]:
        """The node's devices; none where it does not answer."""
        return self._devices

    def setOpen(self, *, is_open: bool) -> None:
        """Show the devices of the node, or only the node."""
        self._is_open = is_open
        self._fold.setChecked(is_open)
        self._fold.setArrowType(Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow)
        self._fold.setToolTip("Hide its devices." if is_open else "Show its devices.")
        what = "Hide" if is_open else "Show"
        self._fold.setAccessibleName(f"{what} the devices of {visible_line(self.name)}")
        self._show_parts()

    def head_height(self) -> int:
        """Pixels of all but the cards."""
        parts = (self._head, self._facts, self._state, self._bars)
        return sum(each.sizeHint().height() + GRID for each in parts if not each.isHidden())

    def setNode(self, node: ClusterNode, *, is_here: bool) -> None:
        """Show what is known of the node.

        Args:
            node: Of that name.
            is_here: It is this machine.
        """
        self._node = node
        gpus = 0 if node.report is None else len(node.report.inventory.gpus)
        facts = ["this machine"] if is_here else []
        facts += [visible_line(node.address)] if node.address else []
        if node.report is not None:
            facts.append(_counted(gpus, "GPU") if gpus else "no GPU")
        words = " · ".join(facts)
        self._facts.setText(words)
        self._title.setToolTip(wrapped(f"{visible_line(self.name)}\n{_about(node)}"))
        said, tone = _state(node)
        self._state.setText(said)
        set_tone(self._state, tone)
        self._show_parts()

    def setDevices(
        self,
        devices: tuple[PhysicalDevice, ...],
        colors: Mapping[str, int],
        labels: Mapping[str, str],
    ) -> None:
        """Know which devices the node has.

        Args:
            devices: Of the node.
            colors: Numbers of their colours, by their keys.
            labels: What they are called within the node, by their keys.
        """
        self._devices = devices
        drawn = self._drawn
        self._bars.setDevices(
            tuple(colors[each.key] for each in drawn), tuple(labels[each.key] for each in drawn)
        )
        self._show_parts()

    def setReadings(self, readings: Mapping[str, DeviceReading]) -> None:
        """Show how busy its devices are.

        Args:
            readings: By the keys of devices.
        """
        found = [readings.get(device.key) for device in self._drawn]
        self._bars.setValues(
            tuple(None if each is None else each.gpu_utilization_percent for each in found)
        )

    def setUse(self, in_use: frozenset[str], *, is_only_one: bool, can_join: bool) -> None:
        """Show whether the node takes part.

        Args:
            in_use: Keys of the devices in use.
            is_only_one: No other node does.
            can_join: Its devices are of the kind that the run trains on, or could be.
        """
        takes_part = any(device.key in in_use for device in self._devices)
        self._switch.setChecked(takes_part)
        self._switch.setEnabled((takes_part and not is_only_one) or (can_join and not takes_part))
        if takes_part and is_only_one:
            tip = "The only node in use: switch another one on first."
        elif takes_part:
            tip = "In use: processes of the run are started here. Switch it off to exclude it."
        elif can_join:
            tip = "Not in use. Switch it on to train here, too."
        else:
            tip = "It has no GPU, and the run trains on GPUs: processes of a run are of one kind."
        self._switch.setToolTip(wrapped(tip))

    @property
    def _drawn(self) -> tuple[PhysicalDevice, ...]:
        """The devices with a bar: GPUs, or the processor where there is none."""
        gpus = tuple(each for each in self._devices if each.is_gpu and not each.is_partitioned)
        return gpus or self._devices

    def _show_parts(self) -> None:
        answers = bool(self._devices)
        self._fold.setVisible(answers)
        self._switch.setVisible(answers)
        self._bars.setVisible(answers and not self._is_open)
        self._cards.setVisible(answers and self._is_open)
        self._state.setVisible(bool(self._state.text()))

    def _arrange(self) -> None:
        row = row_in(self._head, spacing=GRID // 2)
        row.addWidget(self._title, 1)
        row.addWidget(self._fold)
        row.addWidget(self._switch)
        self.cards.setContentsMargins(0, GRID // 2, 0, 0)
        self.cards.setSpacing(GRID)
        column = column_in(self, spacing=GRID // 4)
        for part in (self._head, self._facts, self._state, self._bars, self._cards):
            column.addWidget(part)

    @Slot(bool)
    def _take_fold(self, is_open: bool) -> None:
        self.foldChanged.emit(self.name, is_open)

    @Slot()
    def _take_use(self) -> None:
        self.useChanged.emit(self.name)


def _state(node: ClusterNode) -> tuple[str, Tone]:
    """Why the node does not take part, in words; nothing where it does."""
    reason = f": {node.reason}" if node.reason else ""
    if node.state is NodeState.LOST:
        return f"Lost{reason}.", Tone.ERROR
    if node.state is NodeState.SILENT:
        return f"Does not answer{reason}.", Tone.WARNING
    return ("", Tone.MUTED) if node.report is not None else (_ASKING, Tone.MUTED)


def _about(node: ClusterNode) -> str:
    """What else is known of the node, a line each."""
    lines = [node.address]
    if node.state is NodeState.OK:
        lines += [_free("CPU", node.cpus_free, node.cpus), _free("GPU", node.gpus_free, node.gpus)]
    report = node.report
    if report is not None:
        driver = report.inventory.driver
        lines += [f"Driver {driver}"] if driver else []
        lines.append(f"gpupanel {report.gpupanel}, TensorFlow {report.tensorflow or 'missing'}")
    return "\n".join(visible_line(line) for line in lines)


def _free(what: str, free: float | None, total: float) -> str:
    left = "?" if free is None else f"{free:g}"
    return f"{left} of {_counted(total, what)} free in Ray"


def _counted(count: float, what: str) -> str:
    return f"{count:g} {what}{'' if count == 1 else 's'}"
