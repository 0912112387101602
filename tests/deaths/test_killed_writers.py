"""Whatever writes may be killed at any moment: what stands there is whole."""

import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.events import PredictionsSaved, UnknownEvent, decode_event
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.amendments import finish_amendment
from gpupanel.runs.directory.profile_file import read_profile
from gpupanel.runs.history.label import read_label
from gpupanel.trainer.saving.checkpoints import Checkpoints
from tests.deaths.endless_writer import KINDS
from tests.fakes.run_directory import WrittenRun

REPOSITORY = Path(__file__).parents[2]
LONGEST_LIFE_S = 0.25


def write_and_die(kind: str, layout: RunLayout, first: int, life_s: float) -> None:
    """Let a process write, and kill it so long after it has begun."""
    command = [sys.executable, "-m", "tests.deaths.endless_writer", kind]
    with subprocess.Popen(
        [*command, str(layout.root), str(first)], cwd=REPOSITORY, stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        time.sleep(life_s)
        writer.kill()


def look_at_checkpoints(layout: RunLayout) -> int:
    found = Checkpoints(layout.checkpoints, kept=2).newest_whole()
    assert not found.damaged
    assert found.checkpoint is not None
    step = found.checkpoint.position.step
    for name, values in found.checkpoint.state.items():
        assert np.all(values == step), name
    return step


def look_at_profile(layout: RunLayout) -> int:
    return int(read_profile(layout.root.parent / "saved.toml").name.split()[0])


def look_at_amendment(layout: RunLayout) -> int:
    finish_amendment(layout)
    name = read_profile(layout.profile).name
    plan = LaunchPlan.model_validate_json(layout.plan.read_bytes())
    assert plan.environment == {"NUMBER": name}
    return int(name)


def look_at_label(layout: RunLayout) -> int:
    label = read_label(layout)
    assert set(label.notes.split()) == {label.name}
    return int(label.name)


def look_at_events(layout: RunLayout) -> int:
    *whole, torn = layout.events.read_bytes().split(b"\n")
    told = [decode_event(line) for line in whole]
    numbers = [event.examples for event in told if isinstance(event, PredictionsSaved)]
    # The next one to write ends a line that was torn off: at most one a death is lost.
    assert sum(isinstance(event, UnknownEvent) for event in told) + bool(torn) <= 1
    assert numbers == sorted(set(numbers))
    return numbers[-1]


LOOKS: dict[str, Callable[[RunLayout], int]] = {
    "checkpoints": look_at_checkpoints,
    "profile": look_at_profile,
    "amendment": look_at_amendment,
    "label": look_at_label,
    "events": look_at_events,
}


def assert_survives(kind: str, layout: RunLayout, deaths: int) -> None:
    dice = random.Random(f"{kind} {deaths}")
    number = 1
    for _ in range(deaths):
        if kind == "events":
            layout.events.unlink(missing_ok=True)
        write_and_die(kind, layout, number, dice.uniform(0.0, LONGEST_LIFE_S))
        stands = LOOKS[kind](layout)
        # Nothing that was said to be written is gone.
        assert stands >= number
        number = stands + 1


@pytest.mark.parametrize("kind", list(KINDS))
def test_that_what_a_killed_process_wrote_is_whole(kind: str, runs_dir: Path) -> None:
    assert_survives(kind, WrittenRun(runs_dir).layout, deaths=2)


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(KINDS))
def test_that_what_was_written_is_whole_after_forty_deaths(kind: str, runs_dir: Path) -> None:
    assert_survives(kind, WrittenRun(runs_dir).layout, deaths=40)
