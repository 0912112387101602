"""A supervisor on a disk that is full to the last byte."""

import sys
from pathlib import Path

from gpupanel.domain.events import ProblemReported, RunEnded, RunRestarted, decode_event
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem
from gpupanel.domain.process_environment import NO_SPACE_STATUS
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.planning.prepare import prepare
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.launcher import create_run
from gpupanel.runs.supervision.supervisor import Supervisor
from tests.fakes.devices import CPU_ONLY
from tests.fakes.small_disks import fill, full_page, logging_to, small_disk  # noqa: F401 - a fixture


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
