"""A name that holds tags or marks of direction is shown as it is, wherever the window shows it."""

import ast
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QColor, QTextDocumentFragment
from PySide6.QtWidgets import QLabel, QMessageBox

from gpupanel import ui
from gpupanel.domain.profile import Profile
from gpupanel.files.confusion_file import ConfusionCells
from gpupanel.runs.following.confusion_matrix import ConfusionMatrix
from gpupanel.runs.history.label import change_label
from gpupanel.runs.history.summaries import list_runs
from gpupanel.runs.queue.entry import QueueEntry
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.ui.panels.evaluation_panel.confusion_map import ConfusionMap
from gpupanel.ui.panels.evaluation_panel.predictions_view import PredictionsView
from gpupanel.ui.panels.log_panel import LogPanel
from gpupanel.ui.panels.profile_bar import ProfileBar
from gpupanel.ui.panels.queue_panel.queue_table import QueueModel
from gpupanel.ui.panels.runs_panel.table import RunsTable
from gpupanel.ui.plots.curve import Curve
from gpupanel.ui.plots.sample_buffer import SampleBuffer
from gpupanel.ui.widgets.labels import ElidedLabel, ProseLabel
from gpupanel.ui.widgets.tips import wrapped
from tests.fakes.run_directory import WrittenRun

UI = Path(ui.__file__).parent
NAME = "<b>bold</b><img src='file:///etc/hostname'> \u202etxt.exe\u2066 \x1b[31m"
SHOWN = r"<b>bold</b><img src='file:///etc/hostname'> \u202etxt.exe\u2066 \x1b[31m"


def plain(tip: str) -> str:
    """What a tooltip shows."""
    return QTextDocumentFragment.fromHtml(tip).toPlainText()


def test_that_every_label_shows_tags_as_they_are(qtbot) -> None:
    label, box = QLabel(NAME), QMessageBox()
    box.setText(NAME)
    box.setInformativeText(NAME)
    for widget in (label, box):
        qtbot.addWidget(widget)
        with qtbot.waitExposed(widget):
            widget.show()

    for each in (label, *box.findChildren(QLabel)):
        assert each.textFormat() is Qt.TextFormat.PlainText
    box.close()
    label.close()


def test_that_a_tooltip_shows_tags_and_marks_as_they_are() -> None:
    assert plain(wrapped(f"{NAME}\nsecond line")) == f"{SHOWN}\nsecond line"
    assert wrapped("") == ""


def test_that_tables_show_names_as_they_are(qtbot, runs_dir: Path) -> None:
    with WrittenRun(runs_dir, Profile(name=NAME)) as run:
        run.begin()
        run.end()
    change_label(run.layout, name=NAME, notes=NAME)
    table, queue = RunsTable(), QueueModel()
    qtbot.addWidget(table)
    table.set_runs(list_runs(runs_dir))
    entry = QueueEntry(id="0123abcd", name=NAME, runs_dir=runs_dir, added_s=1.0, waits=NAME)
    queue.set_line(WaitingLine(entries=(entry,)))

    for model in (table.content, queue):
        cells = [model.index(0, column) for column in range(model.columnCount(QModelIndex()))]
        texts = [cell.data(Qt.ItemDataRole.DisplayRole) for cell in cells]
        assert SHOWN in texts
        assert all(text.isprintable() for text in texts)
        assert SHOWN in plain(cells[0].data(Qt.ItemDataRole.ToolTipRole))


def test_that_sentences_and_shortened_names_show_marks_as_they_are(qtbot) -> None:
    prose, elided = ProseLabel(), ElidedLabel(NAME)
    for label in (prose, elided):
        qtbot.addWidget(label)
    prose.setProse(NAME)

    assert prose.text().replace("\N{ZERO WIDTH SPACE}", "") == SHOWN
    elided.resize(2000, 40)
    as_shown = ElidedLabel(SHOWN)
    qtbot.addWidget(as_shown)
    as_shown.resize(2000, 40)
    assert elided.grab().toImage() == as_shown.grab().toImage()


def test_that_a_legend_and_a_confusion_map_show_marks_as_they_are(qtbot) -> None:
    curve = Curve(SampleBuffer(2), NAME, QColor, str, "")
    assert curve.legend_entry(None).label == SHOWN
    maps = [ConfusionMap(), ConfusionMap()]
    for each, name in zip(maps, (NAME, SHOWN), strict=True):
        qtbot.addWidget(each)
        one, no = np.asarray([1]), np.asarray([0])
        each.setMatrix(ConfusionMatrix(ConfusionCells(no, no, one, (name,))))
        each.resize(400, 400)
    assert maps[0].accessibleDescription() == maps[1].accessibleDescription()
    assert maps[0].grab().toImage() == maps[1].grab().toImage()


def test_that_the_file_of_predictions_is_shown_as_it_is(qtbot) -> None:
    view = PredictionsView()
    qtbot.addWidget(view)
    view.setPredictions(Path(f"/{NAME.replace('/', '')}.npz"), 1, None)
    path = view.findChild(QLabel, "predictions_path")
    assert path.text().replace("\N{ZERO WIDTH SPACE}", "") == f"/{SHOWN.replace('/', '')}.npz"


def test_that_a_log_shows_marks_as_they_are(qtbot) -> None:
    panel = LogPanel()
    qtbot.addWidget(panel)
    panel.append(f"{NAME}\n\tsecond\r\nthird")

    # But for colours, which a terminal would not show as text either.
    shown = SHOWN.removesuffix(r"\x1b[31m")
    assert panel.text() == f"{shown}\n\tsecond\nthird"


def test_that_the_path_of_a_profile_is_shown_as_it_is(qtbot, tmp_path: Path) -> None:
    bar = ProfileBar()
    qtbot.addWidget(bar)
    path = tmp_path / NAME.replace("/", "|")
    bar.setDocument("x", is_dirty=False, path=path)
    bar.setRecent([path])

    assert SHOWN.replace("/", "|") in plain(bar._save.toolTip())
    (action,) = bar.recent_menu.actions()
    assert action.text() == SHOWN.replace("/", "|")
    assert SHOWN.replace("/", "|") in plain(action.toolTip())


def _is_harmless(tip: ast.expr) -> bool:
    if isinstance(tip, ast.IfExp):
        return _is_harmless(tip.body) and _is_harmless(tip.orelse)
    if isinstance(tip, ast.JoinedStr):
        values = [part.value for part in tip.values if isinstance(part, ast.FormattedValue)]
        return all(map(_is_harmless, values))
    if isinstance(tip, ast.BinOp) and isinstance(tip.right, ast.Constant):
        return isinstance(tip.right.value, int)  # a number
    text = ast.unparse(tip)
    return (
        isinstance(tip, ast.Constant)
        or text.startswith(("wrapped(", "''.join((wrapped("))
        or text.endswith(".toolTip()")  # of a widget or an action, where it was set
        or text.partition(":")[0].lstrip("_").isupper()  # a constant
    )


@pytest.mark.parametrize(
    ("source", "is_harmless"),
    [
        ("'a'", True),
        ("wrapped(path)", True),
        ("str(path)", False),
        ("f'in {path}'", False),
        ("f'{wrapped(a)}<p>{wrapped(b)}</p>'", True),
        ("wrapped(a) if a else path", False),
    ],
)
def test_that_a_tooltip_of_a_name_is_distinct_from_others(source: str, is_harmless: bool) -> None:
    assert _is_harmless(ast.parse(source, mode="eval").body) is is_harmless


def test_that_no_tooltip_is_made_of_a_name_otherwise() -> None:
    found = []
    for path in UI.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".setToolTip"):
                tip = node.args[-1]  # of a tree's item the column comes first
                if not _is_harmless(tip):
                    found.append(f"{path.relative_to(UI)}: {ast.unparse(tip)}")
    assert not [each for each in found if not each.endswith("wrapped(path) or self.toolTip()")]
