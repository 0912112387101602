"""Past runs in a table: found, sorted, chosen, and brought up to date without a jump."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QItemSelectionModel, QPoint, QSettings, Qt
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QTableView,
)

from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.problem import Problem
from gpupanel.runs.history.run_settings import RunSettings
from gpupanel.runs.history.run_summary import RunProgress, RunSummary
from gpupanel.ui import formatting, theme
from gpupanel.ui.panels.runs_panel import RunsPanel, column_widths, search
from gpupanel.ui.panels.runs_panel.column_choices import ColumnChoices
from gpupanel.ui.panels.runs_panel.columns import COLUMNS, run_tip
from gpupanel.ui.remembered import remember_columns, remembered_columns
from gpupanel.ui.widgets.labels import EmptyState, ShorterLabel

BEST = RunSummary(
    name="b",
    path=Path("/runs/b"),
    profile_name="best",
    started_s=2_000.0,
    ended_s=2_041.0,
    outcome=Outcome.COMPLETED,
    metrics=Metrics(val_accuracy=0.975, val_loss=0.1),
    examples_per_second=118_000.0,
    devices=("NVIDIA GeForce RTX 4090",),
)
LOST = RunSummary(
    name="a",
    path=Path("/runs/a"),
    profile_name="lost",
    started_s=1_000.0,
    outcome=Outcome.LOST,
    problem=Problem(code="trainer_killed", message="The trainer was killed."),
)
GOING = RunSummary(
    name="c",
    path=Path("/runs/c"),
    profile_name="going",
    started_s=3_000.0,
    is_running=True,
    progress=RunProgress(step=45, step_total=100),
)


def many(count):
    return tuple(
        BEST.model_copy(
            update={
                "name": f"run-{number:04}",
                "path": Path(f"/runs/run-{number:04}"),
                "profile_name": f"profile {number}",
                "started_s": 1_000.0 + number,
            }
        )
        for number in reversed(range(count))
    )


@pytest.fixture
def panel(qtbot):
    panel = RunsPanel(Path("/runs"))
    qtbot.addWidget(panel)
    panel.resize(940, 400)
    panel.setRuns((GOING, BEST, LOST))
    with qtbot.waitExposed(panel):
        panel.show()
    return panel


@pytest.fixture
def table(panel):
    return panel.findChild(QTableView, "runs_table")


def _rows(table):
    model = table.model()
    shown = [column for column in range(model.columnCount()) if not table.isColumnHidden(column)]
    return [
        [model.index(row, column).data() for column in shown] for row in range(model.rowCount())
    ]


def _names(table):
    return [row[0] for row in _rows(table)]


def _button(panel, name):
    return panel.findChild(QPushButton, f"{name}_button")


def _choose(table, *rows):
    table.clearSelection()
    for row in rows:
        table.selectionModel().select(
            table.model().index(row, 0),
            QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows,
        )


def test_that_runs_are_shown_newest_first(table):
    rows = _rows(table)

    assert _names(table) == ["going", "best", "lost"]
    assert [row[2] for row in rows] == ["Running, 45 %", "Completed", "Lost"]
    assert rows[1][3:] == ["0:41", "97.5 %", "0.1000", "118,000 ex/s", "RTX 4090"]


def test_that_a_name_of_its_own_takes_the_place_of_the_profiles(panel, table):
    place = [column.key for column in COLUMNS].index("notes")
    assert table.isColumnHidden(place)  # nothing was noted yet
    named = BEST.model_copy(update={"label": "mine", "notes": "first line\nsecond"})
    panel.setRuns((GOING, named, LOST))

    assert _rows(table)[1][0] == "mine"
    assert _rows(table)[1][-1] == "first line"
    assert "second" in table.model().index(1, 0).data(Qt.ItemDataRole.ToolTipRole)


def test_that_restarts_have_a_column_where_there_were_any(panel, table):
    place = [column.key for column in COLUMNS].index("restarts")
    assert table.isColumnHidden(place)
    again = BEST.model_copy(update={"restarts": 2, "active_s": 20.0})
    panel.setRuns((GOING, again, LOST))
    assert _rows(table)[1][3:5] == ["0:20", "2"]
    assert _rows(table)[0][4] == formatting.DASH
    panel.setRuns((GOING, BEST, LOST))
    assert table.isColumnHidden(place)


def _evaluation(name, task="evaluate"):
    return BEST.model_copy(update={"name": name, "profile_name": name, "task": task})


def _trainings_only(panel):
    return panel.findChild(QCheckBox, "runs_trainings_only")


def test_that_evaluations_stand_between_trainings_only_when_asked_for(panel, table):
    count = panel.findChild(QLabel, "runs_count")
    panel.setRuns((GOING, _evaluation("e"), _evaluation("p", "predict"), BEST, _evaluation("f")))

    assert _names(table) == ["going", "best"]
    assert count.text() == "2 runs · 2 evaluations, 1 prediction hidden"

    _trainings_only(panel).click()

    assert sorted(_names(table)) == ["best", "e", "f", "going", "p"]
    assert count.text() == "5 runs"


def test_that_programs_of_ones_own_stand_among_the_trainings(panel, table):
    program = _evaluation("own", "script")
    panel.setRuns((program, BEST))
    assert _names(table) == ["own", "best"]
    assert panel.findChild(QLabel, "runs_count").text() == "2 runs"
    task = next(column for column in COLUMNS if column.key == "task")
    assert [task.text(run) for run in (program, BEST)] == ["Own program", "Train"]
    assert program.quality == BEST.quality


def test_that_where_there_is_little_room_it_is_still_said_that_some_are_hidden(panel):
    count = panel.findChild(ShorterLabel, "runs_count")
    panel.setUndo(["a"])
    panel.setRuns((GOING, _evaluation("e"), _evaluation("p", "predict")))
    panel.resize(panel.minimumSizeHint())
    QApplication.processEvents()
    assert count.shownText() == "1 run · 2 hidden"


def test_that_a_search_says_of_what_it_found_that_it_is_hidden(panel, table):
    panel.setRuns((GOING, BEST, _evaluation("evaluated"), _evaluation("other")))
    panel.findChild(QLineEdit, "runs_search").setText("evaluated")

    assert not _names(table)
    assert panel.findChild(QLabel, "runs_count").text() == "0 of 2 runs · 1 evaluation hidden"
    assert panel.findChild(QPushButton, "runs_clear_search").isVisible()

    panel.findChild(QPushButton, "runs_all_tasks").click()

    assert _names(table) == ["evaluated"]
    assert not _trainings_only(panel).isChecked()


def test_that_a_list_without_trainings_leads_to_what_there_is(panel, table):
    panel.setRuns((_evaluation("e"),))
    words = [each for each in panel.findChildren(EmptyState) if each.isVisible()]
    assert [each.findChildren(QLabel)[0].text() for each in words] == ["No trainings yet"]
    assert not panel.findChild(QPushButton, "runs_clear_search").isVisible()

    panel.findChild(QPushButton, "runs_all_tasks").click()

    assert _names(table) == ["e"]


def test_that_it_is_remembered_whether_evaluations_are_listed(panel, table, qtbot, tmp_path):
    settings = QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)
    assert remembered_columns(settings).trainings_only
    with qtbot.waitSignal(panel.columnsChanged):
        _trainings_only(panel).click()
    remember_columns(settings, panel.columns())

    other = RunsPanel(Path("/runs"))
    qtbot.addWidget(other)
    other.setColumns(remembered_columns(settings))
    other.setRuns((BEST, _evaluation("e")))

    assert sorted(_names(other.findChild(QTableView, "runs_table"))) == ["best", "e"]


def test_that_what_failed_is_seen_by_its_colour_too(panel, table):
    failed = BEST.model_copy(update={"name": "f", "outcome": Outcome.FAILED})
    panel.setRuns((GOING, BEST, LOST, failed))
    place = [column.key for column in COLUMNS].index("outcome")
    cells = [table.model().index(row, place) for row in range(4)]
    colors = {cell.data(): cell.data(Qt.ItemDataRole.ForegroundRole) for cell in cells}

    error = theme.current().color("error")
    assert colors == {
        "Running, 45 %": None,
        "Completed": None,
        "Lost": error,
        "Failed": error,
    }


def test_that_an_evaluation_reports_what_it_found(panel, table):
    _trainings_only(panel).setChecked(False)
    evaluated = BEST.model_copy(
        update={"task": "evaluate", "metrics": Metrics(accuracy=0.5, loss=2.0)}
    )
    panel.setRuns((evaluated,))

    assert _rows(table)[0][4:6] == ["50.0 %", "2.000"]


def test_that_a_folder_is_shown_as_what_it_is(panel, table):
    flaw = Problem(code="run_unreadable", message="c cannot be read: Permission denied.")
    panel.setRuns((RunSummary(name="c", path=Path("/c"), profile_name="c", flaw=flaw),))

    assert _rows(table)[0][2] == "Unreadable"
    tip = table.model().index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert "Permission denied" in tip


def test_that_a_clock_beyond_all_calendars_is_a_dash(panel, table):
    panel.setRuns((BEST.model_copy(update={"started_s": 1e300, "ended_s": 2e300}),))

    assert _rows(table)[0][1] == "–"  # noqa: RUF001 - the dash


def test_that_a_double_click_opens_the_run(qtbot, panel, table):
    place = table.visualRect(table.model().index(1, 0)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    with qtbot.waitSignal(panel.runOpened) as opened:
        qtbot.mouseDClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)

    assert opened.args == [BEST.path]


def test_that_enter_opens_the_chosen_run(qtbot, panel, table):
    table.selectRow(2)
    with qtbot.waitSignal(panel.runOpened) as opened:
        qtbot.keyClick(table, Qt.Key.Key_Return)

    assert opened.args == [LOST.path]


def test_that_the_button_opens_the_chosen_run(qtbot, panel, table):
    button = _button(panel, "runs_open")
    assert not button.isEnabled()
    table.selectRow(0)
    with qtbot.waitSignal(panel.runOpened) as opened:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)

    assert opened.args == [GOING.path]


@pytest.mark.parametrize(
    ("key", "signal", "value"),
    [
        (Qt.Key.Key_F2, "renameRequested", BEST),
        (Qt.Key.Key_Delete, "deleteRequested", (BEST,)),
        (Qt.Key.Key_F5, "refreshRequested", None),
    ],
)
def test_that_keys_do_what_the_buttons_do(qtbot, panel, table, key, signal, value):
    table.selectRow(1)
    table.setFocus()
    with qtbot.waitSignal(getattr(panel, signal)) as asked:
        qtbot.keyClick(table, key)

    assert asked.args == ([] if value is None else [value])


def test_that_del_in_the_search_deletes_a_letter_and_no_run(qtbot, panel, table):
    table.selectRow(1)
    search = panel.findChild(QLineEdit, "runs_search")
    search.setText("best")
    search.setFocus()
    search.setCursorPosition(0)
    with qtbot.assertNotEmitted(panel.deleteRequested):
        qtbot.keyClick(search, Qt.Key.Key_Delete)

    assert search.text() == "est"


def test_that_ctrl_f_finds_as_one_types_and_esc_shows_all_again(qtbot, panel, table):
    qtbot.keyClick(panel, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    search = panel.findChild(QLineEdit, "runs_search")
    qtbot.waitUntil(search.hasFocus)
    qtbot.keyClicks(search, "4090 comp")

    assert _names(table) == ["best"]
    assert panel.findChild(QLabel, "runs_count").text() == "1 of 3 runs"
    qtbot.keyClick(search, Qt.Key.Key_Escape)
    assert _names(table) == ["going", "best", "lost"]
    assert panel.findChild(QLabel, "runs_count").text() == "3 runs"


def test_that_a_value_is_compared_in_the_search(qtbot, panel, table):
    search = panel.findChild(QLineEdit, "runs_search")
    note = panel.findChild(QLabel, "runs_search_note")
    qtbot.keyClicks(search, "val_accuracy > 90 %")
    assert _names(table) == ["best"]
    assert not note.isVisible()

    search.setText("outcome = lost")
    assert _names(table) == ["lost"]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("val_accuracy >", "There is no value after “>”."),
        ("accuracy > high", "“accuracy” is a number"),
        ("accuracy > 0.9 and", "There is nothing after “and”."),
    ],
)
def test_that_a_wrong_comparison_says_why_in_place_and_loses_no_row(
    qtbot, panel, table, text, part
):
    search = panel.findChild(QLineEdit, "runs_search")
    note = panel.findChild(QLabel, "runs_search_note")
    qtbot.keyClick(panel, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(search.hasFocus)
    qtbot.keyClicks(search, text)

    assert note.isVisible()
    assert part in note.text()
    assert table.isVisible()
    assert "best" in _names(table)
    qtbot.keyClick(search, Qt.Key.Key_Escape)
    assert not note.isVisible()
    assert _names(table) == ["going", "best", "lost"]


def test_that_a_setting_is_compared_once_it_was_read(qtbot, panel, table):
    search = panel.findChild(QLineEdit, "runs_search")
    note = panel.findChild(QLabel, "runs_search_note")
    with qtbot.waitSignal(panel.settingsWanted):
        search.setText("epochs >= 10")
    assert "Reading" in note.text()
    assert len(_names(table)) == 3

    epochs = {"b": 10.0, "a": 3.0}
    settings = {name: RunSettings((("training.epochs", each),)) for name, each in epochs.items()}
    panel.setSettings(settings)
    assert _names(table) == ["best"]
    assert not note.isVisible()
    search.setText("epoch >= 10")
    assert "Did you mean epochs?" in note.text()


def test_that_tags_are_shown_and_found(panel, table):
    panel.setRuns((GOING, BEST.model_copy(update={"tags": ("Baseline", "try this")}), LOST))
    assert "Baseline, try this" in _rows(table)[1]
    panel.findChild(QLineEdit, "runs_search").setText("tag:baseline")
    assert _names(table) == ["best"]


@pytest.mark.parametrize("text", ["x" * 3_000, f"epochs > {'9' * 3_000}", f"{'x' * 3_000} > 5"])
def test_that_endless_text_in_the_search_makes_no_window_wider(panel, table, text):
    panel.setSettings({"b": RunSettings((("training.epochs", 3.0),))})
    panel.findChild(QLineEdit, "runs_search").setText(text)
    assert panel.minimumSizeHint().width() < 900


def test_that_nothing_found_offers_to_clear_the_search(qtbot, panel, table):
    search = panel.findChild(QLineEdit, "runs_search")
    search.setText("nonesuch")
    assert not table.isVisible()
    words = [each.text() for each in panel.findChildren(EmptyState) if each.isVisible()]
    assert "nonesuch" in words[0]

    qtbot.mouseClick(panel.findChild(QPushButton, "runs_clear_search"), Qt.MouseButton.LeftButton)

    assert table.isVisible()
    assert search.text() == ""


def test_that_an_empty_place_says_what_will_appear(panel, table):
    panel.setRuns(())

    assert not table.isVisible()
    words = [each.text() for each in panel.findChildren(EmptyState) if each.isVisible()]
    assert "Press Start" in words[0]


def test_that_a_folder_that_cannot_be_listed_is_shown_in_their_place(panel, table):
    panel.setProblem(Problem(code="not_permitted", message="It may not be read.", hint="Mend it."))
    words = [each.text() for each in panel.findChildren(EmptyState) if each.isVisible()]
    assert "It may not be read. Mend it." in words[0]

    panel.setRuns((BEST,))
    assert table.isVisible()


def test_that_several_can_be_chosen_and_compared(qtbot, panel, table):
    panel.setComparable(True)
    compare, rename = _button(panel, "runs_compare"), _button(panel, "runs_rename")
    assert compare.isVisible()
    table.selectRow(1)
    assert (compare.isEnabled(), rename.isEnabled()) == (False, True)
    _choose(table, 2, 1)
    assert (compare.isEnabled(), rename.isEnabled()) == (True, False)

    with qtbot.waitSignal(panel.compareRequested) as asked:
        qtbot.mouseClick(compare, Qt.MouseButton.LeftButton)

    assert asked.args == [(BEST, LOST)]


def test_that_more_than_eight_are_not_compared(panel, table):
    panel.setRuns(many(9))
    panel.setComparable(True)
    _choose(table, *range(8))
    assert _button(panel, "runs_compare").isEnabled()
    table.selectAll()

    assert not _button(panel, "runs_compare").isEnabled()
    assert "2 to 8" in _button(panel, "runs_compare").toolTip()


def test_that_a_running_run_is_not_deleted_and_the_tooltip_says_why(panel, table):
    delete = _button(panel, "runs_delete")
    _choose(table, 1, 2)
    assert delete.isEnabled()
    _choose(table, 0, 1)

    assert not delete.isEnabled()
    assert "going is running" in delete.toolTip()


def test_that_the_context_menu_offers_the_same(panel, table, monkeypatch):
    # Shown without a screen it would warn that the keyboard cannot be grabbed.
    monkeypatch.setattr(QMenu, "popup", lambda *_arguments: None)
    table.selectRow(1)
    table.customContextMenuRequested.emit(QPoint(5, 5))
    menu = panel.findChild(QMenu, "runs_menu")
    texts = [action.text() for action in menu.actions() if action.isVisible() and action.text()]
    menu.close()

    labels = ["Re&name…", "Tags, no&tes…", "Pin as &baseline"]
    assert texts == ["&Open run", *labels, "Move to &bin"]


def test_that_the_chosen_runs_stay_chosen_when_the_list_changes(panel, table):
    _choose(table, 1, 2)
    ended = GOING.model_copy(update={"is_running": False, "outcome": Outcome.STOPPED})

    panel.setRuns((ended, BEST, LOST))
    assert panel.chosen_runs() == (BEST, LOST)
    newer = many(1)[0].model_copy(update={"started_s": 9_000.0})
    panel.setRuns((newer, BEST, LOST))
    assert panel.chosen_runs() == (BEST, LOST)
    table.sortByColumn(1, Qt.SortOrder.AscendingOrder)
    assert panel.chosen_runs() == (LOST, BEST)
    panel.setRuns((BEST,))

    assert panel.chosen_runs() == (BEST,)


def test_that_visible_rows_stay_when_a_run_comes_above_it(qtbot, panel, table):
    runs = many(200)
    panel.setRuns(runs)
    qtbot.waitUntil(lambda: table.verticalScrollBar().maximum() > 100)
    table.verticalScrollBar().setValue(100)
    top = table.model().index(table.rowAt(0), 0).data()
    newer = runs[0].model_copy(
        update={"name": "newer", "path": Path("/runs/newer"), "started_s": 9_000.0}
    )

    panel.setRuns((newer, *runs))

    assert table.model().rowCount() == 201
    assert table.verticalScrollBar().value() == 101
    assert table.model().index(table.rowAt(0), 0).data() == top


def test_that_rows_keep_their_place_while_their_values_change(panel, table):
    faster = LOST.model_copy(update={"examples_per_second": 5.0})
    speed = [column.key for column in COLUMNS].index("speed")
    panel.setRuns((GOING, BEST, faster))
    table.sortByColumn(speed, Qt.SortOrder.DescendingOrder)
    assert _names(table) == ["best", "lost", "going"]

    panel.setRuns((GOING, BEST, faster.model_copy(update={"examples_per_second": 1e9})))

    assert _names(table) == ["best", "lost", "going"]
    assert "1,000,000,000 ex/s" in _rows(table)[1]


@pytest.mark.parametrize("order", list(Qt.SortOrder))
def test_that_numbers_are_sorted_as_numbers_and_what_is_not_known_is_last(panel, table, order):
    accuracy = [column.key for column in COLUMNS].index("accuracy")
    good, better = (
        LOST.model_copy(
            update={"name": name, "path": Path(name), "metrics": Metrics(val_accuracy=value)}
        )
        for name, value in (("g", 0.095), ("h", 0.1))
    )
    panel.setRuns((GOING, good, better))
    table.sortByColumn(accuracy, order)

    texts = [row[4] for row in _rows(table)]
    known = ["9.5 %", "10.0 %"]
    rising = order is Qt.SortOrder.AscendingOrder
    assert texts == [*(known if rising else known[::-1]), "–"]  # noqa: RUF001 - the dash


def test_that_columns_fit_their_widest_value_and_never_get_narrower(panel, table):
    long = BEST.model_copy(update={"label": "a name that is rather long"})
    panel.setRuns((long,))
    width = table.columnWidth(0)
    assert width > table.fontMetrics().horizontalAdvance(long.label)

    panel.setRuns((BEST,))

    assert table.columnWidth(0) == width


def test_that_a_long_name_has_the_room_that_there_is_and_is_cut_before_others(qtbot, panel, table):
    long = BEST.model_copy(update={"label": "a name that is rather long " * 4})
    panel.resize(1800, 500)
    panel.show()
    panel.setRuns((long,))
    qtbot.waitUntil(lambda: table.viewport().width() > 1500)
    assert table.columnWidth(0) > table.fontMetrics().horizontalAdvance(long.label)
    others = {at: table.columnWidth(at) for at in range(1, 5)}

    panel.resize(1300, 500)
    qtbot.waitUntil(lambda: table.viewport().width() < 1300)

    qtbot.waitUntil(lambda: table.horizontalScrollBar().maximum() == 0)
    assert 160 <= table.columnWidth(0) < table.fontMetrics().horizontalAdvance(long.label)
    assert others == {at: table.columnWidth(at) for at in range(1, 5)}


def test_that_a_table_may_be_lower_than_the_words_in_its_place(panel):
    panel.setRuns(())
    empty = panel.minimumSizeHint().height()
    panel.setRuns((BEST,))
    # Below a queue in a small window it keeps some rows, and the window its height.
    assert panel.minimumSizeHint().height() < empty


def test_that_columns_are_hidden_and_remembered(qtbot, panel, table, tmp_path):
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    menu = table.column_menu(panel)
    by_title = {action.text(): action for action in menu.actions()}
    assert not by_title["Name"].isEnabled()
    with qtbot.waitSignal(panel.columnsChanged):
        by_title["Loss"].trigger()
    by_title["Strategy"].trigger()
    table.horizontalHeader().resizeSection(0, 333)
    table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    remember_columns(settings, panel.columns())

    other = RunsPanel(Path("/runs"))
    qtbot.addWidget(other)
    other.setColumns(remembered_columns(settings))
    other.setRuns((GOING, BEST, LOST))

    again = other.findChild(QTableView, "runs_table")
    shown = [column.key for place, column in enumerate(COLUMNS) if not again.isColumnHidden(place)]
    assert "loss" not in shown
    assert "strategy" in shown
    assert again.columnWidth(0) == 333
    assert _names(again) == ["best", "going", "lost"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"shown": 5, "widths": {"name": "x"}, "sorted_by": "gone", "order": 5}',
        '{"sorted_by": [], "order": [5], "figure": [], "grouped_by": "gone", "baseline": {}}',
    ],
)
def test_that_columns_that_cannot_be_remembered_are_as_usual(panel, table, tmp_path, text):
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    settings.setValue("runs/columns", text)
    choices = remembered_columns(settings)
    panel.setColumns(choices)

    assert (choices.shown, choices.widths) == ({}, {})
    assert _names(table) == ["going", "best", "lost"]
    assert panel.columns() == ColumnChoices({}, {})


def test_that_a_notice_stays_until_something_else_is_chosen(panel, table):
    notice = panel.findChild(QLabel, "runs_notice")
    assert notice.isHidden()  # the search has its place
    panel.setNotice("Moved to the bin: 1 run.")
    assert not notice.isHidden()
    panel.setRuns((GOING, BEST))
    assert notice.text()
    table.selectRow(0)

    assert not notice.text()


def test_that_what_went_wrong_stands_in_the_tooltip(table):
    tip = table.model().index(2, 0).data(Qt.ItemDataRole.ToolTipRole)

    assert "The trainer was killed." in tip


def test_that_the_window_goes_on_while_a_thousand_runs_are_listed_found_and_sorted(panel, table):
    search = panel.findChild(QLineEdit, "runs_search")
    runs = many(1_000)
    steps = [
        lambda: panel.setRuns(runs),
        *(lambda text=text: search.setText(text) for text in ("1", "12", "123", "")),
        lambda: table.sortByColumn(0, Qt.SortOrder.AscendingOrder),
        lambda: panel.setRuns(runs[1:]),
    ]
    longest_s = 0.0
    for step in steps:
        begin_s = time.process_time()
        step()
        QApplication.processEvents()
        longest_s = max(longest_s, time.process_time() - begin_s)

    assert table.model().rowCount() == 999
    # Measured: 0.03 s; a person notices 0.1 s.
    assert longest_s < 0.2


def test_that_an_evaluation_says_whose_model_it_took():
    run = LOST.model_copy(update={"model_run": Path("/runs/2026-digits")})
    (column,) = (each for each in COLUMNS if each.key == "model_of")
    assert column.text(run) == "2026-digits"
    assert column.text(LOST) == formatting.DASH
    assert "Model of: 2026-digits" in run_tip(run)
    assert "Model of" not in run_tip(LOST)


def test_that_texts_of_very_many_runs_are_measured_some_at_a_time_until_the_widest(
    qtbot, panel, table, monkeypatch
):
    monkeypatch.setattr(column_widths, "_MOST_TEXTS", 200)
    runs = many(400)
    long = runs[-1].model_copy(update={"label": "a name that is rather long"})
    asked, (first, *others) = [], table.content.columns
    noted = replace(first, text=lambda run: asked.append(run) or first.text(run))
    monkeypatch.setattr(table.content, "_columns", (noted, *others))

    panel.setRuns((*runs[:-1], long))

    assert 0 < len(asked) <= 200
    needed = table.fontMetrics().horizontalAdvance(long.label)
    qtbot.waitUntil(lambda: table.columnWidth(0) > needed, timeout=5000)
    assert len(asked) >= 400


def test_that_what_is_searched_of_a_run_is_made_once(panel, table, monkeypatch):
    made = []
    monkeypatch.setattr(search, "searched_text", lambda run: made.append(run) or run.profile_name)
    panel.setRuns(many(50))
    field = panel.findChild(QLineEdit, "runs_search")
    for typed in ("p", "pr", "profile 4"):
        field.setText(typed)
    assert len(made) == 50
    assert len(_rows(table)) == 14

    QApplication.processEvents()
    assert len(made) == 50

    changed = many(50)[0].model_copy(update={"profile_name": "another"})
    panel.setRuns((changed, *many(50)[1:]))
    field.setText("another")

    assert len(_rows(table)) == 1


def test_that_a_list_in_which_nothing_changed_is_not_brought_up_to_date(panel, table, qtbot):
    runs = many(5)
    panel.setRuns(runs)
    with qtbot.assertNotEmitted(table.content.dataChanged):
        panel.setRuns(tuple(runs))
    with qtbot.waitSignal(table.content.dataChanged, timeout=1000):
        panel.setRuns((*runs, GOING))
    with qtbot.waitSignal(table.content.dataChanged, timeout=1000):
        panel.setRuns((*runs, GOING))


def test_that_settings_build_the_table_anew_only_where_a_column_shows_them(panel, table, qtbot):
    runs = many(5)
    panel.setRuns(runs)
    settings = {run.name: RunSettings((("training.epochs", 3.0),)) for run in runs}
    with qtbot.assertNotEmitted(table.content.dataChanged):
        panel.setSettings(settings)
    panel.setColumns(ColumnChoices({"setting:training.epochs": True}, {}))
    with qtbot.waitSignal(table.content.dataChanged, timeout=1000):
        panel.setSettings(settings)


def test_that_texts_are_made_before_somebody_searches_them(qtbot, panel, monkeypatch):
    made = []
    monkeypatch.setattr(search, "_READ_AT_ONCE", 20)
    monkeypatch.setattr(search, "searched_text", lambda run: made.append(run) or run.profile_name)
    panel.setRuns(many(50))
    assert made == []
    qtbot.waitUntil(lambda: len(made) == 50, timeout=1000)
