"""The left side of the window."""

from collections.abc import Mapping

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QToolButton, QVBoxLayout, QWidget
from typing_extensions import override

from gpupanel.domain.cluster import ClusterReading
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.memory import Allocator, MemoryPolicy
from gpupanel.domain.problem import Problem
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.planning.chosen_devices import left_out_keys
from gpupanel.ui.device_choices import DeviceChoices, processors
from gpupanel.ui.panels.device_panel import panel_text
from gpupanel.ui.panels.device_panel.absent_cards import AbsentCards
from gpupanel.ui.panels.device_panel.card_folds import CardFolds
from gpupanel.ui.panels.device_panel.cluster_note import ClusterNote
from gpupanel.ui.panels.device_panel.device_card import DeviceCard
from gpupanel.ui.panels.device_panel.device_cards import DeviceCards
from gpupanel.ui.panels.device_panel.heads import PanelHead
from gpupanel.ui.panels.device_panel.node_sections import NodeSections
from gpupanel.ui.panels.device_panel.problem_note import ProblemNotes
from gpupanel.ui.panels.device_panel.unresponsive_cards import UnresponsiveCards
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import Note
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.tips import wrapped
from gpupanel.ui.workers.workplace import workplace

_LOW = 64 * GRID
"""Pixels; a lower panel has no room for two cards and all of a problem below them."""
_NOTHING = DeviceInventory(devices=())


class DevicePanel(QWidget):
    """A card per device, in the inventory's order; speaks :class:`DeviceChoices`.

    Those of a cluster stand below their nodes, as far as these are open.
    """

    valueChanged = Signal(object)
    """The :class:`DeviceChoices` after a person's act."""
    doctorRequested = Signal()
    """A device has a problem of which the doctor knows more."""
    powerRequested = Signal(object)
    """The power limit of a :class:`PhysicalDevice` is to be seen, or set."""
    endRequested = Signal(object)
    """A person wants a process of a device to end: the :class:`DeviceProcess`."""
    fixRequested = Signal(object)
    """The button of a fix on a device was pressed: the :class:`Fix`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("device_list")
        self._is_of_cluster = False
        self._inventory: DeviceInventory | None = None
        self._lost: frozenset[str] = frozenset()
        self._choices = DeviceChoices()
        self._gpus_before: tuple[str, ...] = ()
        self._problems: tuple[Problem, ...] = ()
        self._folds = CardFolds(self._is_room)
        self.head = PanelHead()
        """Leads to the doctor, and to the last hour."""
        self._notice = Note("Looking for devices\N{HORIZONTAL ELLIPSIS}")
        self.general = ProblemNotes(most=1, margin=12)
        """What is wrong with no device in particular."""
        self.general.setProperty("card", True)
        self._scroll = QScrollArea()
        self._scroll.setAccessibleName("Devices")
        self._column = QVBoxLayout()
        self.cluster_note = ClusterNote()
        """Stands in the place of a cluster's devices while there are none."""
        self.more_machines = _link_to_cluster()
        self.more_machines.setHidden(bool(workplace().host))
        """Leads to the choice of a cluster."""
        self.unresponsive = UnresponsiveCards()
        """GPUs that do not answer, or sleep."""
        self._absent = AbsentCards()
        self._nodes = NodeSections(self._column, self)
        self._cards = DeviceCards(self._column, self._nodes, self)
        self._arrange()
        self._cards.made.connect(self._connect_card)
        self._absent.removed.connect(self._take_removal)
        self.head.linesChosen.connect(self.setInLines)
        self._nodes.openChanged.connect(self._show_opened_nodes)
        self._nodes.useChanged.connect(self._take_node)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().height() != event.oldSize().height():
            self.general.setLow(is_low=event.size().height() < _LOW)
            self._fold_many()

    def value(self) -> DeviceChoices:
        """What is chosen, devices of other machines included."""
        return self._choices

    def setValue(self, value: DeviceChoices) -> None:
        """Show these choices."""
        self._choices = value
        self._show_applied("", "")
        self._show_choices()

    def setInventory(self, inventory: DeviceInventory) -> None:
        """Show these devices; cards of devices that were there before keep their curves."""
        previous, self._inventory = self._inventory, inventory
        if previous is None or previous.devices != inventory.devices or len(self._nodes):
            self._make_cards(inventory)
        for card in self._cards.all:
            card.details.setLinks(panel_text.links(inventory, card.device.key))
        if self.unresponsive.setGpus(inventory.unresponsive):
            self._fold_to_room()
        if not self._is_of_cluster:
            self.head.setDriver(inventory.driver)
            self._notice.setText(panel_text.notice(inventory))
            self._notice.setVisible(bool(self._notice.text()))
        self._show_choices()
        self._show_problems()

    def setCluster(self, reading: ClusterReading | None) -> None:
        """Show these nodes; ``None``: this machine alone. Their devices come as an inventory."""
        self._show_machines(is_of_cluster=reading is not None)
        self.cluster_note.setWaiting("")
        self._nodes.setReading(reading)
        if reading is None:
            self.setInventory(_NOTHING)
        else:
            self.head.setCluster(len(reading.nodes))

    def awaitCluster(self, words: str) -> None:
        """Show that a cluster is being asked, in these words."""
        self._leave_cluster()
        self.cluster_note.setWaiting(words)

    def setClusterProblem(self, problem: Problem) -> None:
        """Show why a cluster cannot be asked."""
        self._leave_cluster()
        self.cluster_note.setProblem(problem)

    def setSample(self, sample: TelemetrySample) -> None:
        """Show what the devices reported now."""
        lost = frozenset() if self._inventory is None else left_out_keys(self._inventory, sample)
        if lost != self._lost:
            self._lost = lost
            self._show_choices()
        self._cards.setSample(sample)

    def setOwnProcesses(self, pids: frozenset[int]) -> None:
        """Say which processes are of the run shown: their memory is drawn as ours."""
        self._cards.setOwnProcesses(pids)

    def setProblems(self, problems: tuple[Problem, ...]) -> None:
        """Show what is wrong with devices and memory, each on the device that it is about.

        Those about none in particular stand below the cards; hints stand with the plan only.
        """
        self._problems = problems
        self._show_problems()

    def folds(self) -> dict[str, bool]:
        """Which devices a person opened (``True``) or folded, by key; the others are not there."""
        return self._folds.remembered()

    def setFolds(self, folds: Mapping[str, bool]) -> None:
        """Open and fold devices as a person had them, those that are listed later, too."""
        self._folds.remember(folds)
        self._fold_to_room()

    def in_lines(self) -> bool:
        """Whether a device that is folded has one line."""
        return self._folds.in_lines

    @Slot(bool)
    def setInLines(self, in_lines: bool) -> None:
        """Fold all devices to one line each, or show them as they were before."""
        self._folds.set_in_lines(in_lines=in_lines)
        self.head.setInLines(in_lines)
        spacing = GRID // 4 if in_lines else GRID
        self._column.setSpacing(spacing)
        self.unresponsive.setSpacing(spacing)
        self._fold_to_room()

    def show_field(self, field: str) -> None:
        """Bring the settings of a profile key (``memory.GPU-5f0c.limit_mib``) into view."""
        table, _, rest = field.partition(".")
        if self._inventory is None or table not in ("devices", "memory"):
            return
        key = rest.partition(".")[0]
        named_device = self._inventory.device(key)
        if named_device is not None and named_device.node is not None:
            self._nodes.open(named_device.node)
        in_use = self._choices.keys_in_use(self._inventory, self._lost)
        named = next((card for card in self._cards.all if card.device.key == key), None)
        used = next((card for card in self._cards.all if card.device.key in in_use), None)
        card = named or used
        if card is not None:
            self._take_fold(card.device.key, is_open=True)
            self._scroll.ensureWidgetVisible(card.focus_settings())

    def _arrange(self) -> None:
        page = QWidget()
        page.setProperty("page", True)
        self._column.setContentsMargins(0, 0, GRID // 2, 0)
        self._column.setSpacing(GRID)
        self._column.addWidget(self.unresponsive)
        self._column.addWidget(self._notice)
        self._column.addWidget(self.cluster_note)
        self._column.addWidget(self._absent)
        self._column.addWidget(self.more_machines, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addStretch(1)
        page.setLayout(self._column)
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(page)
        layout = column_in(self)
        layout.addWidget(self.head)
        layout.addWidget(self._scroll, 1)
        # Below what scrolls: a problem that comes or goes must not move a card under the mouse.
        self._below = QHBoxLayout()
        self._below.addWidget(self.general)
        layout.addLayout(self._below)
        self._scroll.verticalScrollBar().rangeChanged.connect(self._align_below)
        self._align_below()
        self.setMinimumWidth(304)

    @Slot()
    def _align_below(self) -> None:
        """What stands below the cards ends where they end, with a scroll bar beside them or not."""
        bar = self._scroll.verticalScrollBar()
        beside = bar.sizeHint().width() if bar.maximum() > bar.minimum() else 0
        self._below.setContentsMargins(0, 0, GRID // 2 + beside, 0)

    def _make_cards(self, inventory: DeviceInventory) -> None:
        if self._cards.setInventory(inventory):
            self._fold_to_room()
            # How high new cards are is known once they were laid out.
            QTimer.singleShot(0, self, self._fold_many)

    def _fold_to_room(self) -> None:
        self._folds.fold(self._cards.all)

    @Slot()
    def _fold_many(self) -> None:
        if self._folds.are_many(self._cards.all):
            self._fold_to_room()

    def _is_room(self) -> bool:
        """Whether all cards are seen at once as they are now."""
        # The column's own hint leaves out what was added just now.
        heights = [each.sizeHint().height() + GRID for each in self._all_cards()]
        return sum(heights) + self._nodes.head_height() <= self._scroll.viewport().height()

    def _all_cards(self) -> tuple[QWidget, ...]:
        absent = () if self._absent.isHidden() else (self._absent,)
        return (*self._cards.all, *self.unresponsive.all, *absent)

    @Slot(object)
    def _connect_card(self, card: DeviceCard) -> None:
        card.useChanged.connect(self._take_use)
        card.foldChanged.connect(self._take_fold)
        card.policyChanged.connect(self._take_policy)
        card.applyRequested.connect(self._take_apply)
        card.powerRequested.connect(self.powerRequested)
        card.memory.menu.allocatorChosen.connect(self._take_allocator)
        card.replicas.valueChanged.connect(self._take_replicas)
        card.details.endRequested.connect(self.endRequested)
        card.problems.fixRequested.connect(self.fixRequested)
        card.problems.doctorRequested.connect(self.doctorRequested)

    def _show_choices(self) -> None:
        if self._inventory is None:
            return
        in_use = self._choices.keys_in_use(self._inventory, self._lost)
        used, cpus = frozenset(in_use), frozenset(processors(self._inventory))
        if not used & cpus:
            self._gpus_before = in_use
        self._nodes.setUse(used, cpus)
        gpus = {gpu.key for gpu in self._choices.gpus_in_use(self._inventory, self._lost)}
        for card in self._cards.all:
            key = card.device.key
            card.setUse(
                in_use=key in used,
                is_only_one=in_use == (key,),
                can_switch=in_use != (key,)
                or self._choices.may_be_switched_off(key, self._inventory, self._lost),
            )
            policy = self._choices.memory_policy(key)
            card.setPolicy(policy, self._choices.devices.allocator, len(gpus - {key}))
            card.setReplicas(self._choices.devices.cpu_replicas)
        absent = self._choices.absent_keys(self._inventory)
        self._absent.setDevices(absent, self._choices.devices, self._absence)

    def _absence(self, key: str) -> str:
        """Where a device of the profile is not: what is said of it on its card."""
        silent = () if self._inventory is None else self._inventory.unresponsive
        if self._is_of_cluster:
            return "in this cluster now"
        if any(gpu.key is None or gpu.is_meant_by(key) for gpu in silent):
            return "among the devices that answer"
        return "in this machine"

    def _show_problems(self) -> None:
        own, general = panel_text.by_device(self._problems, [c.device.key for c in self._cards.all])
        for card in self._cards.all:
            card.problems.setProblems(own[card.device.key])
        self.general.setProblems(general)

    def _show_applied(self, key: str, words: str) -> None:
        for card in self._cards.all:
            card.setApplied(words if card.device.key == key else "")

    @Slot(str, bool)
    def _take_use(self, key: str, on: bool) -> None:
        if self._inventory is not None:
            choices, before = self._choices, self._gpus_before
            self._take(choices.with_use_switched(key, self._inventory, self._lost, before))

    @Slot(str)
    def _take_node(self, node: str) -> None:
        if self._inventory is not None:
            self._take(self._choices.with_node_switched(node, self._inventory, self._lost))

    @Slot()
    def _show_opened_nodes(self) -> None:
        if self._inventory is not None:
            self._make_cards(self._inventory)
            self._show_choices()
            self._show_problems()

    def _show_machines(self, *, is_of_cluster: bool) -> None:
        self._is_of_cluster = is_of_cluster
        # A cluster is joined from the machine itself.
        self.more_machines.setHidden(is_of_cluster or bool(workplace().host))
        self._notice.setHidden(is_of_cluster)

    def _leave_cluster(self) -> None:
        self._show_machines(is_of_cluster=True)
        self.head.setDriver(None)
        self._nodes.setReading(None)
        self.setInventory(_NOTHING)

    @Slot(str, bool)
    def _take_fold(self, key: str, is_open: bool) -> None:
        self._folds.take(key, is_open=is_open)

    @Slot(str, object)
    def _take_policy(self, key: str, policy: MemoryPolicy) -> None:
        self._take(self._choices.with_memory(key, policy))

    @Slot(str)
    def _take_apply(self, key: str) -> None:
        if self._inventory is None:
            return
        choices, refused = self._choices.applied_to_all(key, self._inventory, self._lost)
        self._take(choices)
        policy = choices.memory_policy(key)
        self._show_applied(key, panel_text.applied(policy, refused, self._inventory))

    @Slot(object)
    def _take_allocator(self, allocator: Allocator) -> None:
        self._take(self._choices.with_allocator(allocator))

    @Slot(int)
    def _take_replicas(self, replicas: int) -> None:
        self._take(self._choices.with_cpu_replicas(replicas))

    @Slot(str)
    def _take_removal(self, key: str) -> None:
        self._take(self._choices.without(key))

    def _take(self, choices: DeviceChoices) -> None:
        self._choices = choices
        self._show_applied("", "")
        self._show_choices()
        self.valueChanged.emit(choices)


def _link_to_cluster() -> QToolButton:
    link = QToolButton()
    link.setObjectName("more_machines")
    link.setText("More machines…")
    link.setProperty("role", "link")
    link.setToolTip(wrapped("Train on the nodes of a Ray cluster, too: chosen in the Session tab."))
    return link
