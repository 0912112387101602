"""The window on another machine: whose it is is said, and what is pressed happens there."""

import shutil
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QSettings, Qt, QTimer, QUrl
from PySide6.QtGui import QDragEnterEvent
from PySide6.QtWidgets import QFileDialog, QLabel, QLineEdit, QPushButton, QTreeWidget
from shiboken6 import isValid

from gpupanel.devices.child_process import ask_child
from gpupanel.domain.data import DigitsData
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.sweep import SweepMethod, SweepSettings
from gpupanel.hosts.here.link_state import LinkCondition
from gpupanel.runs.launcher import create_run
from gpupanel.runs.questions.question import ask_children_by
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.trust.user_code import UserCode
from gpupanel.ui.bindings.drops import Drops
from gpupanel.ui.bindings.queue_binding import QueueBinding
from gpupanel.ui.dialogs.new_sweep_dialog import NewSweepDialog
from gpupanel.ui.dialogs.sweeps_dialog import SweepsDialog
from gpupanel.ui.dialogs.trust_dialog import TrustDialog
from gpupanel.ui.host.connection import HostConnection
from gpupanel.ui.host.copy_dialog import CopyDialog
from gpupanel.ui.host.files_dialog import HostFilesDialog
from gpupanel.ui.host.strip import HostStrip
from gpupanel.ui.inputs.file_chooser import file_chooser
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.panels.device_panel import panel_text
from gpupanel.ui.panels.evaluation_panel.predictions_view import PredictionsView
from gpupanel.ui.panels.runs_panel import RunsPanel
from gpupanel.ui.questions import Questions
from gpupanel.ui.run_state import RunState
from gpupanel.ui.tools.export.binding import ExportBinding
from gpupanel.ui.widgets.labels import ProseLabel
from gpupanel.ui.widgets.problem_list import ProblemList
from gpupanel.ui.workers.this_machine import ThisMachine
from gpupanel.ui.workers.workplace import check_is_here, work_on
from tests.fakes.person import Person
from tests.hosts.conftest import lab  # noqa: F401 - a fixture
from tests.hosts.runs_there import cpu_plan

START_UP_MS = 120_000


@pytest.fixture
def connection(qapp, lab, monkeypatch):  # noqa: F811
    made = HostConnection("lab", str(lab.sshd.command))
    for name, value in made.host.variables().items():
        monkeypatch.setenv(name, value)
    work_on(made.host)
    ask_children_by(made.host.ask_child)
    yield made
    made.stop()
    work_on(ThisMachine())
    ask_children_by(ask_child)


@pytest.fixture
def window(qtbot, connection, tmp_path):
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    made = MainWindow(settings, connection.host.runs_dir, Person(), connection=connection)
    qtbot.addWidget(made)
    made.resize(1280, 800)
    made.show()
    made.begin()
    connection.begin()
    qtbot.waitUntil(lambda: connection.state.kind is LinkCondition.CONNECTED, timeout=START_UP_MS)
    yield made
    made.close()


def _strip(window: MainWindow) -> HostStrip:
    return window.findChild(HostStrip)


def test_that_the_frame_says_whose_machine_it_is(qtbot, window, lab):  # noqa: F811
    assert "lab" in window.windowTitle()
    qtbot.waitUntil(lambda: "those of lab" in _strip(window).text())
    assert not window.window_actions.tensorboard.isVisible()
    assert not window.profile_bar.templates_menu.menuAction().isVisible()
    assert window.findChild(RunsPanel)._where.text() == f"{lab.runs_dir} on lab"


def test_that_a_cut_is_said_and_passes(qtbot, window, connection, lab):  # noqa: F811
    lab.relay.cut()
    qtbot.waitUntil(lambda: "No connection since" in _strip(window).text(), timeout=START_UP_MS)
    button = window.findChild(QPushButton, "host_again")
    assert button.isVisible()
    lab.relay.mend()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "those of lab" in _strip(window).text(), timeout=START_UP_MS)


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_a_click_on_start_trains_there_and_its_curves_are_here(
    qtbot,
    window,
    connection,
    lab,  # noqa: F811
):
    start = window.findChild(QPushButton, "start_button")
    qtbot.waitUntil(start.isEnabled, timeout=START_UP_MS)
    qtbot.mouseClick(start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.session.run_state is RunState.ENDED, timeout=START_UP_MS)
    assert window.session.run_status.outcome is Outcome.COMPLETED
    (there,) = lab.runs_dir.iterdir()
    assert RunLayout(there).model.stat().st_size > 0
    assert window.control.shown.root == connection.host.runs_dir / there.name


def test_that_files_of_the_host_are_chosen_with_the_mouse(
    qtbot,
    window,
    connection,
    lab,  # noqa: F811
):
    there = lab.folder / "there" / "pictures"
    (there / "cats").mkdir(parents=True)
    (there / "table.csv").write_text("a\n1\n")
    (there / "notes.txt").write_text("")
    dialog = HostFilesDialog(
        window, "Choose the data", str(there), QFileDialog.FileMode.ExistingFile, "Tables (*.csv)"
    )
    dialog.open()
    shown = dialog.findChild(QTreeWidget)
    qtbot.waitUntil(lambda: shown.topLevelItemCount() == 2)
    assert [shown.topLevelItem(at).text(0) for at in range(2)] == ["cats/", "table.csv"]
    shown.setCurrentItem(shown.topLevelItem(1))
    with qtbot.waitSignal(dialog.fileSelected) as chosen:
        dialog.findChild(QPushButton, "host_files_choose").click()
    assert chosen.args == [str(there / "table.csv")]


def test_that_a_folder_that_cannot_be_read_is_said_in_the_dialog(
    qtbot,
    window,
    connection,
    lab,  # noqa: F811
):
    dialog = HostFilesDialog(window, "Choose", "/nowhere/at/all", QFileDialog.FileMode.Directory)
    dialog.open()
    qtbot.waitUntil(lambda: "nowhere" in dialog.findChild(object, "host_files_note").text())
    dialog.reject()


def test_that_the_queue_of_the_host_is_shown_and_changed(
    qtbot,
    window,
    connection,
    lab,  # noqa: F811
):
    there = QueueFiles(lab.folder / "there" / "state" / "queue")
    there.change(lambda line: line.with_paused(paused=True))
    button = window.findChild(QPushButton, "queue_button")
    qtbot.waitUntil(button.isEnabled, timeout=START_UP_MS)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    panel = window.parts[QueueBinding].panel
    qtbot.waitUntil(lambda: len(there.read().entries) == 1, timeout=START_UP_MS)
    (entry,) = there.read().entries
    assert entry.runs_dir == lab.runs_dir
    qtbot.waitUntil(lambda: len(panel._line.entries) == 1, timeout=START_UP_MS)
    assert panel._line.paused
    assert panel._line.entries[0].runs_dir == connection.host.runs_dir
    panel.removeRequested.emit(entry.id)
    qtbot.waitUntil(lambda: not there.read().entries, timeout=START_UP_MS)
    undo = panel.findChild(QPushButton, "queue_undo")
    # What the host took out is told here after it is gone there.
    qtbot.waitUntil(lambda: undo.isVisibleTo(panel), timeout=START_UP_MS)
    undo.click()
    qtbot.waitUntil(lambda: len(there.read().entries) == 1, timeout=START_UP_MS)
    assert there.read().entries[0].model_copy(update={"revision": 0}) == entry


def test_that_what_works_on_this_machine_alone_is_refused_by_name(window):
    with pytest.raises(ProblemError) as refused:
        check_is_here("A cluster")
    assert refused.value.problems[0].code == "not_over_connection"
    assert "lab" in refused.value.problems[0].message


def test_that_panels_take_no_files_of_this_machine(window, tmp_path):
    (tmp_path / "a").mkdir()
    dropped = QMimeData()
    dropped.setUrls([QUrl.fromLocalFile(str(tmp_path / "a"))])
    page = window.session_page
    for panel in (page.data, page.model, window.live_page):
        event = QDragEnterEvent(
            QPoint(),
            Qt.DropAction.CopyAction,
            dropped,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        panel.dragEnterEvent(event)
        assert not event.isAccepted()


def test_that_files_to_predict_on_are_chosen_on_the_host(qtbot, window, lab):  # noqa: F811
    there = lab.folder / "there" / "pictures"
    there.mkdir(parents=True)
    (there / "a.png").write_text("")
    questions = Questions(window)

    def choose() -> None:
        dialog = window.findChild(HostFilesDialog)
        shown = dialog.findChild(QTreeWidget)
        dialog.findChild(QLineEdit, "host_files_path").setText(str(there))
        dialog._go_to_typed()
        qtbot.waitUntil(lambda: shown.topLevelItemCount() == 1, timeout=START_UP_MS)
        shown.setCurrentItem(shown.topLevelItem(0))
        dialog.findChild(QPushButton, "host_files_choose").click()

    QTimer.singleShot(0, choose)
    assert questions.files_to_predict_on((".png",)) == (str(there / "a.png"),)


def test_that_what_a_run_predicted_there_is_saved_here(qtbot, window, connection, lab):  # noqa: F811
    layout = create_run(Profile(name="predicted"), cpu_plan(), lab.runs_dir)
    layout.predictions("csv").write_text("index,predicted\n0,seven\n")
    copy = RunLayout(connection.host.runs_dir / layout.root.name)
    qtbot.waitUntil(copy.profile.exists, timeout=START_UP_MS)
    view = PredictionsView()
    qtbot.addWidget(view)
    view.setPredictions(copy.predictions("csv"), 1, None)
    view.show()
    assert view.findChild(QLabel, "predictions_path").accessibleName() == str(
        layout.predictions("csv")
    )
    assert not [
        each
        for each in view.findChildren(QPushButton)
        if each.text() == "Open fol&der" and each.isVisible()
    ]
    person = window.core.questions
    person.saves = lab.folder / "answers.csv"
    view.saveRequested.connect(partial(window.parts[ExportBinding].save_predictions, copy))
    qtbot.mouseClick(view.findChild(QPushButton, "predictions_save"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(person.saves.exists, timeout=START_UP_MS)
    assert person.saves.read_text() == layout.predictions("csv").read_text()


def test_that_a_sweep_is_started_there_and_listed_here(qtbot, window, connection, lab):  # noqa: F811
    queue = QueueFiles(lab.folder / "there" / "state" / "queue")
    queue.change(lambda line: line.with_paused(paused=True))
    sweep = SweepSettings(
        method=SweepMethod.GRID, metric="loss", values={"training.learning_rate": (0.001, 0.01)}
    )
    window.session.edit(Profile(name="rates", data=DigitsData(), sweep=sweep))
    window.window_actions.new_sweep.trigger()
    dialog = window.findChild(NewSweepDialog)
    start = dialog.findChild(QPushButton, "new_sweep_queue")
    qtbot.waitUntil(start.isEnabled, timeout=START_UP_MS)
    qtbot.mouseClick(start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.findChild(SweepsDialog) is not None, timeout=START_UP_MS)
    shown = window.findChild(SweepsDialog)
    qtbot.waitUntil(lambda: "rates" in shown.chosen_sweep(), timeout=START_UP_MS)
    (there,) = (lab.runs_dir / "sweeps").iterdir()
    assert shown.chosen_sweep() == there.name
    assert there in queue.read().sweeps
    shown.close()


@pytest.mark.skipif(shutil.which("rsync") is None, reason="rsync is not installed")
def test_that_a_dropped_folder_is_copied_there_and_chosen(qtbot, window, lab, tmp_path):  # noqa: F811
    flowers = tmp_path / "laptop" / "flowers"
    for name in ("rose", "tulip"):
        (flowers / name).mkdir(parents=True)
        (flowers / name / "a.png").write_bytes(b"content")
    window.parts[Drops].take((str(flowers),))
    dialog = window.findChild(CopyDialog)
    copy = dialog.findChild(QPushButton, "copy_go")
    dialog.findChild(QLineEdit, "copy_folder").setText(str(lab.folder / "there" / "data"))
    dialog._on_edited()
    qtbot.waitUntil(copy.isEnabled, timeout=START_UP_MS)
    assert dialog.findChild(QLabel, "copy_size").text() == "2 files, 14 bytes"
    assert not dialog.isModal()  # the window is worked in while it is copied
    before = window.session.profile
    qtbot.mouseClick(copy, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: copy.text() == "&Use it", timeout=START_UP_MS)
    there = lab.folder / "there" / "data" / "flowers"
    said = dialog.findChild(ProseLabel, "copy_note").text()
    assert str(there) in said.replace("\u200b", "")  # which only lets it wrap
    assert window.session.profile == before
    qtbot.mouseClick(copy, Qt.MouseButton.LeftButton)
    assert window.session.profile.data.chosen_path == str(there)
    assert (there / "rose" / "a.png").read_bytes() == b"content"


def test_that_a_copy_that_goes_on_beside_the_window_ends_with_it(qtbot, window, tmp_path):
    (tmp_path / "a.png").write_bytes(b"content")
    window.parts[Drops].take((str(tmp_path / "a.png"),))
    dialog = window.findChild(CopyDialog)
    assert dialog.isVisible()
    window.close()
    qtbot.waitUntil(lambda: not isValid(dialog) or not dialog.isVisible(), timeout=START_UP_MS)


def test_that_what_cannot_be_copied_stays_named_once_its_place_is_found(qtbot, window, tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "again").symlink_to(tmp_path / "photos")
    dialog = CopyDialog((str(tmp_path / "photos"),), window)
    dialog.open()
    problems = dialog.findChild(ProblemList)
    qtbot.waitUntil(problems.isVisible, timeout=START_UP_MS)
    dialog._look()
    qtbot.waitUntil(lambda: dialog._place is not None, timeout=START_UP_MS)
    assert problems.isVisible()
    assert not dialog.findChild(QPushButton, "copy_go").isEnabled()
    dialog.close()


@pytest.mark.skipif(shutil.which("rsync") is None, reason="rsync is not installed")
def test_that_nothing_is_copied_to_a_folder_that_is_written_no_more(
    qtbot,
    window,
    lab,  # noqa: F811
    tmp_path,
):
    (tmp_path / "a.png").write_bytes(b"content")
    dialog = CopyDialog((str(tmp_path / "a.png"),), window)
    dialog.open()
    copy, folder = (
        dialog.findChild(QPushButton, "copy_go"),
        dialog.findChild(QLineEdit, "copy_folder"),
    )
    qtbot.waitUntil(copy.isEnabled, timeout=START_UP_MS)
    dialog._look()  # asked once more, about the first folder
    folder.setFocus()
    folder.selectAll()
    qtbot.keyClicks(folder, str(lab.folder / "there" / "data"))
    assert not copy.isEnabled()
    qtbot.waitUntil(copy.isEnabled, timeout=START_UP_MS)
    with qtbot.waitSignal(dialog.copied, timeout=START_UP_MS) as copied:
        qtbot.mouseClick(copy, Qt.MouseButton.LeftButton)
    assert copied.args == [(str(lab.folder / "there" / "data" / "a.png"),)]
    assert (lab.folder / "there" / "data" / "a.png").read_bytes() == b"content"


def test_that_files_copied_from_the_dialog_of_the_host_are_chosen(qtbot, window, tmp_path):
    field = window.session_page.data
    chooser = file_chooser(field, "Choose the data", "", QFileDialog.FileMode.Directory)
    chooser.open()
    (tmp_path / "flowers").mkdir()
    (tmp_path / "flowers" / "a.png").write_bytes(b"content")
    button = next(each for each in chooser.findChildren(QPushButton) if "Copy" in each.text())
    button.click()
    here = chooser.findChild(QFileDialog)
    here.setOption(QFileDialog.Option.DontUseNativeDialog)
    here.setDirectory(str(tmp_path))
    here.selectFile(str(tmp_path / "flowers"))
    here.accept()
    dialog = chooser.findChild(CopyDialog)
    with qtbot.waitSignal(chooser.fileSelected) as chosen:
        dialog.copied.emit(("/data/flowers",))
    assert chosen.args == ["/data/flowers"]
    dialog.close()


def test_that_a_run_and_a_program_of_this_machine_are_refused_by_name(window, tmp_path):
    refused, offered = [], []
    drops = window.parts[Drops]
    drops.refused.connect(refused.append)
    drops.copyOffered.connect(offered.append)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "events.jsonl").write_text("")
    (tmp_path / "train.py").write_text("")
    (tmp_path / "notes.txt").write_text("")
    for name in ("run", "train.py", "notes.xyz"):
        drops.take((str(tmp_path / name),))
    assert [problems[0].code for problems in refused] == ["drop_elsewhere"] * 3
    assert not offered


def test_that_what_is_said_of_the_machine_names_the_host(qtbot, window):
    qtbot.waitUntil(lambda: window.session.inventory is not None, timeout=START_UP_MS)
    assert "on lab" in panel_text.notice(DeviceInventory(devices=()))
    dialog = TrustDialog((UserCode("model.path", Path("/there/network.py"), b"pass"),), window)
    words = [each.text() for each in dialog.findChildren(QLabel)]
    assert any("whatever you can do on lab" in each for each in words)
