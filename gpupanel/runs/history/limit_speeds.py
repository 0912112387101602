"""What power limits cost in speed, by runs of this machine that trained the same under several."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import read_file
from gpupanel.runs.directory.profile_file import run_profile_if_readable
from gpupanel.runs.history.past_speed import workload
from gpupanel.runs.history.run_summary import RunSummary

_MOST_READ: Final = 40
"""So many runs of a GPU are read at most: its newest ones."""
_MOST_BYTES: Final = 64 * 2**20
"""Of the readings of a run; one with more is left out."""
_ENDED_WELL: Final = (Outcome.COMPLETED, Outcome.STOPPED)


@dataclass(frozen=True, slots=True)
class LimitSpeed:
    """How fast a GPU trained under a power limit.

    Attributes:
        limit_w: In force from the run's first reading to its last.
        examples_per_second: Over its whole training.
        fraction: Of the speed under the greatest limit at which the same was trained.
        run: What it is called for people.
    """

    limit_w: float
    examples_per_second: float
    fraction: float
    run: str


def limit_speeds(key: str, runs: Iterable[RunSummary]) -> tuple[LimitSpeed, ...]:
    """The speeds of one GPU under several limits, the greatest limit first.

    Only runs that trained the same on that GPU alone are compared, each under one limit from
    beginning to end; of several the newest, and of several trainings that one whose newest run is
    the newest.

    Args:
        key: Of the GPU.
        runs: Newest first.

    Returns:
        Two at least; none where no training ran under two limits.
    """
    alone = [run for run in runs if run.device_keys == (key,) and _is_measured(run)]
    trainings: dict[str, dict[float, RunSummary]] = {}
    for run in alone[:_MOST_READ]:
        layout = RunLayout(run.path)
        profile = run_profile_if_readable(layout)
        limit_w = _limit_of(layout, key)
        if profile is not None and limit_w is not None:
            trainings.setdefault(repr(workload(profile)), {}).setdefault(limit_w, run)
    found = next((each for each in trainings.values() if len(each) > 1), {})
    greatest_first = sorted(found.items(), reverse=True)
    speeds = [(limit_w, run.examples_per_second or 0.0, run) for limit_w, run in greatest_first]
    return tuple(
        LimitSpeed(limit_w, speed, speed / speeds[0][1], run.title)
        for limit_w, speed, run in speeds
    )


def _is_measured(run: RunSummary) -> bool:
    speed = run.examples_per_second
    return run.task == "train" and run.outcome in _ENDED_WELL and speed is not None and speed > 0.0


def _limit_of(layout: RunLayout, key: str) -> float | None:
    """The limit that was in force all the time; ``None``: another one was, too, or nobody knows."""
    try:
        content = read_file(layout.telemetry, layout.root, _MOST_BYTES)
    except OSError:
        return None
    pattern = rb'"key":"%s"[^}]*?"power_limit_w":([0-9.]{1,12})' % re.escape(key).encode()
    limits = set(re.findall(pattern, content))
    try:
        return float(limits.pop()) if len(limits) == 1 else None
    except ValueError:
        return None  # such as 1.2.3, of a file that somebody has written


def limit_sentence(speeds: tuple[LimitSpeed, ...]) -> str:
    """What limits cost by these measurements, or how to measure it where there are none."""
    if not speeds:
        return (
            "what a limit costs in speed has not been measured here. Train the same twice on this "
            "GPU alone, under two limits; a few minutes each are enough."
        )
    first, *others = speeds
    parts = (
        f"at {each.limit_w:.0f} W {each.fraction:.2f} of it (in {each.run})" for each in others
    )
    return (
        f"at {first.limit_w:.0f} W {first.examples_per_second:,.0f} examples/s (in {first.run}), "
        f"{', '.join(parts)}, as this machine's own runs measured."
    )
