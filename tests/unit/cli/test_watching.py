"""What the terminal says of a run that it follows."""

from pathlib import Path

import pytest

from gpupanel.cli.watching import watch_to_its_end
from gpupanel.domain.event_details import ReturnedMemory
from gpupanel.domain.events import MemoryReturned, RunEnded
from gpupanel.domain.outcome import Outcome
from tests.fakes.run_directory import WrittenRun


def test_that_memory_that_came_back_is_told_on_standard_error(
    runs_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    devices = (ReturnedMemory(device_key="cpu", freed_mib=21_811),)
    with WrittenRun(runs_dir) as run:
        run.write(
            MemoryReturned(time_s=1.0, seconds=1.24, devices=devices),
            RunEnded(time_s=1.0, outcome=Outcome.COMPLETED),
        )
        status = watch_to_its_end(run.layout, 1, ctrl_c_stops=False)
    assert status.outcome is Outcome.COMPLETED
    out, err = capsys.readouterr()
    assert "21.3 GiB freed in 1.2 s." in err
    assert out == ""
