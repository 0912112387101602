"""Writes one kind of file again and again until it is killed.

``python -m tests.deaths.endless_writer KIND RUN_DIR`` says "ready" once it has written for the
first time. What it writes has a number in it, so that a mixture of two would show.
"""

import itertools
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from gpupanel.domain.events import PredictionsSaved
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.amendments import amend
from gpupanel.runs.directory.profile_file import read_profile, write_profile
from gpupanel.runs.history.label import change_label
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.saving.checkpoints import Checkpoints
from gpupanel.trainer.saving.position import Position

Write = Callable[[int], object]


def checkpoints(layout: RunLayout) -> Write:
    """Checkpoints of some megabytes, in which every number is that of the step."""
    saved = Checkpoints(layout.checkpoints, kept=2)

    def write(number: int) -> None:
        state = {f"model/{place}": np.full((256, 512), number, np.float32) for place in range(4)}
        saved.save(state, Position(step=number))

    return write


def profile(layout: RunLayout) -> Write:
    """A profile with the number as its name."""
    whole = read_profile(layout.profile)

    def write(number: int) -> None:
        named = whole.model_copy(update={"name": f"{number} " + "long " * 30})
        write_profile(layout.root.parent / "saved.toml", named)

    return write


def amendment(layout: RunLayout) -> Write:
    """Profile and plan of the run, both with the number in them."""
    whole = read_profile(layout.profile)
    plan = LaunchPlan.model_validate_json(layout.plan.read_bytes())

    def write(number: int) -> None:
        environment = {"NUMBER": str(number)}
        amend(
            layout,
            whole.model_copy(update={"name": str(number)}),
            plan.model_copy(update={"environment": environment}),
        )

    return write


def label(layout: RunLayout) -> Write:
    """Name and notes of the run, both with the number in them."""

    def write(number: int) -> None:
        change_label(layout, name=str(number), notes=f"{number}\n" * 50)

    return write


def events(layout: RunLayout) -> Write:
    """Events, each with the number in it."""
    writer = EventWriter(layout.events)

    def write(number: int) -> None:
        path = f"{number} " + "far " * 500
        writer.write(PredictionsSaved(time_s=time.time(), path=path, examples=number))

    return write


KINDS: dict[str, Callable[[RunLayout], Write]] = {
    each.__name__: each for each in (checkpoints, profile, amendment, label, events)
}


def main(kind: str, root: Path, first: int) -> None:
    write = KINDS[kind](RunLayout(root))
    for number in itertools.count(first):
        write(number)
        if number == first:
            print("ready", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
