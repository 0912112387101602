"""A cluster in the window: chosen, listed, lost, refused; by recorded answers, then by raylets."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QPushButton, QTableView

from gpupanel.domain.cluster import ClusterSettings, NodeState
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.cluster.cluster_problems import ray_not_installed
from gpupanel.ui.bindings.shown_devices import ShownDevices
from gpupanel.ui.inputs.choice_box import ChoiceBox
from gpupanel.ui.inputs.switch import Switch
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.panels.device_panel.device_card import DeviceCard
from gpupanel.ui.panels.device_panel.node_section import NodeSection
from gpupanel.ui.run_state import RunState
from gpupanel.ui.workers.cluster_worker import ClusterWatch
from tests.clusters import RealCluster, real_cluster
from tests.fakes.clusters import (
    ADDRESS,
    RecordedCluster,
    cluster_node,
    cluster_of,
    gpu_key,
    many_nodes,
)
from tests.fakes.devices import CPU_ONLY
from tests.fakes.person import Person
from tests.ui.device_panel_person import button, card, click, seen_texts
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("undressed")

WORKERS = StrategySettings(kind=StrategyKind.MULTI_WORKER)


@pytest.fixture
def cluster() -> RecordedCluster:
    return RecordedCluster()


@pytest.fixture
def window(qtbot, tmp_path, runs_dir, cluster, preview_without_process) -> Iterator[MainWindow]:
    """The window of a workstation without a GPU, which nobody really reads."""
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    watch = ClusterWatch(make_source=cluster)
    window = new_window(settings, runs_dir, Person(), watch)
    watch.setParent(window)
    qtbot.addWidget(window)
    window.resize(1280, 800)
    with qtbot.waitExposed(window):
        window.show()
    window.parts[ShownDevices]._see_machine(CPU_ONLY)
    window.session.open_profile(Profile(strategy=WORKERS), None)
    window.session.prepare_now()
    yield window
    window.session.mark_saved(tmp_path / "saved.toml")
    window.close()


def _section(window: MainWindow, name: str) -> NodeSection:
    return window.devices.findChild(NodeSection, f"node_{name}")


def _choose_cluster(qtbot, window: MainWindow) -> None:
    """By mouse and keyboard, as a person does."""
    click(window.devices.findChild(QAbstractButton, "more_machines"))
    chooser = window.session_page.cluster.findChild(ChoiceBox, "machines_chooser")
    qtbot.waitUntil(chooser.isVisible)
    chooser.setFocus()
    QTest.keyClick(chooser, Qt.Key.Key_Down)
    assert window.session.profile.cluster == ClusterSettings()


def _open(window: MainWindow, **more: object) -> None:
    profile = Profile(cluster=ClusterSettings(address=ADDRESS), strategy=WORKERS, **more)
    window.session.open_profile(profile, None)


def _listed(qtbot, window: MainWindow, cluster: RecordedCluster, *readings) -> None:
    """Have the cluster answer these, and wait for the last."""
    last = readings[-1]
    cluster.answers.extend(readings)
    reports = sum(len(report.inventory.devices) for _, report in last.reports)
    qtbot.waitUntil(
        lambda: (
            not cluster.answers
            and window.session.inventory is not None
            and len(window.session.inventory.devices) == reports
        )
    )
    window.session.prepare_now()


def _keys_in_plan(window: MainWindow) -> list[str]:
    plan = window.session.prepare_now().plan
    return [] if plan is None else [replica.device_key for replica in plan.replicas]


def test_that_a_cluster_is_off_until_a_person_chooses_it_by_mouse(qtbot, window, cluster):
    assert window.session_page.cluster.is_folded
    assert window.session.preparation.is_startable
    _choose_cluster(qtbot, window)
    assert "Asking the nodes of the cluster" in seen_texts(window.devices)
    assert window.session.state_text == "Asking the nodes of the cluster…"
    assert not window.session.buttons.start
    qtbot.waitUntil(lambda: cluster.asked == ["auto"])
    _listed(qtbot, window, cluster, cluster_of(cluster_node("alpha"), cluster_node("beta")))
    assert _keys_in_plan(window) == [gpu_key("alpha", 0), gpu_key("beta", 0)]
    assert window.session.buttons.start
    texts = seen_texts(window.devices)
    assert "10.0.0.9 · 1 GPU" in texts
    assert "alpha" in texts
    assert card(window.devices, gpu_key("beta", 0)).isVisible()
    assert "H100 80GB HBM3 · beta" in seen_texts(window.session_page.plan)


def test_that_a_cluster_of_no_ray_says_what_to_install_and_this_machine_is_one_click_away(
    qtbot, window, cluster
):
    cluster.answers.append(ray_not_installed())
    _open(window)
    qtbot.waitUntil(lambda: "Ray is not installed" in seen_texts(window.devices))
    command = next(
        each for each in window.devices.findChildren(QLineEdit) if "pip install" in each.text()
    )
    assert command.isVisible()
    assert not window.session.buttons.start
    assert window.session.preparation.problems[0].code == "ray_not_installed"
    click(button(window.devices, "Train on this machine"))
    assert window.session.profile.cluster is None
    assert window.session.inventory == CPU_ONLY
    assert window.session.prepare_now().plan is not None
    assert "Ray is not installed" not in seen_texts(window.devices)


def test_that_a_cluster_that_did_not_answer_is_asked_again_by_a_click(qtbot, window, cluster):
    gone = Problem(code="cluster_not_found", field="cluster.address", message="No answer.")
    cluster.answers.append(gone)
    _open(window)
    qtbot.waitUntil(lambda: "No answer." in seen_texts(window.devices))
    assert cluster.closed == 1
    click(window.devices.findChild(QPushButton, "ask_cluster_again"))
    assert "Asking the nodes" in seen_texts(window.devices)
    qtbot.waitUntil(lambda: cluster.asked == [ADDRESS, ADDRESS])
    _listed(qtbot, window, cluster, cluster_of(cluster_node("alpha")))
    assert "No answer." not in seen_texts(window.devices)


def test_that_a_lost_node_is_named_and_its_devices_come_back_with_it(qtbot, window, cluster):
    alpha, beta = cluster_node("alpha"), cluster_node("beta")
    lost = cluster_node("beta", state=NodeState.LOST, reason="its raylet has ended")
    _open(window)
    _listed(qtbot, window, cluster, cluster_of(alpha, beta))
    _listed(qtbot, window, cluster, cluster_of(alpha, lost))
    assert "Lost: its raylet has ended." in seen_texts(_section(window, "beta"))
    qtbot.waitUntil(lambda: not _section(window, "beta").findChildren(DeviceCard))
    assert _keys_in_plan(window) == [gpu_key("alpha", 0)]
    again = cluster_node("beta", node_id="another")
    _listed(qtbot, window, cluster, cluster_of(alpha, again))
    assert "Lost" not in seen_texts(window.devices)
    assert _keys_in_plan(window) == [gpu_key("alpha", 0), gpu_key("beta", 0)]


def test_that_nothing_starts_before_each_node_was_heard_or_is_late(qtbot, window, cluster):
    _open(window)
    alpha = cluster_node("alpha", 2)
    cluster.answers.append(cluster_of(alpha, cluster_node("beta", is_being_asked=True)))
    qtbot.waitUntil(lambda: "Asking it for its devices" in seen_texts(window.devices))
    assert "2 GPUs" in seen_texts(_section(window, "alpha"))
    assert not window.session.buttons.start
    assert window.session.prepare_now().plan is None
    late = cluster_node("beta", state=NodeState.SILENT, reason="no answer within 20 s")
    _listed(qtbot, window, cluster, cluster_of(alpha, late))
    assert window.session.buttons.start
    # One that joins later holds nobody up.
    joined = cluster_node("gamma", is_being_asked=True)
    _listed(qtbot, window, cluster, cluster_of(alpha, late, joined))
    assert window.session.buttons.start


def test_that_a_node_that_left_in_order_is_listed_no_more(qtbot, window, cluster):
    alpha, beta = cluster_node("alpha"), cluster_node("beta")
    _open(window)
    _listed(qtbot, window, cluster, cluster_of(alpha, beta))
    _listed(qtbot, window, cluster, cluster_of(alpha))
    qtbot.waitUntil(lambda: _section(window, "beta") is None)
    qtbot.waitUntil(lambda: len(window.devices.findChildren(DeviceCard)) == 2)


def test_that_readings_reach_cards_and_bars_and_rows_keep_their_place(qtbot, window, cluster):
    _open(window)
    first = cluster_of(cluster_node("alpha"), cluster_node("beta", state=NodeState.SILENT))
    _listed(qtbot, window, cluster, first)
    assert "Does not answer." in seen_texts(_section(window, "beta"))
    places = [_section(window, name).y() for name in ("alpha", "beta")]
    assert places == sorted(places)
    shown = card(window.devices, gpu_key("alpha", 0))
    reading = first.nodes[0].report.sample.readings[0]
    assert f"{reading.gpu_utilization_percent:.0f} %" in seen_texts(shown)
    assert "500 / 700 W" in seen_texts(shown)


def test_that_a_node_is_switched_off_and_on_by_its_switch(qtbot, window, cluster):
    _open(window)
    nodes = (cluster_node("alpha", 2), cluster_node("beta"), cluster_node("idle", 0))
    _listed(qtbot, window, cluster, cluster_of(*nodes))
    assert not _section(window, "idle").findChild(Switch).isEnabled()
    click(_section(window, "alpha").findChild(Switch))
    assert window.session.profile.devices.visible == (gpu_key("beta", 0),)
    assert not _section(window, "beta").findChild(Switch).isEnabled()
    click(_section(window, "alpha").findChild(Switch))
    assert len(_keys_in_plan(window)) == 3


def test_that_the_processor_of_one_node_can_be_left_out(qtbot, window, cluster):
    _open(window, devices=DeviceSettings(visible=("cpu",)))
    _listed(qtbot, window, cluster, cluster_of(cluster_node("a", 0), cluster_node("b", 0)))
    assert window.session.prepare_now().plan.processes[1].node == "b"
    click(card(window.devices, "cpu@b").findChild(Switch))
    assert window.session.profile.devices.visible == ("cpu@a",)


def test_that_of_many_nodes_only_the_opened_one_has_cards(qtbot, window, cluster):
    _open(window)
    _listed(qtbot, window, cluster, many_nodes(20, 8))
    assert not window.devices.findChildren(DeviceCard)
    node = window.devices.findChildren(NodeSection)[3]
    fold = next(each for each in node.findChildren(QAbstractButton) if each.isCheckable())
    click(fold)
    assert len(node.findChildren(DeviceCard)) == 9
    _listed(qtbot, window, cluster, many_nodes(20, 8, time_s=5.0))
    assert len(window.devices.findChildren(DeviceCard)) == 9
    click(fold)
    qtbot.waitUntil(lambda: not window.devices.findChildren(DeviceCard))


def test_that_an_address_that_is_none_keeps_the_run_from_starting(qtbot, window, cluster):
    _open(window)
    _listed(qtbot, window, cluster, cluster_of(cluster_node("alpha")))
    panel = window.session_page.cluster
    panel.set_folded(folded=False)
    typed = next(each for each in panel.findChildren(QLineEdit) if each.text() == ADDRESS)
    typed.setFocus()
    typed.selectAll()
    QTest.keyClicks(typed, "nobody")
    assert not window.session.prepare_now().is_startable
    assert window.session.profile.cluster.address == ADDRESS
    assert "host and a port" in window.session.preparation.problems[0].message
    QTest.keyClick(typed, Qt.Key.Key_Escape)
    assert window.session.prepare_now().is_startable


def test_that_an_address_that_is_typed_is_asked_once(qtbot, window, cluster):
    _open(window)
    _listed(qtbot, window, cluster, cluster_of(cluster_node("alpha")))
    panel = window.session_page.cluster
    panel.set_folded(folded=False)
    typed = next(each for each in panel.findChildren(QLineEdit) if each.text() == ADDRESS)
    typed.setFocus()
    typed.selectAll()
    QTest.keyClicks(typed, "10.0.0.2:6380")
    assert window.session.inventory is None
    qtbot.waitUntil(lambda: len(cluster.asked) > 1)
    assert cluster.asked == [ADDRESS, "10.0.0.2:6380"]


def test_that_an_answer_of_the_cluster_before_is_not_taken_for_this_machine(qtbot, window, cluster):
    _open(window)
    qtbot.waitUntil(lambda: bool(cluster.asked))
    window.session.edit(window.session.profile.model_copy(update={"cluster": None}))
    cluster.answers.append(cluster_of(cluster_node("alpha")))
    qtbot.waitUntil(lambda: cluster.closed == 1)
    assert window.session.inventory == CPU_ONLY


def test_that_a_run_on_a_cluster_can_be_queued(qtbot, window, cluster):
    _open(window)
    _listed(qtbot, window, cluster, cluster_of(cluster_node("alpha"), cluster_node("beta")))
    queue = window.findChild(QPushButton, "queue_button")
    assert window.session.buttons.start
    assert queue.isEnabled()


def test_that_evaluating_on_a_cluster_is_offered_with_workers_alone(qtbot, window, cluster):
    _open(window)
    _listed(qtbot, window, cluster, cluster_of(cluster_node("alpha"), cluster_node("beta")))
    kinds = window.findChild(QComboBox, "strategy_chooser")
    task = window.session_page.task
    task.valueChanged.emit(task.value().model_copy(update={"task": "evaluate"}))
    assert window.session.profile.strategy.kind is StrategyKind.MULTI_WORKER
    assert [kinds.itemData(each) for each in range(kinds.count())] == ["multi_worker"]
    # As a profile may say.
    mirrored = StrategySettings(kind=StrategyKind.MIRRORED)
    window.session.edit(window.session.profile.model_copy(update={"strategy": mirrored}))
    assert kinds.currentText() == "A copy on each device \N{MIDDLE DOT} mirrored (one machine only)"
    window.session.edit(window.session.profile.model_copy(update={"cluster": None}))
    assert [kinds.itemData(each) for each in range(kinds.count())] == ["one_device", "mirrored"]


def test_that_what_differs_between_nodes_is_said_and_a_process_there_is_not_ended_from_here(
    qtbot, window, cluster
):
    older = cluster_node("beta")
    report = older.report.model_copy(update={"tensorflow": "2.19"})
    _open(window)
    busy = cluster_node("alpha", processes=1)
    sample = busy.report.sample
    mine = [
        each.model_copy(
            update={
                "processes": tuple(p.model_copy(update={"is_mine": True}) for p in each.processes)
            }
        )
        for each in sample.readings
    ]
    sample = sample.model_copy(update={"readings": tuple(mine)})
    busy = busy.model_copy(update={"report": busy.report.model_copy(update={"sample": sample})})
    reading = cluster_of(busy, older.model_copy(update={"report": report}))
    _listed(qtbot, window, cluster, reading)
    problems = {each.code: each for each in window.session.prepare_now().problems}
    assert "beta has TensorFlow 2.19" in problems["node_versions_differ"].message
    assert window.session.preparation.is_startable
    details = card(window.devices, gpu_key("alpha", 0)).details
    click(next(each for each in details.findChildren(QAbstractButton) if each.isCheckable()))
    assert "python" in seen_texts(details)
    ends = [each for each in details.findChildren(QAbstractButton) if each.text() == "End…"]
    assert len(ends) == 1
    assert not ends[0].isVisible()


def test_that_what_is_tried_on_this_machine_is_not_offered_for_a_cluster(qtbot, window, cluster):
    assert window.findChild(QPushButton, "test_machine").isVisibleTo(window.session_page)
    _open(window)
    _listed(qtbot, window, cluster, cluster_of(cluster_node("alpha"), cluster_node("beta")))
    for name in ("test_machine", "find_batch", "compare_devices"):
        assert not window.findChild(QPushButton, name).isVisibleTo(window.session_page), name


def test_that_a_cluster_of_which_no_node_answers_any_more_lists_them_all(qtbot, window, cluster):
    _open(window)
    _listed(qtbot, window, cluster, cluster_of(cluster_node("alpha")))
    cluster.answers.append(cluster_of(cluster_node("alpha", state=NodeState.SILENT)))
    qtbot.waitUntil(lambda: window.session.inventory is None)
    assert "Does not answer." in seen_texts(_section(window, "alpha"))
    assert not window.session.buttons.start
    assert [each.code for each in window.session.preparation.problems] == ["node_not_answering"]
    _listed(qtbot, window, cluster, cluster_of(cluster_node("alpha")))
    assert window.session.buttons.start


def test_that_nothing_is_asked_any_more_when_the_window_closes(qtbot, window, cluster):
    _open(window)
    _listed(qtbot, window, cluster, cluster_of(cluster_node("alpha")))
    window.session.mark_saved(Path("saved.toml"))
    window.close()
    qtbot.waitUntil(lambda: cluster.closed == 1)


@pytest.fixture
def real(tmp_path: Path) -> Iterator[RealCluster]:
    with real_cluster("alpha", "beta") as raylets:
        yield raylets


@pytest.mark.slow
@pytest.mark.tensorflow
def test_that_a_run_on_two_raylets_is_started_shown_and_ends_in_the_window(
    qtbot, tmp_path, runs_dir, real
):
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    window.begin()
    profile = Profile(
        name="two nodes",
        cluster=ClusterSettings(address=real.address),
        devices=DeviceSettings(visible=("cpu",)),
        strategy=WORKERS,
        training=TrainingSettings(epochs=2, tensorboard=False),
    )
    window.session.open_profile(profile, None)
    start = window.findChild(QPushButton, "start_button")
    qtbot.waitUntil(start.isEnabled, timeout=60_000)
    assert "this machine" in seen_texts(_section(window, "alpha"))
    assert card(window.devices, "cpu@beta").isVisible()
    qtbot.mouseClick(start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.session.run_state is RunState.ENDED, timeout=90_000)
    assert window.session.run_status.outcome is Outcome.COMPLETED
    plot = window.live_page.live.plot_wall.utilization_plot
    titles = [curve.label for curve in plot.curves]
    assert [title.rpartition(" · ")[2] for title in titles] == ["alpha", "beta"]
    curves = window.live_page.live.curves.devices
    assert {key: len(curve.memory) > 0 for key, curve in curves.items()} == {
        "cpu@alpha": True,
        "cpu@beta": True,
    }
    pages = window.live_page.tabs
    pages.setCurrentIndex([pages.tabText(each) for each in range(pages.count())].index("Devices"))
    assert "worker 1 on beta" in seen_texts(window.live_page.parts)
    table = window.findChild(QTableView, "runs_table")
    qtbot.waitUntil(lambda: table.model().rowCount() == 1)
    real.raylets["beta"].kill()
    qtbot.waitUntil(lambda: "Lost" in seen_texts(_section(window, "beta")), timeout=60_000)
    window.session.mark_saved(tmp_path / "saved.toml")
    window.close()
