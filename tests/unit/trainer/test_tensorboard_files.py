"""Files for TensorBoard that cannot be written are reported, once, and end nothing."""

import json
import os
import sys
from pathlib import Path

import pytest

from gpupanel.domain.events import ProblemReported, decode_event
from tests.fakes.small_disks import small_disk  # noqa: F401 - a fixture
from tests.forked.processes import run_forked

_WRITE = """
import sys
from pathlib import Path
from gpupanel.domain.outcome import Metrics
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.saving.tensorboard import TensorBoardFiles
from tests.fakes.small_disks import fill

disk, events = Path(sys.argv[1]), Path(sys.argv[2])
metrics = Metrics(loss=1.0, val_loss=2.0)


def write(name, *, epochs=3, fill_after=None):
    with EventWriter(events / name) as reported:
        with TensorBoardFiles(disk / name, reported) as files:
            for epoch in range(1, epochs + 1):
                files._flushed_s = float("-inf")
                files.write_epoch(epoch, metrics)
                if epoch == fill_after:
                    filler = fill(disk)
    if fill_after is not None:
        filler.unlink()


filler = fill(disk)
write("created")
filler.unlink()
write("flushed", epochs=400, fill_after=1)
(disk / "blocked").touch()
write("blocked")
write("whole")
"""


@pytest.mark.tensorflow
def test_that_a_file_that_cannot_be_made_or_written_is_reported_once_and_why(
    small_disk: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    done = run_forked(
        [sys.executable, "-c", _WRITE, str(small_disk), str(tmp_path)],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]

    reported = {
        name: [decode_event(line) for line in (tmp_path / name).read_text().splitlines()]
        for name in ("created", "flushed", "blocked", "whole")
    }
    assert reported["whole"] == []
    assert len([*(small_disk / "whole").rglob("*.v2")]) == 2
    for name in ("created", "flushed", "blocked"):
        (event,) = reported[name]
        assert isinstance(event, ProblemReported)
        assert event.problem.code == "tensorboard_not_written", name
        assert not event.problem.is_error
        says_space = "there is no space left on the disk" in event.problem.message
        assert says_space == (name != "blocked"), event.problem.message
    assert json.loads((tmp_path / "blocked").read_text())["problem"]["detail"]
