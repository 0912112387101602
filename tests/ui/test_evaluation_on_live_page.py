"""Runs that evaluate or predict, followed on the page where others show their curves."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPointF, QSettings, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QPushButton, QWidget

from gpupanel.domain import events
from gpupanel.domain.events import Phase
from gpupanel.domain.model import SavedModel
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.table_data import TableData
from gpupanel.files.label_metrics_file import write_label_metrics
from gpupanel.files.value_pairs_file import ValuePairs
from gpupanel.files.worst_file import WorstExamples, write_worst
from gpupanel.runs.directory.requests import is_asked
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.ui.bindings.model_runs import ModelRuns
from gpupanel.ui.bindings.model_use import ModelUse
from gpupanel.ui.panels.evaluation_panel.class_table import ClassTable
from gpupanel.ui.profile_actions import ProfileActions
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_page.page import LivePage
from gpupanel.ui.session import Session
from gpupanel.ui.shown_models import model_of_shown, other_model
from gpupanel.ui.widgets.labels import EmptyState
from gpupanel.ui.workers import this_machine
from gpupanel.ui.workers.launch_worker import Launcher
from tests.fakes.devices import CPU_ONLY
from tests.fakes.person import Person
from tests.fakes.run_directory import STARTED_S, WrittenRun
from tests.unit.trainer.image_folders import make_images

pytestmark = pytest.mark.usefixtures("undressed")

DONE = events.ExamplesDone(
    time_s=STARTED_S + 2, examples=1024, examples_total=1797, examples_per_second=500.0
)


def evaluating(task: str) -> Profile:
    return Profile(
        task=task,
        model=SavedModel(path="/models/digits.keras"),
        devices=DeviceSettings(visible=("cpu",)),
    )


class Desk:
    """The page of a run with what works in it; runs that are started are written by the test."""

    def __init__(self, runs_dir: Path, settings: QSettings, monkeypatch) -> None:
        self.session = Session()
        self.session.set_inventory(CPU_ONLY)
        self.control = RunControl(self.session, Launcher(), runs_dir)
        self.page = page = LivePage(self.session, self.control)
        self.person = Person()
        self.started: list[WrittenRun] = []
        self.refusal: ProblemError | None = None
        self.looked_at = {
            each.task: ModelRuns(each, page, self.control, self.session, page)
            for each in (page.evaluations, page.predictions)
        }
        profiles = ProfileActions(self.session, settings, self.person)
        self.use = ModelUse(
            self.session, profiles, self.control, page, self.looked_at, self.person, page
        )
        self.used: list[Profile] = []
        self.use.used.connect(lambda: self.used.append(self.session.profile))
        monkeypatch.setattr(this_machine, "launch", self._launch)
        page.resize(920, 700)
        page.show()

    def _launch(
        self, profile: Profile, plan: LaunchPlan, runs_dir: Path, *, outside_hours: bool
    ) -> RunLayout:
        assert not outside_hours
        if self.refusal is not None:
            raise self.refusal
        run = WrittenRun(runs_dir, profile).__enter__()
        self.started.append(run)
        return run.layout

    def button(self, name: str) -> QPushButton:
        return self.page.findChild(QPushButton, name)

    def close(self) -> None:
        self.control.close()
        for each in self.looked_at.values():
            each.stop()
        self.session.close()
        for run in self.started:
            run.vanish()
        self.page.close()
        self.page.deleteLater()


@pytest.fixture
def desk(qapp, runs_dir: Path, tmp_path: Path, monkeypatch):
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    desk = Desk(runs_dir, settings, monkeypatch)
    yield desk
    desk.close()


@pytest.fixture
def control(desk: Desk) -> RunControl:
    return desk.control


@pytest.fixture
def page(desk: Desk) -> LivePage:
    return desk.page


def reported(page: LivePage) -> list[str]:
    return [label.text() for label in page.evaluations.findChildren(QLabel) if label.isVisible()]


def test_that_an_evaluation_is_shown_in_place_of_curves(qtbot, page, control, runs_dir):
    found = events.EvaluationDone(
        time_s=STARTED_S + 3,
        examples=1797,
        metrics=Metrics(loss=0.2, accuracy=0.75),
        confusion=((900, 0), (450, 447)),
        class_names=("cat", "dog"),
    )
    with WrittenRun(runs_dir, evaluating("evaluate")) as run:
        run.begin(Phase.EVALUATING)
        control.open(run.layout)
        empty = page.evaluations.panel.findChild(EmptyState)
        qtbot.waitUntil(empty.isVisible, timeout=5000)
        assert not page.live.isVisible()
        run.write(DONE)
        qtbot.waitUntil(lambda: "1,024 of 1,797" in empty.text(), timeout=5000)
        run.write(found)
        qtbot.waitUntil(lambda: "75.0 %" in reported(page), timeout=5000)
    with WrittenRun(runs_dir) as training:
        training.begin()
        training.step(2)
        control.open(training.layout)
        qtbot.waitUntil(page.live.isVisible, timeout=5000)
        assert not page.evaluations.isVisible()


def test_that_the_folder_of_predictions_is_opened(qtbot, page, control, runs_dir, monkeypatch):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    with WrittenRun(runs_dir, evaluating("predict")) as run:
        run.begin(Phase.PREDICTING)
        run.write(
            DONE,
            events.PredictionsSaved(time_s=STARTED_S + 3, path="predictions.npz", examples=1024),
        )
        run.end(Outcome.COMPLETED)
        control.open(run.layout)
        qtbot.waitUntil(lambda: page.findChild(QLabel, "predictions_path") is not None)
        path = page.findChild(QLabel, "predictions_path")
        qtbot.waitUntil(path.isVisible, timeout=5000)
        assert path.accessibleName() == str(run.layout.predictions("npz"))
        folder = next(
            button
            for button in page.predictions.findChildren(QPushButton)
            if button.text() == "Open fol&der"
        )
        folder.click()
    assert [url.toLocalFile() for url in opened] == [str(run.layout.root)]


@pytest.mark.parametrize(
    ("is_there", "words"),
    [(True, "several labels at once"), (False, "The metrics of the labels of")],
)
def test_that_the_figures_of_several_labels_are_read_and_a_lost_file_is_said(
    qtbot, page, control, runs_dir, is_there, words
):
    found = events.EvaluationDone(
        time_s=STARTED_S + 3,
        examples=4,
        metrics=Metrics(loss=0.2, accuracy=0.75),
        labels_file="evaluation.npz",
    )
    with WrittenRun(runs_dir, evaluating("evaluate")) as run:
        run.begin(Phase.EVALUATING)
        if is_there:
            counts = np.array([[2, 1], [2, 2], [1, 1]])
            write_label_metrics(run.layout.confusion, ("sun", "sea"), counts)
        run.write(found)
        run.end(Outcome.COMPLETED)
        control.open(run.layout)
        qtbot.waitUntil(lambda: any(words in text for text in reported(page)), timeout=10_000)
    tables = page.evaluations.findChildren(ClassTable)
    assert [each.isVisible() for each in tables] == [True] * is_there


@pytest.mark.parametrize(
    ("is_there", "words"),
    [(True, "All 2 examples."), (False, "The predicted values of")],
)
def test_that_values_are_read_and_drawn_and_a_lost_file_is_said(
    qtbot, page, control, runs_dir, is_there, words
):
    found = events.EvaluationDone(
        time_s=STARTED_S + 3,
        examples=2,
        metrics=Metrics(loss=0.2, mean_absolute_error=0.5),
        values_file="evaluation.npz",
    )
    with WrittenRun(runs_dir, evaluating("evaluate")) as run:
        run.begin(Phase.EVALUATING)
        if is_there:
            true = np.float32([[1.0], [2.0]])
            worst = WorstExamples(np.int32([0, 1]), np.float32([0.5, 0.5]), true, true + 0.5)
            write_worst(run.layout.confusion, worst, ValuePairs(true, true + 0.5))
        run.write(found)
        run.end(Outcome.COMPLETED)
        control.open(run.layout)
        qtbot.waitUntil(lambda: any(words in text for text in reported(page)), timeout=10_000)
    pictures = page.evaluations.panel.findChildren(QWidget, "value_pictures")
    assert [each.isVisible() for each in pictures] == [True] * is_there


def drop(page: LivePage, *paths: Path) -> bool:
    """Drag these over the page and let go, where it takes them."""
    dropped = QMimeData()
    dropped.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    how = (Qt.DropAction.CopyAction, dropped, Qt.MouseButton.LeftButton)
    place, keys = page.rect().center(), Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(place, *how, keys)
    QApplication.sendEvent(page, enter)
    if enter.isAccepted():
        QApplication.sendEvent(page, QDropEvent(QPointF(place), *how, keys))
    return enter.isAccepted()


@pytest.mark.parametrize("task", ["train", "evaluate", "predict"])
def test_that_images_dropped_on_a_run_are_predicted_on_with_its_model(
    qtbot, page, control, runs_dir, tmp_path, task
):
    make_images(tmp_path, {"1.png": 7, "2.png": 9})
    (tmp_path / "notes.txt").write_text("no picture")
    images = [tmp_path / "1.png", tmp_path / "2.png"]
    heard = []
    page.filesDropped.connect(heard.append)
    assert not drop(page, *images)
    profile = Profile(devices=DeviceSettings(visible=("cpu",)))
    profile = profile if task == "train" else evaluating(task)
    with WrittenRun(runs_dir, profile) as run:
        run.begin()
        control.open(run.layout)
        qtbot.waitUntil(lambda: control.shown_profile is not None, timeout=5000)
        qtbot.waitUntil(lambda: control.shown_status is not None, timeout=5000)
        assert drop(page, *images) is (task != "train")  # not trained yet
        heard.clear()
        run.write(events.ModelSaved(time_s=STARTED_S + 3, path="model.keras"))
        qtbot.waitUntil(lambda: control.shown_status.model is not None, timeout=5000)
        assert drop(page, *images)
        assert drop(page, tmp_path)
        assert not drop(page, tmp_path / "notes.txt")
    model = str(run.layout.model) if task == "train" else "/models/digits.keras"
    names = tuple(map(str, images))
    assert model_of_shown(control) == model
    assert heard == [names, (str(tmp_path),)]


SAVED = events.ModelSaved(time_s=STARTED_S + 3, path="model.keras")
TRAINED = Profile(name="cats", devices=DeviceSettings(visible=("cpu",)))


def trained(qtbot, desk: Desk, runs_dir: Path, saved=SAVED, profile=TRAINED) -> RunLayout:
    """A training that ended with a model, shown."""
    with WrittenRun(runs_dir, profile) as run:
        run.begin()
        run.step(2)
        run.write(saved)
        run.end()
    desk.control.open(run.layout)
    qtbot.waitUntil(desk.button("evaluate_button").isEnabled, timeout=10_000)
    return run.layout


def test_that_an_evaluation_begins_at_once_and_is_seen_on_the_page_of_its_run(
    qtbot, desk, page, control, runs_dir
):
    before = desk.session.profile
    run = trained(qtbot, desk, runs_dir)
    page.tabs.show_page(page.evaluations)
    assert page.evaluations.findChild(EmptyState).isVisible()
    assert not page.evaluations.findChild(QComboBox, "evaluate_list").isVisible()
    stop = desk.button("evaluate_stop_button")
    with qtbot.waitSignal(control.launchedBeside, timeout=10_000):
        desk.button("evaluate_button").click()
        assert stop.isVisible()  # also before it has a directory
    assert stop.isVisible()  # and before it has reported anything
    (child,) = desk.started
    assert (desk.session.profile, desk.used) == (before, [])
    assert control.shown == run
    assert desk.looked_at["evaluate"].layout == child.layout
    child.begin(Phase.EVALUATING)
    child.write(DONE)
    qtbot.waitUntil(lambda: control.active == child.layout and stop.isVisible(), timeout=10_000)
    assert not desk.button("stop_button").isVisible()  # of the training nothing is to stop
    back = page.banner.buttons.findChild(QPushButton, "return_button")
    assert not back.isVisible()  # it is here
    assert not desk.button("evaluate_button").isEnabled()
    stop.click()
    qtbot.waitUntil(lambda: is_asked(child.layout, Request.STOP), timeout=10_000)
    metrics = Metrics(loss=0.2, accuracy=0.75)
    child.write(events.EvaluationDone(time_s=STARTED_S + 3, examples=1797, metrics=metrics))
    child.end()
    qtbot.waitUntil(lambda: "75.0 %" in reported(page), timeout=10_000)
    qtbot.waitUntil(lambda: not stop.isVisible(), timeout=10_000)
    assert control.shown == run
    assert not back.isVisible()
    model = desk.started[0].layout.profile.read_text()
    assert f'path = "{run.model}"' in model
    assert 'name = "evaluation of cats"' in model


def test_that_an_evaluation_is_stopped_before_it_has_begun(qtbot, desk, page, control, runs_dir):
    trained(qtbot, desk, runs_dir)
    page.tabs.show_page(page.evaluations)
    stop = desk.button("evaluate_stop_button")
    with qtbot.waitSignal(control.launchedBeside, timeout=10_000):
        desk.button("evaluate_button").click()
        stop.click()
        assert not stop.isVisible()
        assert "Stopping…" in reported(page)
    (child,) = desk.started
    qtbot.waitUntil(lambda: is_asked(child.layout, Request.STOP), timeout=10_000)


def test_that_a_start_that_is_refused_leaves_no_sign_of_it(qtbot, desk, page, control, runs_dir):
    trained(qtbot, desk, runs_dir)
    page.tabs.show_page(page.evaluations)
    with qtbot.waitSignal(control.refused, timeout=10_000):
        desk.refusal = ProblemError(Problem(code="disk_full", message="The disk is full."))
        desk.button("evaluate_button").click()
        assert "Starting…" in reported(page)
    assert not desk.button("evaluate_stop_button").isVisible()
    assert "Starting…" not in reported(page)


def seen_in(page: LivePage) -> set[str]:
    return {"50.0 %", "75.0 %"} & set(reported(page))


def test_that_evaluations_of_a_run_are_listed_on_its_page_and_opened_there(
    qtbot, desk, page, control, runs_dir
):
    run = trained(qtbot, desk, runs_dir)
    for accuracy, task in ((0.5, "evaluate"), (0.75, "evaluate"), (None, "predict")):
        profile = evaluating(task).model_copy(
            update={"name": f"{task} it", "model": SavedModel(path=str(run.model))}
        )
        with WrittenRun(runs_dir, profile) as child:
            child.begin()
            if accuracy is not None:
                metrics = Metrics(loss=0.2, accuracy=accuracy)
                child.write(
                    events.EvaluationDone(time_s=STARTED_S + 3, examples=7, metrics=metrics)
                )
            child.end()
    runs = [summarize_run(RunLayout(each)) for each in sorted(runs_dir.iterdir(), reverse=True)]
    page.words.set_runs(tuple(runs))
    listed = page.evaluations.findChild(QComboBox, "evaluate_list")
    assert listed.count() == 2
    assert page.predictions.findChild(QComboBox, "predict_list").count() == 1
    page.tabs.show_page(page.evaluations)
    seen: set[str] = set()
    for place in range(2):
        listed.setCurrentIndex(place)
        listed.activated.emit(place)
        qtbot.waitUntil(lambda seen=set(seen): seen_in(page) - seen != set(), timeout=10_000)
        seen |= seen_in(page)
        assert control.shown == run
    assert seen == {"50.0 %", "75.0 %"}
    # The same runs, listed anew, take nobody's choice away.
    listed.setCurrentIndex(0)
    page.words.set_runs(tuple(runs))
    assert (listed.currentIndex(), listed.isVisible()) == (0, True)
    opened = []
    page.evaluations.pageRequested.connect(opened.append)
    desk.button("evaluate_page_button").click()
    assert opened == [desk.looked_at["evaluate"].layout.root]
    # What is shown is undone by closing it.
    with WrittenRun(runs_dir) as other:
        other.begin()
        control.open(other.layout)
    assert desk.looked_at["evaluate"].layout is None


def test_that_an_evaluation_that_fails_says_why_there(qtbot, desk, page, control, runs_dir):
    trained(qtbot, desk, runs_dir)
    with qtbot.waitSignal(control.launchedBeside, timeout=10_000):
        desk.button("evaluate_button").click()
    (child,) = desk.started
    child.begin(Phase.EVALUATING)
    child.end(Outcome.FAILED, Problem(code="nan", message="The data holds NaN.", hint="Mend it."))
    qtbot.waitUntil(lambda: "✕ The data holds NaN." in reported(page), timeout=10_000)
    assert not page.banner.findChild(QLabel, "run_problem").isVisible()  # of the training


def test_that_what_is_dropped_or_picked_is_predicted_on_at_once(
    qtbot, desk, page, control, runs_dir, tmp_path
):
    make_images(tmp_path, {"1.png": 7, "2.png": 9})
    images = tuple(str(tmp_path / each) for each in ("1.png", "2.png"))
    desk.person.picks = images
    trained(qtbot, desk, runs_dir)
    for act in (
        lambda: page.filesDropped.emit(images),
        desk.button("predict_button").click,
        desk.button("predict_folder_button").click,
    ):
        desk.person.picks_folder = str(tmp_path)
        with qtbot.waitSignal(control.launchedBeside, timeout=10_000):
            act()
        child = desk.started[-1]
        child.begin(Phase.PREDICTING)
        child.end()
        qtbot.waitUntil(lambda: control.active is None, timeout=10_000)
        assert page.tabs.currentWidget() is page.predictions
        assert 'task = "predict"' in child.layout.profile.read_text()
    assert desk.used == []
    texts = [each.layout.profile.read_text() for each in desk.started]
    assert all("1.png" in text and "2.png" in text for text in texts[:2])
    assert f'path = "{tmp_path}"' in texts[2]


def test_that_a_model_of_tables_predicts_on_another_table_as_it_was_read_then(
    qtbot, desk, control, runs_dir, tmp_path
):
    other = tmp_path / "new.csv"
    other.write_text("a,b\n1,2\n")
    data = TableData(path="/data/houses.csv", target=("price",), ignore=("id",))
    desk.person.picks = (str(other),)
    trained(qtbot, desk, runs_dir, profile=TRAINED.model_copy(update={"data": data}))
    with qtbot.waitSignal(control.launchedBeside, timeout=10_000):
        desk.button("predict_button").click()
    assert ".csv" in desk.person.suffixes[0]
    text = desk.started[0].layout.profile.read_text()
    assert f'path = "{other}"' in text
    assert '"id"' in text.partition("ignore")[2][:20]


def test_that_while_another_run_goes_on_it_waits_in_the_session(
    qtbot, desk, page, control, runs_dir
):
    with WrittenRun(runs_dir) as going:
        going.begin()
        going.step(1)
        control.follow(going.layout)
        qtbot.waitUntil(lambda: desk.session.run_state.is_busy, timeout=10_000)
        with WrittenRun(runs_dir, TRAINED) as run:
            run.begin()
            run.write(SAVED)
            run.end()
        control.open(run.layout)
        tip = "Another run is in progress"
        qtbot.waitUntil(lambda: tip in desk.button("evaluate_button").toolTip(), timeout=10_000)
        assert not desk.button("evaluate_button").isEnabled()
        desk.button("evaluate_in_session_button").click()
        page.filesDropped.emit((str(runs_dir / "x.png"),))
        going.end()
    assert [each.task for each in desk.used] == ["evaluate", "predict"]
    assert desk.started == []


def test_that_why_nothing_can_begin_is_said(qtbot, desk, runs_dir):
    refused = []
    desk.use.refused.connect(refused.append)
    run = trained(qtbot, desk, runs_dir)
    run.profile.write_text(run.profile.read_text().replace('"cpu"', '"GPU-gone"'))
    desk.control.open(run)
    qtbot.waitUntil(lambda: desk.control.shown_profile is not None, timeout=10_000)
    gone = desk.session.profile.devices.model_copy(update={"visible": ("GPU-lost",)})
    desk.session.edit(desk.session.profile.model_copy(update={"devices": gone}))
    button = desk.button("evaluate_button")
    qtbot.waitUntil(button.isEnabled)
    button.click()
    assert [each.code for each in refused[0]] == ["device_not_found"]
    assert desk.started == []
    # On the devices of the session it can be done.
    desk.session.undo()
    with qtbot.waitSignal(desk.control.launchedBeside, timeout=10_000):
        desk.button("evaluate_button").click()


def test_that_the_weights_that_were_not_kept_are_evaluated_and_predicted_with(
    qtbot, desk, control, runs_dir, tmp_path
):
    saved = SAVED.model_copy(
        update={
            "epoch": 4,
            "is_best": True,
            "is_last": False,
            "other_path": "model-last.keras",
            "other_epoch": 10,
        }
    )
    run = trained(qtbot, desk, runs_dir, saved)
    desk.person.picks = (str(tmp_path / "x.png"),)
    texts = {"evaluate": "Evaluate the last weights", "predict": "Predict with the last weights…"}
    for task, words in texts.items():
        button = desk.button(f"{task}_other_button")
        assert (button.text(), button.isHidden()) == (words, False)
        with qtbot.waitSignal(control.launchedBeside, timeout=10_000):
            button.click()
        child = desk.started[-1]
        child.begin(Phase.EVALUATING)
        child.end()
        qtbot.waitUntil(lambda: control.active is None, timeout=10_000)
        assert f'path = "{run.root / "model-last.keras"}"' in child.layout.profile.read_text()
    assert str(other_model(control)) == str(run.root / "model-last.keras")
