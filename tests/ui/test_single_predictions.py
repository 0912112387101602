"""Single examples on the page of a run: given, asked about, and shown with their answers."""

import base64
import csv
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import psutil
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, QSettings, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSlider,
    QToolButton,
    QWidget,
)

from gpupanel.domain import events
from gpupanel.domain.asked_prediction import (
    AskedColumn,
    HeatMap,
    PredictedNumber,
    PredictionAnswer,
    PredictionAsked,
)
from gpupanel.domain.data import DataSettings, DigitsData, ImagesData, NpzData, TableData, TextData
from gpupanel.domain.model import SavedModel
from gpupanel.domain.preview import ExamplePreview
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.ui.bindings.model_runs import ModelRuns
from gpupanel.ui.bindings.single_predictions import SinglePredictions
from gpupanel.ui.inputs.quiet_inputs import ComboBox
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_page.page import LivePage
from gpupanel.ui.run_page.predict.answer_card import AnswerCard
from gpupanel.ui.run_page.predict.row_input import RowInput
from gpupanel.ui.session import Session
from gpupanel.ui.shown_models import model_of_shown
from gpupanel.ui.task_choices import predicting_with
from gpupanel.ui.workers.launch_worker import Launcher
from gpupanel.ui.workers.prediction_worker import ModelAsker
from tests.fakes.devices import CPU_ONLY
from tests.fakes.person import Person
from tests.fakes.run_directory import STARTED_S, WrittenRun
from tests.ui.new_window import new_window
from tests.unit.trainer.asked_models import CORNERS, train_asked
from tests.unit.trainer.conftest import write_run
from tests.unit.trainer.image_folders import make_images

pytestmark = pytest.mark.usefixtures("undressed")

IMAGES = ImagesData(path="/data/pets")
TABLE, TEXTS = TableData(path="/data/houses.csv"), TextData(path="/data/reviews.csv")
COLUMNS = (
    AskedColumn(name="area", kind="number", mean=80.0, least=20.0, greatest=220.0),
    AskedColumn(name="town", kind="category", categories=("Basel", "Bern"), usual="Bern"),
    AskedColumn(name="built", kind="date", usual="1980-01-01"),
    AskedColumn(name="rooms", kind="number", mean=3.5),
)
PIXEL = ExamplePreview(
    label="", pixels_base64=base64.b64encode(bytes(3)).decode(), width=1, height=1, channels=3
)
HEAT = HeatMap(pixels_base64=base64.b64encode(b"\xff").decode(), width=1, height=1, about="cat")


def classes(**probabilities: float) -> PredictionAnswer:
    named = (PredictedNumber(name=name, number=each) for name, each in probabilities.items())
    return PredictionAnswer(predicted=tuple(named), predicted_count=len(probabilities), image=PIXEL)


class Model:
    """Answers in place of the process, and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[PredictionAsked] = []
        self.closed = 0
        self.answers: Callable[[PredictionAsked], PredictionAnswer] = lambda _: classes(
            cat=0.9, dog=0.1
        )
        self.inputs = PredictionAnswer()
        self.goes_on = Event()
        self.goes_on.set()

    def ask(self, asked: PredictionAsked, cancelled: Event) -> PredictionAnswer:
        self.asked.append(asked)
        while not (self.goes_on.wait(0.01) or cancelled.is_set()):
            pass
        return self.inputs if asked.wants == "inputs" else self.answers(asked)

    def close(self) -> None:
        self.closed += 1

    @property
    def examples(self) -> list[PredictionAsked]:
        return [each for each in self.asked if each.wants == "prediction"]


class Desk:
    """The page of a run, whose model is asked by :class:`Model`."""

    def __init__(self, runs_dir: Path) -> None:
        self.runs_dir = runs_dir
        self.session = Session()
        self.session.set_inventory(CPU_ONLY)
        self.control = RunControl(self.session, Launcher(), runs_dir)
        self.page = LivePage(self.session, self.control)
        self.area = self.page.predictions.single
        self.runs = ModelRuns(
            self.page.predictions, self.page, self.control, self.session, self.page
        )
        self.model, self.person = Model(), Person()
        self.many: list[tuple[str, ...]] = []
        self.page.filesDropped.connect(self.many.append)
        self.single = SinglePredictions(
            self.session,
            self.control,
            self.page,
            self.person,
            self.page,
            ModelAsker(self.model, self.page),
            kept_unseen_ms=200,
        )
        self.page.resize(960, 700)
        self.page.show()

    def open(self, qtbot, data: DataSettings = IMAGES, *, has_model: bool = True) -> RunLayout:
        profile = Profile(name="pets", data=data, devices=DeviceSettings(visible=("cpu",)))
        with WrittenRun(self.runs_dir, profile) as run:
            run.begin()
            if has_model:
                run.write(events.ModelSaved(time_s=STARTED_S + 3, path="model.keras"))
            run.end()
        self.control.open(run.layout)
        self.page.tabs.show_page(self.page.predictions)
        if has_model:
            self.page.tabs.show_page(self.page.predictions)
            qtbot.waitUntil(lambda: self.status.startswith("The model stays"), timeout=10_000)
        return run.layout

    @property
    def status(self) -> str:
        label = self.area.findChild(QLabel, "prediction_status")
        return label.text() if label.isVisible() else ""

    @property
    def titles(self) -> list[str]:
        """Of the answers, from top to bottom."""
        cards = [each for each in self.area.findChildren(AnswerCard) if each.isVisible()]
        cards.sort(key=lambda card: card.y())
        return [card.accessibleName() for card in cards]

    def words(self) -> list[str]:
        return [each.text() for each in self.area.findChildren(QLabel) if each.isVisible()]

    def button(self, name: str) -> QPushButton:
        return self.area.findChild(QPushButton, name)

    def drop(self, *paths: Path, on: QWidget | None = None) -> bool:
        """Drag these over the place for pictures and let go, where it takes them."""
        dropped, place = QMimeData(), on or self.area.pictures
        dropped.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        how = (Qt.DropAction.CopyAction, dropped, Qt.MouseButton.LeftButton)
        keys, middle = Qt.KeyboardModifier.NoModifier, place.rect().center()
        enter = QDragEnterEvent(middle, *how, keys)
        QApplication.sendEvent(place, enter)
        if enter.isAccepted():
            QApplication.sendEvent(place, QDropEvent(QPointF(middle), *how, keys))
        return enter.isAccepted()

    def paste(self) -> None:
        self.area.pictures.choose.setFocus()
        QTest.keyClick(self.area.pictures.choose, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)

    def close(self) -> None:
        self.single.stop()
        self.runs.stop()
        self.control.close()
        self.session.close()
        self.page.close()
        self.page.deleteLater()


@pytest.fixture
def desk(qapp, runs_dir: Path) -> Iterator[Desk]:
    desk = Desk(runs_dir)
    yield desk
    desk.close()


@pytest.fixture
def pictures(tmp_path: Path) -> list[Path]:
    make_images(tmp_path, {"1.png": 7, "2.png": 9})
    return [tmp_path / "1.png", tmp_path / "2.png"]


def test_that_dropped_pictures_are_answered_in_place_in_their_order(qtbot, desk, pictures):
    layout = desk.open(qtbot)
    assert [each.wants for each in desk.model.asked] == ["inputs"]  # it loads the model
    assert desk.drop(*pictures)
    qtbot.waitUntil(lambda: desk.titles == ["1.png: cat", "2.png: cat"], timeout=10_000)
    for path, asked in zip(pictures, desk.model.examples, strict=True):
        assert asked.profile.task == "predict"
        assert asked.profile.model.chosen_path == str(layout.model)
        assert (asked.profile.data.path, asked.profile.data.files) == (
            str(path.parent),
            (path.name,),
        )
        assert not asked.with_heat_map
    assert "2 answers" in desk.words()
    assert desk.many == []
    # What is dropped later stands above.
    desk.drop(pictures[1])
    qtbot.waitUntil(
        lambda: desk.titles == ["2.png: cat", "1.png: cat", "2.png: cat"], timeout=10_000
    )


def test_that_the_window_works_while_an_answer_is_waited_for(qtbot, desk, pictures):
    desk.open(qtbot)
    desk.model.goes_on.clear()
    desk.drop(pictures[0])
    qtbot.waitUntil(lambda: "Predicting…" in desk.words(), timeout=10_000)
    assert desk.titles == ["1.png"]
    assert not desk.button("prediction_save").isEnabled()
    desk.model.goes_on.set()
    qtbot.waitUntil(lambda: desk.titles == ["1.png: cat"], timeout=10_000)


@pytest.mark.parametrize("data", [TEXTS, TABLE, TextData(path="/data/reviews")])
def test_that_a_table_on_the_page_of_a_run_of_texts_or_rows_is_predicted_on(
    qtbot, desk, tmp_path, data
):
    desk.model.inputs = PredictionAnswer(columns=COLUMNS, column_count=4)
    desk.open(qtbot, data)
    new = tmp_path / "new.csv"
    new.write_text("sentence\na good film\n")
    assert desk.drop(new, on=desk.page)
    assert desk.many == [(str(new),)]
    trained = desk.control.shown_profile
    read = predicting_with(trained, "m.keras", (str(new),)).data
    assert (type(read), read.path) == (type(data), str(new))


def test_that_a_folder_on_the_page_of_a_run_of_texts_holds_texts(qtbot, desk, tmp_path):
    (tmp_path / "new").mkdir()
    desk.open(qtbot, TEXTS)
    assert desk.drop(tmp_path / "new", on=desk.page)
    read = predicting_with(desk.control.shown_profile, "m.keras", desk.many[0]).data
    assert read == TEXTS.model_copy(update={"path": str(tmp_path / "new")})


def test_that_a_table_on_the_page_of_a_run_of_pictures_is_left_to_the_session(
    qtbot, desk, tmp_path
):
    desk.open(qtbot)
    (tmp_path / "new.csv").write_text("a,b\n1,2\n")
    assert not desk.drop(tmp_path / "new.csv", on=desk.page)


def test_that_many_pictures_and_folders_are_left_to_a_run(qtbot, desk, pictures, tmp_path):
    desk.open(qtbot)
    many = [tmp_path / f"{number}.png" for number in range(51)]
    desk.drop(*many)
    desk.drop(tmp_path)
    assert desk.many == [tuple(map(str, many)), (str(tmp_path),)]
    (tmp_path / "notes.txt").write_text("no picture")
    desk.drop(tmp_path / "notes.txt")
    assert len(desk.many) == 2
    assert "These are no pictures, and no folder." in desk.words()
    assert desk.model.examples == []


def test_that_pictures_are_chosen_or_dropped_anywhere_on_the_page(qtbot, desk, pictures):
    desk.open(qtbot)
    desk.person.picks = tuple(map(str, pictures[:1]))
    desk.button("prediction_choose").click()
    qtbot.waitUntil(lambda: desk.titles == ["1.png: cat"], timeout=10_000)
    desk.page.tabs.show_page(desk.page.log)
    assert desk.drop(pictures[1], on=desk.page)
    qtbot.waitUntil(lambda: desk.titles == ["2.png: cat", "1.png: cat"], timeout=10_000)


def test_that_a_picture_or_files_are_pasted(qtbot, desk, pictures):
    desk.open(qtbot)
    clipboard = QApplication.clipboard()
    there = []

    def seen(asked: PredictionAsked) -> PredictionAnswer:
        data = asked.profile.data
        there.append(QImage(str(Path(data.path, *data.files))).size())
        return classes(cat=1.0)

    desk.model.answers = seen
    clipboard.setImage(QImage(str(pictures[0])))
    desk.paste()
    qtbot.waitUntil(lambda: desk.titles == ["Pasted picture 1: cat"], timeout=10_000)
    files = QMimeData()
    files.setUrls([QUrl.fromLocalFile(str(pictures[1]))])
    clipboard.setMimeData(files)
    desk.paste()
    qtbot.waitUntil(lambda: desk.titles == ["2.png: cat", "Pasted picture 1: cat"], timeout=10_000)
    assert [(each.width(), each.height()) for each in there] == [(11, 9), (11, 9)]
    kept = Path(desk.model.examples[0].profile.data.path)
    assert kept.is_dir()
    clipboard.setText("words")
    desk.paste()
    assert "The clipboard holds no picture and no files." in desk.words()
    desk.single.stop()
    assert not kept.exists()


def test_that_heat_maps_are_asked_for_when_they_are_wanted(qtbot, desk, pictures):
    desk.open(qtbot)
    desk.drop(pictures[0])
    qtbot.waitUntil(lambda: desk.titles == ["1.png: cat"], timeout=10_000)
    found = [{"heat_map": HEAT}, {"without_heat_map": "The model has no convolutional layer."}]
    desk.model.answers = lambda asked: classes(cat=0.9).model_copy(
        update=found.pop(0) if asked.with_heat_map else {}
    )
    desk.area.answers.heat.click()
    shown = [each for each in desk.area.findChildren(QLabel) if each.accessibleName() == "Heat map"]
    qtbot.waitUntil(lambda: any(each.isVisible() for each in shown), timeout=10_000)
    desk.drop(pictures[1])
    words = "No heat map: The model has no convolutional layer."
    qtbot.waitUntil(lambda: words in desk.words(), timeout=10_000)
    assert [each.with_heat_map for each in desk.model.examples] == [False, True, False, True]
    assert desk.model.examples[0].profile == desk.model.examples[1].profile
    died = Problem(code="x", message="The process was killed.", hint="Try again.")
    found.append({"predicted": (), "image": None, "problems": (died,)})
    desk.drop(pictures[0])
    words = "No heat map: The process was killed. Try again."
    qtbot.waitUntil(lambda: words in desk.words(), timeout=10_000)
    assert desk.titles == ["1.png: cat", "2.png: cat", "1.png: cat"]  # the names stay
    desk.area.answers.heat.click()
    assert not any(each.isVisible() for each in shown)


def test_that_an_answer_with_its_heat_map_is_whole_in_a_narrow_window(qtbot, desk, pictures):
    desk.model.answers = lambda asked: classes(cat=0.9).model_copy(
        update={"heat_map": HEAT if asked.with_heat_map else None}
    )
    desk.open(qtbot)
    desk.page.resize(776, 700)
    desk.drop(pictures[0])
    desk.area.answers.heat.click()
    (card,) = desk.area.findChildren(AnswerCard)
    picture, heat = (
        next(each for each in card.findChildren(QLabel) if each.accessibleName() == name)
        for name in ("Picture", "Heat map")
    )
    qtbot.waitUntil(lambda: heat.isVisible() and heat.y() > picture.y(), timeout=10_000)
    assert card.width() <= card.parentWidget().parentWidget().width()
    for name in ("prediction_copy", "prediction_save", "prediction_clear"):
        assert desk.button(name).width() >= desk.button(name).sizeHint().width()
    desk.page.resize(1200, 700)
    qtbot.waitUntil(lambda: heat.x() > picture.x() and heat.y() == picture.y(), timeout=10_000)


def test_that_it_is_said_that_a_heat_map_is_waited_for(qtbot, desk, pictures):
    desk.open(qtbot)
    desk.drop(pictures[0])
    qtbot.waitUntil(lambda: len(desk.model.examples) == 1, timeout=10_000)
    qtbot.waitUntil(lambda: "cat" in desk.titles[0], timeout=10_000)
    desk.model.goes_on.clear()
    desk.area.answers.heat.click()
    qtbot.waitUntil(lambda: "The heat map is being made…" in " ".join(desk.words()))
    desk.model.goes_on.set()


def test_that_a_picture_that_is_given_meanwhile_is_named_before_the_next_heat_map(
    qtbot, desk, pictures
):
    desk.open(qtbot)
    desk.drop(*pictures)
    qtbot.waitUntil(lambda: desk.titles == ["1.png: cat", "2.png: cat"], timeout=10_000)
    desk.model.answers = lambda asked: classes(cat=0.9).model_copy(
        update={"heat_map": HEAT} if asked.with_heat_map else {}
    )
    desk.model.goes_on.clear()
    desk.area.answers.heat.click()
    desk.drop(pictures[1])
    desk.model.goes_on.set()
    qtbot.waitUntil(lambda: len(desk.model.examples) == 6, timeout=10_000)
    asked = [(each.profile.data.files[0], each.with_heat_map) for each in desk.model.examples]
    maps = [("1.png", True), ("2.png", True), ("2.png", True)]
    assert asked == [("1.png", False), ("2.png", False), maps[0], ("2.png", False), *maps[1:]]


def test_that_numbers_are_given_as_pictures_or_files_with_what_becomes_of_them(
    qtbot, desk, pictures, tmp_path
):
    takes = "A picture becomes 8 x 8 grey, 0 to 16."
    desk.model.inputs = PredictionAnswer(takes=takes)
    desk.open(qtbot, DigitsData())
    qtbot.waitUntil(lambda: takes in desk.words(), timeout=10_000)
    assert "Drop pictures or .npy files here" in desk.words()
    desk.model.answers = lambda asked: classes(cat=0.9).model_copy(
        update={"made": "8 x 8 grey, 0 to 16", "is_swapped": asked.swap is not False}
    )
    desk.drop(pictures[0])
    qtbot.waitUntil(lambda: desk.titles == ["1.png: cat"], timeout=10_000)
    (asked,) = desk.model.examples
    assert (asked.file, asked.place, asked.swap) == (str(pictures[0]), 0, None)
    assert asked.profile.data == DigitsData()
    assert "Given to the model as 8 x 8 grey, 0 to 16." in desk.words()
    assert "Given to the model as 8 x 8 grey, 0 to 16." in desk.area.answers.text()
    for wanted in (False, True):
        count = len(desk.model.examples)
        desk.area.findChild(QToolButton, "prediction_swap").click()
        qtbot.waitUntil(lambda count=count: len(desk.model.examples) > count, timeout=10_000)
        assert desk.model.examples[-1].swap is wanted
        qtbot.waitUntil(
            lambda wanted=wanted: desk.area.answers.answer_of(0).is_swapped is wanted,
            timeout=10_000,
        )
    assert desk.titles == ["1.png: cat"]
    assert desk.area.answers.heat.isVisible()
    desk.drop(tmp_path / "notes.txt")
    assert "These are no pictures and no .npy files." in desk.words()
    desk.open(qtbot)
    assert "Drop pictures here" in desk.words()


def test_that_each_example_of_a_file_is_answered(qtbot, desk, tmp_path):
    words = "No pictures: the examples are none."
    desk.model.inputs = PredictionAnswer(takes=words, takes_pictures=False)
    desk.open(qtbot, NpzData(path="/data/arrays.npz"))
    qtbot.waitUntil(lambda: words in desk.words(), timeout=10_000)
    assert "Drop .npy files here" in desk.words()
    desk.model.answers = lambda asked: classes(**{f"class {asked.place}": 0.9}).model_copy(
        update={"count": 3}
    )
    desk.drop(tmp_path / "some.npy")
    names = [f"some.npy, example {place + 1}: class {place}" for place in range(3)]
    qtbot.waitUntil(lambda: desk.titles == names, timeout=10_000)
    assert [each.place for each in desk.model.examples] == [0, 1, 2]
    assert not any(
        each.isVisible() for each in desk.area.findChildren(QToolButton, "prediction_swap")
    )
    desk.model.answers = lambda asked: classes(cat=0.9).model_copy(update={"count": 1234})
    desk.drop(tmp_path / "many.npy")
    words = 'Of 1,234 examples the first 50 are answered. "Run on files…" predicts on all of them.'
    qtbot.waitUntil(lambda: len(desk.titles) == 53 and words in desk.words(), timeout=10_000)


def test_that_an_answer_whose_card_was_removed_asks_for_no_others(qtbot, desk, tmp_path):
    desk.open(qtbot, NpzData(path="/data/arrays.npz"))
    desk.model.goes_on.clear()
    desk.model.answers = lambda _: classes(cat=0.9).model_copy(update={"count": 3})
    desk.drop(tmp_path / "some.npy")
    qtbot.waitUntil(lambda: len(desk.model.examples) == 1, timeout=10_000)
    desk.button("prediction_clear").click()
    desk.model.goes_on.set()
    QTest.qWait(200)
    assert (desk.titles, len(desk.model.examples)) == ([], 1)


def values(number: float) -> PredictionAnswer:
    one = PredictedNumber(name="price", number=number)
    return PredictionAnswer(meaning="values", predicted=(one,), predicted_count=1)


def test_that_a_row_begins_in_the_middle_and_is_answered_while_it_is_changed(qtbot, desk):
    desk.model.inputs = PredictionAnswer(columns=COLUMNS, column_count=4)
    desk.model.answers = lambda asked: values(1000 * (asked.row["area"] or 0))
    desk.open(qtbot, TABLE)
    first = "area 80, town Bern, built 1980-01-01, rooms 3.5: price: 80,000"
    qtbot.waitUntil(lambda: desk.titles == [first], timeout=10_000)
    assert desk.model.examples[0].row == {
        "area": 80.0,
        "town": "Bern",
        "built": "1980-01-01",
        "rooms": 3.5,
    }
    (slider,) = desk.area.findChildren(QSlider)
    assert slider.value() == 60
    slider.setValue(200)
    qtbot.waitUntil(lambda: "price: 220,000" in desk.titles[0], timeout=10_000)
    desk.button("prediction_keep").click()
    box = desk.area.rows.findChild(ComboBox)
    box.setCurrentIndex(0)
    qtbot.waitUntil(lambda: len(desk.titles) == 2, timeout=10_000)
    qtbot.waitUntil(lambda: "town empty" in desk.titles[0], timeout=10_000)
    # The card names what is asked before the other thread asks it.
    qtbot.waitUntil(lambda: desk.model.examples[-1].row["town"] is None, timeout=10_000)


def test_that_a_slider_that_is_still_dragged_is_answered(qtbot, desk):
    desk.model.inputs = PredictionAnswer(columns=COLUMNS, column_count=4)
    desk.model.answers = lambda asked: values(1000 * (asked.row["area"] or 0))
    desk.open(qtbot, TABLE)
    qtbot.waitUntil(lambda: desk.titles != [] and "price" in desk.titles[0], timeout=10_000)
    (slider,) = desk.area.findChildren(QSlider)
    before = desk.titles

    def drag_on() -> bool:
        slider.setValue(slider.value() % 200 + 1)
        return desk.titles != before

    # Each step comes sooner than the pause in which nothing is asked: no step is the last.
    ends_s = time.monotonic() + 2
    while not drag_on() and time.monotonic() < ends_s:
        QTest.qWait(10)
    assert desk.titles != before


def test_that_a_number_that_is_none_or_beyond_is_said(qtbot, desk):
    desk.model.inputs = PredictionAnswer(columns=COLUMNS, column_count=4)
    desk.model.answers = lambda asked: values(1.0)
    desk.open(qtbot, TABLE)
    qtbot.waitUntil(lambda: len(desk.model.examples) == 1, timeout=10_000)
    area = next(
        each for each in desk.area.rows.findChildren(QLineEdit) if each.accessibleName() == "area"
    )
    area.selectAll()
    QTest.keyClicks(area, "large")
    wrong = 'area: "large" is no number. Write it as 1234.5.'
    qtbot.waitUntil(lambda: wrong in desk.words(), timeout=10_000)
    assert len(desk.model.examples) == 1
    area.selectAll()
    QTest.keyClicks(area, "500")
    qtbot.waitUntil(lambda: "Outside of what training saw: area." in desk.words(), timeout=10_000)
    qtbot.waitUntil(lambda: desk.model.examples[-1].row["area"] == 500.0, timeout=10_000)
    area.selectAll()
    QTest.keyClick(area, Qt.Key.Key_Backspace)
    qtbot.waitUntil(lambda: desk.model.examples[-1].row["area"] is None, timeout=10_000)


def test_that_what_was_typed_last_is_asked_and_an_answer_never_stands_at_another_example(
    qtbot, desk
):
    desk.model.answers = lambda asked: classes(**{asked.text.split()[-1]: 1.0})
    desk.open(qtbot, TEXTS)
    field = desk.area.findChild(QPlainTextEdit, "prediction_text_field")
    field.setPlainText("it is good")
    qtbot.waitUntil(lambda: desk.titles == ["it is good: good"], timeout=10_000)
    desk.model.goes_on.clear()
    field.setPlainText("it is bad")
    qtbot.waitUntil(lambda: len(desk.model.examples) == 2, timeout=10_000)
    for word in ("it is worse", "it is worst"):
        field.setPlainText(word)
        QTest.qWait(400)
    assert desk.titles == ["it is good: good"]
    desk.model.goes_on.set()
    qtbot.waitUntil(lambda: desk.titles == ["it is worst: worst"], timeout=10_000)
    assert [each.text for each in desk.model.examples] == ["it is good", "it is bad", "it is worst"]


def test_that_answers_are_copied_and_saved(qtbot, desk, pictures, tmp_path):
    desk.open(qtbot)
    desk.drop(*pictures)
    qtbot.waitUntil(lambda: desk.titles == ["1.png: cat", "2.png: cat"], timeout=10_000)
    desk.button("prediction_copy").click()
    assert QApplication.clipboard().text().splitlines()[1].split("\t")[:4] == [
        "2.png",
        "cat",
        "cat",
        "0.9",
    ]
    desk.person.saves = tmp_path / "answers.csv"
    desk.button("prediction_save").click()
    qtbot.waitUntil((tmp_path / "answers.csv").exists, timeout=10_000)
    with (tmp_path / "answers.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["example"] for row in rows] == ["2.png", "1.png"]
    assert (rows[0]["predicted"], rows[0]["name 2"], rows[0]["probability 2"]) == (
        "cat",
        "dog",
        "0.1",
    )
    desk.button("prediction_clear").click()
    assert desk.titles == []
    assert "No answers yet" in desk.words()


def test_that_what_is_wrong_with_an_example_or_the_model_is_a_sentence(qtbot, desk, pictures):
    wrong = Problem(code="x", message="The picture is damaged.", hint="Repair it.")
    desk.model.answers = lambda _: PredictionAnswer(problems=(wrong,))
    desk.open(qtbot)
    desk.drop(pictures[0])
    qtbot.waitUntil(lambda: "The picture is damaged. Repair it." in desk.words(), timeout=10_000)
    lost = Problem(code="x", message="The saved model is gone.", hint="Train again.")
    desk.model.inputs = PredictionAnswer(problems=(lost,))
    before = desk.model.closed
    desk.page.tabs.show_page(desk.page.log)
    qtbot.waitUntil(lambda: desk.model.closed > before, timeout=10_000)
    desk.page.tabs.show_page(desk.page.predictions)
    qtbot.waitUntil(lambda: desk.status == "The saved model is gone. Train again.", timeout=10_000)
    assert not desk.area.pictures.isEnabled()
    assert not desk.area.takes((str(pictures[0]),))


def test_that_a_run_without_a_model_is_asked_nothing(qtbot, desk, pictures):
    desk.open(qtbot, has_model=False)
    qtbot.waitUntil(
        lambda: (
            "The model can predict once it is saved"
            in "".join(
                label.text()
                for label in desk.page.predictions.findChildren(QLabel)
                if label.isVisible()
            )
        ),
        timeout=10_000,
    )
    assert not desk.area.isVisible()
    assert not desk.area.give(tuple(map(str, pictures)))
    assert desk.model.asked == []


def test_that_the_process_ends_with_another_run_and_when_nobody_looks(qtbot, desk, monkeypatch):
    desk.open(qtbot)
    desk.drop(Path("/nowhere/1.png"))
    qtbot.waitUntil(lambda: len(desk.titles) == 1, timeout=10_000)
    before = desk.model.closed
    desk.open(qtbot, TEXTS)
    qtbot.waitUntil(lambda: desk.model.closed > before, timeout=10_000)
    assert desk.titles == []
    before, asked = desk.model.closed, len(desk.model.asked)
    desk.page.tabs.show_page(desk.page.log)
    qtbot.waitUntil(lambda: desk.model.closed > before, timeout=10_000)
    desk.page.tabs.show_page(desk.page.predictions)
    qtbot.waitUntil(lambda: len(desk.model.asked) > asked, timeout=10_000)


def test_that_the_model_is_let_go_while_a_run_needs_the_cpu(qtbot, desk, runs_dir, pictures):
    desk.open(qtbot)
    profile = Profile(devices=DeviceSettings(visible=("cpu",)))
    with WrittenRun(runs_dir, profile) as other:
        other.begin()
        other.step(2)
        desk.control.follow_unseen(other.layout)
        words = "A run on the CPU is in progress; the model can be asked when it has ended."
        qtbot.waitUntil(lambda: desk.status == words, timeout=10_000)
        qtbot.waitUntil(lambda: desk.model.closed > 0, timeout=10_000)
        assert not desk.area.takes((str(pictures[0]),))
        asked = len(desk.model.asked)
        other.end()
        qtbot.waitUntil(lambda: len(desk.model.asked) > asked, timeout=10_000)
    assert desk.area.takes((str(pictures[0]),))


def test_that_a_run_of_predictions_stands_in_place_of_the_examples_until_they_are_wanted(
    qtbot, desk, runs_dir, pictures
):
    desk.open(qtbot)
    profile = Profile(task="predict", model=SavedModel(path="/m.keras"), data=IMAGES)
    with WrittenRun(runs_dir, profile) as run:
        run.begin(events.Phase.PREDICTING)
        run.end()
    back = desk.page.predictions.findChild(QPushButton, "predict_rest_button")
    assert not back.isVisible()
    desk.runs.look_at(run.layout.root)
    assert (desk.area.isVisible(), back.isVisible()) == (False, True)
    back.click()
    assert (desk.area.isVisible(), back.isVisible()) == (True, False)
    desk.runs.look_at(run.layout.root)
    assert desk.drop(pictures[0], on=desk.page)  # is answered, and seen
    qtbot.waitUntil(lambda: desk.titles == ["1.png: cat"], timeout=10_000)
    desk.control.open(run.layout)
    qtbot.waitUntil(lambda: desk.control.shown_profile == profile, timeout=10_000)
    assert desk.drop(pictures[0], on=desk.page)  # its page shows what it found
    assert desk.many == [(str(pictures[0]),)]


def asked_processes() -> list[psutil.Process]:
    return [
        each
        for each in psutil.Process().children()
        if "gpupanel.trainer.tools.prediction" in each.cmdline()
    ]


@pytest.fixture
def real_window(qapp, tmp_path, runs_dir):
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    window.show()
    yield window
    window.close()


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "with_another_run",
    [pytest.param(False, marks=pytest.mark.long), pytest.param(True, marks=pytest.mark.slow)],
    ids=["one", "two"],
)
def test_that_new_pictures_get_names_in_a_real_window_and_no_process_is_left(
    qtbot, tmp_path, real_window, with_another_run
):
    names = ("corners", "reviews") if with_another_run else ("corners",)
    runs = train_asked(tmp_path, write_run, names)
    page, control = real_window.live_page, real_window.control
    area, answers = page.predictions.single, page.predictions.single.answers

    def show(name: str) -> None:
        real_window.open_target(runs[name].root)
        qtbot.waitUntil(lambda: control.shown == runs[name], timeout=20_000)
        qtbot.waitUntil(lambda: bool(model_of_shown(control)), timeout=20_000)
        page.tabs.show_page(page.predictions)

    def predicted() -> list[str]:
        return [row["predicted"] for row in csv.DictReader(answers.text().splitlines())]

    show("corners")
    qtbot.waitUntil(lambda: area.takes(("/a.png",)), timeout=20_000)
    expected: list[str] = []
    for name in CORNERS:
        began_s = time.monotonic()
        assert area.give((str(tmp_path / "corners" / name / "5.png"),))
        expected.insert(0, name)
        qtbot.waitUntil(lambda: predicted() == expected, timeout=60_000)
        took_s = time.monotonic() - began_s
    assert took_s < 5.0  # of the second one, on a busy machine
    (process,) = asked_processes()
    if with_another_run:
        show("reviews")
        qtbot.waitUntil(lambda: not process.is_running(), timeout=20_000)
        area.findChild(QPlainTextEdit, "prediction_text_field").setPlainText("a lovely superb film")
        qtbot.waitUntil(lambda: predicted() == ["good"], timeout=60_000)
        (process,) = asked_processes()
    real_window.close()
    assert not process.is_running()


def test_that_the_answer_to_a_row_is_seen_above_its_sliders_in_a_small_window(qtbot, desk):
    desk.model.inputs = PredictionAnswer(columns=COLUMNS, column_count=4)
    desk.model.answers = lambda asked: values(23.5)
    desk.open(qtbot, TABLE)
    qtbot.waitUntil(lambda: desk.area.rows.isVisible())
    rows, answers = desk.area.rows, desk.area.answers

    def top(part: QWidget) -> QPoint:
        return part.mapTo(desk.area, QPoint(0, 0))

    desk.page.resize(960, 700)
    qtbot.waitUntil(lambda: top(answers).x() > top(rows).x())
    desk.page.resize(500, 500)
    qtbot.waitUntil(lambda: top(answers).y() + answers.height() <= top(rows).y())


def test_that_answers_stand_below_where_they_have_no_room_beside(qtbot, desk):
    desk.open(qtbot)
    answers = desk.area.answers

    def left_of_answers() -> int:
        return answers.mapTo(desk.area, QPoint(0, 0)).x()

    answers.setStyleSheet("QPushButton { min-width: 200px; }")
    place = QWidget()
    qtbot.addWidget(place)
    desk.area.setParent(place)
    desk.area.show()
    place.resize(1000, 600)
    place.show()
    needed = 320 + 16 + answers.minimumSizeHint().width()
    desk.area.resize(needed, 500)
    qtbot.waitUntil(lambda: left_of_answers() > 300)
    desk.area.resize(needed - 1, 500)
    qtbot.waitUntil(lambda: left_of_answers() == 0)
    assert desk.area.width() == needed - 1


def test_that_answers_go_below_as_soon_as_they_need_more_room(qtbot, desk):
    """As they do once they are shown: before that nobody knows their fonts."""
    desk.open(qtbot)
    answers, place = desk.area.answers, QWidget()
    qtbot.addWidget(place)
    desk.area.setParent(place)
    desk.area.show()
    place.resize(1000, 600)
    place.show()

    def left_of_answers() -> int:
        return answers.mapTo(desk.area, QPoint(0, 0)).x()

    desk.area.resize(320 + 16 + answers.minimumSizeHint().width() + 50, 500)
    qtbot.waitUntil(lambda: left_of_answers() > 300)
    answers.setStyleSheet("QPushButton { min-width: 120px; }")
    qtbot.waitUntil(lambda: left_of_answers() == 0)
    answers.setStyleSheet("")
    qtbot.waitUntil(lambda: left_of_answers() > 300)


def test_that_a_row_says_what_will_stand_in_its_place_while_the_model_is_loaded(qtbot):
    row = RowInput()
    qtbot.addWidget(row)

    def said() -> list[str]:
        return [label.text() for label in row.findChildren(QLabel) if not label.isHidden()]

    assert "The columns appear here once the model is loaded." in said()
    row.setColumns((AskedColumn(name="area", kind="number"),), 1)
    qtbot.waitUntil(lambda: not any("appear here" in each for each in said()))
    row.clear()
    assert "The columns appear here once the model is loaded." in said()
