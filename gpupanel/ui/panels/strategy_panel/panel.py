"""The strategy's settings, with a drawing of what they do."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.choice import Choice
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.setting import Setting, setting_of, settings_of
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.task import Task
from gpupanel.domain.value import MOST_PLACES
from gpupanel.planning.layers import ModelLayer, places_of, split_evenly
from gpupanel.planning.shares import proportional_shares
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.forms.input_for import optional_counter_for
from gpupanel.ui.forms.settings_card import SettingsCard
from gpupanel.ui.forms.settings_form import SettingsForm
from gpupanel.ui.forms.value_form import advanced_fold
from gpupanel.ui.inputs.choice_box import ChoiceBox
from gpupanel.ui.inputs.counter import Counter
from gpupanel.ui.inputs.folded_choice_box import FoldedChoiceBox
from gpupanel.ui.inputs.number_list_edit import NumberListEdit
from gpupanel.ui.inputs.switch import CheckBox
from gpupanel.ui.panels.strategy_panel import choices
from gpupanel.ui.panels.strategy_panel.choices import AUTO, BY_HAND, KindKeys
from gpupanel.ui.panels.strategy_panel.diagrams.diagram import Division
from gpupanel.ui.panels.strategy_panel.division_diagram import MOST_DRAWN, DivisionDiagram
from gpupanel.ui.panels.strategy_panel.placement_editor import PlacementEditor
from gpupanel.ui.panels.strategy_panel.share_fields import ShareFields
from gpupanel.ui.widgets.buttons import FoldButton
from gpupanel.ui.widgets.labels import Note
from gpupanel.ui.widgets.tips import teach

_ADVANCED = tuple(each for each in settings_of(StrategySettings) if each.advanced)
_BUILT_FIRST = "The model is built to list its layers; that takes some seconds."
_PERCENT = 100
_MENDED_FIRST = "{} by hand start from the plan: fix the problems first."


class StrategyPanel(SettingsCard):
    """Edits :class:`StrategySettings`; what means nothing to the chosen kind is hidden."""

    valueChanged = Signal(object)
    """A person changed a setting: the new value."""
    layersRequested = Signal()
    """The layers of a model are to be placed by hand that are only known when it is built."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Strategy", parent, tables=("strategy",))
        self.setObjectName("strategy_panel")
        self._value = StrategySettings()
        self._plan: LaunchPlan | None = None
        self._device_labels = DeviceLabels()
        self._task: Task = "train"
        self._on_cluster = False
        self._layers: tuple[ModelLayer, ...] = ()
        self._waits_for_layers = False
        self._has_gpu_pairs = False
        self._keys = KindKeys()
        self._more = advanced_fold()
        self._kind = FoldedChoiceBox(choices.KINDS, choices.RARE_KINDS, "More strategies…")
        self._kind.setObjectName("strategy_chooser")
        self._sentence = Note()
        self._shares = ChoiceBox(choices.SHARES)
        self._shares.setObjectName("shares_chooser")
        self._fields = ShareFields()
        self._workers = optional_counter_for(setting_of(StrategySettings, "workers"))
        self._servers = Counter(1, unit="server")
        self._servers.setMaximum(MOST_PLACES)
        self._devices = optional_counter_for(setting_of(StrategySettings, "devices_per_replica"))
        self._devices.setObjectName("devices_per_replica")
        self._placement = ChoiceBox(choices.PLACEMENTS)
        self._placement.setObjectName("placement_chooser")
        self._editor = PlacementEditor()
        self._pipeline = CheckBox("Pipeline: all devices work at once")
        self._pipeline.setObjectName("pipeline")
        self._form = _FoldedForm(self._more, self)
        self._all_reduce = ChoiceBox(choices.ALL_REDUCE[StrategyKind.MIRRORED])
        self._optimizer_state = ChoiceBox(choices.OPTIMIZER_STATES)
        self._optimizer_state.setObjectName("optimizer_state_chooser")
        self._quotas = NumberListEdit(
            placeholder="one whole number per replica",
            least_length=1,
            most_length=MOST_PLACES,
            least=0,
        )
        self._quotas.setObjectName("optimizer_quotas")
        self._peer_to_peer = CheckBox("Peer-to-peer between GPUs")
        self._peer_to_peer.setObjectName("peer_to_peer")
        self._note = Note(tone="warning")
        self._diagram = DivisionDiagram()
        self._lay_out()
        self._connect()
        self.setValue(self._value)

    def value(self) -> StrategySettings:
        """The settings as shown."""
        return self._value

    def setValue(self, value: StrategySettings) -> None:
        """Shows other settings silently."""
        before, self._value = self._value, value
        self._keys.remember(value)
        self._kind.setValue(
            value.kind, unoffered=choices.unoffered_label(value.kind, on_cluster=self._on_cluster)
        )
        meant = self._meaning(value.kind)
        self._sentence.setText(meant.description)
        self.set_summary(meant.label)
        shares = value.shares if isinstance(value.shares, tuple) else None
        self._shares.setValue(
            value.shares if isinstance(value.shares, str) else BY_HAND,
            unoffered="Balanced (training only)",
        )
        self._fields.setValue(shares or ())
        state = value.optimizer_state
        self._optimizer_state.setValue(BY_HAND if isinstance(state, tuple) else state)
        self._quotas.setValue(state if isinstance(state, tuple) else ())
        self._workers.setValue(value.workers)
        self._servers.setValue(value.parameter_servers or 1)
        self._devices.setValue(value.devices_per_replica)
        by_hand = isinstance(value.placement, dict)
        self._placement.setValue(BY_HAND if by_hand else AUTO)
        self._editor.setValue(value.placement if isinstance(value.placement, dict) else {})
        self._pipeline.setValue(value.pipeline)
        self._all_reduce.setOffered(
            choices.ALL_REDUCE.get(value.kind, choices.ALL_REDUCE[StrategyKind.MIRRORED])
        )
        self._all_reduce.setValue(value.all_reduce)
        self._peer_to_peer.setValue(value.peer_to_peer)
        # What stays as it is stays folded, too, where a person folded it.
        changed = (each for each in _ADVANCED if _of(value, each) != _of(before, each))
        if any(_of(value, each) != each.default for each in changed):
            self._more.setChecked(True)
        self._show_rows()
        self._show_plan()
        self._show_note("")

    @override
    def forget(self) -> None:
        """Forgets what was typed for other kinds: it was for another profile."""
        super().forget()
        self._keys.forget()

    def setInventory(self, inventory: DeviceInventory) -> None:
        """The devices of this machine, for their colours and names."""
        self._device_labels = DeviceLabels(inventory)
        self._has_gpu_pairs = len(inventory.gpus) > 1
        self.setValue(self._value)

    def setPlan(self, plan: LaunchPlan | None) -> None:
        """What would be launched, to be drawn; ``None`` while problems leave nothing to plan."""
        if plan == self._plan:
            return
        self._plan = plan
        self._show_plan()
        self._show_note("")

    def setTask(self, task: Task, *, on_cluster: bool = False) -> None:
        """What the devices are to do: it decides what is offered, and the drawing shows it."""
        self._task, self._on_cluster = task, on_cluster
        trains = task == "train"
        self._kind.setOffered(choices.kinds_of(task, on_cluster=on_cluster))
        self._shares.setOffered(choices.SHARES if trains else choices.INFERENCE_SHARES)
        self.setValue(self._value)

    def setLayers(self, layers: Sequence[ModelLayer]) -> None:
        """The layers of the model as it is chosen now, to be placed by hand."""
        self._layers = tuple(layers)
        self._editor.setLayers(self._layers)
        self._show_plan()
        if self._layers and self._waits_for_layers:
            self._show_note("")
            self._change_placement(BY_HAND)

    def setLayersProblem(self, sentence: str) -> None:
        """Why the model could not be built whose layers were to be placed by hand."""
        if self._waits_for_layers:
            self._waits_for_layers = False
            self._show_note(sentence)

    def _lay_out(self) -> None:
        form = self._form
        rows: dict[str, QWidget] = {
            "kind": self._kind,
            "workers": self._workers,
            "parameter_servers": self._servers,
            "devices_per_replica": self._devices,
            "shares": self._shares,
            "placement": self._placement,
        }
        below = {
            "kind": lambda: form.add_wide(self._sentence),
            "shares": lambda: form.add_whole(self._fields),
            "placement": lambda: form.add_whole(self._editor),
        }
        for key, editor in rows.items():
            form.add_setting(setting_of(StrategySettings, key), editor)
            if key in below:
                below[key]()
        self._add_switch("pipeline", self._pipeline)
        form.add_fold(self._more)
        form.add_setting(setting_of(StrategySettings, "all_reduce"), self._all_reduce)
        self._add_switch("peer_to_peer", self._peer_to_peer)
        state = setting_of(StrategySettings, "optimizer_state")
        form.add_setting(state, self._optimizer_state)
        teach(self._quotas, "Quotas", state.description)
        form.add_wide(self._quotas)
        self.add_form(form)
        self.body.addWidget(self._note)
        self.body.addSpacing(8)
        self.body.addWidget(self._diagram)

    def _add_switch(self, key: str, switch: CheckBox) -> None:
        each = setting_of(StrategySettings, key)
        teach(switch, each.title, each.description)
        self._form.add_wide(switch, key=key)

    def _connect(self) -> None:
        self._more.toggled.connect(self._show_folded)
        self._kind.valueChanged.connect(self._change_kind)
        self._shares.valueChanged.connect(self._change_shares)
        self._fields.valueChanged.connect(partial(self._change, "shares"))
        self._workers.valueChanged.connect(self._change_workers)
        self._servers.valueChanged.connect(partial(self._change, "parameter_servers"))
        self._devices.valueChanged.connect(self._change_devices)
        self._placement.valueChanged.connect(self._change_placement)
        self._editor.valueChanged.connect(partial(self._change, "placement"))
        self._all_reduce.valueChanged.connect(partial(self._change, "all_reduce"))
        self._optimizer_state.valueChanged.connect(self._change_optimizer_state)
        self._quotas.valueChanged.connect(partial(self._change, "optimizer_state"))
        self._pipeline.valueChanged.connect(partial(self._change, "pipeline"))
        self._peer_to_peer.valueChanged.connect(partial(self._change, "peer_to_peer"))

    @Slot()
    def _show_folded(self) -> None:
        self._show_rows()

    def _show_rows(self) -> None:
        value = self._value
        shown = {each.name: each.applies_in(value) for each in settings_of(StrategySettings)}
        for name in ("all_reduce", "optimizer_state"):
            shown[name] &= self._task == "train"
        if self._task == "script":
            # The rest is for a loop of gpupanel's own.
            shown = {name: name == "kind" for name in shown}
        shown["shares"] &= value.divides_batches
        is_off = not value.peer_to_peer
        shown["peer_to_peer"] &= shown["all_reduce"] and (self._has_gpu_pairs or is_off)
        advanced = {each.name for each in _ADVANCED}
        self._more.setVisible(any(shown[name] for name in advanced))
        for key, editor in self._form.editors().items():
            is_folded = key in advanced and not self._more.isChecked()
            self._form.set_row_visible(editor, visible=shown[key] and not is_folded)
        by_quotas = shown["optimizer_state"] and isinstance(value.optimizer_state, tuple)
        self._form.set_row_visible(self._quotas, visible=by_quotas and self._more.isChecked())
        by_hand = isinstance(value.shares, tuple), isinstance(value.placement, dict)
        self._form.set_row_visible(self._fields, visible=shown["shares"] and by_hand[0])
        self._form.set_row_visible(self._editor, visible=shown["placement"] and by_hand[1])

    def _show_plan(self) -> None:
        plan = self._plan
        self._fields.setPlan(plan, self._device_labels)
        places = plan.places_of(0) if plan and plan.replicas else ()
        self._editor.setPlaces(places, self._device_labels)
        self._diagram.setDivision(None if plan is None else self._division(plan))
        is_drawable = plan is None or len(plan.replicas) <= MOST_DRAWN
        self._diagram.setVisible(self._diagram.has_plan() and is_drawable)

    def _division(self, plan: LaunchPlan) -> Division:
        chosen = self._value.placement if isinstance(self._value.placement, dict) else {}
        return Division(plan, self._device_labels, self._task, places_of(self._layers, chosen))

    def _meaning(self, kind: StrategyKind) -> Choice:
        """What it means to the task."""
        offered = choices.kinds_of(self._task, on_cluster=self._on_cluster)
        return next((each for each in offered if each.value == kind), kind.choice)

    def _change_kind(self, kind: str) -> None:
        chosen = StrategyKind(kind)
        is_bare = self._task == "script"
        settings = StrategySettings(kind=chosen) if is_bare else self._keys.settings(chosen)
        self._take(settings.model_dump())

    def _change_workers(self) -> None:
        self._change("workers", self._workers.value())

    def _change_devices(self) -> None:
        # Shares and places were those of other replicas.
        update: dict[str, object] = {"devices_per_replica": self._devices.value()}
        if isinstance(self._value.shares, tuple):
            update["shares"] = "equal"
        if isinstance(self._value.placement, dict):
            update["placement"] = AUTO
        self._take(update)

    def _change_shares(self, choice: str) -> None:
        if choice != BY_HAND:
            self._take({"shares": choice})
        elif self._plan is None:
            self._refuse("Shares")
        else:
            self._take({"shares": self._plan.shares})

    def _change_optimizer_state(self, choice: str) -> None:
        if choice != BY_HAND:
            self._take({"optimizer_state": choice})
        elif self._plan is None:
            self._refuse("Quotas")
        else:
            parts = self._plan.optimizer_quotas or (1,) * len(self._plan.replicas)
            self._take({"optimizer_state": proportional_shares(_PERCENT, parts)})

    def _change_placement(self, choice: str) -> None:
        if choice != BY_HAND:
            self._take({"placement": AUTO})
        elif self._plan is None or not self._plan.places:
            self._refuse("Placements")
        elif not self._layers:
            self._wait_for_layers()
        else:
            self._take({"placement": split_evenly(self._layers, self._plan.stage_count)})

    def _change(self, field: str, choice: object) -> None:
        self._take({field: choice})

    def _take(self, update: dict[str, object]) -> None:
        self._waits_for_layers = False
        value = StrategySettings.model_validate({**self._value.model_dump(), **update})
        if value != self._value:
            self.setValue(value)
            self.valueChanged.emit(value)

    def _wait_for_layers(self) -> None:
        """Has the model built, whose layers are not known before."""
        self.setValue(self._value)
        self._waits_for_layers = True
        self._show_note(_BUILT_FIRST)
        self.layersRequested.emit()

    def _refuse(self, what: str) -> None:
        self.setValue(self._value)
        self._show_note(_MENDED_FIRST.format(what))

    def _show_note(self, sentence: str) -> None:
        self._note.setText(sentence)
        self._note.setVisible(bool(sentence))


def _of(value: StrategySettings, setting: Setting) -> object:
    return getattr(value, setting.name)


class _FoldedForm(SettingsForm):
    """Its rarely needed rows are unfolded for a problem with one of them.

    Args:
        fold: Unfolds them.
        parent: The panel.
    """

    def __init__(self, fold: FoldButton, parent: QWidget) -> None:
        super().__init__(parent)
        self._fold = fold

    @override
    def reveal(self, key: str) -> None:
        if any(key == each.name for each in _ADVANCED):
            self._fold.setChecked(True)
