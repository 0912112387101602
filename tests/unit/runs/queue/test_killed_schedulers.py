"""The scheduler is killed at points all over its work: nothing is lost, nothing starts twice."""

import os
import random
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from gpupanel.domain.events import RunStarted, decode_event
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.queue import orders
from gpupanel.runs.queue.entry import EntryState
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.queue.running_runs import device_keys
from tests.fakes.queued_runs import GPU_A, GPU_B, profile_on

DYING_SCHEDULER = Path(__file__).parents[3] / "fakes" / "dying_scheduler.py"
ROOT = DYING_SCHEDULER.parents[2]
MOST_EVENTS = 150
"""More than a scheduler needs to start an entry and to look around after it."""
POINTS = range(1, MOST_EVENTS)


def fill(files: QueueFiles, runs_dir: Path, count: int) -> list[str]:
    """Entries for either device by turns, and each fifth one for both."""
    devices = [
        (GPU_A, GPU_B) if place % 5 == 4 else (GPU_A, GPU_B)[place % 2 :][:1]
        for place in range(count)
    ]
    return [
        orders.add(files, profile_on(*keys, name=f"entry {place}"), runs_dir).id
        for place, keys in enumerate(devices)
    ]


def survive(deaths: dict[QueueFiles, list[str]]) -> int:
    """Let schedulers of each queue die so, and a last one work to the end.

    Returns:
        How many were killed.
    """
    queues = (f"{files.folder} {' '.join(of_it)}" for files, of_it in deaths.items())
    done = subprocess.run(
        [sys.executable, str(DYING_SCHEDULER), *" -- ".join(queues).split()],
        capture_output=True,
        text=True,
        timeout=500,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return int(done.stdout)


def check(files: QueueFiles, runs_dir: Path, added: list[str]) -> None:
    """Each entry has ended well after exactly one start, and no two met on a device."""
    entries = files.read().entries
    assert [entry.id for entry in entries] == added
    assert {entry.state for entry in entries} == {EntryState.ENDED}
    assert {entry.outcome for entry in entries} == {Outcome.COMPLETED}
    runs = [RunLayout(entry.run) for entry in entries if entry.run is not None]
    for layout in runs:
        lines = layout.events.read_bytes().splitlines()
        assert sum(isinstance(decode_event(line), RunStarted) for line in lines) == 1
        assert [line.split()[0] for line in starts(layout)] == ["begun", "ended"]
    whole = {path for path in runs_dir.iterdir() if (path / "profile.toml").exists()}
    assert whole == {layout.root for layout in runs}
    halves = [path for path in runs_dir.iterdir() if path not in whole]
    assert all(not any(half.iterdir()) for half in halves)
    check_devices(runs)


def check_devices(runs: list[RunLayout]) -> None:
    for key in (GPU_A, GPU_B):
        times = sorted(
            tuple(float(line.split()[1]) for line in starts(layout))
            for layout in runs
            if key in device_keys(layout)
        )
        for before, after in pairwise(times):
            assert before[1] <= after[0]


def starts(layout: RunLayout) -> list[str]:
    return (layout.root / "starts").read_text().splitlines()


def test_that_a_queue_survives_schedulers_that_die_in_the_middle(
    files: QueueFiles, runs_dir: Path
) -> None:
    chance = random.Random(5)
    added = fill(files, runs_dir, 4)
    deaths = [str(chance.randint(1, MOST_EVENTS)) for _ in range(10)]
    assert survive({files: deaths}) >= 8
    check(files, runs_dir, added)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_that_a_queue_survives_hundreds_of_deaths_at_random_points(
    files: QueueFiles, runs_dir: Path, seed: int
) -> None:
    chance = random.Random(seed)
    added = fill(files, runs_dir, 12)
    deaths = [str(chance.randint(1, MOST_EVENTS)) for _ in range(50)]
    assert survive({files: deaths}) >= 40
    check(files, runs_dir, added)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_that_a_queue_survives_deaths_at_random_times(
    files: QueueFiles, runs_dir: Path, seed: int
) -> None:
    chance = random.Random(seed)
    added = fill(files, runs_dir, 12)
    deaths = [f"{chance.uniform(0.0, 0.1):.3f}s" for _ in range(60)]
    assert survive({files: deaths}) >= 20
    check(files, runs_dir, added)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_that_one_entry_survives_a_death_at_each_point(tmp_path: Path, files: QueueFiles) -> None:
    queues = {QueueFiles(tmp_path / f"queue-{point}"): point for point in POINTS}
    added = {queue: fill(queue, tmp_path / queue.folder.name / "runs", 1) for queue in queues}
    assert survive({queue: [str(point)] for queue, point in queues.items()}) >= 80
    for queue in queues:
        check(queue, queue.folder / "runs", added[queue])
