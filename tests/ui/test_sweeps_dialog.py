"""Sweeps in the window: their trials as a table and as lines, kept up to date, and stopped."""

import shutil
import time

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QTableView

from gpupanel.domain.number_text import DASH
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile, parse_profile
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.sweeps import starting
from gpupanel.runs.sweeps.sweep_layout import SweepLayout
from gpupanel.runs.sweeps.sweep_record import (
    SweepBegun,
    SweepEnded,
    TrialChosen,
    TrialEnded,
    TrialPruned,
    TrialStarted,
    append_event,
)
from gpupanel.runs.sweeps.sweep_status import sweep_status
from gpupanel.runs.user_sweeps import SweepsRead
from gpupanel.ui.bindings.sweeps_binding import SweepsBinding
from gpupanel.ui.dialogs.new_sweep_dialog import NewSweepDialog
from gpupanel.ui.dialogs.sweeps_dialog import SweepsDialog
from gpupanel.ui.widgets.parallel_coordinates import ParallelCoordinates
from tests.fakes.person import Person
from tests.fakes.run_directory import WrittenRun
from tests.ui.accessible_tree import unspoken
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")

TRIALS = (
    (0.1, (64,), "adam", 0.9, Outcome.COMPLETED),
    (0.001, (128, 64), "sgd", 0.125, Outcome.COMPLETED),
    (0.01, (64,), "adam", 0.4, Outcome.STOPPED),
    (0.03, (32,), "sgd", None, None),
)


def written(runs_dir, name="2026-11-24T05-00-00-digits"):
    """A sweep with three trials that have ended, one of them pruned, and one that waits."""
    layout = SweepLayout(runs_dir / "sweeps" / name)
    layout.root.mkdir(parents=True)
    profile = parse_profile('name = "digits"\n[sweep.values]\n"training.learning_rate" = [0.1]')
    layout.profile.write_text(dump_profile(profile), encoding="utf-8")
    append_event(layout, SweepBegun(time_s=0, trial_count=6))
    for number, (rate, hidden, optimizer, loss, outcome) in enumerate(TRIALS, 1):
        values = {
            "training.learning_rate": rate,
            "model.hidden": hidden,
            "training.optimizer": optimizer,
        }
        entry = f"{number:08x}"
        append_event(layout, TrialChosen(time_s=0, number=number, values=values, entry=entry))
        if outcome is None:
            continue
        append_event(layout, TrialStarted(time_s=0, number=number, run=f"run-{number}"))
        if outcome is Outcome.STOPPED:
            append_event(layout, TrialPruned(time_s=0, number=number, epoch=2, best=0.4, median=0))
        ended = TrialEnded(time_s=0, number=number, outcome=outcome, value=loss, epoch=number)
        append_event(layout, ended)
    return layout


@pytest.fixture
def dialog(qtbot, runs_dir):
    dialog = SweepsDialog()
    qtbot.addWidget(dialog)
    layout = written(runs_dir)
    dialog.setSweeps(SweepsRead((layout.root.name,), sweep_status(layout)))
    dialog.show()
    return dialog


def cells(dialog):
    model = dialog.findChild(QTableView, "sweeps_trials").model()
    return [
        [model.index(row, column).data() for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


def test_that_each_trial_is_a_row_with_its_values_and_what_it_came_to(dialog):
    assert cells(dialog)[1:] == [
        ["2", "0.001", "[128, 64]", "sgd", "0.1250", "2", "Completed", "run-2"],
        ["3", "0.01", "[64]", "adam", "0.4000", "3", "Pruned after epoch 2", "run-3"],
        ["4", "0.03", "[32]", "sgd", DASH, DASH, "Waiting", DASH],
    ]
    model = dialog.findChild(QTableView, "sweeps_trials").model()
    tip = model.index(2, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert "Trial 3: Pruned after epoch 2: worse than the median there, 0" in tip
    words = dialog.findChild(QLabel, "sweeps_word").text()
    assert words == (
        "digits: in progress, 3 of 6 trials have ended. Best: trial 2 with validation loss 0.1250 "
        "(learning rate 0.001, hidden layers [128, 64], optimizer sgd)"
    )


def test_that_trials_of_several_runs_have_mean_spread_and_count(qtbot, runs_dir):
    layout = written(runs_dir)
    profile = parse_profile(
        'name = "digits"\n[sweep]\nseeds = 2\n[sweep.values]\n"training.learning_rate" = [0.1]'
    )
    layout.profile.write_text(dump_profile(profile), encoding="utf-8")
    dialog = SweepsDialog()
    qtbot.addWidget(dialog)
    dialog.setSweeps(SweepsRead((layout.root.name,), sweep_status(layout)))
    model = dialog.findChild(QTableView, "sweeps_trials").model()
    titles = [
        model.headerData(column, Qt.Orientation.Horizontal) for column in range(model.columnCount())
    ]
    assert titles[-5:] == ["Validation loss", "Spread", "n", "State", "Run"]
    first, second = cells(dialog)
    assert first[-5:] == ["0.5125", "0.5480", "2", "Completed", "run-1"]
    assert second[-5:] == ["0.4000", DASH, "1", "Waiting", "run-3"]
    tip = model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert ": 0.9, completed, run-1" in tip
    words = dialog.findChild(QLabel, "sweeps_word").text()
    assert "Best: trial 1 with validation loss 0.5125 ± 0.5480 over 2 runs" in words


def test_that_settings_and_metrics_have_their_titles_and_figures_as_elsewhere(qtbot, runs_dir):
    dialog = SweepsDialog()
    qtbot.addWidget(dialog)
    layout = written(runs_dir)
    status = sweep_status(layout)
    drawn = {1: (0.0123456789, 12_646), 2: (0.1, 1_024)}
    trials = tuple(
        trial.model_copy(
            update={
                "values": {"training.learning_rate": rate, "training.global_batch_size": batch},
                "value": 0.98765,
            }
        )
        for trial in status.trials[:2]
        for rate, batch in [drawn[trial.number]]
    )
    changed = status.model_copy(update={"metric": "val_accuracy", "trials": trials})
    dialog.setSweeps(SweepsRead((layout.root.name,), changed))

    model = dialog.findChild(QTableView, "sweeps_trials").model()
    titles = [
        model.headerData(column, Qt.Orientation.Horizontal) for column in range(model.columnCount())
    ]
    assert titles[:4] == ["Trial", "Learning rate", "Global batch size", "Validation accuracy"]
    assert cells(dialog)[0][1:4] == ["0.01235", "12,646", "98.8 %"]
    # Nothing is lost: the tooltip has what was really tried.
    assert "Learning rate: 0.0123456789" in model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)


@pytest.mark.parametrize("log", [True, False])
def test_that_an_axis_is_by_factors_where_the_sweep_is(qtbot, runs_dir, log):
    layout = written(runs_dir)
    profile = parse_profile(
        'name = "digits"\n[sweep.values]\n'
        f'"training.learning_rate" = {{ low = 0.01, high = 0.09, log = {str(log).lower()} }}'
    )
    layout.profile.write_text(dump_profile(profile), encoding="utf-8")
    status = sweep_status(layout)
    rates = {1: 0.01, 2: 0.03, 3: 0.09}
    trials = tuple(
        trial.model_copy(update={"values": {"training.learning_rate": rates[trial.number]}})
        for trial in status.trials[:3]
    )
    dialog = SweepsDialog()
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.setSweeps(SweepsRead((layout.root.name,), status.model_copy(update={"trials": trials})))
    plot = dialog.findChild(ParallelCoordinates)
    low, middle, high = (plot.points_of(number)[0].y() for number in rates)
    assert ((low - middle) == pytest.approx(middle - high)) is log


def test_that_each_trial_is_a_line_through_its_values(dialog):
    plot = dialog.findChild(ParallelCoordinates)
    first, best, waiting = plot.points_of(1), plot.points_of(2), plot.points_of(4)
    assert [point.x() for point in first] == sorted(point.x() for point in first)
    # The greatest rate and loss are above the least ones; equal texts are at one place.
    assert first[0].y() < best[0].y()
    assert first[3].y() < best[3].y()
    assert first[1].y() == plot.points_of(3)[1].y()
    # Nothing was reached: the line ends before the last axis.
    assert waiting[3] is None
    assert plot.points_of(9) == []
    picture = plot.grab().toImage()
    middle = (best[2] + best[3]) / 2
    drawn = {
        QColor(picture.pixel(round(middle.x()), round(middle.y()) + by)).name()
        for by in range(-2, 3)
    }
    assert len(drawn) > 1


def test_that_the_chosen_trial_is_drawn_above_and_its_run_can_be_opened(qtbot, dialog):
    table = dialog.findChild(QTableView, "sweeps_trials")
    button = dialog.findChild(QPushButton, "sweeps_open")
    assert not button.isEnabled()
    table.selectRow(3)
    assert not button.isEnabled()
    table.selectRow(0)
    assert dialog.findChild(ParallelCoordinates)._chosen == 1
    with qtbot.waitSignal(dialog.runOpened) as opened:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert opened.args == ["run-1"]


def test_that_the_settings_of_the_best_trial_are_one_click_away(qtbot, dialog):
    button = dialog.findChild(QPushButton, "sweeps_use")
    assert button.text().replace("&", "") == "Use settings of the best trial"
    with qtbot.waitSignal(dialog.settingsRequested) as asked:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert asked.args == ["run-2"]
    table = dialog.findChild(QTableView, "sweeps_trials")
    table.selectRow(2)
    assert button.text() == "Use settings of this trial"
    with qtbot.waitSignal(dialog.settingsRequested) as asked:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert asked.args == ["run-3"]
    table.selectRow(3)  # it waits
    assert not button.isEnabled()


def test_that_the_session_gets_the_settings_of_a_trial(qtbot, tmp_path, runs_dir):
    with WrittenRun(runs_dir, Profile(name="digits 2: learning rate 0.001")) as run:
        run.begin()
        run.end()
    layout = written(runs_dir)
    started = TrialStarted(time_s=0, number=2, run=run.layout.root.name)
    append_event(layout, started)
    window = new_window(
        QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat), runs_dir, Person()
    )
    qtbot.addWidget(window)
    window.show()
    window.window_actions.sweeps.trigger()
    dialog = window.findChild(SweepsDialog)
    button = dialog.findChild(QPushButton, "sweeps_use")
    qtbot.waitUntil(button.isEnabled)
    window.tabs.setCurrentWidget(window.live_page)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert window.session.profile.name == "digits 2: learning rate 0.001"
    assert window.tabs.currentWidget() is window.session_page
    assert not dialog.isVisible()
    window.close()


def test_that_what_is_shown_follows_the_sweep_and_keeps_the_choice(dialog, runs_dir):
    layout = SweepLayout(runs_dir / "sweeps" / dialog.chosen_sweep())
    dialog.findChild(QTableView, "sweeps_trials").selectRow(1)
    append_event(
        layout, TrialEnded(time_s=0, number=4, outcome=Outcome.FAILED, value=0.0625, epoch=1)
    )
    append_event(layout, SweepEnded(time_s=0, stopped=True))
    dialog.setSweeps(SweepsRead((layout.root.name,), sweep_status(layout)))
    assert cells(dialog)[3][4:7] == ["0.0625", "1", "Failed"]
    assert "stopped, 4 of 6" in dialog.findChild(QLabel, "sweeps_word").text()
    assert not dialog.findChild(QPushButton, "sweeps_stop").isEnabled()
    assert dialog.findChild(ParallelCoordinates)._chosen == 2


def test_that_columns_become_wide_enough_for_what_comes(qtbot, runs_dir):
    layout = written(runs_dir)
    dialog = SweepsDialog()
    qtbot.addWidget(dialog)
    dialog.show()
    status = sweep_status(layout)
    waiting = status.model_copy(update={"trials": status.trials[3:]})
    dialog.setSweeps(SweepsRead((layout.root.name,), waiting))
    table = dialog.findChild(QTableView, "sweeps_trials")
    narrow = table.columnWidth(6)
    table.setColumnWidth(1, 33)  # as a person wants it
    dialog.setSweeps(SweepsRead((layout.root.name,), status))
    assert table.columnWidth(6) > narrow
    for column in (0, *range(2, 8)):
        assert table.columnWidth(column) >= table.sizeHintForColumn(column)
    assert table.columnWidth(1) == 33
    # The last column takes the room that is left.
    header = table.horizontalHeader()
    assert header.length() == table.viewport().width()


def test_that_long_names_of_runs_are_cut_before_a_column_is_out_of_sight(qtbot, runs_dir):
    layout = written(runs_dir)
    name = "2026-11-24T05-00-00-" + "a-name-that-is-long-" * 6
    append_event(layout, TrialStarted(time_s=0, number=1, run=name))
    dialog = SweepsDialog()
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.setSweeps(SweepsRead((layout.root.name,), sweep_status(layout)))
    table = dialog.findChild(QTableView, "sweeps_trials")
    qtbot.waitUntil(lambda: table.columnWidth(7) > 128)
    qtbot.waitUntil(lambda: table.horizontalScrollBar().maximum() == 0)
    assert name in table.model().index(0, 7).data(Qt.ItemDataRole.ToolTipRole)


def test_that_without_sweeps_it_says_how_one_is_started(qtbot):
    dialog = SweepsDialog()
    qtbot.addWidget(dialog)
    dialog.setSweeps(SweepsRead((), None))
    dialog.show()
    texts = [label.text() for label in dialog.findChildren(QLabel) if label.isVisible()]
    assert any("New sweep…" in text for text in texts)
    assert not dialog.findChild(QPushButton, "sweeps_stop").isEnabled()
    with qtbot.waitSignal(dialog.newRequested):
        qtbot.mouseClick(dialog.findChild(QPushButton, "sweeps_new"), Qt.MouseButton.LeftButton)


def test_that_a_column_of_numbers_and_texts_is_sorted(qtbot, runs_dir):
    layout = written(runs_dir)
    dialog = SweepsDialog()
    qtbot.addWidget(dialog)
    status = sweep_status(layout)
    mixed = {1: "auto", 2: 16, 3: 4.5, 4: True}
    trials = tuple(
        each.model_copy(update={"values": {"strategy.shares": mixed[each.number]}})
        for each in status.trials
    )
    changed = status.model_copy(update={"trials": trials})
    dialog.setSweeps(SweepsRead((layout.root.name,), changed))
    dialog.findChild(QTableView, "sweeps_trials").sortByColumn(1, Qt.SortOrder.AscendingOrder)
    assert [row[1] for row in cells(dialog)] == ["16", "4.5", "auto", "true"]


def test_that_a_screen_reader_has_a_name_for_everything(dialog):
    assert unspoken(dialog) == []


def test_that_the_menu_opens_it_and_a_sweep_is_chosen_opened_and_stopped(
    qtbot, tmp_path, runs_dir, monkeypatch
):
    monkeypatch.setattr(starting, "ensure_scheduler", lambda files: False)
    older = written(runs_dir, "2026-11-24T04-00-00-older")
    newer = written(runs_dir, "2026-11-24T05-00-00-newer")
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    window.show()
    window.window_actions.sweeps.trigger()
    dialog = window.findChild(SweepsDialog)
    qtbot.waitUntil(lambda: dialog.chosen_sweep() == newer.root.name)
    dialog.findChild(QComboBox, "sweeps_box").setCurrentIndex(1)
    qtbot.waitUntil(lambda: dialog.chosen_sweep() == older.root.name)
    qtbot.mouseClick(dialog.findChild(QPushButton, "sweeps_stop"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(older.stop.exists)
    assert not newer.stop.exists()
    qtbot.mouseClick(dialog.findChild(QPushButton, "sweeps_new"), Qt.MouseButton.LeftButton)
    assert window.findChild(NewSweepDialog).isVisible()
    begun = time.monotonic()
    window.close()
    assert time.monotonic() - begun < 5.0


def test_that_a_sweep_that_the_queue_does_not_know_is_continued(
    qtbot, tmp_path, runs_dir, monkeypatch
):
    monkeypatch.setattr(starting, "ensure_scheduler", lambda files: False)
    left = written(runs_dir)
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    window.show()
    window.window_actions.sweeps.trigger()
    dialog = window.findChild(SweepsDialog)
    button = dialog.findChild(QPushButton, "sweeps_continue")
    qtbot.waitUntil(button.isVisible)
    assert "does not know it" in dialog.findChild(QLabel, "sweeps_word").text()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    files = QueueFiles(queue_dir())
    qtbot.waitUntil(lambda: files.read().sweeps == (left.root,))
    qtbot.waitUntil(
        lambda: "does not know it" not in dialog.findChild(QLabel, "sweeps_word").text()
    )
    assert not button.isVisible()
    window.close()


def test_that_a_sweep_that_cannot_be_read_says_why_in_its_place(qtbot, tmp_path, runs_dir):
    layout = written(runs_dir)
    layout.record.unlink()
    layout.record.symlink_to(tmp_path / "elsewhere")
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    window.show()
    window.window_actions.sweeps.trigger()
    words = window.findChild(SweepsDialog).findChild(QLabel, "sweeps_word")
    qtbot.waitUntil(lambda: "symbolic link" in words.text())
    window.close()


def test_that_why_sweeps_could_not_be_read_stands_there_until_they_are(dialog, runs_dir):
    word = dialog.findChild(QLabel, "sweeps_word")
    words = word.text()
    dialog.setProblems((Problem(code="x", message="The disk does not answer."),))
    assert "does not answer" in word.text()
    layout = SweepLayout(runs_dir / "sweeps" / dialog.chosen_sweep())
    dialog.setSweeps(SweepsRead((layout.root.name,), sweep_status(layout)))
    assert word.text() == words


@pytest.mark.parametrize("name", ["stop", "continue"])
def test_that_a_refused_order_is_said_and_can_be_given_again(
    qtbot, tmp_path, runs_dir, monkeypatch, name
):
    def refuse(_files: QueueFiles) -> bool:
        raise ProblemError(Problem(code="x", message="No process can be started."))

    monkeypatch.setattr(starting, "ensure_scheduler", refuse)
    written(runs_dir)
    settings, person = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat), Person()
    window = new_window(settings, runs_dir, person)
    qtbot.addWidget(window)
    window.show()
    window.window_actions.sweeps.trigger()
    dialog = window.findChild(SweepsDialog)
    button = dialog.findChild(QPushButton, f"sweeps_{name}")
    qtbot.waitUntil(lambda: button.isVisible() and button.isEnabled())
    before = dialog.findChild(QLabel, "sweeps_word").text()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: person.problems != [])
    assert [each.message for each in person.problems[0][1]] == ["No process can be started."]
    if name == "stop":
        assert button.isEnabled()
        assert dialog.findChild(QLabel, "sweeps_word").text() == before
    window.close()


@pytest.mark.parametrize("damage", ["profile", "record", "folder"])
def test_that_a_damaged_sweep_keeps_nobody_from_the_others(qtbot, tmp_path, runs_dir, damage):
    older = written(runs_dir, "2026-11-24T04-00-00-older")
    newer = written(runs_dir, "2026-11-24T05-00-00-<b>newer")
    if damage == "profile":
        newer.profile.write_text("[sweep", encoding="utf-8")
    elif damage == "record":
        newer.record.unlink()
        newer.record.mkdir()
    else:
        newer.profile.unlink()
        newer.profile.mkdir()
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    window.show()
    window.window_actions.sweeps.trigger()
    dialog = window.findChild(SweepsDialog)
    box = dialog.findChild(QComboBox, "sweeps_box")
    qtbot.waitUntil(lambda: dialog.chosen_sweep() != "")
    if damage != "folder":
        assert dialog.chosen_sweep() == newer.root.name
        assert dialog.findChild(QLabel, "sweeps_word").text() != ""
        assert not dialog.findChild(QPushButton, "sweeps_stop").isEnabled()
        assert box.count() == 2
        box.setCurrentIndex(1)
    qtbot.waitUntil(lambda: dialog.chosen_sweep() == older.root.name)
    qtbot.waitUntil(lambda: len(cells(dialog)) == len(TRIALS))
    window.close()


def test_that_a_sweep_that_is_deleted_while_it_is_shown_leaves_the_others(
    qtbot, tmp_path, runs_dir
):
    older = written(runs_dir, "2026-11-24T04-00-00-older")
    newer = written(runs_dir, "2026-11-24T05-00-00-newer")
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    window.show()
    window.window_actions.sweeps.trigger()
    dialog = window.findChild(SweepsDialog)
    qtbot.waitUntil(lambda: dialog.chosen_sweep() == newer.root.name)
    shutil.rmtree(newer.root)
    qtbot.waitUntil(lambda: dialog.chosen_sweep() == older.root.name)
    window.close()


def test_that_a_thousand_trials_are_not_all_measured_each_time(qtbot, runs_dir, monkeypatch):
    layout = written(runs_dir)
    dialog = SweepsDialog()
    qtbot.addWidget(dialog)
    dialog.show()
    status = sweep_status(layout)
    many = tuple(
        status.trials[0].model_copy(update={"number": number}) for number in range(1, 1_001)
    )
    model = dialog.findChild(QTableView, "sweeps_trials").model()
    asked = []
    data = type(model).data
    monkeypatch.setattr(
        type(model), "data", lambda self, *args: asked.append(1) or data(self, *args)
    )
    dialog.setSweeps(SweepsRead((layout.root.name,), status.model_copy(update={"trials": many})))
    assert len(cells(dialog)) == 1_000
    of_the_test = 1_000 * len(cells(dialog)[0])
    assert len(asked) - of_the_test < 20_000


def test_that_the_run_that_is_opened_is_not_hidden_by_the_dialog(qtbot, tmp_path, runs_dir):
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    window.show()
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.end()
    window.parts[SweepsBinding].open()
    dialog = window.findChild(SweepsDialog)
    assert dialog.isVisible()
    dialog.runOpened.emit(run.layout.root.name)
    assert not dialog.isVisible()
    assert window.control.shown == run.layout
    window.close()
