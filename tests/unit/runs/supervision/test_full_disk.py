"""A supervisor on a disk that is full to the last byte."""

import errno
import os
import sys
from pathlib import Path

import pytest

from gpupanel.domain.events import Event, ProblemReported, RunEnded, RunRestarted, decode_event
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.process_environment import NO_SPACE_STATUS
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.training import TrainingSettings
from gpupanel.files.reserved_log import RESERVE_BYTES
from gpupanel.planning.prepare import prepare
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.launcher import create_run
from gpupanel.runs.supervision.checked_run import CheckedRun, FailedChanges
from gpupanel.runs.supervision.supervisor import Supervisor
from tests.fakes.devices import CPU_ONLY
from tests.fakes.small_disks import (
    PAGE_BYTES,
    disk_for_a_run,  # noqa: F401 - a fixture
    fill,
    full_page,
    logging_to,
    small_disk,  # noqa: F401 - a fixture
)

HUNGRY = Path(__file__).parents[3] / "fakes" / "hungry_trainer.py"


def test_that_a_supervisor_outlives_a_disk_on_which_not_even_its_log_has_room(
    small_disk: Path,  # noqa: F811
) -> None:
    layout = RunLayout(small_disk)
    supervisor = Supervisor(layout)
    filler = fill(small_disk)
    filler.write_bytes(filler.read_bytes()[:-8192])
    log = full_page(layout.trainer_log)
    fill(small_disk)
    long = ProblemReported(time_s=1.0, problem=Problem(code="long", message="x" * 30_000))
    with logging_to(log):
        for _ in range(6):  # more than its reserve takes
            supervisor._append(long)
        assert layout.events.stat().st_size < 6 * 30_000
        filler.unlink()
        supervisor._append(RunEnded(time_s=2.0, outcome=Outcome.COMPLETED))
    supervisor._log.close()

    last = decode_event(layout.events.read_bytes().splitlines()[-1])
    assert last == RunEnded(time_s=2.0, outcome=Outcome.COMPLETED)


def test_that_a_trainer_without_space_for_its_last_word_is_reported_as_such_and_not_tried_again(
    runs_dir: Path,
) -> None:
    profile = Profile()
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    layout = create_run(profile, plan, runs_dir)
    command = (sys.executable, "-S", "-c", f"import os; os._exit({NO_SPACE_STATUS})")
    outcome = Supervisor(layout, command).run()

    told = RunFollower(layout).poll().events
    end = told[-1]
    assert isinstance(end, RunEnded)
    assert (outcome, end.outcome) == (Outcome.FAILED, Outcome.FAILED)
    assert end.problem is not None
    assert end.problem.code == "no_space"
    assert "disk is full" in end.problem.message
    assert "Free some space" in end.problem.hint
    assert not any(isinstance(event, RunRestarted) for event in told)


def test_that_a_run_that_could_not_be_changed_for_want_of_space_says_so_once(
    disk_for_a_run: Path,  # noqa: F811
) -> None:
    """Its profile and plan are written anew before it is tried with less memory at a time."""
    profile = Profile(training=TrainingSettings(out_of_memory_retries=3))
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    layout = create_run(profile, plan, disk_for_a_run / "runs")
    filler = fill(disk_for_a_run)
    # For its events and their reserve.
    os.truncate(filler, filler.stat().st_size - RESERVE_BYTES - 2 * PAGE_BYTES)
    outcome = Supervisor(layout, (sys.executable, str(HUNGRY), "4")).run()

    told = RunFollower(layout).poll().events
    end = told[-1]
    assert isinstance(end, RunEnded)
    assert outcome is Outcome.FAILED
    assert end.problem is not None
    assert end.problem.code == "out_of_memory"
    (said,) = (each.problem for each in told if isinstance(each, ProblemReported))
    assert (said.code, said.severity) == ("run_not_changed", Severity.WARNING)
    assert said.message == (
        "The run was not tried with less memory, though it was to be. There is no space left on "
        f"the disk that holds {layout.root}."
    )


def test_that_what_cannot_be_changed_again_and_again_is_said_once(runs_dir: Path) -> None:
    said: list[Event] = []
    failed = FailedChanges(RunLayout(runs_dir), said.append)
    for _ in range(2):
        failed.report("planned for the GPUs that answer", OSError(errno.ENOSPC, "full"))
        failed.report("tried with less memory", ProblemError(Problem(code="x", message="Damaged.")))
    problems = [each.problem.message for each in said if isinstance(each, ProblemReported)]
    without_space, damaged = problems
    assert without_space == (
        "The run was not planned for the GPUs that answer, though it was to be. There is no "
        f"space left on the disk that holds {runs_dir}."
    )
    assert damaged == "The run was not tried with less memory, though it was to be. Damaged."


def test_that_a_start_without_space_is_not_taken_for_a_broken_installation(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(run: CheckedRun) -> LaunchPlan:
        raise OSError(errno.ENOSPC, "No space left on device", str(run.layout.plan))

    monkeypatch.setattr(CheckedRun, "plan", refuse)
    plan = prepare(Profile(), CPU_ONLY).plan
    assert plan is not None
    layout = create_run(Profile(), plan, runs_dir)
    assert Supervisor(layout).run() is Outcome.FAILED
    end = RunFollower(layout).poll().events[-1]
    assert isinstance(end, RunEnded)
    assert end.problem is not None
    assert end.problem.code == "no_space"
    assert "Free some space" in end.problem.hint
