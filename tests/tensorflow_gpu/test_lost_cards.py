"""Cards that are lost while a run uses them: what TensorFlow does, and what the run's end says."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from gpupanel.domain.events import DevicesReady, Event, RunEnded, RunRestarted
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.following.follower import RunFollower
from tests.nvml.standin import RTX_3060, RTX_4090
from tests.patience import PATIENCE_S
from tests.tensorflow_gpu.fixtures import TWO_CARDS, Cards
from tests.tensorflow_gpu.profiles import BOTH, LARGE, mirrored

pytestmark = pytest.mark.tensorflow

ON_BOTH = BOTH + mirrored([48, 16], "reduction_to_one_device")
MIRRORED = f"""{ON_BOTH}
[training]
epochs = 2000
global_batch_size = 64
checkpoint_every_epochs = 1
max_restarts = 0
[model]
source = "mlp"
"""


@contextmanager
def running(
    cards: Cards, folder: Path, runs_dir: Path, profile: str
) -> Iterator[tuple[RunLayout, "subprocess.Popen[str]"]]:
    """A run of the profile that has made steps."""
    file = folder / "profile.toml"
    file.write_text(profile)
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "gpupanel", "run", str(file)],
        env={**os.environ, **cards.environment()},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as command:
        wait_until(command, lambda: has_begun(runs_dir))
        (root,) = runs_dir.iterdir()
        yield RunLayout(root), command


def wait_until(command: "subprocess.Popen[str]", is_so: Callable[[], bool]) -> None:
    until_s = time.monotonic() + PATIENCE_S / 4
    while not is_so():
        assert command.poll() is None, command.communicate()[0]
        assert time.monotonic() < until_s
        time.sleep(0.05)


def has_begun(runs_dir: Path) -> bool:
    return any(b'"checkpoint_saved"' in each.read_bytes() for each in runs_dir.glob("*/events*"))


def end_of(layout: RunLayout) -> RunEnded:
    end = RunFollower(layout).poll().events[-1]
    assert isinstance(end, RunEnded)
    return end


@pytest.mark.parametrize(
    "kind",
    ["mirrored", pytest.param("multi_worker", marks=pytest.mark.slow)],
)
@pytest.mark.long
def test_that_a_lost_card_is_named_at_once_and_the_other_one_continues(
    cards: Cards, tmp_path: Path, runs_dir: Path, kind: str
) -> None:
    profile = MIRRORED.replace('"mirrored"', f'"{kind}"').replace(
        "max_restarts = 0", "max_restarts = 1"
    )
    if kind == "multi_worker":
        profile = profile.replace('all_reduce = "reduction_to_one_device"\n', "")
    with running(cards, tmp_path, runs_dir, profile) as (layout, command):
        cards.tell(TWO_CARDS.with_gpu(1, lost=True))
        lost_s = time.monotonic()
        wait_until(command, lambda: b'"run_restarted"' in layout.events.read_bytes())
        took_s = time.monotonic() - lost_s
        saved = layout.events.read_bytes().count(b'"checkpoint_saved"')
        wait_until(command, lambda: layout.events.read_bytes().count(b'"checkpoint_saved"') > saved)
        # Now the last one.
        cards.tell(TWO_CARDS.with_gpu(0, lost=True).with_gpu(1, lost=True))
        command.communicate(timeout=PATIENCE_S)
    events = RunFollower(layout).poll().events
    (restarted,) = (each for each in events if isinstance(each, RunRestarted))
    assert took_s < 10.0
    assert restarted.problem is not None
    assert restarted.problem.code == "gpu_lost"
    assert restarted.problem.message.startswith(f"{RTX_3060.name} was lost")
    assert used_last(events) == [LARGE]
    end = end_of(layout)
    assert end.outcome is Outcome.LOST
    assert end.problem is not None
    assert end.problem.message.startswith(f"{RTX_4090.name} was lost")
    assert end.problem.fix is not None
    assert end.problem.fix.label == "Train on the CPU"


def used_last(events: Sequence[Event]) -> list[str]:
    """The GPUs of the last attempt."""
    answers = [each.logical_devices for each in events if isinstance(each, DevicesReady)]
    return [answer.device_key for answer in answers[-1] if answer.device_key != "cpu"]


@pytest.mark.slow
def test_that_a_run_does_not_wait_for_a_card_that_never_answers(
    cards: Cards, tmp_path: Path, runs_dir: Path
) -> None:
    with running(cards, tmp_path, runs_dir, MIRRORED) as (layout, command):
        cards.tell(TWO_CARDS.with_gpu(1, lost=True, cuda_hangs=True))
        said, _ = command.communicate(timeout=PATIENCE_S)
    end = end_of(layout)
    assert end.outcome is Outcome.LOST
    assert end.problem is not None
    assert end.problem.message.startswith(f"{RTX_3060.name} was lost")
    assert "Resume on NVIDIA GeForce RTX 4090" in said
