"""Runs on the host of these tests, and what stands in their files."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gpupanel.domain.events import RunEnded, encode_event
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.planning.prepare import prepare
from gpupanel.runs.directory.run_lock import hold_run_lock, is_supervised
from gpupanel.runs.launcher import create_run
from tests.fakes.devices import CPU_ONLY
from tests.fakes.growing_run import GrowingRun
from tests.fakes.long_run import LongRun
from tests.patience import wait_until

if TYPE_CHECKING:
    from gpupanel.hosts.here.host import OtherMachine
    from tests.hosts.conftest import Lab


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines() if path.exists() else []


def cpu_plan() -> LaunchPlan:
    plan = prepare(Profile(), CPU_ONLY).plan
    assert plan is not None
    return plan


def long_run(runs_dir: Path, reports: int) -> RunLayout:
    """A run that has ended, with so many reports of steps."""
    layout = create_run(Profile(name="long"), cpu_plan(), runs_dir)
    course = LongRun(time.time() - 60_000.0)
    with layout.events.open("w") as file:
        file.writelines(encode_event(event) + "\n" for event in course.opening())
        file.writelines(f"{line}\n" for line in course.steps(0, reports))
        ended = RunEnded(time_s=time.time(), outcome=Outcome.COMPLETED)
        file.write(encode_event(ended) + "\n")
    return layout


@contextmanager
def followed_run(lab: "Lab") -> Iterator[tuple[GrowingRun, "OtherMachine", RunLayout]]:
    """A run of the host that goes on, the connection to it, and the copy that is shown of it."""
    run = GrowingRun(lab.runs_dir)
    lock = hold_run_lock(run.layout)
    run.grow(20)
    host = lab.connected()
    copy = RunLayout(host.runs_dir / run.layout.root.name)
    wait_until(lambda: copy.profile.exists())
    end = host.open_copy(copy)
    yield run, host, copy
    lock.release()
    wait_until(lambda: not is_supervised(copy))
    end()
