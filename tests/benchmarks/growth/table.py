"""So many rows of a CSV table: its import by a run, and the start of that run."""

import os
import time
from pathlib import Path

from gpupanel.devices.sampler import DeviceSampler
from gpupanel.domain.events import RunEnded, StepsDone
from gpupanel.domain.request import Request
from gpupanel.planning.prepare import prepare
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.launcher import launch
from tests.benchmarks.bench_table import anonymous_mib_of_trainer, profile_of, write_table

SIZES = (100_000, 1_000_000, 10_000_000)
_NUMBERS = 4
_GIVE_UP_S = 300.0


def measure(rows: int, folder: Path) -> dict[str, float]:
    """Start a run on the table until its first step, and another that finds the import."""
    path = folder / "table.csv"
    write_table(path, rows, _NUMBERS)
    os.environ["GPUPANEL_CACHE_DIR"] = str(folder / "cache")
    first_s, peak_mib = _first_step(path, folder)
    again_s, _ = _first_step(path, folder)
    return {"first_step_s": first_s, "first_step_again_s": again_s, "peak_mib": peak_mib}


def _first_step(path: Path, folder: Path) -> tuple[float, float]:
    """Seconds from the start to the first step, and the most memory of the trainer in MiB."""
    profile = profile_of(path)
    with DeviceSampler() as sampler:
        plan = prepare(profile, sampler.inventory()).plan
    assert plan is not None
    begun_s, stepped_s, most_mib = time.perf_counter(), 0.0, 0.0
    layout = launch(profile, plan, folder / "runs")
    follower = RunFollower(layout)
    while time.perf_counter() - begun_s < _GIVE_UP_S:
        most_mib = max(most_mib, anonymous_mib_of_trainer(folder))
        for event in follower.poll().events:
            if isinstance(event, StepsDone) and not stepped_s:
                stepped_s = time.perf_counter() - begun_s
                ask(layout, Request.END)
            if isinstance(event, RunEnded):
                if not stepped_s:
                    raise SystemExit(f"the run failed: {event.problem}")
                return stepped_s, most_mib
        time.sleep(0.05)
    raise TimeoutError("the run did not end")
