"""Sweeps of a host in the window: prepared, started, shown and steered by mouse, over a cut too."""

import time

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QTableView

from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.hosts.here.link_state import LinkCondition
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.sweeps.sweep_layout import SweepLayout
from gpupanel.runs.sweeps.sweep_record import (
    SweepBegun,
    TrialChosen,
    TrialEnded,
    TrialStarted,
    append_event,
)
from gpupanel.ui.dialogs.new_sweep_dialog import NewSweepDialog
from gpupanel.ui.dialogs.sweeps_dialog import SweepsDialog
from tests.fakes.run_directory import WrittenRun
from tests.hosts.conftest import lab  # noqa: F401 - a fixture
from tests.ui.test_window_on_a_host import (  # noqa: F401 - fixtures
    START_UP_MS,
    connection,
    window,
)

SWEEP = (
    'name = "digits"\n[devices]\nvisible = ["cpu"]\n[strategy]\nkind = "one_device"\n'
    '[sweep]\nmethod = "grid"\n[sweep.values]\n"training.learning_rate" = [0.1, 0.01]\n'
)


@pytest.fixture
def there(lab):  # noqa: F811
    """The queue of the host, which starts nothing."""
    files = QueueFiles(lab.folder / "there" / "state" / "queue")
    files.change(lambda line: line.with_paused(paused=True))
    return files


def prepared(qtbot, window, text: str = SWEEP) -> tuple[NewSweepDialog, QPushButton]:  # noqa: F811
    """The dialog with a sweep that can be started, and the button that does it."""
    window.session.open_profile(parse_profile(text), None)
    window.window_actions.new_sweep.trigger()
    dialog = window.findChild(NewSweepDialog)
    start = dialog.findChild(QPushButton, "new_sweep_queue")
    qtbot.waitUntil(start.isEnabled, timeout=START_UP_MS)
    return dialog, start


def opened(window) -> SweepsDialog:  # noqa: F811
    window.window_actions.sweeps.trigger()
    return window.findChild(SweepsDialog)


def written(lab, trials: int) -> SweepLayout:  # noqa: F811
    """A sweep on the host of which the queue knows nothing."""
    layout = SweepLayout(lab.runs_dir / "sweeps" / "2026-12-01T10-00-00-digits")
    layout.root.mkdir(parents=True)
    layout.profile.write_text(SWEEP)
    append_event(layout, SweepBegun(time_s=1.0, trial_count=trials))
    return layout


def choose(layout: SweepLayout, number: int) -> None:
    values = {"training.learning_rate": 0.1 / number}
    entry = f"{number:08x}"
    append_event(layout, TrialChosen(time_s=1.0, number=number, values=values, entry=entry))


def test_that_a_sweep_is_prepared_started_stopped_and_continued_there_by_mouse(
    qtbot,
    window,  # noqa: F811
    lab,  # noqa: F811
    there,
):
    prepared_dialog, start = prepared(qtbot, window)
    assert prepared_dialog.findChild(QLabel, "new_sweep_count").text() == "2 trials"
    for _ in range(2):
        qtbot.mouseClick(start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.findChild(SweepsDialog) is not None, timeout=START_UP_MS)
    (folder,) = there.read().sweeps
    assert folder.parent == lab.runs_dir / "sweeps"
    dialog = window.findChild(SweepsDialog)
    qtbot.waitUntil(lambda: dialog.chosen_sweep() == folder.name, timeout=START_UP_MS)
    word = dialog.findChild(QLabel, "sweeps_word")
    assert word.text() == "digits: in progress, 0 of 2 trials have ended"
    choose(SweepLayout(folder), 1)
    table = dialog.findChild(QTableView, "sweeps_trials").model()
    qtbot.waitUntil(lambda: table.rowCount() == 1, timeout=START_UP_MS)
    there.change(lambda line: line.without_sweep(folder))
    again = dialog.findChild(QPushButton, "sweeps_continue")
    qtbot.waitUntil(again.isVisible, timeout=START_UP_MS)
    qtbot.mouseClick(again, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: there.read().sweeps == (folder,), timeout=START_UP_MS)
    for _ in range(2):
        dialog.stopRequested.emit(folder.name)
    qtbot.waitUntil((folder / "stop").exists, timeout=START_UP_MS)
    assert window.core.questions.problems == []


@pytest.mark.long
def test_that_code_is_asked_about_here_before_a_sweep_carries_it_out_there(
    qtbot,
    window,  # noqa: F811
    lab,  # noqa: F811
    there,
):
    code = lab.folder / "there" / "network.py"
    code.write_text("def build_model(input_shape, outputs): raise SystemExit\n")
    dialog, start = prepared(qtbot, window, f'{SWEEP}[model]\nsource = "python"\npath = "{code}"\n')
    person = window.core.questions
    start.click()
    qtbot.waitUntil(lambda: person.codes != [], timeout=START_UP_MS)
    assert person.codes[0][0].content == code.read_bytes()
    qtbot.waitUntil(start.isEnabled, timeout=START_UP_MS)
    assert there.read().sweeps == ()
    person.trusts = True
    start.click()
    qtbot.waitUntil(lambda: len(there.read().sweeps) == 1, timeout=START_UP_MS)
    assert (lab.folder / "there" / "config" / "trusted.json").exists()
    assert not [*(lab.folder / "here").rglob("trusted.json")]
    qtbot.waitUntil(lambda: not dialog.isVisible(), timeout=START_UP_MS)


@pytest.mark.long
def test_that_a_run_of_a_trial_there_is_opened_and_its_settings_are_used(
    qtbot,
    window,  # noqa: F811
    connection,  # noqa: F811
    lab,  # noqa: F811
):
    with WrittenRun(lab.runs_dir, Profile(name="digits 1: learning rate 0.1")) as run:
        run.begin()
        run.end()
    name = run.layout.root.name
    layout = written(lab, trials=1)
    choose(layout, 1)
    append_event(layout, TrialStarted(time_s=1.0, number=1, run=name))
    append_event(layout, TrialEnded(time_s=1.0, number=1, value=0.5, epoch=1))
    copy = connection.host.runs_dir / name
    qtbot.waitUntil((copy / "profile.toml").exists, timeout=START_UP_MS)
    dialog = opened(window)
    use = dialog.findChild(QPushButton, "sweeps_use")
    qtbot.waitUntil(use.isEnabled, timeout=START_UP_MS)
    use.click()
    assert window.session.profile.name == "digits 1: learning rate 0.1"
    opened(window).findChild(QTableView, "sweeps_trials").selectRow(0)
    dialog.findChild(QPushButton, "sweeps_open").click()
    qtbot.waitUntil(
        lambda: window.control.shown is not None and window.control.shown.root == copy,
        timeout=START_UP_MS,
    )


@pytest.mark.long
def test_that_a_window_that_is_closed_while_a_sweep_starts_ends_at_once(
    qtbot,
    window,  # noqa: F811
    there,
):
    _, start = prepared(qtbot, window)
    qtbot.mouseClick(start, Qt.MouseButton.LeftButton)
    begun_s = time.monotonic()
    window.close()
    assert time.monotonic() - begun_s < 5.0
    assert len(there.read().sweeps) <= 1
    assert window.core.questions.problems == []


def test_that_a_sweep_without_connection_is_shown_and_not_ordered(
    qtbot,
    window,  # noqa: F811
    connection,  # noqa: F811
    lab,  # noqa: F811
):
    person = window.core.questions
    layout = written(lab, trials=2)
    dialog = opened(window)
    word = dialog.findChild(QLabel, "sweeps_word")
    qtbot.waitUntil(lambda: "in progress" in word.text(), timeout=START_UP_MS)
    _, start = prepared(qtbot, window)
    lab.relay.cut()
    qtbot.waitUntil(lambda: connection.state.kind is LinkCondition.CUT, timeout=START_UP_MS)
    stop = dialog.findChild(QPushButton, "sweeps_stop")
    stop.click()
    qtbot.waitUntil(lambda: person.problems != [], timeout=START_UP_MS)
    assert [each.code for each in person.problems[0][1]] == ["host_connection_lost"]
    assert stop.isEnabled()
    assert "in progress" in word.text()
    start.click()
    qtbot.waitUntil(lambda: len(person.problems) == 2, timeout=START_UP_MS)
    assert [each.code for each in person.problems[1][1]] == ["host_connection_lost"]
    assert start.isEnabled()
    lab.relay.mend()
    connection.try_again()
    qtbot.waitUntil(lambda: connection.state.kind is LinkCondition.CONNECTED, timeout=START_UP_MS)
    stop.click()
    qtbot.waitUntil(layout.stop.exists, timeout=START_UP_MS)
