"""Runs that evaluate or predict, followed on the page where others show their curves."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPointF, QSettings, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from gpupanel.domain import events
from gpupanel.domain.events import Phase
from gpupanel.domain.model import SavedModel
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.files.label_metrics_file import write_label_metrics
from gpupanel.runs.tools.export.export_format import ModelExportFormat
from gpupanel.ui.bindings.model_use import ModelUse
from gpupanel.ui.live_page import LivePage
from gpupanel.ui.panels.evaluation_panel.class_table import ClassTable
from gpupanel.ui.profile_actions import ProfileActions
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.session import Session
from gpupanel.ui.shown_models import model_of_shown, other_model
from gpupanel.ui.widgets.labels import EmptyState
from gpupanel.ui.workers.launch_worker import Launcher
from tests.fakes.devices import CPU_ONLY
from tests.fakes.person import Person
from tests.fakes.run_directory import STARTED_S, WrittenRun
from tests.unit.trainer.image_folders import make_images

DONE = events.ExamplesDone(
    time_s=STARTED_S + 2, examples=1024, examples_total=1797, examples_per_second=500.0
)


def evaluating(task: str) -> Profile:
    return Profile(
        task=task,
        model=SavedModel(path="/models/digits.keras"),
        devices=DeviceSettings(visible=("cpu",)),
    )


@pytest.fixture
def control(qapp, runs_dir: Path):
    session = Session()
    session.set_inventory(CPU_ONLY)
    control = RunControl(session, Launcher(), runs_dir)
    yield control
    control.close()
    session.close()


@pytest.fixture
def page(qtbot, control: RunControl):
    page = LivePage(control._session, control)
    qtbot.addWidget(page)
    page.resize(920, 700)
    page.show()
    return page


def reported(page: LivePage) -> list[str]:
    return [label.text() for label in page.evaluation.findChildren(QLabel) if label.isVisible()]


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
        empty = page.evaluation.findChild(EmptyState)
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
        assert not page.evaluation.isVisible()


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
        path = page.findChild(QLabel, "predictions_path")
        qtbot.waitUntil(path.isVisible, timeout=5000)
        assert path.accessibleName() == str(run.layout.predictions("npz"))
        folder = next(
            button
            for button in page.evaluation.findChildren(QPushButton)
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
    assert page.evaluation.findChild(ClassTable).isVisible() is is_there


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


def test_that_the_weights_that_were_not_kept_are_evaluated_predicted_with_and_exported(
    qtbot, page, control, runs_dir, tmp_path
):
    heard = []
    session, settings = (
        control._session,
        QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat),
    )
    profiles = ProfileActions(session, settings, Person())
    use = ModelUse(session, profiles, control, page, page)
    use.used.connect(lambda: heard.append((session.profile.task, session.profile.model.path)))
    page.banner.steps.other_exports.chosen.connect(heard.append)
    button = page.banner.findChild(QPushButton, "other_weights_button")
    profile = Profile(devices=DeviceSettings(visible=("cpu",)))
    saved = events.ModelSaved(
        time_s=STARTED_S + 3,
        path="model.keras",
        epoch=4,
        is_best=True,
        is_last=False,
        other_path="model-last.keras",
        other_epoch=10,
    )
    with WrittenRun(runs_dir, profile) as run:
        run.begin()
        control.open(run.layout)
        qtbot.waitUntil(lambda: control.shown_profile is not None, timeout=5000)
        assert button.isHidden()
        run.write(saved)
        run.write(events.RunEnded(time_s=STARTED_S + 4, outcome=Outcome.COMPLETED))
        qtbot.waitUntil(lambda: not button.isHidden(), timeout=5000)
        assert button.text() == "The last weights"
        *actions, exports = button.menu().actions()
        for action in (*actions, *exports.menu().actions()):
            action.trigger()

    model = str(run.layout.root / "model-last.keras")
    assert str(other_model(control)) == model
    assert heard == [("evaluate", model), ("predict", model), *ModelExportFormat]
