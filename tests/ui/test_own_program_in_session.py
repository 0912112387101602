"""A program of one's own stands in the place of data, model and training."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QToolButton
from pytestqt.qtbot import QtBot

from gpupanel.domain.cluster import ClusterSettings
from gpupanel.domain.data import NpzData
from gpupanel.domain.memory import LimitedMemory
from gpupanel.domain.model import CnnModel, MlpModel
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.profile_toml import dump_profile, parse_profile
from gpupanel.domain.script import ScriptSettings
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.sweep import SweepSettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.prepare import prepare
from gpupanel.ui.bindings.menu_binding import MenuBinding
from gpupanel.ui.dialogs.new_sweep_dialog import NewSweepDialog
from gpupanel.ui.inputs.text_input import PathEdit
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.panels.strategy_panel.division_diagram import DivisionDiagram
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.task_choices import TaskChoices, TaskSwitch
from gpupanel.ui.widgets.replica_table import ReplicaTable
from tests.fakes.devices import TWO_UNEQUAL
from tests.fakes.person import Person
from tests.ui.new_window import new_window
from tests.ui.test_drops import drop

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")

PROGRAM = Profile(name="mine", task="script", script=ScriptSettings(path="/tmp/train.py"))
OWN = Profile(
    data=NpzData(path="/tmp/mine.npz"),
    model=CnnModel(filters=(8,)),
    training=TrainingSettings(epochs=7),
    strategy=StrategySettings(kind=StrategyKind.PARAMETER_SERVER, workers=3),
    cluster=ClusterSettings(address="somewhere:6379"),
)
AS_PROGRAM = TaskChoices(task="script")


@pytest.fixture
def person() -> Person:
    return Person()


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path, runs_dir: Path, person: Person) -> Iterator[MainWindow]:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, person)
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    window.session.set_inventory(TWO_UNEQUAL)
    yield window
    window.closing.close_unasked()


@pytest.fixture
def page(window: MainWindow) -> SessionPage:
    return window.session_page


def choose_task(page: SessionPage, task: str) -> None:
    box = page.findChild(QComboBox, "task_chooser")
    box.setCurrentIndex(box.findData(task))


def shown(page: SessionPage) -> list[str]:
    panels = (page.task, page.script, page.data, page.model, page.training, page.strategy)
    panels += (page.cluster, page.plan)
    return [panel.section_title for panel in panels if panel.isVisibleTo(page.sections)]


def links(page: SessionPage) -> list[str]:
    row = page.sections.findChild(object, "section_links")
    return [link.text() for link in row.findChildren(QToolButton) if link.isVisibleTo(row)]


def test_that_the_program_stands_in_the_place_of_data_model_and_training(
    page: SessionPage,
) -> None:
    choose_task(page, "script")
    assert shown(page) == ["Task", "Program", "Strategy", "What will happen"]
    assert links(page) == shown(page)
    choose_task(page, "train")
    assert "Program" not in shown(page)
    assert {"Data", "Model", "Training", "Cluster"} <= set(shown(page))
    assert "Program" not in links(page)


def test_that_nothing_starts_without_a_program(window: MainWindow, page: SessionPage) -> None:
    choose_task(page, "script")
    preparation = window.session.prepare_now()
    assert [(each.code, each.field) for each in preparation.problems if each.is_error] == [
        ("script_missing", "script.path")
    ]
    assert not window.session.buttons.start
    QTest.keyClicks(page.findChild(PathEdit, "script_path").findChild(QLineEdit), "/tmp/train.py")
    assert window.session.profile.script == ScriptSettings(path="/tmp/train.py")
    assert window.session.prepare_now().is_startable
    assert window.session.buttons.start


def test_that_nothing_is_asked_about_data_or_model(
    qtbot: QtBot, window: MainWindow, page: SessionPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(page._loader, "ask", asked.append)
    window.session.open_profile(PROGRAM, None)
    assert not window.session.is_reading_data
    page.preview_again()
    page._preview_has_problems = True
    page._check_again(Qt.ApplicationState.ApplicationActive)
    qtbot.wait(400)
    assert asked == []
    assert window.session.trained_count is None
    preparation = window.session.prepare_now()
    assert (preparation.memory, preparation.largest_batch, preparation.stages) == ((), None, ())


def test_that_the_data_is_read_again_when_the_task_is_to_train_again(
    qtbot: QtBot, window: MainWindow, page: SessionPage
) -> None:
    window.session.open_profile(Profile(), None)
    epochs = page.plan.findChild(QLabel, "plan_epochs")
    qtbot.waitUntil(lambda: epochs.text().startswith("Trains on"))
    choose_task(page, "script")
    assert epochs.text() == ""
    choose_task(page, "train")
    qtbot.waitUntil(lambda: epochs.text().startswith("Trains on"))


def test_that_what_was_set_before_comes_back_with_its_task() -> None:
    switch = TaskSwitch()
    switch.remember(OWN)
    program = switch.switched(OWN, AS_PROGRAM)
    assert program.script == ScriptSettings(path="")
    assert program.strategy == StrategySettings(kind=StrategyKind.ONE_DEVICE)
    assert program.cluster is None
    chosen = ScriptSettings(path="a.py", arguments=("--x",))
    devices = DeviceSettings(visible=("cpu",))
    mirrored = StrategySettings(kind=StrategyKind.MIRRORED)
    update = {"script": chosen, "devices": devices, "strategy": mirrored}
    program = program.model_copy(update=update)
    switch.remember(program)
    again = switch.switched(program, TaskChoices(task="train"))
    assert again == OWN.model_copy(update={"devices": devices})
    switch.remember(again)
    assert switch.switched(again, AS_PROGRAM) == program


def test_that_a_program_that_was_opened_leads_to_every_task() -> None:
    for task in ("train", "evaluate", "predict"):
        switch = TaskSwitch()
        switch.remember(PROGRAM)
        found = switch.switched(PROGRAM, TaskChoices(task=task))
        assert (found.task, found.script, found.model.is_saved) == (task, None, task != "train")
        assert parse_profile(dump_profile(found)) == found
        switch.remember(found)
        assert switch.switched(found, AS_PROGRAM).script == PROGRAM.script


def test_that_the_profile_of_a_program_is_what_its_file_says() -> None:
    program = TaskSwitch().switched(OWN, AS_PROGRAM)
    assert parse_profile(dump_profile(program)) == program


def test_that_undo_brings_the_training_back(window: MainWindow, page: SessionPage) -> None:
    window.session.open_profile(Profile(model=MlpModel(hidden=(7,))), None)
    before = window.session.profile
    choose_task(page, "script")
    window.session.undo()
    assert window.session.profile == before
    assert "Program" not in shown(page)


def test_that_a_fix_changes_the_profile_of_a_program(window: MainWindow) -> None:
    window.session.open_profile(
        PROGRAM.model_copy(update={"strategy": StrategySettings(kind=StrategyKind.MULTI_WORKER)}),
        None,
    )
    (problem,) = [each for each in window.session.prepare_now().problems if each.fix]
    window.session.apply_fix(problem.fix)
    assert window.session.profile.strategy.kind is StrategyKind.MIRRORED
    assert window.session.profile.script == PROGRAM.script


def test_that_a_cluster_of_a_program_is_shown_to_be_removed(
    window: MainWindow, page: SessionPage
) -> None:
    cluster = ClusterSettings(address="somewhere:6379")
    window.session.open_profile(PROGRAM.model_copy(update={"cluster": cluster}), None)
    assert "Cluster" in shown(page)


def test_that_two_ways_are_offered_and_no_shares(window: MainWindow, page: SessionPage) -> None:
    window.session.open_profile(Profile(), None)
    box = page.findChild(QComboBox, "strategy_chooser")
    box.setCurrentIndex(box.findData(StrategyKind.MIRRORED))
    shares = page.findChild(QComboBox, "shares_chooser")
    shares.setCurrentIndex(shares.findData("balanced"))
    choose_task(page, "script")
    offered = [box.itemData(place) for place in range(box.count())]
    assert offered == [StrategyKind.ONE_DEVICE, StrategyKind.MIRRORED]
    assert window.session.profile.strategy == StrategySettings(kind=StrategyKind.MIRRORED)
    assert not shares.isVisibleTo(page.strategy)
    for kind in (StrategyKind.ONE_DEVICE, StrategyKind.MIRRORED):
        box.setCurrentIndex(box.findData(kind))
        assert window.session.profile.strategy == StrategySettings(kind=kind)


@pytest.mark.parametrize(
    ("kind", "sentence", "drawn"),
    [
        (
            StrategyKind.ONE_DEVICE,
            "Ready: the program runs on RTX 4090 and RTX 3060.",
            "The program sees these devices: RTX 4090 as /device:GPU:0; RTX 3060 as /device:GPU:1.",
        ),
        (
            StrategyKind.MIRRORED,
            (
                "Ready: the program runs on RTX 4090 and RTX 3060, with a copy of the model on "
                "each where it calls fit."
            ),
            (
                "In fit: a copy of the model on each device: RTX 4090 as /device:GPU:0; RTX 3060 "
                "as /device:GPU:1; gradients summed → the same update for every copy."
            ),
        ),
    ],
)
def test_that_devices_are_said_and_no_shares_of_a_batch(
    window: MainWindow, page: SessionPage, kind: StrategyKind, sentence: str, drawn: str
) -> None:
    strategy = StrategySettings(kind=kind)
    window.session.open_profile(PROGRAM.model_copy(update={"strategy": strategy}), None)
    window.session.prepare_now()
    assert page.plan.findChild(QLabel, "plan_summary").text() == sentence
    assert page.findChild(DivisionDiagram).accessibleDescription() == drawn
    table = page.plan.findChild(ReplicaTable)
    heads = [each.text() for each in table.findChildren(QLabel) if each.isVisibleTo(table)]
    assert heads[:3] == ["Number", "Physical device", "Logical device"]
    assert "Share" not in heads
    assert not page.plan.shares.isVisibleTo(page.plan)
    assert not page.plan.estimate.isVisibleTo(page.plan)
    assert not page.plan.test_machine.isVisibleTo(page.plan)


def test_that_a_sweep_is_offered_of_names_in_the_arguments(window: MainWindow) -> None:
    assert window.core.actions.new_sweep.isEnabled()
    window.session.open_profile(PROGRAM, None)
    assert not window.core.actions.new_sweep.isEnabled()
    assert PROGRAM.script is not None
    script = PROGRAM.script.model_copy(update={"arguments": ("--lr={lr}", "{opt}")})
    sweep = SweepSettings(values={"lr": (0.1, 0.01)})
    swept = PROGRAM.model_copy(update={"script": script, "sweep": sweep})
    window.session.open_profile(swept, None)
    assert "a sweep of lr" in window.session_page.sweep.text()
    window.core.actions.new_sweep.trigger()
    dialog = window.findChild(NewSweepDialog)
    assert dialog.sweep() == sweep
    dialog._add("opt")
    assert dialog.sweep().values == {"lr": (0.1, 0.01), "opt": ()}
    dialog.close()
    window.session.open_profile(Profile(), None)
    assert window.core.actions.new_sweep.isEnabled()


def test_that_tools_that_train_have_no_button(window: MainWindow, page: SessionPage) -> None:
    window.session.open_profile(PROGRAM, None)
    buttons = [
        button.objectName()
        for panel in (page.data, page.model, page.training, page.plan.estimate)
        for button in panel.findChildren(QToolButton)
        if button.isVisibleTo(page)
    ]
    assert buttons == []


def test_that_arguments_that_are_none_keep_a_run_from_starting(
    window: MainWindow, page: SessionPage
) -> None:
    window.session.open_profile(PROGRAM, None)
    line = page.findChild(QLineEdit, "script_arguments")
    line.setText('--name "a b')
    line.textEdited.emit('--name "a b')
    (problem,) = [each for each in window.session.prepare_now().problems if each.is_error]
    assert (problem.field, problem.message) == (
        "script.arguments",
        "Arguments: A quotation mark is not closed.",
    )
    choose_task(page, "train")
    assert not any(
        each.field.startswith("script") for each in window.session.prepare_now().problems
    )


def test_that_open_script_begins_with_the_program(
    window: MainWindow, person: Person, tmp_path: Path
) -> None:
    person.opens = tmp_path / "my train.py"
    window.core.actions.open_script.trigger()
    profile = window.session.profile
    assert (profile.name, profile.task) == ("my train", "script")
    assert profile.script == ScriptSettings(path=str(tmp_path / "my train.py"))
    assert (window.session.path, window.session.is_dirty) == (None, False)
    entries = window.parts[MenuBinding].menu_bar.actions()[0].menu().actions()
    assert "Open script…" in [entry.text().replace("&", "") for entry in entries]


@pytest.mark.parametrize("name", ["train.py", "run.SH"])
def test_that_a_dropped_program_is_run(window: MainWindow, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("", encoding="utf-8")
    window.tabs.setCurrentWidget(window.runs)
    drop(window, tmp_path / name)
    script = window.session.profile.script
    assert script is not None
    assert script.path == str(tmp_path / name)
    assert window.tabs.currentWidget() is window.session_page


def test_that_a_python_file_that_is_dropped_on_the_data_stays_data(
    page: SessionPage, tmp_path: Path
) -> None:
    assert page.data.can_take((str(tmp_path / "load.py"),))
    assert page.script.can_take((str(tmp_path / "load.py"),))
    page.script.take((str(tmp_path / "load.py"),))
    assert page.script.value().path == str(tmp_path / "load.py")


def test_that_data_that_is_dropped_on_a_program_is_trained_on(
    window: MainWindow, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    window.session.open_profile(PROGRAM, None)
    drop(window, tmp_path / "t.csv")
    profile = window.session.profile
    assert (profile.task, profile.script, profile.data.chosen_path) == (
        "train",
        None,
        str(tmp_path / "t.csv"),
    )


def test_that_data_that_is_dropped_on_a_program_is_predicted_on_where_that_was_done(
    window: MainWindow, page: SessionPage, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    window.session.open_profile(Profile(), None)
    choose_task(page, "predict")
    choose_task(page, "script")
    drop(window, tmp_path / "t.csv")
    profile = window.session.profile
    assert (profile.task, profile.data.chosen_path) == ("predict", str(tmp_path / "t.csv"))


def test_that_the_memory_of_a_program_without_a_name_is_not_talked_about() -> None:
    limited = {"default": LimitedMemory(limit_mib=4096)}
    profile = TaskSwitch().switched(Profile(memory=limited), AS_PROGRAM)
    assert [each.code for each in prepare(profile, TWO_UNEQUAL).problems] == ["script_missing"]
