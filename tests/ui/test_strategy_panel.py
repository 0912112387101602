import pytest
from hypothesis import HealthCheck, given, settings
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import AllReduce, StrategyKind, StrategySettings
from gpupanel.planning.prepare import prepare
from gpupanel.ui import measured_shares, theme
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.inputs.counter import Counter, OptionalCounter
from gpupanel.ui.panels.strategy_panel import StrategyPanel
from gpupanel.ui.panels.strategy_panel.division_diagram import DivisionDiagram
from gpupanel.ui.panels.strategy_panel.share_fields import ShareFields
from gpupanel.ui.widgets.buttons import FoldButton
from gpupanel.ui.widgets.labels import ElidedLabel, Note
from tests.fakes.devices import CPU_ONLY
from tests.ui.values import STRATEGIES, TWO_GPUS, mirrored


@pytest.fixture
def panel(qtbot: QtBot) -> StrategyPanel:
    panel = StrategyPanel()
    qtbot.addWidget(panel)
    panel.setInventory(TWO_GPUS)
    return panel


def _plan(shares: str | tuple[int, ...] = "equal") -> LaunchPlan:
    plan = prepare(mirrored(shares), TWO_GPUS).plan
    assert plan is not None
    return plan


def _two_by_two() -> LaunchPlan:
    strategy = StrategySettings(
        kind=StrategyKind.MODEL_PARALLEL, devices_per_replica=2, shares=(48, 16)
    )
    devices = DeviceSettings(visible=("cpu",), cpu_replicas=4)
    plan = prepare(Profile(devices=devices, strategy=strategy), CPU_ONLY).plan
    assert plan is not None
    return plan


def _box(panel: StrategyPanel, name: str) -> QComboBox:
    box = panel.findChild(QComboBox, name)
    assert box is not None
    return box


_RARE = [StrategyKind.CENTRAL_STORAGE, StrategyKind.PARAMETER_SERVER]
_KINDS = [*(kind for kind in StrategyKind if kind not in _RARE), *_RARE]


def _offered(panel: StrategyPanel) -> list[str]:
    box = _box(panel, "strategy_chooser")
    return [box.itemData(index) for index in range(box.count())]


def _choose(panel: StrategyPanel, name: str, value: str) -> None:
    box = _box(panel, name)
    box.setCurrentIndex(box.findData(value))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=STRATEGIES)
def test_that_every_value_comes_back_unchanged_and_unannounced(panel, value):
    heard = []
    panel.valueChanged.connect(heard.append)
    panel.setValue(value)
    assert panel.value() == value
    assert heard == []


def test_that_every_strategy_can_be_chosen_and_says_what_it_is_for(panel):
    box = _box(panel, "strategy_chooser")
    box.setCurrentIndex(box.findText("More strategies…"))
    assert _offered(panel) == _KINDS
    said = set()
    for kind in StrategyKind:
        _choose(panel, "strategy_chooser", kind)
        assert panel.value().kind is kind
        said |= {note.text() for note in panel.findChildren(Note) if "or" in note.text()}
    assert len(said) >= len(StrategyKind)


def test_that_the_keyboard_walks_through_every_strategy(panel, qtbot):
    box = _box(panel, "strategy_chooser")
    qtbot.keyClick(box, Qt.Key.Key_Home)
    walked = [panel.value().kind]
    for _ in range(5):
        qtbot.keyClick(box, Qt.Key.Key_Down)
        walked.append(panel.value().kind)
    assert walked == _KINDS


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
def test_that_rare_strategies_wait_behind_the_last_entry(panel, qtbot):
    box, usual = _box(panel, "strategy_chooser"), _KINDS[:4]
    heard = []
    panel.valueChanged.connect(heard.append)
    assert _offered(panel)[:-1] == usual
    assert box.itemText(4) == "More strategies…"
    panel.show()
    box.showPopup()
    box.setCurrentIndex(4)
    box.hidePopup()
    # Nothing is chosen by it, and the list opens again with all of them.
    assert panel.value().kind is StrategyKind.ONE_DEVICE
    assert heard == []
    assert _offered(panel) == _KINDS
    qtbot.waitUntil(lambda: box.view().isVisible())
    box.hidePopup()


@pytest.mark.parametrize("kind", _RARE)
def test_that_a_rare_strategy_of_a_profile_is_never_hidden(panel, kind):
    panel.setValue(StrategySettings(kind=kind))
    assert _box(panel, "strategy_chooser").currentText() == kind.label
    assert _offered(panel) == _KINDS


_FIELDS = {
    StrategyKind.ONE_DEVICE: set(),
    StrategyKind.MIRRORED: {"Shares", "All-reduce"},
    StrategyKind.CENTRAL_STORAGE: {"Shares"},
    StrategyKind.MULTI_WORKER: {"Workers", "Shares", "All-reduce"},
    StrategyKind.PARAMETER_SERVER: {"Workers", "Parameter servers"},
    StrategyKind.MODEL_PARALLEL: {"Placement"},
}


@pytest.mark.parametrize("kind", StrategyKind)
def test_that_only_fields_that_mean_something_are_shown(panel, kind):
    panel.setValue(StrategySettings(kind=kind))
    panel.findChild(FoldButton).click()
    every = set().union(*_FIELDS.values())
    shown = {
        each.accessibleName()
        for each in panel.findChildren(QWidget)
        if each.accessibleName() in every and not each.isHidden()
    }
    assert shown == _FIELDS[kind]


def test_that_what_was_chosen_for_a_kind_comes_back_with_it_and_is_not_left_elsewhere(panel):
    panel.setValue(
        StrategySettings(kind=StrategyKind.MULTI_WORKER, workers=3, all_reduce=AllReduce.NCCL)
    )
    _choose(panel, "strategy_chooser", "model_parallel")
    assert panel.value() == StrategySettings(kind=StrategyKind.MODEL_PARALLEL)
    _choose(panel, "strategy_chooser", "...")  # which unfolds them
    _choose(panel, "strategy_chooser", "parameter_server")
    assert panel.value() == StrategySettings(kind=StrategyKind.PARAMETER_SERVER, workers=3)
    _choose(panel, "strategy_chooser", "multi_worker")
    assert panel.value() == StrategySettings(
        kind=StrategyKind.MULTI_WORKER, workers=3, all_reduce=AllReduce.NCCL
    )


def test_that_workers_and_servers_are_counted(panel, qtbot):
    panel.setValue(StrategySettings(kind=StrategyKind.PARAMETER_SERVER))
    counters = {each.accessibleName(): each for each in panel.findChildren(Counter)}
    workers, servers = counters["Workers"], counters["Parameter servers"]
    assert workers.text() == "one per GPU, or 2 on the CPU"
    qtbot.keyClick(workers, Qt.Key.Key_Up)
    qtbot.keyClick(servers, Qt.Key.Key_Up)
    assert (panel.value().workers, panel.value().parameter_servers) == (1, 2)
    qtbot.keyClick(workers, Qt.Key.Key_Down)
    assert panel.value().workers is None


def test_that_a_task_without_training_offers_what_holds_a_whole_model(panel):
    panel.setValue(StrategySettings(kind=StrategyKind.MULTI_WORKER))
    panel.setTask("evaluate")
    box = _box(panel, "strategy_chooser")
    assert box.currentText() == "A copy in each process \N{MIDDLE DOT} multi-worker (training only)"
    _choose(panel, "strategy_chooser", "mirrored")
    assert [box.itemData(index) for index in range(box.count())] == ["one_device", "mirrored"]
    assert _box(panel, "shares_chooser").findData("balanced") < 0
    panel.setTask("train")
    assert _offered(panel)[:-1] == _KINDS[:4]


def test_that_shares_by_hand_start_from_those_of_the_plan(panel):
    panel.setValue(StrategySettings(kind=StrategyKind.MIRRORED))
    panel.setPlan(_plan())
    heard = []
    panel.valueChanged.connect(heard.append)
    _choose(panel, "shares_chooser", "by_hand")
    assert [value.shares for value in heard] == [(32, 32)]


def test_that_without_a_plan_shares_by_hand_are_refused_in_words(panel):
    panel.setValue(StrategySettings(kind=StrategyKind.MIRRORED))
    _choose(panel, "shares_chooser", "by_hand")
    assert panel.value().shares == "equal"
    assert _box(panel, "shares_chooser").currentText() == "Equal"
    assert any("fix the problems first" in note.text() for note in panel.findChildren(Note))


def test_that_each_replica_has_a_field_for_its_share(panel):
    panel.setValue(StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16)))
    panel.setPlan(_plan((48, 16)))
    fields = panel.findChild(ShareFields)
    second = next(
        each for each in fields.findChildren(Counter) if "replica 1" in each.accessibleName()
    )
    heard = []
    panel.valueChanged.connect(heard.append)
    second.stepUp()
    assert [value.shares for value in heard] == [(48, 17)]


def test_that_one_device_has_no_shares_and_the_typed_ones_come_back(panel):
    panel.setValue(StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16)))
    _choose(panel, "strategy_chooser", "one_device")
    assert panel.value().shares == "equal"
    assert _box(panel, "shares_chooser").isHidden()
    _choose(panel, "strategy_chooser", "mirrored")
    assert panel.value().shares == (48, 16)


def test_that_balanced_shares_can_be_chosen(panel):
    panel.setValue(StrategySettings(kind=StrategyKind.MIRRORED))
    _choose(panel, "shares_chooser", "balanced")
    assert panel.value().shares == "balanced"


def _pixels(image: QImage) -> set[int]:
    return {
        image.pixel(x, y) for x in range(0, image.width(), 2) for y in range(0, image.height(), 2)
    }


def test_that_the_diagram_is_painted_in_the_colours_of_the_devices(panel, qtbot):
    panel.setPlan(_plan((48, 16)))
    diagram = panel.findChild(DivisionDiagram)
    diagram.resize(400, diagram.sizeHint().height())
    pixels = _pixels(diagram.grab().toImage())
    for index in (0, 1):
        assert QColor(theme.device_color(index)).rgb() in pixels
    assert theme.device_color(2).rgb() not in pixels


def test_that_the_diagram_says_the_plan_to_those_who_cannot_see_it(panel):
    panel.setPlan(_plan((48, 16)))
    words = panel.findChild(DivisionDiagram).accessibleDescription()
    assert "Replica 0 \N{MIDDLE DOT} RTX 4090 takes 48" in words
    assert "Replica 1 \N{MIDDLE DOT} RTX 3060 takes 16" in words


def test_that_a_replica_has_the_same_words_in_diagram_fields_bar_and_report(panel):
    plan = _plan((48, 16))
    panel.setValue(StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16)))
    panel.setPlan(plan)
    words = "Replica 1 \N{MIDDLE DOT} RTX 3060"
    assert words in panel.findChild(DivisionDiagram).accessibleDescription()
    fields = panel.findChild(ShareFields)
    assert [each.text() for each in fields.findChildren(ElidedLabel)][1] == words
    names = [each.accessibleName() for each in fields.findChildren(Counter)]
    assert names[1] == "Share of replica 1 \N{MIDDLE DOT} RTX 3060"
    shown = measured_shares.segments(plan, plan.shares, (), DeviceLabels(TWO_GPUS))
    assert shown[1].name == words


def test_that_the_last_diagram_fades_when_there_is_no_plan(panel):
    panel.setPlan(_plan())
    diagram = panel.findChild(DivisionDiagram)
    diagram.resize(400, diagram.sizeHint().height())
    panel.setPlan(None)
    assert theme.device_color(0).rgb() not in _pixels(diagram.grab().toImage())
    assert diagram.accessibleDescription().startswith("No plan:")


def test_that_peer_to_peer_is_offered_where_gpus_hand_gradients_to_each_other(panel, qtbot):
    peers = panel.findChild(QCheckBox, "peer_to_peer")
    panel.show()
    panel.findChild(FoldButton).setChecked(True)
    assert not peers.isVisible()
    _choose(panel, "strategy_chooser", StrategyKind.MIRRORED)
    assert peers.isVisible()
    assert "NCCL_P2P_DISABLE=1" in peers.toolTip()
    with qtbot.waitSignal(panel.valueChanged) as changed:
        peers.click()
    assert changed.args[0].peer_to_peer is False
    # Without a second GPU it means nothing, but where it is off it can be turned on again.
    panel.setInventory(CPU_ONLY)
    assert peers.isVisible()
    peers.click()
    assert not peers.isVisible()
    assert panel.value().peer_to_peer is True


def test_that_a_pipeline_is_offered_where_layers_are_on_several_devices(panel, qtbot):
    pipeline = panel.findChild(QCheckBox, "pipeline")
    panel.show()
    assert not pipeline.isVisible()
    _choose(panel, "strategy_chooser", StrategyKind.MODEL_PARALLEL)
    assert pipeline.isVisible()
    assert "accumulation steps" in pipeline.toolTip()
    with qtbot.waitSignal(panel.valueChanged) as changed:
        pipeline.click()
    assert changed.args[0].pipeline is True


def test_that_replicas_of_several_devices_share_batches(panel, qtbot):
    panel.show()
    _choose(panel, "strategy_chooser", StrategyKind.MODEL_PARALLEL)
    devices = panel.findChild(OptionalCounter, "devices_per_replica")
    shares = panel.findChild(QWidget, "shares_chooser")
    assert devices.isVisible()
    assert not shares.isVisible()
    with qtbot.waitSignal(panel.valueChanged) as changed:
        devices.setValue(2)
        devices.valueChanged.emit(2)
    assert changed.args[0].devices_per_replica == 2
    assert shares.isVisible()

    panel.setPlan(_two_by_two())
    diagram = panel.findChild(DivisionDiagram)
    assert "48 examples" in diagram.accessibleDescription()
    _choose(panel, "shares_chooser", "by_hand")
    assert panel.value().shares == (48, 16)
    # With other replicas they mean nothing.
    panel.setValue(panel.value().model_copy(update={"placement": {"dense_1": 1}}))
    devices.setValue(4)
    devices.valueChanged.emit(4)
    assert (panel.value().shares, panel.value().placement) == ("equal", "auto")


def test_that_a_replica_is_named_by_all_of_its_devices():
    strategy = StrategySettings(kind=StrategyKind.MODEL_PARALLEL, devices_per_replica=2)
    gpus = DeviceSettings(visible=tuple(gpu.key for gpu in TWO_GPUS.gpus))
    plan = prepare(Profile(devices=gpus, strategy=strategy), TWO_GPUS).plan
    segments = measured_shares.segments(plan, plan.shares, (), DeviceLabels(TWO_GPUS))
    assert [each.name for each in segments] == ["Replica 0 · RTX 4090 + RTX 3060"]


def test_that_quotas_of_the_optimizers_state_begin_with_what_the_plan_says(panel, qtbot):
    panel.show()
    _choose(panel, "strategy_chooser", StrategyKind.MIRRORED)
    panel.findChild(FoldButton).setChecked(True)
    chooser = panel.findChild(QWidget, "optimizer_state_chooser")
    quotas = panel.findChild(QLineEdit, "optimizer_quotas")
    assert chooser.isVisible()
    assert not quotas.isVisible()
    assert "3, 1" in quotas.toolTip()

    _choose(panel, "optimizer_state_chooser", "by_hand")
    assert panel.value().optimizer_state == "replicated"  # there is no plan to begin with

    panel.setPlan(_plan())
    _choose(panel, "optimizer_state_chooser", "by_hand")
    assert quotas.isVisible()
    assert panel.value().optimizer_state == (50, 50)
    quotas.clear()
    with qtbot.waitSignal(panel.valueChanged):
        qtbot.keyClicks(quotas, "3, 0")
    assert panel.value().optimizer_state == (3, 0)

    _choose(panel, "optimizer_state_chooser", "sharded")
    assert panel.value().optimizer_state == "sharded"
    assert not quotas.isVisible()
    _choose(panel, "strategy_chooser", StrategyKind.ONE_DEVICE)
    assert not chooser.isVisible()


def test_that_rarely_needed_settings_are_folded_until_one_is_set_or_has_a_problem(panel, qtbot):
    panel.setValue(StrategySettings(kind=StrategyKind.MIRRORED))
    panel.show()
    (fold,) = panel.findChildren(FoldButton)
    summing = panel._all_reduce
    assert fold.isVisible()
    assert not summing.isVisible()
    qtbot.mouseClick(fold, Qt.MouseButton.LeftButton)
    assert summing.isVisible()
    qtbot.mouseClick(fold, Qt.MouseButton.LeftButton)
    panel.setValue(StrategySettings(kind=StrategyKind.ONE_DEVICE))
    assert not fold.isVisible(), "nothing is in it"
    chosen = StrategySettings(kind=StrategyKind.MIRRORED, all_reduce=AllReduce.NCCL)
    panel.setValue(chosen)
    assert summing.isVisible()
    fold.setChecked(False)
    panel.setValue(chosen.model_copy(update={"shares": "balanced"}))
    assert not summing.isVisible(), "a person folded it"
    message = "NCCL is not there."
    panel.setProblems((Problem(code="x", field="strategy.all_reduce", message=message),))
    assert summing.isVisible()
