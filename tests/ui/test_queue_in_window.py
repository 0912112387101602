"""The queue in the window: the button, the panel, an entry in the session."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QTableView, QToolButton
from pytestqt.qtbot import QtBot

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.runs import user_queue
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.launcher import create_run
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.queue import orders
from gpupanel.runs.queue.entry import EntryState, QueueEntry
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.queue.scheduler_trouble import forget_trouble, note_trouble
from gpupanel.runs.sweeps.sweep_layout import SweepLayout
from gpupanel.runs.sweeps.sweep_record import TrialChosen, append_event
from gpupanel.ui.bindings.queue_binding import QueueBinding
from gpupanel.ui.formatting import DASH
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.panels.queue_panel import QueuePanel
from gpupanel.ui.run_state import RunState
from gpupanel.ui.widgets.labels import ShorterLabel
from gpupanel.ui.widgets.problem_row import ProblemRow
from gpupanel.ui.workers import queue_worker
from tests.fakes.person import Person
from tests.fakes.queued_runs import MACHINE, prepare_without_build
from tests.fakes.run_directory import WrittenRun
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")


@pytest.fixture(autouse=True)
def _empty_queues_are_looked_at_often(request, monkeypatch):
    if "usual_pauses" not in request.fixturenames:
        monkeypatch.setattr(queue_worker, "EMPTY_POLL_MS", queue_worker.POLL_MS)


@pytest.fixture
def usual_pauses():
    """Between two looks at a queue, as a window has them."""


@pytest.fixture
def files(state_dir: Path, monkeypatch: pytest.MonkeyPatch) -> QueueFiles:
    """The queue that the window shows, in which nothing is started."""
    files = QueueFiles(queue_dir())
    orders.pause(files)
    return files


@pytest.fixture
def person() -> Person:
    return Person()


@pytest.fixture
def window(
    qtbot: QtBot, tmp_path: Path, files: QueueFiles, runs_dir: Path, person: Person
) -> Iterator[MainWindow]:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, person)
    window.resize(1280, 800)
    with qtbot.waitExposed(window):
        window.show()
    with qtbot.waitSignal(window.session.preparationChanged, timeout=10_000):
        window.begin()
    window.tabs.setCurrentWidget(window.runs)
    yield window
    window.close()
    window.deleteLater()


def button(window: MainWindow, name: str) -> QPushButton:
    found = window.findChild(QPushButton, name)
    assert isinstance(found, QPushButton)
    return found


def rows(window: MainWindow) -> list[list[str]]:
    table = window.findChild(QTableView, "queue_table")
    assert isinstance(table, QTableView)
    model = table.model()
    return [
        [str(model.index(row, column).data()) for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


def names(window: MainWindow) -> list[str]:
    return [row[1] for row in rows(window)]


def add(files: QueueFiles, runs_dir: Path, *names: str) -> list[QueueEntry]:
    return [orders.add(files, Profile(name=name), runs_dir) for name in names]


def press(qtbot: QtBot, window: MainWindow, name: str) -> None:
    # The table may still show the queue as it was one change of its file before.
    qtbot.waitUntil(button(window, name).isEnabled, timeout=10_000)
    qtbot.mouseClick(button(window, name), Qt.MouseButton.LeftButton)


def rename(window: MainWindow, name: str) -> None:
    window.session.edit(window.session.profile.model_copy(update={"name": name}))


def test_that_the_button_adds_the_profile_as_it_is_now(
    qtbot: QtBot, window: MainWindow, files: QueueFiles, runs_dir: Path
) -> None:
    panel = window.parts[QueueBinding].panel
    assert not panel.isVisible()
    rename(window, "as it is now")
    press(qtbot, window, "queue_button")
    qtbot.waitUntil(panel.isVisible, timeout=10_000)
    assert rows(window) == [["1", "as it is now", "Waiting", DASH, "The queue is paused."]]
    (entry,) = files.read().entries
    assert files.profile(entry.id).name == "as it is now"
    assert entry.runs_dir == runs_dir
    assert "1 entry waits already" in button(window, "queue_button").toolTip()


def test_that_a_profile_with_problems_is_not_added(qtbot: QtBot, window: MainWindow) -> None:
    profile = window.session.profile
    devices = profile.devices.model_copy(update={"visible": ("GPU-elsewhere",)})
    with qtbot.waitSignal(window.session.preparationChanged, timeout=10_000):
        window.session.edit(profile.model_copy(update={"devices": devices}))
    assert not button(window, "queue_button").isEnabled()
    assert "Fix the problems first" in button(window, "queue_button").toolTip()


def test_that_what_other_processes_do_with_the_queue_is_shown(
    qtbot: QtBot, window: MainWindow, files: QueueFiles, runs_dir: Path
) -> None:
    first, _ = add(files, runs_dir, "first", "second")
    qtbot.waitUntil(lambda: names(window) == ["first", "second"], timeout=10_000)
    orders.remove(files, first.id)
    qtbot.waitUntil(lambda: names(window) == ["second"], timeout=10_000)


def test_that_entries_are_moved_by_buttons_and_stay_chosen(
    qtbot: QtBot, window: MainWindow, files: QueueFiles, runs_dir: Path
) -> None:
    *_, last = add(files, runs_dir, "a", "b", "c")
    qtbot.waitUntil(lambda: names(window) == ["a", "b", "c"], timeout=10_000)
    window.parts[QueueBinding].panel.choose(last.id)
    press(qtbot, window, "queue_up")
    qtbot.waitUntil(lambda: names(window) == ["a", "c", "b"], timeout=10_000)
    press(qtbot, window, "queue_up")
    qtbot.waitUntil(lambda: names(window) == ["c", "a", "b"], timeout=10_000)
    assert not button(window, "queue_up").isEnabled()
    press(qtbot, window, "queue_down")
    qtbot.waitUntil(lambda: names(window) == ["a", "c", "b"], timeout=10_000)
    assert [entry.name for entry in files.read().waiting] == ["a", "c", "b"]


@pytest.mark.parametrize(
    ("dragged", "row", "order"),
    [(2, 0, ["c", "a", "b"]), (0, 2, ["b", "a", "c"]), (0, -1, ["b", "c", "a"])],
)
def test_that_entries_are_moved_by_dragging(
    qtbot: QtBot,
    window: MainWindow,
    files: QueueFiles,
    runs_dir: Path,
    dragged: int,
    row: int,
    order: list[str],
) -> None:
    add(files, runs_dir, "a", "b", "c")
    qtbot.waitUntil(lambda: names(window) == ["a", "b", "c"], timeout=10_000)
    model = window.parts[QueueBinding].panel._table.queue
    data = model.mimeData([model.index(dragged, 0)])
    assert not model.dropMimeData(data, Qt.DropAction.MoveAction, row, 0, QModelIndex())
    qtbot.waitUntil(lambda: names(window) == order, timeout=10_000)


def test_that_nothing_is_chosen_once_the_chosen_entry_is_gone(
    qtbot: QtBot, window: MainWindow, files: QueueFiles, runs_dir: Path
) -> None:
    before, _, _ = add(files, runs_dir, "a", "b", "c")
    qtbot.waitUntil(lambda: names(window) == ["a", "b", "c"], timeout=10_000)
    window.parts[QueueBinding].panel.choose(before.id)
    press(qtbot, window, "queue_remove")
    qtbot.waitUntil(lambda: names(window) == ["b", "c"], timeout=10_000)
    assert window.parts[QueueBinding].panel.chosen() is None
    assert not button(window, "queue_remove").isEnabled()


def test_that_an_entry_is_edited_in_the_session_and_put_back(
    qtbot: QtBot, window: MainWindow, files: QueueFiles, runs_dir: Path
) -> None:
    before, _ = add(files, runs_dir, "before", "other")
    qtbot.waitUntil(lambda: len(names(window)) == 2, timeout=10_000)
    window.parts[QueueBinding].panel.choose(before.id)
    press(qtbot, window, "queue_edit")
    qtbot.waitUntil(lambda: window.session.profile.name == "before", timeout=10_000)
    assert window.tabs.currentWidget() is window.session_page
    assert button(window, "queue_button").text() == "Put back"
    rename(window, "after")
    press(qtbot, window, "queue_button")
    qtbot.waitUntil(lambda: names(window) == ["after", "other"], timeout=10_000)
    qtbot.waitUntil(lambda: button(window, "queue_button").text() == "Queue", timeout=10_000)
    assert files.profile(before.id).name == "after"
    assert not window.session.is_dirty


def test_that_a_double_click_adds_one_entry(
    qtbot: QtBot, window: MainWindow, files: QueueFiles
) -> None:
    press(qtbot, window, "queue_button")
    press(qtbot, window, "queue_button")
    qtbot.waitUntil(lambda: len(names(window)) == 1, timeout=10_000)
    qtbot.wait(QApplication.doubleClickInterval())
    assert len(files.read().entries) == 1
    press(qtbot, window, "queue_button")
    qtbot.waitUntil(lambda: len(names(window)) == 2, timeout=10_000)


def test_that_what_is_typed_while_an_entry_is_put_back_is_not_taken_for_kept(
    qtbot: QtBot, window: MainWindow, files: QueueFiles, runs_dir: Path
) -> None:
    (before,) = add(files, runs_dir, "before")
    qtbot.waitUntil(lambda: names(window) == ["before"], timeout=10_000)
    window.parts[QueueBinding].panel.choose(before.id)
    press(qtbot, window, "queue_edit")
    qtbot.waitUntil(lambda: window.session.profile.name == "before", timeout=10_000)
    rename(window, "after")
    press(qtbot, window, "queue_button")
    rename(window, "typed meanwhile")
    qtbot.waitUntil(lambda: names(window) == ["after"], timeout=10_000)
    qtbot.waitUntil(lambda: button(window, "queue_button").text() == "Queue", timeout=10_000)
    assert window.session.profile.name == "typed meanwhile"
    assert window.session.is_dirty


def test_that_opening_another_profile_leaves_the_entry_as_it_is(
    qtbot: QtBot, window: MainWindow, files: QueueFiles, runs_dir: Path
) -> None:
    (entry,) = add(files, runs_dir, "before")
    qtbot.waitUntil(lambda: names(window) == ["before"], timeout=10_000)
    window.parts[QueueBinding].panel.choose(entry.id)
    press(qtbot, window, "queue_edit")
    qtbot.waitUntil(lambda: window.session.profile.name == "before", timeout=10_000)
    window.profiles.new()
    assert button(window, "queue_button").text() == "Queue"
    assert files.profile(entry.id).name == "before"


def test_that_editing_can_be_left(
    qtbot: QtBot, window: MainWindow, files: QueueFiles, runs_dir: Path
) -> None:
    (entry,) = add(files, runs_dir, "before")
    qtbot.waitUntil(lambda: names(window) == ["before"], timeout=10_000)
    window.parts[QueueBinding].panel.choose(entry.id)
    press(qtbot, window, "queue_edit")
    qtbot.waitUntil(lambda: button(window, "queue_edit").text() == "Stop e&diting", timeout=10_000)
    window.tabs.setCurrentWidget(window.runs)
    press(qtbot, window, "queue_edit")
    assert button(window, "queue_edit").text() == "E&dit"
    assert button(window, "queue_button").text() == "Queue"


def test_that_an_entry_started_while_it_was_edited_is_shown_and_the_profile_stays(
    qtbot: QtBot, window: MainWindow, files: QueueFiles, runs_dir: Path, person: Person
) -> None:
    (entry,) = add(files, runs_dir, "before")
    qtbot.waitUntil(lambda: names(window) == ["before"], timeout=10_000)
    window.parts[QueueBinding].panel.choose(entry.id)
    press(qtbot, window, "queue_edit")
    qtbot.waitUntil(lambda: window.session.profile.name == "before", timeout=10_000)
    rename(window, "mine")
    running = entry.model_copy(update={"state": EntryState.RUNNING})
    files.change(lambda line: line.with_changed(running))
    qtbot.waitUntil(lambda: bool(person.problems), timeout=10_000)
    assert person.problems[0][1][0].code == "queue_entry_overtaken"
    assert window.session.profile.name == "mine"
    assert button(window, "queue_button").text() == "Queue"
    assert not button(window, "queue_remove").isEnabled()
    files.change(lambda line: line.model_copy(update={"entries": ()}))


def test_that_an_entry_edited_elsewhere_meanwhile_is_not_replaced_and_the_profile_stays(
    qtbot: QtBot, window: MainWindow, files: QueueFiles, runs_dir: Path, person: Person
) -> None:
    (entry,) = add(files, runs_dir, "before")
    qtbot.waitUntil(lambda: names(window) == ["before"], timeout=10_000)
    window.parts[QueueBinding].panel.choose(entry.id)
    press(qtbot, window, "queue_edit")
    qtbot.waitUntil(lambda: window.session.profile.name == "before", timeout=10_000)
    rename(window, "mine")
    orders.edit(files, entry.id, Profile(name="another's"))
    window.parts[QueueBinding].editing.put_back()  # before this window has seen it
    codes = {"queue_entry_edited_meanwhile", "queue_entry_overtaken"}
    qtbot.waitUntil(
        lambda: {problem.code for _, found in person.problems for problem in found} == codes,
        timeout=10_000,
    )
    assert files.profile(entry.id).name == "another's"
    assert window.session.profile.name == "mine"
    assert button(window, "queue_button").text() == "Queue"


def test_that_pause_remove_and_clear_reach_the_queue(
    qtbot: QtBot, window: MainWindow, files: QueueFiles, runs_dir: Path
) -> None:
    first, second = add(files, runs_dir, "first", "second")
    ended = second.model_copy(update={"state": EntryState.ENDED})
    files.change(lambda line: line.with_changed(ended))
    qtbot.waitUntil(button(window, "queue_clear").isVisible, timeout=10_000)
    press(qtbot, window, "queue_clear")
    qtbot.waitUntil(lambda: not button(window, "queue_clear").isVisible(), timeout=10_000)
    assert files.read().entries == (first,)
    window.parts[QueueBinding].panel.choose(first.id)
    press(qtbot, window, "queue_remove")
    qtbot.waitUntil(lambda: names(window) == [], timeout=10_000)
    assert button(window, "queue_pause").text() == "Resume &queue"
    add(files, runs_dir, "third")
    qtbot.waitUntil(lambda: names(window) == ["third"], timeout=10_000)
    orders.remove(files, files.read().entries[0].id)
    window.parts[QueueBinding].panel.pauseRequested.emit(False)
    qtbot.waitUntil(lambda: not files.read().paused, timeout=10_000)


def test_that_a_removal_is_undone_where_the_entry_stood(
    qtbot: QtBot, window: MainWindow, files: QueueFiles, runs_dir: Path
) -> None:
    entries = add(files, runs_dir, "a", "b", "c")
    qtbot.waitUntil(lambda: names(window) == ["a", "b", "c"], timeout=10_000)
    panel = window.parts[QueueBinding].panel
    panel.choose(entries[1].id)
    button(window, "queue_remove").setFocus()
    press(qtbot, window, "queue_remove")
    qtbot.waitUntil(button(window, "queue_undo").isVisible, timeout=10_000)
    qtbot.waitUntil(lambda: names(window) == ["a", "c"], timeout=10_000)
    words = panel.findChild(QLabel, "queue_words")
    assert isinstance(words, QLabel)
    assert "“b” removed" in words.text()
    before = window.session.profile

    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)

    qtbot.waitUntil(lambda: names(window) == ["a", "b", "c"], timeout=10_000)
    assert files.read().entries == tuple(entries)
    assert files.profile(entries[1].id).name == "b"
    assert not button(window, "queue_undo").isVisible()
    assert window.session.profile == before


def test_that_the_last_entry_that_was_removed_comes_back_into_the_empty_queue(
    qtbot: QtBot, window: MainWindow, files: QueueFiles, runs_dir: Path
) -> None:
    (only,) = add(files, runs_dir, "only")
    qtbot.waitUntil(lambda: names(window) == ["only"], timeout=10_000)
    window.parts[QueueBinding].panel.choose(only.id)
    press(qtbot, window, "queue_remove")
    qtbot.waitUntil(lambda: names(window) == [], timeout=10_000)
    assert not button(window, "queue_remove").isVisible()
    press(qtbot, window, "queue_undo")
    qtbot.waitUntil(lambda: names(window) == ["only"], timeout=10_000)
    assert files.read().entries == (only,)


def test_that_a_trial_comes_back_as_long_as_its_sweep_goes_on(
    qtbot: QtBot, window: MainWindow, files: QueueFiles, runs_dir: Path
) -> None:
    (trial,) = add(files, runs_dir, "trial")
    layout = SweepLayout(runs_dir / "sweeps" / "mine")
    layout.root.mkdir(parents=True)
    append_event(
        layout, TrialChosen(time_s=1.0, number=1, entry=trial.id, values={"model.dropout": 0.5})
    )
    files.change(lambda line: line.with_sweep(layout.root))
    qtbot.waitUntil(lambda: names(window) == ["trial"], timeout=10_000)
    window.parts[QueueBinding].panel.choose(trial.id)
    press(qtbot, window, "queue_remove")
    qtbot.waitUntil(lambda: names(window) == [], timeout=10_000)
    press(qtbot, window, "queue_undo")
    qtbot.waitUntil(lambda: names(window) == ["trial"], timeout=10_000)
    assert files.read().entries == (trial,)

    window.parts[QueueBinding].panel.choose(trial.id)
    press(qtbot, window, "queue_remove")
    qtbot.waitUntil(lambda: names(window) == [], timeout=10_000)
    files.change(lambda line: line.without_sweep(layout.root))
    press(qtbot, window, "queue_undo")
    person = window.core.questions
    assert isinstance(person, Person)
    qtbot.waitUntil(lambda: bool(person.problems), timeout=10_000)
    assert "The sweep mine has ended" in person.problems[0][1][0].message
    assert files.read().entries == ()


def test_that_a_name_is_whole_as_long_as_there_is_room(
    qtbot: QtBot, window: MainWindow, files: QueueFiles, runs_dir: Path
) -> None:
    name = "alpha 4: learning_rate 0.00031, weight_decay 0.0001"
    add(files, runs_dir, name)
    qtbot.waitUntil(lambda: names(window) == [name], timeout=10_000)
    table = window.findChild(QTableView, "queue_table")
    assert isinstance(table, QTableView)
    assert table.columnWidth(1) >= table.sizeHintForColumn(1)
    add(files, runs_dir, "x" * 200)
    qtbot.waitUntil(lambda: len(names(window)) == 2, timeout=10_000)
    assert table.columnWidth(1) == table.viewport().width() // 2
    window.resize(1100, 700)
    qtbot.wait(10)
    assert table.columnWidth(1) > 300
    assert table.horizontalScrollBar().maximum() == 0


def test_that_the_run_of_an_entry_opens_in_live(
    qtbot: QtBot, window: MainWindow, files: QueueFiles, runs_dir: Path
) -> None:
    (entry,) = add(files, runs_dir, "ran")
    plan = prepare_without_build(MACHINE, Profile(name="ran")).plan
    assert plan is not None
    run = create_run(Profile(name="ran"), plan, runs_dir)
    ended = entry.model_copy(
        update={
            "state": EntryState.ENDED,
            "outcome": Outcome.FAILED,
            "run": run.root,
            "is_filled": True,
        }
    )
    files.change(lambda line: line.with_changed(ended))
    folded = window.findChild(QToolButton, "queue_ended")
    assert isinstance(folded, QToolButton)
    qtbot.waitUntil(folded.isVisible, timeout=10_000)
    assert names(window) == []
    assert folded.text() == "1 ended, 1 failed"
    folded.click()
    assert names(window) == ["ran"]
    window.parts[QueueBinding].panel.choose(entry.id)
    press(qtbot, window, "queue_open")
    assert window.control.shown is not None
    assert window.control.shown.root == run.root
    assert window.tabs.currentWidget() is window.live_page


def detail(window: MainWindow) -> str:
    label = window.findChild(QLabel, "run_detail")
    assert isinstance(label, QLabel)
    return label.text()


def test_that_queue_answers_with_the_place_and_the_tab_counts(
    qtbot: QtBot, window: MainWindow, files: QueueFiles, runs_dir: Path
) -> None:
    window.tabs.show_session()
    add(files, runs_dir, "first")
    press(qtbot, window, "queue_button")
    answer = "Queued, place 2; the queue is paused"
    qtbot.waitUntil(lambda: detail(window) == answer, timeout=10_000)
    qtbot.waitUntil(lambda: window.tabs.tabText(2) == "Runs (2 queued)", timeout=10_000)
    files.change(lambda line: line.with_removed(line.entries[0].id))
    qtbot.waitUntil(lambda: window.tabs.tabText(2) == "Runs (1 queued)", timeout=10_000)


def test_that_a_failure_in_the_queue_is_said_and_counted_until_somebody_looks(
    qtbot: QtBot, window: MainWindow, files: QueueFiles, runs_dir: Path
) -> None:
    window.tabs.show_session()
    refused, failed = add(files, runs_dir, "refused", "x" * 200)
    qtbot.waitUntil(lambda: window.tabs.tabText(2) == "Runs (2 queued)", timeout=10_000)
    problem = Problem(code="no", message="The GPU is gone.")
    files.change(
        lambda line: line.with_changed(
            refused.model_copy(update={"state": EntryState.REFUSED, "problems": (problem,)})
        )
    )
    words = "Queued run “refused” cannot start: The GPU is gone."
    qtbot.waitUntil(lambda: detail(window) == words, timeout=10_000)
    assert window.tabs.tabText(2) == "Runs (1 queued, 1 failed)"
    lost = {"state": EntryState.ENDED, "outcome": Outcome.LOST}
    files.change(lambda line: line.with_changed(failed.model_copy(update=lost)))
    qtbot.waitUntil(lambda: window.tabs.tabText(2) == "Runs (2 failed)", timeout=10_000)
    assert detail(window) == f"Queued run “{'x' * 40}…” failed"
    window.tabs.setCurrentWidget(window.runs)
    assert window.tabs.tabText(2) == "Runs"


def test_that_a_run_of_the_queue_is_followed_though_a_past_one_is_shown(
    qtbot: QtBot, window: MainWindow, files: QueueFiles, runs_dir: Path
) -> None:
    with WrittenRun(runs_dir, Profile(name="past")) as past:
        past.begin()
        past.end(Outcome.COMPLETED)
    window.open_target(past.layout.root)
    status = shown_status(qtbot, window)
    assert status.outcome is Outcome.COMPLETED
    (entry,) = add(files, runs_dir, "next")
    qtbot.waitUntil(lambda: len(names(window)) == 1, timeout=10_000)
    with WrittenRun(runs_dir, Profile(name="next")) as run:
        run.begin()
        run.step(2)
        running = {"state": EntryState.RUNNING, "run": run.layout.root, "is_filled": True}
        files.change(lambda line: line.with_changed(entry.model_copy(update=running)))
        qtbot.waitUntil(lambda: window.session.run_state is RunState.RUNNING, timeout=10_000)
        assert window.control.active == run.layout
        assert window.control.shown == past.layout
        # The page belongs to what is shown: nothing on it stops the other one.
        assert button(window, "stop_button").isHidden()
        assert window.window_actions.stop.isEnabled()
        assert window.findChild(QLabel, "shown_state").text().startswith("Completed")
        run.end(Outcome.COMPLETED)
        qtbot.waitUntil(lambda: window.session.run_state is RunState.ENDED, timeout=10_000)
    assert window.control.shown == past.layout


def shown_status(qtbot: QtBot, window: MainWindow) -> RunStatus:
    """Of the run that is shown, once it is read."""

    def status() -> RunStatus:
        found = window.control.shown_status
        assert found is not None
        return found

    qtbot.waitUntil(lambda: status().has_ended, timeout=10_000)
    return status()


def test_that_what_keeps_the_queue_from_working_stands_above_it_and_in_the_bar(
    qtbot: QtBot, window: MainWindow, files: QueueFiles, runs_dir: Path, monkeypatch
) -> None:
    monkeypatch.setattr(user_queue, "ensure_scheduler", lambda _files: False)
    monkeypatch.setattr(orders, "ensure_scheduler", lambda _files: False)
    full = Problem(code="no_space", message="No space is left.", hint="Free some space.")
    orders.add(files, Profile(name="waits"), runs_dir)
    orders.go_on(files)
    note_trouble(files.folder, (full,))
    panel = window.findChild(QueuePanel)
    assert isinstance(panel, QueuePanel)
    qtbot.waitUntil(lambda: panel.problems() == (full,), timeout=15_000)
    row = panel.findChild(ProblemRow)
    assert isinstance(row, ProblemRow)
    assert row.isVisible()
    said = window.findChild(ShorterLabel, "run_detail")
    assert isinstance(said, ShorterLabel)
    assert "The queue does not work: No space is left." in said.toolTip()
    forget_trouble(files.folder)
    qtbot.waitUntil(lambda: panel.problems() == (), timeout=15_000)
    assert not panel.findChildren(ProblemRow) or not row.isVisible()


def test_that_a_queue_fits_the_smallest_window_and_hides_no_row_half(
    qtbot: QtBot, window: MainWindow, files: QueueFiles, runs_dir: Path
) -> None:
    table = window.findChild(QTableView, "queue_table")
    assert isinstance(table, QTableView)
    add(files, runs_dir, "alpha", "beta", "gamma")
    qtbot.waitUntil(lambda: names(window) == ["alpha", "beta", "gamma"], timeout=10_000)
    window.resize(853, 533)
    qtbot.wait(100)
    assert window.height() == 533
    window.resize(853, 800)
    qtbot.waitUntil(lambda: table.verticalScrollBar().maximum() == 0)
    assert table.horizontalScrollBar().maximum() > 0


def test_that_a_queue_in_which_nothing_waits_is_looked_at_less_often(
    qtbot, usual_pauses, state_dir, runs_dir, monkeypatch
):
    monkeypatch.setattr(user_queue, "ensure_scheduler", lambda _files: False)
    watch = queue_worker.QueueWatch(queue_dir())
    watch.begin()
    timer = lambda: watch._keeper._timer  # noqa: E731
    qtbot.waitUntil(lambda: timer() is not None)
    qtbot.waitUntil(lambda: timer().interval() == queue_worker.EMPTY_POLL_MS)
    monkeypatch.setattr(orders, "ensure_scheduler", lambda _files: False)
    orders.add(QueueFiles(queue_dir()), Profile(name="waits"), runs_dir)
    qtbot.waitUntil(lambda: timer().interval() == queue_worker.POLL_MS)
    watch.stop()
