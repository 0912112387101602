"""The task is chosen, and the page shows what matters to it."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QWidget

from gpupanel.domain.data import (
    DigitsData,
    ImagesData,
    KerasData,
    NpzData,
    TableData,
    TextData,
    TfrecordData,
)
from gpupanel.domain.events import SharesChosen
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import CnnModel, MlpModel, PythonModel, SavedModel
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.prepare import prepare
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.questions.data_preview import preview_data
from gpupanel.ui.inputs.counter import Counter
from gpupanel.ui.panels.task_panel import TaskPanel
from gpupanel.ui.run_state import RunState
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.task_choices import (
    TaskChoices,
    TaskSwitch,
    evaluating,
    name_after_model,
    predicting,
)
from gpupanel.ui.widgets.buttons import FoldButton
from gpupanel.ui.widgets.reading_order import tab_stops
from gpupanel.ui.workers.tool_worker import QuestionWorker
from tests.ui.values import TWO_GPUS
from tests.unit.trainer.image_folders import make_images

pytestmark = pytest.mark.usefixtures("undressed")

CHOICES = st.builds(
    TaskChoices,
    task=st.sampled_from(["train", "evaluate", "predict", "script"]),
    inference=st.builds(
        InferenceSettings,
        examples=st.sampled_from(["automatic", "all", "training", "validation"]),
        batch_size=st.integers(1, 2**31 - 1),
        output=st.sampled_from(["npz", "csv"]),
    ),
)
TRAINED = Profile(
    model=CnnModel(filters=(8,)),
    strategy=StrategySettings(kind=StrategyKind.PARAMETER_SERVER, workers=3),
)


@pytest.fixture
def panel(qtbot) -> TaskPanel:
    panel = TaskPanel()
    qtbot.addWidget(panel)
    return panel


@pytest.fixture
def session(qapp) -> Session:
    session = Session()
    session.set_inventory(TWO_GPUS)
    yield session
    session.close()


@pytest.fixture
def page(qtbot, session) -> SessionPage:
    loader = QuestionWorker(preview_data)
    page = SessionPage(session, loader)
    qtbot.addWidget(page)
    yield page
    page._preview_timer.stop()
    loader.stop()


def choose(parent: QWidget, name: str, value: str) -> None:
    box = parent.findChild(QComboBox, name)
    box.setCurrentIndex(box.findData(value))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=CHOICES)
def test_that_every_value_comes_back_unchanged_and_unannounced(panel, value):
    heard = []
    panel.valueChanged.connect(heard.append)
    panel.setValue(value)
    assert panel.value() == value
    assert heard == []


@pytest.mark.parametrize(
    ("task", "shown"),
    [
        ("train", set()),
        ("evaluate", {"Examples", "Batch size"}),
        ("predict", {"Examples", "Batch size", "Output"}),
        ("script", set()),
    ],
)
def test_that_only_what_the_task_needs_is_asked_for(panel, task, shown):
    panel.setValue(TaskChoices(task=task))
    panel.findChild(FoldButton).click()
    names = {"Examples", "Batch size", "Output"}
    assert shown == {
        each.accessibleName()
        for each in panel.findChildren(QWidget)
        if each.accessibleName() in names and each.isVisibleTo(panel)
    }


def test_that_keyboard_and_choosers_change_one_key_each(panel, qtbot):
    heard = []
    panel.valueChanged.connect(heard.append)
    qtbot.keyClick(panel.findChild(QComboBox, "task_chooser"), Qt.Key.Key_P)
    choose(panel, "examples_chooser", "validation")
    choose(panel, "output_chooser", "csv")
    qtbot.keyClick(panel.findChild(Counter), Qt.Key.Key_Up)
    assert heard[-1] == TaskChoices(
        task="predict",
        inference=InferenceSettings(examples="validation", batch_size=257, output="csv"),
    )
    assert len(heard) == 4


def test_that_another_task_takes_a_saved_model_and_training_comes_back_as_it_was():
    switch = TaskSwitch()
    switch.remember(TRAINED)
    evaluated = switch.switched(TRAINED, TaskChoices(task="evaluate"))
    assert evaluated.model == SavedModel()
    assert evaluated.strategy == StrategySettings(kind=StrategyKind.MIRRORED)
    switch.remember(evaluated.model_copy(update={"model": SavedModel(path="m.keras")}))
    predicted = switch.switched(evaluated, TaskChoices(task="predict"))
    assert predicted.strategy == evaluated.strategy
    assert switch.switched(predicted, TaskChoices(task="train")) == TRAINED
    again = switch.switched(TRAINED, TaskChoices(task="predict"))
    assert again.model == SavedModel(path="m.keras")


def test_that_shares_given_for_training_are_not_taken_for_another_batch_size():
    shared = TRAINED.model_copy(
        update={"strategy": StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16))}
    )
    evaluated = TaskSwitch().switched(shared, TaskChoices(task="evaluate"))
    problems = prepare(
        evaluated.model_copy(update={"model": SavedModel(path="m.keras")}), TWO_GPUS
    ).problems
    assert problems == ()


def test_that_a_trained_model_is_measured_on_what_its_training_held_back():
    data = NpzData(path="d.npz", validation_fraction=0.3)
    trained = TRAINED.model_copy(update={"data": data, "training": TrainingSettings(seed=3)})
    profile = evaluating(Profile(name="mine", task="evaluate"), trained, "run/model.keras")
    assert (profile.name, profile.model) == ("mine", SavedModel(path="run/model.keras"))
    assert (profile.data, profile.training.seed) == (data, 3)
    assert profile.inference.examples == "validation"
    whole = trained.model_copy(update={"data": DigitsData()})
    assert evaluating(profile, whole, "m.keras").inference.examples == "automatic"
    in_sets = whole.model_copy(update={"data": ImagesData(path="/i", validation_path="/v")})
    assert evaluating(profile, in_sets, "m.keras").inference.examples == "validation"
    assert evaluating(profile, None, "m.keras").data == data
    for found in ({"test_path": "/t"}, {"validation_path": "/v"}):
        beside = whole.model_copy(update={"data": ImagesData(path="/i", **found)})
        assert evaluating(profile, beside, "m.keras").inference.examples == "validation"


def test_that_a_model_of_ones_own_code_is_measured_by_the_code_that_it_was_trained_with(
    tmp_path: Path,
) -> None:
    trained = TRAINED.model_copy(update={"model": PythonModel(path="/mine/network.py")})
    model, profile = str(tmp_path / "model.keras"), Profile(task="evaluate")

    assert evaluating(profile, trained, model).model == SavedModel(path=model)
    # The run's own copy: that of the person may be another one by now.
    kept = tmp_path / "code" / "model.py"
    kept.parent.mkdir()
    kept.touch()
    assert evaluating(profile, trained, model).model == SavedModel(path=model, measures=str(kept))


@pytest.mark.parametrize(
    ("trained", "path", "name"),
    [
        (Profile(name="predictions of evaluation of a"), "/r/x/model.keras", "a"),
        (None, "/r/2026-digits/model.keras", "2026-digits"),
        (None, "/r/odd\udce9/model.keras", "odd\\xe9"),
        (None, "model.keras", "a model"),
    ],
)
def test_that_what_a_model_is_called_is_known_without_its_profile(trained, path, name):
    assert name_after_model("evaluation", trained, path) == f"evaluation of {name}"


def test_that_sets_that_the_training_found_by_itself_are_what_is_measured_on():
    trained = TRAINED.model_copy(update={"data": ImagesData(path="/i")})
    profile = Profile(task="evaluate", inference=InferenceSettings(examples="training"))
    measured = evaluating(profile, trained, "m.keras", was_measured=True)
    assert measured.inference.examples == "validation"
    assert evaluating(profile, trained, "m.keras").inference.examples == "automatic"


@pytest.mark.parametrize("kind", [TableData, TextData])
def test_that_nothing_is_predicted_on_the_sets_beside_those_of_the_training(kind):
    known = kind(path="/train.csv", validation_path="/val.csv", test_path="/test.csv", target="y")
    trained = TRAINED.model_copy(update={"data": known})
    data = predicting(Profile(task="predict"), trained, "m.keras", ["/new.csv"]).data
    assert data == kind(path="/new.csv", target="y")


def test_that_dropped_images_are_predicted_on_as_the_model_knows_images(tmp_path):
    make_images(tmp_path, {"1.png": 7, "2.png": 9})
    known = TfrecordData(path="/r", image_size=(8, 9), color="grayscale")
    trained = TRAINED.model_copy(update={"data": known})
    profile = Profile(task="predict", inference=InferenceSettings(examples="validation"))
    paths = [str(tmp_path / name) for name in ("1.png", "2.png")]
    images = ImagesData(path=str(tmp_path), image_size=(8, 9), color="grayscale")
    found = predicting(profile, trained, "m.keras", paths)
    assert found.data == images.model_copy(update={"files": ("1.png", "2.png")})
    assert (found.model, found.inference.examples) == (SavedModel(path="m.keras"), "automatic")
    assert predicting(profile, trained, "m.keras", [str(tmp_path)]).data == images
    assert predicting(profile, None, "m.keras", paths[:1]).data.image_size == (64, 64)
    assert predicting(profile, trained, "m.keras", ["/a.toml"]) == profile
    without = predicting(profile, trained, "m.keras", ())
    assert (without.data, without.model) == (known, SavedModel(path="m.keras"))
    assert without.inference.examples == "automatic"
    assert predicting(profile, None, "m.keras", ()).data == profile.data
    for source, size, color in (("mnist", (28, 28), "grayscale"), ("cifar10", (32, 32), "rgb")):
        of_keras = TRAINED.model_copy(update={"data": KerasData(source=source)})
        data = predicting(profile, of_keras, "m.keras", paths[:1]).data
        assert (data.image_size, data.color, data.files) == (size, color, ("1.png",))


def test_that_the_page_shows_the_panels_of_the_task(page, session):
    assert not page.training.isHidden()
    choose(page, "task_chooser", "evaluate")
    assert session.profile.task == "evaluate"
    assert session.profile.model == SavedModel()
    assert page.training.isHidden()
    assert not any(panel.isHidden() for panel in (page.task, page.strategy, page.data, page.model))
    choose(page, "task_chooser", "train")
    assert not page.training.isHidden()
    assert session.profile.model == MlpModel()


def _panels_by_keyboard(page: SessionPage) -> list[str]:
    """The panels in the order in which the Tab key reaches them."""
    order: list[str] = []
    for widget in tab_stops(page):
        for panel in (page.task, page.strategy, page.data, page.model, page.training):
            name = panel.objectName()
            if panel.isAncestorOf(widget) and name not in order:
                order.append(name)
    return order


def test_that_the_saved_model_comes_first_where_it_is_what_matters(page, qtbot):
    with qtbot.waitExposed(page):
        page.show()
    trained = ["task_panel", "data_panel", "model_panel", "strategy_panel", "training_panel"]
    assert _panels_by_keyboard(page) == trained
    choose(page, "task_chooser", "evaluate")
    assert page.task.y() < page.model.y() < page.data.y() < page.strategy.y()
    assert _panels_by_keyboard(page)[:4] == [
        "task_panel",
        "model_panel",
        "data_panel",
        "strategy_panel",
    ]
    choose(page, "task_chooser", "train")
    assert _panels_by_keyboard(page) == trained
    page.hide()


def test_that_a_problem_leads_to_the_fields_of_the_task(page, session, qtbot):
    choose(page, "task_chooser", "predict")
    with qtbot.waitExposed(page):
        page.show()
    page.activateWindow()
    page.plan.problems.fieldActivated.emit("inference.batch_size")
    assert page.task.findChild(Counter).hasFocus()
    page.plan.problems.fieldActivated.emit("model.path")
    assert page.model.isAncestorOf(page.focusWidget())
    page.hide()


def test_that_kept_shares_become_given_ones(page, session):
    balanced = StrategySettings(kind=StrategyKind.MIRRORED, shares="balanced")
    session.edit(Profile(strategy=balanced))
    page.choose_shares((40, 24))
    assert session.profile.strategy.shares == (40, 24)
    assert page.strategy.value().shares == (40, 24)


def test_that_the_layers_to_place_follow_the_model(page, session):
    model = MlpModel(hidden=(5, 6))
    session.edit(Profile(model=model, strategy=StrategySettings(kind=StrategyKind.MODEL_PARALLEL)))
    session.prepare_now()
    choose(page, "placement_chooser", "by_hand")
    assert session.profile.strategy.placement == {"dense_1": 0, "dense_2": 1, "outputs": 1}


def test_that_shares_by_hand_start_from_measured_ones(page, session):
    session.edit(Profile(strategy=StrategySettings(kind=StrategyKind.MIRRORED, shares="balanced")))
    session.prepare_now()
    chosen = SharesChosen(time_s=1, step=0, shares=(46, 18), speeds=(), reason="measured")
    session.set_run(RunState.RUNNING, RunStatus().after(chosen))
    choose(page, "shares_chooser", "by_hand")
    assert session.profile.strategy.shares == (46, 18)
