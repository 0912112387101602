"""The supervisor with a gang of processes: which of them failed, and nothing left of it."""

import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from gpupanel.domain.events import (
    Event,
    RunEnded,
    RunRestarted,
    TrainerStarted,
    encode_event,
)
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import LaunchPlan, PlannedProcess, ProcessRole
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.prepare import prepare
from gpupanel.runs.cluster.environments import free_ports, process_environments
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.launcher import create_run
from gpupanel.runs.supervision.supervisor import Supervisor
from gpupanel.runs.supervision.watchdogs import Patience
from tests.fakes.devices import CPU_ONLY

FAKE_TRAINER = Path(__file__).parents[3] / "fakes" / "gang_trainer.py"
QUICK = Patience(cause_s=1.0)


def profile(max_restarts: int = 0, kind: StrategyKind = StrategyKind.MULTI_WORKER) -> Profile:
    return Profile(
        strategy=StrategySettings(kind=kind, workers=2),
        training=TrainingSettings(max_restarts=max_restarts),
    )


def plan_of(chosen: Profile) -> LaunchPlan:
    plan = prepare(chosen, CPU_ONLY).plan
    assert plan is not None
    return plan


class GangRun:
    """A run of a fake gang, and what is left of it."""

    def __init__(self, runs_dir: Path, chosen: Profile) -> None:
        self.layout = create_run(chosen, plan_of(chosen), runs_dir)

    def run(self, *modes: str) -> RunEnded:
        command = (sys.executable, str(FAKE_TRAINER), ",".join(modes))
        Supervisor(self.layout, command, QUICK).run()
        assert_nothing_is_left(self.pids())
        end = self.events()[-1]
        assert isinstance(end, RunEnded)
        return end

    def events(self) -> tuple[Event, ...]:
        return RunFollower(self.layout).poll().events

    def started(self) -> list[TrainerStarted]:
        return [event for event in self.events() if isinstance(event, TrainerStarted)]

    def pids(self) -> list[int]:
        return [event.pid for event in self.started()]


@pytest.fixture
def gang(runs_dir: Path) -> GangRun:
    return GangRun(runs_dir, profile())


def assert_nothing_is_left(pids: list[int]) -> None:
    groups = set(pids)
    left = []
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) in groups and process.status() != psutil.STATUS_ZOMBIE:
                left.append(process.pid)
        except (psutil.Error, ProcessLookupError):
            continue
    assert not left


def problem_of(end: RunEnded) -> Problem:
    assert end.problem is not None
    return end.problem


def test_that_every_process_is_reported_with_its_name(gang: GangRun) -> None:
    end = gang.run("complete", "wait")
    assert (end.outcome, end.problem, end.exit_code) == (Outcome.COMPLETED, None, 0)
    assert [(one.process, one.name) for one in gang.started()] == [(0, "worker 0"), (1, "worker 1")]
    assert gang.layout.process_log(0).read_text() == "place 0 does complete\n"
    assert gang.layout.process_log(1).read_text() == "place 1 does wait\n"


@pytest.mark.parametrize(
    ("modes", "message"),
    [
        (("lose_a_peer", "kill_itself"), "Worker 1 was killed by SIGKILL (signal 9)."),
        pytest.param(
            ("kill_itself", "lose_a_peer"),
            "Worker 0 was killed by SIGKILL (signal 9).",
            marks=pytest.mark.slow,
        ),
        (("abort", "kill_itself"), "Worker 1 was killed by SIGKILL (signal 9)."),
    ],
)
def test_that_a_killed_process_is_named_at_once(
    gang: GangRun, modes: tuple[str, str], message: str
) -> None:
    end = gang.run(*modes)
    assert (end.outcome, end.exit_code) == (Outcome.LOST, -9)
    assert problem_of(end).message == message
    assert end.log_tail == (f"place {message[7]} does kill_itself",)


@pytest.mark.parametrize("place", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_that_a_frozen_process_is_named_within_15_s(gang: GangRun, place: int) -> None:
    modes = ["lose_a_peer", "lose_a_peer"]
    modes[1 - place], modes[place] = "wait", "freeze"
    begun_s = time.monotonic()
    end = gang.run(*modes)
    assert time.monotonic() - begun_s < 15.0
    assert end.outcome is Outcome.FAILED
    assert problem_of(end).code == "process_frozen"
    assert problem_of(end).message.startswith(f"Worker {place} is frozen")


@pytest.mark.long
def test_that_a_process_that_never_begins_is_named_within_15_s(gang: GangRun) -> None:
    begun_s = time.monotonic()
    end = gang.run("wait", "never_begin")
    assert time.monotonic() - begun_s < 15.0
    assert problem_of(end).code == "process_never_began"
    assert problem_of(end).message == "Worker 1 was started but never began to work."


@pytest.mark.slow
def test_that_a_process_that_only_works_hard_is_left_alone(gang: GangRun) -> None:
    # 10 s of work without one heartbeat, as while a large library is read.
    assert gang.run("complete", "be_busy").outcome is Outcome.COMPLETED


def test_that_the_problem_of_the_one_that_failed_is_that_of_the_run(gang: GangRun) -> None:
    end = gang.run("lose_a_peer", "fail")
    assert end.outcome is Outcome.FAILED
    assert problem_of(end).code == "no_space"
    # On a busy machine it is killed before it left by itself.
    assert end.exit_code in (1, -signal.SIGKILL)


def test_that_one_that_leaves_before_the_leader_is_reported(gang: GangRun) -> None:
    end = gang.run("wait", "leave")
    assert problem_of(end).message == "Worker 1 ended with exit code 0 without giving a reason."


def test_that_a_lost_peer_is_reported_when_nothing_better_is_known(gang: GangRun) -> None:
    end = gang.run("lose_a_peer", "wait")
    assert problem_of(end).code == "peer_lost"


def test_that_a_process_that_cannot_be_started_ends_the_others(gang: GangRun) -> None:
    plan = LaunchPlan.model_validate_json(gang.layout.plan.read_text())
    first, second = plan.gang
    broken = second.model_copy(update={"environment": {"CUDA_VISIBLE_DEVICES": "an end \0 within"}})
    plan = plan.model_copy(update={"processes": (first, broken)})
    gang.layout.plan.write_text(plan.model_dump_json())
    end = gang.run("wait", "wait")
    assert problem_of(end).code == "trainer_not_started"
    assert len(gang.started()) == 1


def test_that_a_stop_ends_all_of_them(gang: GangRun) -> None:
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(gang.run, "stop_when_asked", "wait")
        while not (gang.layout.root / "begun-1").exists():
            time.sleep(0.01)
        ask(gang.layout, Request.STOP)
        end = running.result(timeout=20)
    assert (end.outcome, end.problem) == (Outcome.STOPPED, None)


def test_that_a_gang_is_started_again_until_it_completes(runs_dir: Path) -> None:
    gang = GangRun(runs_dir, profile(max_restarts=2))
    end = gang.run("complete_at_the_second_attempt", "kill_itself_once")
    assert end.outcome is Outcome.COMPLETED
    (restart,) = [event for event in gang.events() if isinstance(event, RunRestarted)]
    assert restart.attempt == 1
    assert restart.problem is not None
    assert "Worker 1 was killed by SIGKILL" in restart.problem.message
    assert [one.process for one in gang.started()] == [0, 1, 0, 1]
    begun = gang.events()[0].time_s
    assert end.restarts == 1
    assert end.lasted_s == pytest.approx(end.time_s - begun)

    # Resumed by a person: what was between its segments is not counted, the restart is.
    by_hand = encode_event(RunRestarted(time_s=time.time(), attempt=0))
    with gang.layout.events.open("a") as file:
        file.write(f"{by_hand}\n")
    time.sleep(0.3)
    again = gang.run("complete_at_the_second_attempt", "wait")
    assert again.restarts == 2
    assert again.lasted_s is not None
    assert end.lasted_s < again.lasted_s < again.time_s - begun - 0.25


@pytest.mark.long
def test_that_it_is_started_again_so_often_and_no_more(runs_dir: Path) -> None:
    gang = GangRun(runs_dir, profile(max_restarts=2))
    end = gang.run("wait", "kill_itself")
    assert end.outcome is Outcome.LOST
    restarts = [event for event in gang.events() if isinstance(event, RunRestarted)]
    assert [event.attempt for event in restarts] == [1, 2]


def test_that_a_problem_of_its_own_is_no_reason_to_start_again(runs_dir: Path) -> None:
    gang = GangRun(runs_dir, profile(max_restarts=2))
    assert problem_of(gang.run("lose_a_peer", "fail")).code == "no_space"
    assert len(gang.started()) == 2


def test_that_other_ports_are_tried_where_one_is_taken(gang: GangRun) -> None:
    end = gang.run("need_another_port", "wait")
    assert end.outcome is Outcome.COMPLETED
    assert not [event for event in gang.events() if isinstance(event, RunRestarted)]
    first, second = (gang.layout.root / "ports").read_text().splitlines()
    assert first != second


@pytest.mark.long
def test_that_ports_that_are_always_taken_are_reported(gang: GangRun) -> None:
    end = gang.run("wait", "never_get_a_port")
    assert problem_of(end).message == "Another program has taken the port of worker 1."
    assert len(gang.started()) == 8


def test_that_what_serves_is_ended_after_the_coordinators_last_word(runs_dir: Path) -> None:
    gang = GangRun(runs_dir, profile(kind=StrategyKind.PARAMETER_SERVER))
    count = len(gang_roles(gang))
    end = gang.run("complete", *["wait"] * (count - 1))
    assert (end.outcome, end.problem) == (Outcome.COMPLETED, None)


def gang_roles(gang: GangRun) -> list[ProcessRole]:
    plan = LaunchPlan.model_validate_json(gang.layout.plan.read_text())
    return [process.role for process in plan.gang]


def test_that_each_process_knows_where_the_others_are() -> None:
    gang = (
        PlannedProcess(role=ProcessRole.COORDINATOR),
        PlannedProcess(role=ProcessRole.WORKER, environment={"CUDA_VISIBLE_DEVICES": "GPU-1"}),
        PlannedProcess(role=ProcessRole.PARAMETER_SERVER),
    )
    plan = plan_of(profile()).model_copy(update={"processes": gang})
    environments = process_environments(plan)
    assert [each["GPUPANEL_PROCESS"] for each in environments] == ["0", "1", "2"]
    assert environments[1]["CUDA_VISIBLE_DEVICES"] == "GPU-1"
    for each, kind in zip(environments, ("chief", "worker", "ps"), strict=True):
        assert f'"task": {{"type": "{kind}", "index": 0}}' in each["TF_CONFIG"]
        assert each["TF_CONFIG"].count("127.0.0.1:") == 3


def test_that_nccl_listens_on_loopback_in_runs_of_one_process_too() -> None:
    for kind in (StrategyKind.MIRRORED, StrategyKind.MULTI_WORKER):
        plan = plan_of(Profile(strategy=StrategySettings(kind=kind)))
        for each in process_environments(plan):
            assert each["NCCL_SOCKET_IFNAME"] == "lo"


def test_that_ports_are_free_and_different() -> None:
    ports = free_ports(50)
    assert len(set(ports)) == 50
