"""How much memory the session's training is estimated to take, once somebody asks for it."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QPushButton, QWidget

from gpupanel.domain.ladder import Ladder
from gpupanel.planning.prepare import Preparation
from gpupanel.ui import formatting
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.panels.plan_panel.ladder_list import LadderList
from gpupanel.ui.panels.plan_panel.memory_bars import MemoryBars
from gpupanel.ui.widgets.flow_layout import FlowLayout
from gpupanel.ui.widgets.labels import Note
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.tips import wrapped
from gpupanel.ui.workers.workplace import machine_name

_ASK = "Estimate memor&y"
_ASK_TIP = (
    "Builds the model without training it, and adds up what a step holds on each device. Later "
    "changes of batch, shares or model are followed."
)
_WAYS = "&Ways to fit…"
_WAYS_TIP = (
    "Builds the model in every way, and shows what fits these devices: fewer examples at a time, "
    "activations computed again, mixed precision, other shares, layers on several devices. Each "
    "with its memory and its time."
)
_FIND = "Find &the batch…"
_FIND_TIP = (
    "Trains some steps with more and more examples on each device, and shows which batches really "
    "fit and how fast they are. It ends before other processes lack memory, and after a minute for "
    "each device."
)
_COMPARE = "Compare devices…"
_COMPARE_TIP = (
    "Trains some steps with each device alone, with all in equal and in balanced shares, then with "
    "XLA and mixed precision, and shows which way is the fastest. It takes some minutes; what was "
    "measured is remembered."
)
_MEASURED = "Measured with this model on {machine}; the real peak may be up to 5 % higher."
_UNKNOWN = "The memory that this model takes could not be estimated."
_BUSY = "Building the model…"
_LOOKING = "Looking for ways in which it fits: the model is built in each of them…"
_ROUGH = "An estimate: the real peak may be up to 15 % higher, and more for small models."


class MemoryEstimateView(QWidget):
    """A button that asks; then a bar for each device, and the largest batch that fits."""

    requested = Signal()
    """A person wants to know."""
    batchChosen = Signal(int)
    """The largest batch is to be used."""
    waysRequested = Signal()
    """A person wants to see in which ways the training fits."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("memory_estimate")
        self._preparation = Preparation()
        self._labels = DeviceLabels()
        self._example_count: int | None = None
        self._is_busy = False
        self._problem = ""
        self._model = ""
        self._is_answered = False
        self._bars = MemoryBars()
        self._bars.setObjectName("memory_bars")
        self._bars.setToolTip(wrapped(_ROUGH))
        self._note = Note("")
        self._note.setObjectName("memory_estimate_note")
        self._ask = QPushButton(_ASK)
        self._ask.setObjectName("estimate_memory")
        self._ask.setToolTip(wrapped(_ASK_TIP))
        self._use = QPushButton()
        self._use.setObjectName("use_largest_batch")
        self.find_batch = QPushButton(_FIND)
        self.find_batch.setObjectName("find_batch")
        self.find_batch.setToolTip(wrapped(_FIND_TIP))
        self._find_ways = QPushButton(_WAYS)
        self._find_ways.setObjectName("find_ways")
        self._find_ways.setToolTip(wrapped(_WAYS_TIP))
        self.ways = LadderList()
        """Each changes the session with one click."""
        foot = FlowLayout()
        self.compare_devices = QPushButton(_COMPARE)
        self.compare_devices.setObjectName("compare_devices")
        self.compare_devices.setToolTip(wrapped(_COMPARE_TIP))
        for button in (
            self._ask,
            self._use,
            self._find_ways,
            self.find_batch,
            self.compare_devices,
        ):
            foot.addWidget(button)
        layout = column_in(self)
        layout.addWidget(self._bars)
        layout.addWidget(self._note)
        layout.addWidget(self.ways)
        layout.addLayout(foot)
        self._ask.clicked.connect(self.requested)
        self._find_ways.clicked.connect(self.waysRequested)
        self._use.clicked.connect(self._choose)
        self._show()

    def setPreparation(self, preparation: Preparation, labels: DeviceLabels) -> None:
        """Shows what is estimated of another plan."""
        self._preparation, self._labels = preparation, labels
        self._bars.setMemories(preparation.memory, labels)
        self._show()

    def setExampleCount(self, count: int | None) -> None:
        """How many examples it is trained on; ``None``: not known."""
        self._example_count = count
        self._show()

    def setLadder(self, ladder: Ladder) -> None:
        """Shows the ways in which the training fits; none: they are not known, or not wanted."""
        self.ways.setLadder(ladder, self._labels)
        self._show()

    @Slot(bool)
    def setBusy(self, busy: bool) -> None:
        """Whether the model is being built."""
        self._is_busy = busy
        self._show()

    def setAnswer(self, *, is_answered: bool, problem: str = "", model: str = "") -> None:
        """Whether the model was built as it is chosen now, with its size, or why it cannot be."""
        self._is_answered, self._problem, self._model = is_answered, problem, model
        self._show()

    def _show(self) -> None:
        plan, memory = self._preparation.plan, self._preparation.memory
        largest = self._preparation.largest_batch
        self._bars.setVisible(bool(memory))
        self._ask.setVisible(not memory)
        self._ask.setEnabled(not self._is_busy)
        self._find_ways.setVisible(bool(memory) and not self.ways.ladder().rungs)
        self._find_ways.setEnabled(not self._is_busy)
        # Both are tried on this machine.
        is_here = plan is not None and not plan.is_on_nodes
        self.find_batch.setVisible(plan is not None and is_here and not plan.places)
        self.compare_devices.setVisible(is_here)
        is_measured = bool(memory) and all(each.is_measured for each in memory if each.examples)
        self._bars.setToolTip(
            wrapped(_MEASURED.format(machine=machine_name()) if is_measured else _ROUGH)
        )
        now = largest if plan is None else plan.global_batch_size
        can_be_larger = largest is not None and now is not None and largest > now
        can_be_larger = can_be_larger and largest != self._example_count
        self._use.setVisible(bool(memory) and can_be_larger)
        self._use.setText(f"&Use {formatting.count(largest or 0)}")
        self._use.setToolTip(wrapped("Sets the global batch size to the largest one that fits."))
        self._note.setText(self._words())
        self._note.setVisible(bool(self._note.text()))

    def _words(self) -> str:
        preparation = self._preparation
        if self._is_busy:
            return _LOOKING if preparation.memory else _BUSY
        if preparation.memory:
            return f"{self._model} {self._batch_text()}".strip()
        if self._problem:
            return self._problem
        return _UNKNOWN if self._is_answered else ""

    def _batch_text(self) -> str:
        largest = self._preparation.largest_batch
        if largest is None:
            return _ROUGH
        if not largest:
            return "Not even one example at a time fits."
        count = formatting.count(largest)
        if largest == self._example_count:
            return f"Even all {count} examples at a time fit."
        return f"A global batch of up to {count} fits."

    @Slot()
    def _choose(self) -> None:
        if self._preparation.largest_batch:
            self.batchChosen.emit(self._preparation.largest_batch)
