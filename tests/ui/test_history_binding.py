"""What the page of runs does with the folder of runs, through the thread that touches it."""

import shutil

import pytest
from PySide6.QtCore import QObject, QSettings, Qt
from PySide6.QtWidgets import (
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QTableView,
)

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.runs.history.label import RunLabel, change_label, read_label
from gpupanel.runs.history.summaries import list_runs, summarize_run
from gpupanel.ui.bindings.history_binding import HistoryBinding
from gpupanel.ui.dialogs.label_dialog import LabelDialog
from gpupanel.ui.runs_page import RunsPage
from gpupanel.ui.workers import history_worker, this_machine
from tests.fakes.person import Person
from tests.fakes.run_directory import WrittenRun


@pytest.fixture
def person():
    return Person()


@pytest.fixture
def page(qtbot, runs_dir):
    page = RunsPage(runs_dir)
    qtbot.addWidget(page)
    return page


@pytest.fixture
def binding(page, runs_dir, person, tmp_path):
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    parent = QObject()
    binding = HistoryBinding(page, runs_dir, person, settings, parent)
    yield binding
    binding.stop()


@pytest.fixture
def table(qtbot, page, binding):
    """The table of a page that is shown, so that keys reach it."""
    with qtbot.waitExposed(page):
        page.show()
    table = page.findChild(QTableView, "runs_table")
    page.activateWindow()
    return table


@pytest.fixture
def bin_of_runs(tmp_path, monkeypatch):
    """The bin as a desktop has it, but for this test alone."""
    home = tmp_path / "data home"
    home.mkdir()
    monkeypatch.setenv("XDG_DATA_HOME", str(home))
    return home / "Trash" / "files"


def ended(runs_dir, name="written"):
    with WrittenRun(runs_dir, Profile(name=name)) as run:
        run.begin()
        run.end()
    return run.layout


def _listed(qtbot, table, count):
    qtbot.waitUntil(lambda: table.model().rowCount() == count, timeout=5000)
    if count:
        # As a click on a row does; an empty table is not there to be given it.
        table.setFocus()
        qtbot.waitUntil(table.hasFocus, timeout=5000)


def test_that_the_page_lists_runs_as_long_as_it_is_shown(qtbot, page, binding, table, runs_dir):
    ended(runs_dir)
    # Nobody asks: it comes with the next look at the folder.
    _listed(qtbot, table, 1)


def test_that_a_run_that_goes_on_is_shown_once(qtbot, binding, page, runs_dir):
    found = []
    binding.goingFound.connect(found.append)
    with WrittenRun(runs_dir) as run:
        run.begin()
        binding.refresh()
        qtbot.waitUntil(lambda: found == [run.layout.root], timeout=5000)
        with qtbot.waitSignal(binding._history.listed, timeout=5000):
            binding.refresh()
    assert found == [run.layout.root]


def test_that_a_run_gets_a_name_and_keeps_notes_that_came_meanwhile(
    qtbot, binding, page, table, person, runs_dir
):
    layout = ended(runs_dir)
    binding.refresh()
    _listed(qtbot, table, 1)
    change_label(layout, notes="from the terminal")
    person.label = RunLabel(name="the best one")
    table.selectRow(0)
    qtbot.keyClick(table, Qt.Key.Key_F2)

    qtbot.waitUntil(lambda: table.model().index(0, 0).data() == "the best one", timeout=5000)
    assert read_label(layout) == RunLabel(name="the best one", notes="from the terminal")
    assert [at_notes for _, at_notes in person.labelled] == [False]


def test_that_tags_are_written_in_the_dialog_and_kept_beside_name_and_notes(
    qtbot, binding, page, table, person, runs_dir
):
    layout = ended(runs_dir)
    change_label(layout, name="named", notes="noted")
    binding.refresh()
    _listed(qtbot, table, 1)
    dialog = LabelDialog(page.panel._table.content.row(0), None, at_notes=False)
    qtbot.addWidget(dialog)
    qtbot.keyClicks(dialog.findChild(QLineEdit, "label_tags"), "baseline, try  this,,Baseline")
    person.label = dialog.label()
    table.selectRow(0)
    qtbot.keyClick(table, Qt.Key.Key_F2)

    qtbot.waitUntil(lambda: read_label(layout).tags != (), timeout=5000)
    expected = RunLabel(name="named", notes="noted", tags=("baseline", "try this"))
    assert read_label(layout) == expected
    assert list_runs(runs_dir)[0].tags == ("baseline", "try this")


def test_that_a_label_that_cannot_be_written_is_shown(
    qtbot, binding, page, table, person, runs_dir, monkeypatch
):
    def refuse(*_arguments, **_names):
        raise ProblemError(Problem(code="no_space", message="The disk is full."))

    ended(runs_dir)
    binding.refresh()
    _listed(qtbot, table, 1)
    monkeypatch.setattr(this_machine, "change_label", refuse)
    person.label = RunLabel(notes="nothing")
    table.selectRow(0)
    page.panel.notesRequested.emit(page.panel.chosen_runs()[0])

    qtbot.waitUntil(lambda: len(person.problems) == 1, timeout=5000)
    assert person.problems[0][1][0].code == "no_space"


def test_that_runs_go_to_the_bin_with_all_that_they_hold(
    qtbot, binding, page, table, runs_dir, bin_of_runs
):
    layouts = [ended(runs_dir, name) for name in ("one", "two", "three")]
    binding.refresh()
    _listed(qtbot, table, 3)
    rows = [table.model().index(row, 0).data() for row in range(3)]
    gone = next(each for each in layouts if rows[0] in each.name)
    table.selectRow(0)
    qtbot.keyClick(table, Qt.Key.Key_Delete)

    _listed(qtbot, table, 2)
    assert not gone.root.exists()
    assert (bin_of_runs / gone.name / "events.jsonl").is_file()
    assert page.findChild(QLabel, "runs_notice").text() == "Moved to the bin: 1 run."
    assert sorted(each.root.exists() for each in layouts) == [False, True, True]


@pytest.mark.parametrize("by_key", [True, False], ids=["Ctrl+Z", "button"])
def test_that_runs_come_back_from_the_bin_as_they_were(
    qtbot, binding, page, table, runs_dir, bin_of_runs, by_key
):
    layouts = [ended(runs_dir, name) for name in ("one", "two", "three")]
    undo = page.findChild(QPushButton, "runs_undo")
    binding.refresh()
    _listed(qtbot, table, 3)
    assert not undo.isVisible()
    names = {each.name for each in list_runs(runs_dir)}
    table.selectRow(0)
    qtbot.keyClick(table, Qt.Key.Key_Delete)
    _listed(qtbot, table, 2)
    table.selectRow(0)
    qtbot.keyClick(table, Qt.Key.Key_Delete)
    _listed(qtbot, table, 1)
    assert len([*bin_of_runs.iterdir()]) == 2
    assert undo.isVisible()

    for count in (2, 3):
        if by_key:
            qtbot.keyClick(table, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        else:
            qtbot.mouseClick(undo, Qt.MouseButton.LeftButton)
        _listed(qtbot, table, count)
    assert {each.name for each in list_runs(runs_dir)} == names
    assert all((each.root / "events.jsonl").is_file() for each in layouts)
    assert not undo.isVisible()
    assert page.findChild(QLabel, "runs_notice").text() == "Back from the bin: 1 run."
    assert [*bin_of_runs.iterdir()] == [*(bin_of_runs.parent / "info").iterdir()] == []


def test_that_ctrl_z_in_the_search_undoes_typing_and_no_deletion(
    qtbot, binding, page, table, runs_dir, bin_of_runs
):
    ended(runs_dir)
    ended(runs_dir, "other")
    binding.refresh()
    _listed(qtbot, table, 2)
    table.selectRow(0)
    qtbot.keyClick(table, Qt.Key.Key_Delete)
    _listed(qtbot, table, 1)
    search = page.findChild(QLineEdit, "runs_search")
    search.setFocus()
    qtbot.keyClicks(search, "x")
    with qtbot.assertNotEmitted(page.panel.undoRequested):
        qtbot.keyClick(search, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert search.text() == ""


def test_that_a_bin_that_was_emptied_meanwhile_is_reported(
    qtbot, binding, page, table, person, runs_dir, bin_of_runs
):
    layout = ended(runs_dir)
    binding.refresh()
    _listed(qtbot, table, 1)
    table.selectRow(0)
    qtbot.keyClick(table, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: not layout.root.exists(), timeout=5000)
    undo = page.findChild(QPushButton, "runs_undo")
    qtbot.waitUntil(undo.isVisible, timeout=5000)
    shutil.rmtree(bin_of_runs / layout.name)
    qtbot.mouseClick(undo, Qt.MouseButton.LeftButton)

    qtbot.waitUntil(lambda: len(person.problems) == 1, timeout=5000)
    assert person.problems[0][1][0].code == "run_not_in_bin"
    assert not undo.isVisible()


def test_that_a_run_started_meanwhile_is_kept_and_the_person_is_informed(
    qtbot, binding, page, table, person, runs_dir, bin_of_runs
):
    layout = ended(runs_dir)
    binding.refresh()
    _listed(qtbot, table, 1)
    table.selectRow(0)
    layout.events.unlink()  # as if it had just been launched
    qtbot.keyClick(table, Qt.Key.Key_Delete)

    qtbot.waitUntil(lambda: len(person.problems) == 1, timeout=5000)
    assert person.problems[0][1][0].code == "run_goes_on"
    assert layout.root.is_dir()


@pytest.mark.parametrize("deletes", [True, False])
def test_that_where_there_is_no_bin_a_person_is_asked_first(
    qtbot, binding, page, table, person, runs_dir, monkeypatch, deletes
):
    layout = ended(runs_dir)
    person.deletes = deletes
    monkeypatch.setattr(history_worker.DesktopBin, "take", lambda _bin, _path: False)
    binding.refresh()
    _listed(qtbot, table, 1)
    table.selectRow(0)
    qtbot.keyClick(table, Qt.Key.Key_Delete)

    qtbot.waitUntil(lambda: person.doomed == [(layout.root,)], timeout=5000)
    if deletes:
        _listed(qtbot, table, 0)
        assert page.findChild(QLabel, "runs_notice").text() == "Deleted: 1 run."
    assert layout.root.exists() is not deletes


def test_that_a_folder_that_cannot_be_listed_is_shown(qtbot, binding, page, monkeypatch):
    def refuse(_path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("gpupanel.runs.history.summaries.os.scandir", refuse)
    with qtbot.waitSignal(binding._history.unreadable, timeout=5000) as reported:
        binding.refresh()
    assert reported.args[0].code == "not_permitted"


def test_that_asking_while_it_reads_lists_once_more_and_not_ten_times(qtbot, binding, page):
    listed = []
    binding._history.listed.connect(listed.append)
    for _ in range(10):
        binding.refresh()
    qtbot.waitUntil(lambda: len(listed) == 2, timeout=5000)
    with qtbot.waitSignal(binding._history.listed, timeout=5000):
        binding.refresh()
    assert len(listed) == 3


def test_that_columns_are_remembered_at_once(qtbot, binding, page, table, runs_dir, person):
    table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    other = RunsPage(runs_dir)
    qtbot.addWidget(other)
    again = HistoryBinding(other, runs_dir, person, binding._settings, binding)
    again.stop()

    assert other.panel.columns().sorted_by == "name"


@pytest.mark.parametrize("at_notes", [False, True])
def test_that_the_dialog_begins_where_one_wants_to_write(qtbot, runs_dir, at_notes):
    layout = ended(runs_dir, "its profile")
    change_label(layout, name="a name", notes="noted")
    dialog = LabelDialog(summarize_run(layout), None, at_notes=at_notes)
    qtbot.addWidget(dialog)
    name = dialog.findChild(QLineEdit, "label_name")
    notes = dialog.findChild(QPlainTextEdit, "label_notes")
    assert name.placeholderText() == "its profile"
    with qtbot.waitExposed(dialog):
        dialog.open()
    qtbot.waitUntil((notes if at_notes else name).hasFocus)
    name.setText("another")
    buttons = dialog.findChild(QDialogButtonBox)
    with qtbot.waitSignal(dialog.accepted):
        buttons.button(QDialogButtonBox.StandardButton.Save).click()

    assert dialog.label() == RunLabel(name="another", notes="noted")
