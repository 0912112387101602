"""The strategy's settings, with a drawing of what they do."""

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.strategy import AllReduce, StrategyKind, StrategySettings
from gpupanel.ui.device_faces import DeviceFaces
from gpupanel.ui.panels.strategy_panel.division_diagram import DivisionDiagram
from gpupanel.ui.panels.strategy_panel.share_fields import ShareFields
from gpupanel.ui.widgets.choice_box import Choice, ChoiceBox
from gpupanel.ui.widgets.settings_form import Note, SettingsCard, SettingsForm

_BY_HAND = "by_hand"
_KINDS = {
    StrategyKind.ONE_DEVICE: Choice(
        StrategyKind.ONE_DEVICE,
        "One device",
        "One GPU, or the CPU, takes every example: the reference for all other strategies.",
    ),
    StrategyKind.MIRRORED: Choice(
        StrategyKind.MIRRORED,
        "Mirrored: all devices",
        "Every device holds a copy of the model and takes a share of each batch.",
    ),
}
_SHARES = (
    Choice("equal", "Equal", "Every replica takes as many examples as the others."),
    Choice(_BY_HAND, "By hand", "You give each replica its number of examples."),
)
_ALL_REDUCE = (
    Choice(AllReduce.AUTO, "Automatic", "NCCL on GPUs, where it can be used."),
    Choice(AllReduce.NCCL, "NCCL", "NVIDIA's own library; the fastest between whole GPUs."),
    Choice(
        AllReduce.HIERARCHICAL_COPY,
        "Hierarchical copy",
        "Copies between GPUs in a tree; also works where a GPU was split.",
    ),
    Choice(
        AllReduce.REDUCTION_TO_ONE_DEVICE,
        "Reduction to one device",
        "One device sums and sends the result back; simple, and works everywhere.",
    ),
)

_KIND_TIP = (
    "How several devices work together. A replica is one copy of the model; with the mirrored "
    "strategy each device gets one, and all copies stay equal."
)
_SHARES_TIP = (
    "How each global batch is divided among the replicas. Shares need not be equal: a faster "
    "device can take more, and the result is the same, since gradients are summed over the whole "
    "batch."
)
_HAND_TIP = "Examples of each global batch per replica; they must sum to the global batch size."
_REDUCE_TIP = "How the gradients of all replicas are summed, which they do once in every step."


class StrategyPanel(SettingsCard):
    """Edits :class:`StrategySettings`; keys that it has no editor for are kept as they are."""

    valueChanged = Signal(object)
    """A person changed a setting: the new value."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Strategy", parent)
        self.setObjectName("strategy_panel")
        self._value = StrategySettings()
        self._plan: LaunchPlan | None = None
        self._faces = DeviceFaces()
        self._by_hand: tuple[int, ...] | None = None
        self._kind = ChoiceBox([_KINDS[kind] for kind in _KINDS])
        self._kind.setObjectName("strategy_chooser")
        self._shares = ChoiceBox(_SHARES)
        self._shares.setObjectName("shares_chooser")
        self._fields = ShareFields()
        self._all_reduce = ChoiceBox(_ALL_REDUCE)
        self._note = Note()
        self._diagram = DivisionDiagram()
        self._lay_out()
        self._kind.choiceMade.connect(self._change_kind)
        self._shares.choiceMade.connect(self._change_shares)
        self._fields.sharesChanged.connect(partial(self._change, "shares"))
        self._all_reduce.choiceMade.connect(partial(self._change, "all_reduce"))
        self.setValue(self._value)

    def value(self) -> StrategySettings:
        """The settings as shown."""
        return self._value

    def setValue(self, value: StrategySettings) -> None:
        """Shows other settings without telling anyone."""
        self._value = value
        shares = value.shares if isinstance(value.shares, tuple) else None
        if shares is not None:
            self._by_hand = shares
        self._kind.setChoice(value.kind, unoffered=_kind_name(value.kind))
        self._shares.setChoice(
            value.shares if isinstance(value.shares, str) else _BY_HAND,
            unoffered="Balanced (not usable)",
        )
        self._fields.setShares(shares or ())
        self._fields.setPlan(self._plan, self._faces)
        self._all_reduce.setChoice(value.all_reduce)
        mirrored = value.kind is StrategyKind.MIRRORED
        self._form.set_row_visible(self._shares, visible=mirrored)
        self._form.set_row_visible(self._fields, visible=mirrored and shares is not None)
        self._form.set_row_visible(self._all_reduce, visible=mirrored)
        self._say(self._remark())

    def setInventory(self, inventory: DeviceInventory) -> None:
        """The devices of this machine, for their colours and names."""
        self._faces = DeviceFaces(inventory)
        self.setPlan(self._plan)

    def setPlan(self, plan: LaunchPlan | None) -> None:
        """What would be launched, to be drawn; ``None`` while problems leave nothing to plan."""
        self._plan = plan
        self._fields.setPlan(plan, self._faces)
        self._diagram.setPlan(plan, self._faces)
        self._diagram.setVisible(self._diagram.has_plan())
        self._say(self._remark())

    def _lay_out(self) -> None:
        self._form = SettingsForm(self)
        self._form.add_row("&Strategy", self._kind, _KIND_TIP)
        self._form.add_row("S&hares", self._shares, _SHARES_TIP)
        self._form.add_row("Per replica", self._fields, _HAND_TIP)
        self._form.add_row("All-red&uce", self._all_reduce, _REDUCE_TIP)
        for key, editor in (
            ("kind", self._kind),
            ("shares", self._shares),
            ("all_reduce", self._all_reduce),
        ):
            self.set_editor(key, editor)
        self.body.addWidget(self._form)
        self.body.addWidget(self._note)
        self.body.addSpacing(8)
        self.body.addWidget(self._diagram)

    def _change_kind(self, kind: str) -> None:
        update: dict[str, object] = {"kind": kind}
        # On one device shares mean nothing; the ones typed by hand come back with the replicas.
        if kind == StrategyKind.ONE_DEVICE:
            update["shares"] = "equal"
        elif kind == StrategyKind.MIRRORED and self._by_hand is not None:
            update["shares"] = self._by_hand
        self._take(update)

    def _change_shares(self, choice: str) -> None:
        if choice != _BY_HAND:
            self._by_hand = None
            self._take({"shares": choice})
        elif self._plan is None:
            self.setValue(self._value)
            self._say("Shares by hand start from those of the plan: mend the problems first.")
        else:
            self._take({"shares": self._plan.shares})

    def _change(self, field: str, choice: object) -> None:
        self._take({field: choice})

    def _take(self, update: dict[str, object]) -> None:
        value = StrategySettings.model_validate({**self._value.model_dump(), **update})
        if value != self._value:
            self.setValue(value)
            self.valueChanged.emit(value)

    def _remark(self) -> str:
        if self._value.kind not in _KINDS:
            return (
                "The profile asks for a strategy that this version cannot train with. It is kept "
                "until you choose another."
            )
        if self._value.shares == "balanced":
            return "This version does not measure balanced shares. Choose equal, or by hand."
        return ""

    def _say(self, sentence: str) -> None:
        self._note.setText(sentence)
        self._note.setVisible(bool(sentence))


def _kind_name(kind: StrategyKind) -> str:
    return f"{kind.replace('_', ' ').capitalize()} (not usable)"
