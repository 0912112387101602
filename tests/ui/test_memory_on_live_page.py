"""What became of a run's GPU memory, on the page that shows the run."""

from pathlib import Path

import pytest

from gpupanel.domain.event_details import ReturnedMemory
from gpupanel.domain.events import MemoryReturned, RunEnded
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.telemetry import DeviceProcess
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_page.page import LivePage
from gpupanel.ui.session import Session
from gpupanel.ui.workers.launch_worker import Launcher
from tests.fakes.devices import RTX_4090, TWO_UNEQUAL
from tests.fakes.run_directory import STARTED_S, WrittenRun


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
    page = LivePage(control._session, control)
    qtbot.addWidget(page)
    page.show()
    return page


def shown_memory(page: LivePage) -> str:
    label = page.banner.findChild(type(page.banner._memory), "run_memory")
    return label.text() if label.isVisible() else ""


@pytest.mark.parametrize("still_held", [False, True])
def test_that_what_became_of_the_memory_is_shown_when_the_run_has_ended(
    qtbot, page, control, runs_dir, still_held
):
    blender = DeviceProcess(pid=77, name="blender", memory_used_mib=2048)
    device = ReturnedMemory(device_key=RTX_4090.key, freed_mib=21_811)
    if still_held:
        device = ReturnedMemory(
            device_key=RTX_4090.key, freed_mib=0, still_held_mib=2048, holders=(blender,)
        )
    with WrittenRun(runs_dir) as run:
        run.begin()
        control.open(run.layout)
        qtbot.waitUntil(lambda: control.shown_status is not None)
        assert shown_memory(page) == ""
        run.write(
            MemoryReturned(time_s=STARTED_S + 9, seconds=1.24, devices=(device,)),
            RunEnded(time_s=STARTED_S + 9, outcome=Outcome.COMPLETED),
        )
        qtbot.waitUntil(lambda: shown_memory(page) != "")
    reported = shown_memory(page)
    if still_held:
        assert reported.startswith("! 2.0 GiB of RTX 4090 was not freed within")
        assert "blender (process 77) holds 2.0 GiB" in reported
    else:
        assert reported == "21.3 GiB freed in 1.2 s."
