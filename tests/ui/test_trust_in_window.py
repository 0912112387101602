"""The question before Python code is carried out for the first time."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit, QPushButton

from gpupanel.domain.data import DigitsData
from gpupanel.domain.model import PythonModel
from gpupanel.domain.profile import Profile
from gpupanel.runs import launcher as launching
from gpupanel.runs.trust.trusted import untrusted
from gpupanel.runs.trust.user_code import UserCode, code_of_profile
from gpupanel.ui.bindings.confirmations import StartConfirmation
from gpupanel.ui.dialogs.trust_dialog import TrustDialog, shown_code
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_state import RunState
from gpupanel.ui.session import Session
from gpupanel.ui.workers.launch_worker import Launcher
from tests.fakes.devices import CPU_ONLY
from tests.fakes.person import Person


@pytest.fixture
def profile(tmp_path):
    file = tmp_path / "network.py"
    file.write_text("def build_model(input_shape, outputs): ...\n")
    return Profile(data=DigitsData(), model=PythonModel(path=str(file)))


@pytest.fixture
def session(qapp, profile):
    session = Session()
    session.set_inventory(CPU_ONLY)
    session.edit(profile)
    session.prepare_now()
    yield session
    session.close()


@pytest.fixture
def person():
    return Person()


@pytest.fixture
def control(qapp, session, person, runs_dir, monkeypatch):
    monkeypatch.setattr(launching, "start_supervisor", lambda *_: None)
    control = RunControl(session, Launcher(), runs_dir)
    StartConfirmation(control, person, control)
    yield control
    control.close()


def test_that_the_first_start_shows_the_code_and_a_no_leaves_everything_as_it_was(
    qtbot, control, session, person, profile, runs_dir
):
    with qtbot.waitSignal(control.doubted, timeout=5000):
        control.start()
    qtbot.waitUntil(lambda: session.run_state is RunState.IDLE, timeout=5000)

    assert person.codes == [code_of_profile(profile)]
    assert untrusted(code_of_profile(profile))
    assert not runs_dir.exists() or not any(runs_dir.iterdir())


def test_that_a_yes_starts_it_and_is_remembered_until_the_content_changes(
    qtbot, control, session, person, profile
):
    person.trusts = True
    with qtbot.waitSignal(control.launched, timeout=5000) as launched:
        control.start()
    layout = launched.args[0]
    assert layout.model_code.read_text() == "def build_model(input_shape, outputs): ...\n"
    assert len(person.codes) == 1
    assert untrusted(code_of_profile(profile)) == ()

    with Path(profile.model.path).open("a") as file:
        file.write("# changed\n")
    assert untrusted(code_of_profile(profile))


def test_that_the_question_shows_path_and_code_and_that_enter_refuses(qtbot):
    content = b"import os\nos.system('...')\n"
    dialog = TrustDialog([UserCode("model.path", Path("/somewhere/network.py"), content)])
    qtbot.addWidget(dialog)
    dialog.show()
    assert "/somewhere/network.py" in [label.text() for label in dialog.findChildren(QLabel)]
    assert "os.system" in dialog.findChild(QPlainTextEdit).toPlainText()
    trust = dialog.findChild(QPushButton, "trust_button")
    assert not trust.isDefault()
    default = [button for button in dialog.findChildren(QPushButton) if button.isDefault()]
    default[0].click()
    assert dialog.result() == TrustDialog.DialogCode.Rejected
    assert QApplication.activeModalWidget() is None


def test_that_characters_that_hide_code_are_named():
    # As in "Trojan source": the order in which it is shown is not that in which it runs.
    assert shown_code("if a:\u202e # \u2066".encode()) == "if a:⟦U+202E⟧ # ⟦U+2066⟧"
    assert shown_code(b"\xff") == "\ufffd"
