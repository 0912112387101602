"""Curves of the run that is shown, as a table, a picture and a drawing."""

import csv
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QAction, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QLabel

from gpupanel.domain.events import RunStarted, StepsDone
from gpupanel.domain.profile import Profile
from gpupanel.ui import theme
from gpupanel.ui.bindings.live_curve_files import LiveCurveFiles
from gpupanel.ui.panels.live_panel import LivePanel
from gpupanel.ui.plots.picture import PictureFormat
from gpupanel.ui.plots.printed_plot import cut_to
from tests.fakes.person import Person
from tests.fakes.run_directory import WrittenRun

START = 1_000.0


class Shown:
    """What says which run is shown."""

    def __init__(self, layout) -> None:
        self.shown = layout


@pytest.fixture
def person():
    return Person()


@pytest.fixture
def layout(runs_dir):
    run = WrittenRun(runs_dir, Profile(name="written"))
    with run:
        run.begin()
        run.step(12)
        run.end()
    return run.layout


@pytest.fixture
def panel(qtbot, person, layout):
    panel = LivePanel()
    for plot in panel.plot_wall.plots:
        plot.prepare()
    qtbot.addWidget(panel)
    panel.resize(1_400, 700)
    files = LiveCurveFiles(panel, Shown(layout), person)
    with qtbot.waitExposed(panel):
        panel.show()
    panel.addEvents(
        [
            RunStarted(time_s=START, supervisor_pid=1),
            *(
                StepsDone(
                    time_s=START + n,
                    step=n,
                    steps=1,
                    epoch=1,
                    step_in_epoch=n,
                    examples=64,
                    loss=100.0 / n,
                    accuracy=0.5,
                    examples_per_second=1_000.0,
                )
                for n in range(1, 101)
            ),
        ]
    )
    panel.plot_wall.redraw()
    yield panel
    files.stop()


def choose(panel, name: str) -> None:
    panel.findChild(QAction, name).trigger()


def words(panel) -> list[str]:
    return [label.text() for label in panel.findChildren(QLabel)]


def test_that_all_values_are_saved_as_a_table(qtbot, panel, person, layout, tmp_path):
    person.saves = tmp_path / "curves.csv"
    choose(panel, "live_save_curves")
    qtbot.waitUntil(lambda: any(word.endswith(str(person.saves)) for word in words(panel)))
    with person.saves.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["run"] for row in rows} == {layout.name}
    assert sum(row["metric"] == "loss" for row in rows) == 12
    panel.clear()
    assert not any(str(person.saves) in word for word in words(panel))


@pytest.mark.usefixtures("restored_theme")
def test_that_a_picture_is_on_white_or_as_the_window_looks(qapp, panel, person, tmp_path):
    theme.show(qapp, theme.DARK)
    corners = []
    for background in ("white", "theme"):
        person.saves = tmp_path / f"{background}.png"
        choose(panel, f"picture_png_{background}")
        image = QImage(str(person.saves))
        assert image.width() == 2560
        corners.append(image.pixelColor(1, 1).name())
    assert corners == ["#ffffff", theme.DARK.surface]
    assert theme.current() is theme.DARK


def drawn(path: Path) -> QImage:
    renderer = QSvgRenderer(str(path))
    assert renderer.isValid()
    image = QImage(renderer.defaultSize(), QImage.Format.Format_RGB32)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    return image


def test_that_a_drawing_has_lines_and_words(panel, person, layout, tmp_path):
    person.saves = tmp_path / "curves.svg"
    choose(panel, "picture_svg_white")
    root = ElementTree.fromstring(person.saves.read_text(encoding="utf-8"))
    names = [element.tag.rpartition("}")[2] for element in root.iter()]
    assert "polyline" in names or "path" in names
    assert "image" not in names
    said = {"".join(element.itertext()).strip() for element in root.iter() if "text" in element.tag}
    assert {layout.name, "Loss", "Examples/s", "Over steps."} <= said
    image = drawn(person.saves)
    found = {
        image.pixelColor(x, y).name()
        for x in range(image.width())
        for y in range(0, image.height(), 3)
    }
    assert image.pixelColor(1, 1).name() == "#ffffff"
    assert theme.LIGHT.accent in found


def test_that_no_line_of_a_drawing_leaves_its_plot(panel, person, tmp_path):
    wall = panel.plot_wall
    # The curve goes on far above what is shown.
    wall.loss_plot.canvas.chooseValues((1.0, 2.0))
    wall.loss_plot.canvas.timeRangeChosen.emit(20.0, 90.0)
    wall.redraw()
    person.saves = tmp_path / "curves.svg"
    choose(panel, "picture_svg_white")
    root = ElementTree.fromstring(person.saves.read_text(encoding="utf-8"))
    lines = [
        [tuple(map(float, point.split(","))) for point in element.get("points", "").split()]
        for element in root.iter()
        if element.tag.endswith("polyline")
    ]
    curves = [line for line in lines if len(line) > 20]
    assert len(curves) == 3
    loss = curves[0]
    # The plot is below the titles, and its curve between its axes.
    assert min(x for x, _ in loss) >= 24.0 + 52.0
    assert max(x for x, _ in loss) <= 632.0
    assert min(y for _, y in loss) >= 96.0
    assert max(y for _, y in loss) <= 344.0


def test_that_a_line_is_cut_at_the_edges_of_its_plot():
    place = QRectF(0.0, 0.0, 10.0, 10.0)
    x, y = np.array([-5.0, 5.0, 5.0, 8.0, 20.0, 20.0]), np.array([5.0, 5.0, 15.0, 5.0, 5.0, 9.0])
    lines = [[(point.x(), point.y()) for point in line] for line in cut_to(place, x, y)]
    assert lines[0] == [(0.0, 5.0), (5.0, 5.0), (5.0, 10.0)]
    assert lines[1] == [(6.5, 10.0), (8.0, 5.0), (10.0, 5.0)]
    assert len(lines) == 2
    assert cut_to(place, x[:1], y[:1]) == []
    whole = np.arange(11.0)
    [line] = cut_to(place, whole, whole)
    assert len(line) == 11


@pytest.mark.parametrize("name", ["live_save_curves", "picture_svg_white"])
def test_that_a_file_that_cannot_be_written_is_shown(qtbot, panel, person, tmp_path, name):
    person.saves = tmp_path / "nowhere" / "file"
    choose(panel, name)
    qtbot.waitUntil(lambda: len(person.problems) == 1)
    title, (problem,) = person.problems[0]
    assert title == "The file was not saved."
    assert problem.code == "file_missing"
    assert panel.findChild(QAction, name).isEnabled()


@pytest.mark.parametrize("action", ["live_save_curves", "picture_png_white", "picture_svg_theme"])
def test_that_no_file_replaces_a_part_of_a_runs_record(panel, person, layout, action):
    person.saves = layout.events
    before = layout.events.read_bytes()
    choose(panel, action)
    [(_, [problem])] = person.problems
    assert problem.code == "inside_a_run"
    assert layout.events.read_bytes() == before
    person.saves = layout.root / "new.csv"
    choose(panel, action)
    assert not person.saves.exists()


def test_that_what_is_hidden_is_in_no_picture(panel):
    def picture():
        return panel.picture("one", PictureFormat.SVG, is_on_white=True).decode()

    assert ">training" in picture()
    panel.plot_wall._toggle_curve("training")
    assert ">training" not in picture()


def test_that_a_name_that_looks_like_markup_is_words(panel):
    content = panel.picture('<b onload="x">&', PictureFormat.SVG, is_on_white=True)
    root = ElementTree.fromstring(content)
    said = {"".join(element.itertext()).strip() for element in root.iter()}
    assert '<b onload="x">&' in said
    assert not any(element.tag.endswith("}b") for element in root.iter())
