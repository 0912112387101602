"""The page of a run shows the same validation examples after each epoch."""

import base64

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QLabel, QPushButton, QSlider, QWidget

from gpupanel.domain import events
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.preview import ExamplePreview
from gpupanel.domain.shown_examples import ShownCell, ShownClass, ShownExample
from gpupanel.domain.validation_examples import (
    EpochPredictions,
    ExamplePrediction,
    FollowedExamples,
)
from gpupanel.ui.run_page.evaluations.example_card import ValidationCard
from tests.fakes.devices import CPU_ONLY
from tests.fakes.person import Person
from tests.fakes.run_directory import STARTED_S, WrittenRun
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("undressed")

PIXEL = ExamplePreview(
    label="", pixels_base64=base64.b64encode(bytes(4)).decode(), width=2, height=2, channels=1
)
CAT = ShownExample(index=3, label="cat", name="pets/3.png", image=PIXEL)
ROW = ShownExample(index=8, label="dog", image=ExamplePreview(label="", text="51, 0, 1"))


def classes(epoch: int, *chances: float) -> EpochPredictions:
    """How probable it is that each is what it is; else it is taken for a fish."""
    return EpochPredictions(
        epoch=epoch,
        predictions=tuple(
            ExamplePrediction(
                predicted=(
                    ShownClass(name=example.label if each > 0.5 else "fish", probability=0.75),
                    ShownClass(name="bird", probability=0.125),
                ),
                label_probability=each,
                is_right=each > 0.5,
            )
            for example, each in zip((CAT, ROW), chances, strict=True)
        ),
    )


class Page:
    """A window that shows a run in progress, and the run."""

    def __init__(self, tmp_path) -> None:
        runs_dir = tmp_path / "runs"
        runs_dir.mkdir()
        settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
        self.window = new_window(settings, runs_dir, Person())
        self.window.resize(1280, 800)
        self.window.show()
        self.window.session.set_inventory(CPU_ONLY)
        self.run = WrittenRun(runs_dir)
        self.run.__enter__()
        self.run.begin()
        self.write(FollowedExamples(from_epoch=1, validation_examples=40, examples=(CAT, ROW)))

    def write(self, line) -> None:
        with self.run.layout.validation_examples.open("a", encoding="utf-8") as file:
            file.write(line.model_dump_json(exclude_none=True) + "\n")

    def end_epoch(self, line: EpochPredictions) -> None:
        self.write(line)
        done = events.EpochDone(
            time_s=STARTED_S + line.epoch,
            epoch=line.epoch,
            step=line.epoch * 10,
            metrics=Metrics(loss=1.0 / line.epoch),
            seconds=1.0,
        )
        self.run.write(done)

    def open(self) -> None:
        self.window.begin()
        self.window.open_target(self.run.layout.root)

    def show(self) -> None:
        live = self.window.findChild(QWidget, "evaluate_page")
        self.window.findChild(QWidget, "run_tabs").show_page(live)

    def title(self) -> str:
        return self.window.findChild(QLabel, "validation_title").text()

    def cards(self) -> list[QWidget]:
        return self.window.findChildren(QWidget, "validation_card")

    def slider(self) -> QSlider:
        return self.window.findChild(QSlider, "validation_epoch")


@pytest.fixture
def page(qtbot, tmp_path):
    made = Page(tmp_path)
    yield made
    made.window.close()
    made.run.__exit__(None, None, None)


def test_that_each_epoch_is_seen_while_the_run_goes_on_and_earlier_ones_again(qtbot, page):
    page.end_epoch(classes(1, 0.25, 0.75))
    page.open()
    page.show()
    qtbot.waitUntil(lambda: page.title() == "After epoch 1: 1 of 2 right", timeout=10_000)
    assert not page.slider().isVisible()
    first, second = (each.accessibleName() for each in page.cards())
    assert first == "pets/3.png, is cat  25 %, predicted fish  75 %, wrong"
    assert second == "validation example 8, is dog, predicted dog  75 %, right"
    assert "bird" in page.cards()[0].toolTip()
    page.end_epoch(classes(2, 0.875, 0.625))
    qtbot.waitUntil(lambda: page.title() == "After epoch 2: 2 of 2 right", timeout=10_000)
    page.slider().setValue(0)
    assert page.title() == "After epoch 1: 1 of 2 right"
    page.end_epoch(classes(3, 0.875, 0.25))
    qtbot.waitUntil(lambda: page.slider().maximum() == 2, timeout=10_000)
    # Who looks back goes on looking there.
    assert page.title() == "After epoch 1: 1 of 2 right"
    page.slider().setValue(2)
    assert page.title() == "After epoch 3: 1 of 2 right"


def test_that_a_row_has_its_cells_in_place_of_the_numbers_that_the_model_gets(qtbot):
    cells = [ShownCell(column=f"column {at}", text=f"{at}.5" if at else "") for at in range(9)]
    card = ValidationCard(ROW.model_copy(update={"cells": tuple(cells)}))
    qtbot.addWidget(card)
    card.setPrediction(classes(1, 0.25, 0.75).predictions[1], ())
    words = "\n".join(label.text() for label in card.findChildren(QLabel))
    for line in ("column 0: \N{EN DASH}", "column 5: 5.5", "and 3 more"):
        assert line in words
    assert "column 6" not in words
    assert "51, 0, 1" not in words
    assert "column 8: 8.5" in card.toolTip()
    few = ValidationCard(ROW.model_copy(update={"cells": tuple(cells[:7])}))
    qtbot.addWidget(few)
    assert "column 6: 6.5" in "\n".join(label.text() for label in few.findChildren(QLabel))


def test_that_another_run_has_its_own(qtbot, page):
    page.end_epoch(classes(1, 0.25, 0.75))
    page.open()
    page.show()
    qtbot.waitUntil(lambda: len(page.cards()) == 2, timeout=10_000)
    with WrittenRun(page.run.layout.root.parent) as other:
        other.begin()
        page.window.open_target(other.layout.root)
        qtbot.waitUntil(lambda: page.title() == "", timeout=10_000)
        page.show()
        qtbot.wait(200)
        assert not any(each.isVisible() for each in page.cards())
        shown = page.window.findChild(QWidget, "evaluate_page")
        texts = [each.text() for each in shown.findChildren(QLabel) if each.isVisible()]
        assert any("once it is saved" in each for each in texts)


def test_that_values_say_by_how_much_they_are_off(qtbot, page):
    said = ExamplePrediction(predicted=(ShownClass(name="12,646"),), error=3.5)
    page.end_epoch(EpochPredictions(epoch=1, predictions=(said, said)))
    page.open()
    page.show()
    wanted = "After epoch 1: off by 3.500 on average"
    qtbot.waitUntil(lambda: page.title() == wanted, timeout=10_000)
    assert page.cards()[0].accessibleName().endswith("is cat, off by 3.500, predicted 12,646")


def test_that_one_comes_back_to_them_from_an_evaluation(qtbot, page):
    page.end_epoch(classes(1, 0.25, 0.75))
    page.open()
    page.show()
    qtbot.waitUntil(lambda: len(page.cards()) == 2, timeout=10_000)
    shown = page.window.findChild(QWidget, "evaluate_page")
    back = page.window.findChild(QPushButton, "evaluate_rest_button")
    assert not back.isVisible()
    shown.look_at(page.run.layout.root)
    assert back.isVisible()
    assert not page.cards()[0].isVisible()
    back.click()
    assert page.cards()[0].isVisible()
    assert not back.isVisible()


def test_that_what_is_no_file_is_said_on_the_page(qtbot, page):
    page.run.layout.validation_examples.unlink()
    page.run.layout.validation_examples.mkdir()
    page.open()
    page.show()
    wanted = "The validation examples cannot be read"
    qtbot.waitUntil(lambda: page.title() == wanted, timeout=10_000)
    view = page.window.findChild(QWidget, "validation_examples")
    (note,) = [each.text() for each in view.findChildren(QLabel) if "folder" in each.text()]
    assert "validation-examples.jsonl" in note


def test_that_a_long_sum_makes_no_small_window_wider(qtbot, page):
    page.window.resize(853, 533)
    far = ExamplePrediction(predicted=(ShownClass(name="234,567.8"),), error=123_456.7)
    page.end_epoch(EpochPredictions(epoch=1, predictions=(far, far)))
    page.end_epoch(EpochPredictions(epoch=1_000, predictions=(far, far)))
    page.open()
    page.show()
    qtbot.waitUntil(lambda: "off by 123,457 on average" in page.title(), timeout=10_000)
    assert page.slider().isVisible()
    assert page.window.width() == 853
    view = page.window.findChild(QWidget, "validation_examples")
    title = page.window.findChild(QLabel, "validation_title")
    assert view.minimumSizeHint().width() < title.sizeHint().width() + 100
