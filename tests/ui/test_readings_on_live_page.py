"""Whether a past run recorded readings and printed anything, on the page that shows it."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QPlainTextEdit

from gpupanel.runs.following import follower
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_page.page import LivePage
from gpupanel.ui.session import Session
from gpupanel.ui.workers.launch_worker import Launcher
from tests.fakes.devices import CPU_ONLY
from tests.fakes.readings import busy_sample
from tests.fakes.run_directory import STARTED_S, WrittenRun

pytestmark = pytest.mark.usefixtures("undressed")


@pytest.fixture
def control(session: Session, runs_dir: Path):
    control = RunControl(session, Launcher(), runs_dir)
    yield control
    control.close()


@pytest.fixture
def page(qtbot, session: Session, control: RunControl) -> LivePage:
    page = LivePage(session, control)
    for plot in page.live.plot_wall.plots:
        plot.prepare()
    qtbot.addWidget(page)
    page.show()
    return page


def past_run(runs_dir: Path, samples: int) -> WrittenRun:
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(4)
        for second in range(samples):
            run.sample(busy_sample(CPU_ONLY, STARTED_S + second))
        run.end()
    return run


def note(page: LivePage) -> str:
    """What stands in the plot of the memory, while no curve has a point."""
    plot = page.live.plot_wall.memory_plot
    labels = [each for each in plot.canvas.findChildren(QLabel) if each.isVisibleTo(plot)]
    return next((each.text() for each in labels if each.text().endswith("recorded")), "")


def test_that_a_past_run_without_readings_says_so_once_the_devices_are_known(
    qtbot, page, session, control, runs_dir
):
    control.open(past_run(runs_dir, samples=0).layout)
    qtbot.waitUntil(lambda: control.shown_status is not None and control.shown_status.has_ended)
    session.set_inventory(CPU_ONLY)
    qtbot.waitUntil(lambda: note(page) == "No readings recorded")


def log_note(page: LivePage) -> str:
    return page.log.findChild(QPlainTextEdit, "trainer_log").placeholderText()


def test_that_an_empty_log_says_so_when_its_run_has_ended(qtbot, page, control, runs_dir):
    with WrittenRun(runs_dir) as run:
        run.begin()
        control.open(run.layout)
        qtbot.waitUntil(lambda: control.shown_status is not None)
        assert log_note(page).endswith("appears here during a run.")
        run.end()
        qtbot.waitUntil(lambda: log_note(page) == "No output recorded")
        control.open(run.layout)
    assert log_note(page).endswith("appears here during a run."), "another one is opened"


def test_that_readings_which_are_not_read_yet_are_not_called_missing(
    qtbot, page, session, control, runs_dir, monkeypatch
):
    # A few of the lines at once, so that the end of the run is known long before its readings.
    monkeypatch.setattr(follower, "_MOST_TELEMETRY_BYTES", 2_000)
    said = []
    set_complete = page.live.plot_wall.setComplete

    def recorded(*, is_complete: bool) -> None:
        set_complete(is_complete=is_complete)
        memory = next(iter(page.live.curves.devices.values()), None)
        said.append((is_complete, 0 if memory is None else len(memory.memory)))

    monkeypatch.setattr(page.live.plot_wall, "setComplete", recorded)
    session.set_inventory(CPU_ONLY)
    control.open(past_run(runs_dir, samples=60).layout)
    qtbot.waitUntil(lambda: (True, 60) in said)
    assert {points for is_complete, points in said if is_complete} == {60}
    assert len({points for _, points in said}) > 3, "read in pieces"
    assert note(page) == ""
