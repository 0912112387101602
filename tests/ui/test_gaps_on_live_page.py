"""What of a run's folder cannot be read, on the page that shows the run."""

import shutil
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel

from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_page.page import LivePage
from gpupanel.ui.session import Session
from gpupanel.ui.workers.launch_worker import Launcher
from tests.fakes.devices import TWO_UNEQUAL
from tests.fakes.run_directory import WrittenRun

pytestmark = pytest.mark.usefixtures("undressed")


@pytest.fixture
def control(qapp, runs_dir: Path):
    session = Session()
    session.set_inventory(TWO_UNEQUAL)
    control = RunControl(session, Launcher(), runs_dir)
    yield control
    control.close()
    session.close()


@pytest.fixture
def page(qtbot, control: RunControl):
    page = LivePage(session_of(control), control)
    qtbot.addWidget(page)
    page.show()
    return page


def session_of(control: RunControl) -> Session:
    return control._session


def shown_gaps(page: LivePage) -> str:
    label = page.banner.findChild(QLabel, "run_gaps")
    return label.text() if label.isVisible() else ""


def test_that_lines_of_a_newer_version_are_counted_and_reported_in_one_sentence(
    qtbot, page, control, runs_dir
):
    with WrittenRun(runs_dir) as run:
        run.begin()
        add_lines(run, 1)
        run.step(3)
        control.open(run.layout)
        qtbot.waitUntil(lambda: shown_gaps(page) != "")
        assert shown_gaps(page) == (
            "1 line of this run was written by a newer gpupanel, or is damaged, and is left out."
        )
        add_lines(run, 2)
        qtbot.waitUntil(lambda: shown_gaps(page).startswith("3 lines of this run were"))
        run.end()
        qtbot.waitUntil(lambda: control.shown_status.has_ended)
    assert shown_gaps(page).count(".") == 1
    assert control.shown_status.step == 3


def add_lines(run: WrittenRun, count: int) -> None:
    with run.layout.events.open("a") as file:
        file.writelines('{"kind":"qubits_entangled","time_s":5.0}\n' for _ in range(count))


def test_that_a_run_with_the_profile_and_plan_of_a_newer_version_is_shown_and_says_so(
    qtbot, page, control, runs_dir
):
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(4)
        run.end()
    path = run.layout.profile
    path.write_text(path.read_text().replace("schema_version = 1", "schema_version = 2"))
    run.layout.plan.write_text('{"qubits": 7, ' + run.layout.plan.read_text().lstrip()[1:])
    control.open(run.layout)
    qtbot.waitUntil(lambda: control.shown_status is not None and control.shown_status.has_ended)
    assert shown_gaps(page) == (
        "Its profile cannot be read: a newer gpupanel wrote it, or it is damaged or gone. "
        "Its plan cannot be read: a newer gpupanel wrote it, or it is damaged or gone."
    )
    assert control.shown_status.step == 4


def test_that_nothing_is_shown_of_a_run_that_can_be_read_whole(qtbot, page, control, runs_dir):
    with WrittenRun(runs_dir) as run:
        run.begin()
        add_lines(run, 1)
        run.end()
    control.open(run.layout)
    qtbot.waitUntil(lambda: shown_gaps(page) != "")
    with WrittenRun(runs_dir) as whole:
        whole.begin()
        whole.end()
    control.open(whole.layout)
    qtbot.waitUntil(lambda: control.shown_status is not None and control.shown_status.has_ended)
    assert shown_gaps(page) == ""


def test_that_a_run_whose_folder_goes_is_shown_in_one_sentence(qtbot, page, control, runs_dir):
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(4)
        control.open(run.layout)
        qtbot.waitUntil(lambda: control.shown_status is not None and control.shown_status.step == 4)
        shutil.rmtree(run.layout.root)
        qtbot.waitUntil(lambda: control.shown_status.has_ended)
    words = page.banner.findChild(QLabel, "run_problem")
    assert words.isVisible()
    assert words.text().endswith(" is gone: it was deleted, or moved elsewhere.")
    assert not run.layout.root.exists()
