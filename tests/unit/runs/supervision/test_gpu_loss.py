"""A lost GPU is named, whatever TensorFlow said of it; words are those of TensorFlow 2.21."""

import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.events import ProblemReported, RunEnded, RunRestarted
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import LaunchPlan, PlannedProcess, ProcessRole
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.telemetry import DeviceReading, DeviceState, TelemetrySample
from gpupanel.planning.prepare import prepare
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.launcher import create_run
from gpupanel.runs.supervision import gang_end, local_gang
from gpupanel.runs.supervision.checked_run import CheckedRun
from gpupanel.runs.supervision.exit_reading import RunResult
from gpupanel.runs.supervision.gpu_loss import GpuLossResponse, GpuLossWatch, cuda_error
from gpupanel.runs.supervision.supervisor import Supervisor
from gpupanel.runs.supervision.watchdogs import Patience
from tests.fakes.devices import CPU_ONLY, RTX_3060, RTX_4090, TWO_UNEQUAL
from tests.forked.processes import child_processes

FAKE_TRAINER = Path(__file__).parents[3] / "fakes" / "trainer.py"
GRAPH_ERROR = """2 root error(s) found.
  (0) INTERNAL:  CUDA error: Error recording CUDA event: CUDA_ERROR_LAUNCH_FAILED: unspecified \
launch failure
\t [[{{node replica_1/zeros_like}}]]"""
ABORTED = "F0000 00:00:1 1307 device_event_mgr.cc:228] Unexpected Event status: 1"
PROFILE = Profile(
    devices=DeviceSettings(visible=(RTX_4090.key, RTX_3060.key)),
    strategy=StrategySettings(kind=StrategyKind.MIRRORED),
)


def plan_of(profile: Profile = PROFILE) -> LaunchPlan:
    plan = prepare(profile, TWO_UNEQUAL).plan
    assert plan is not None
    return plan


def sample(*, lost: bool) -> TelemetrySample:
    state = DeviceState.LOST if lost else DeviceState.OK
    readings = (DeviceReading(key=RTX_4090.key), DeviceReading(key=RTX_3060.key, state=state))
    return TelemetrySample(time_s=0.0, readings=readings)


def ending(code: str, detail: str = "", outcome: Outcome = Outcome.FAILED) -> RunResult:
    return RunResult(outcome=outcome, problem=Problem(code=code, message="m.", detail=detail))


def response_of(
    run: CheckedRun,
    watch: GpuLossWatch,
    inventory: DeviceInventory | None = None,
    last_sample: TelemetrySample | None = None,
) -> GpuLossResponse:
    """Which may not fail to change its run."""
    return GpuLossResponse(
        run, watch, lambda: inventory, lambda: last_sample, lambda what, _: pytest.fail(what)
    )


@pytest.fixture
def explained(runs_dir: Path) -> Callable[..., RunResult]:
    """How an ending is explained, with a GPU that is lost or answers when it is asked for."""

    def explain(of: RunResult, *logs: str, lost: bool) -> RunResult:
        plan = plan_of()
        watch = GpuLossWatch(plan)
        seen = sample(lost=lost)
        layout = create_run(PROFILE, plan, runs_dir)
        # Read after the end: what was read before says nothing.
        watch.take(sample(lost=False), 0.0)
        later = threading.Timer(0.05, lambda: watch.take(seen, float("inf")))
        later.start()
        response = response_of(CheckedRun(layout), watch, TWO_UNEQUAL, seen)
        found = response.explained(of, logs, plan)
        later.join()
        return found

    return explain


@pytest.mark.parametrize(
    ("of", "logs"),
    [
        (ending("trainer_crashed", GRAPH_ERROR), ()),
        (ending("trainer_killed", outcome=Outcome.LOST), (ABORTED,)),
        (ending("peer_lost", "Collective ops is aborted by: Socket closed"), ()),
        (ending("no_step"), ()),
        (ending("trainer_not_killable", outcome=Outcome.LOST), ()),
    ],
)
def test_that_the_gpu_is_named_and_the_others_are_offered(
    explained: Callable[..., RunResult], of: RunResult, logs: tuple[str, ...]
) -> None:
    found = explained(of, *logs, lost=True)
    assert found.outcome is Outcome.LOST
    problem = found.problem
    assert problem is not None
    assert problem.code == "gpu_lost"
    assert problem.message.startswith("RTX 3060 was lost in the middle of the run")
    assert "all_reduce" not in problem.hint
    assert problem.fix is not None
    assert problem.fix.label == "Resume on RTX 4090"
    assert of.problem is not None
    assert of.problem.message in problem.message + problem.detail


@pytest.mark.parametrize(
    ("of", "logs", "words"),
    [
        (ending("trainer_crashed", GRAPH_ERROR), (), "CUDA_ERROR_LAUNCH_FAILED: unspecified"),
        (ending("trainer_killed", outcome=Outcome.LOST), (ABORTED,), "Unexpected Event status: 1"),
        (ending("peer_lost", "Socket closed"), (GRAPH_ERROR,), "CUDA_ERROR_LAUNCH_FAILED"),
    ],
)
def test_that_a_gpu_that_still_answers_has_failed(
    explained: Callable[..., RunResult], of: RunResult, logs: tuple[str, ...], words: str
) -> None:
    found = explained(of, *logs, lost=False)
    assert found.can_restart
    problem = found.problem
    assert problem is not None
    assert problem.code == "gpu_failed"
    assert "One of the GPUs (RTX 4090, RTX 3060) failed" in problem.message
    assert words in problem.message


@pytest.mark.parametrize(
    "of",
    [
        ending("trainer_crashed", "ValueError: CUDA_ERROR_OUT_OF_MEMORY: out of memory"),
        ending("peer_lost", "Socket closed"),
        ending("no_step"),
    ],
)
def test_that_other_ends_stay_as_they_are_where_all_gpus_answer(
    explained: Callable[..., RunResult], of: RunResult
) -> None:
    assert explained(of, lost=False) == of


def test_that_an_end_that_has_nothing_to_do_with_gpus_waits_for_no_driver() -> None:
    watch = GpuLossWatch(plan_of())
    watch.take(sample(lost=True), 0.0)
    response = response_of(CheckedRun(RunLayout(Path("/nowhere"))), watch)
    for of in (
        ending("data_not_found"),
        ending("trainer_crashed", "ValueError: a shape"),
        RunResult(outcome=Outcome.COMPLETED),
    ):
        assert response.explained(of, (ABORTED,), plan_of()) == of


def test_that_out_of_memory_is_no_failure_of_a_gpu() -> None:
    assert cuda_error("CUDA_ERROR_OUT_OF_MEMORY: out of memory") == ""
    assert cuda_error("CUDA_ERROR_INVALID_VALUE: invalid argument") == ""
    assert cuda_error("CUDA_ERROR_UNKNOWN: unknown error\nmore") == (
        "CUDA_ERROR_UNKNOWN: unknown error"
    )


def test_that_a_gpu_that_answers_again_was_not_lost() -> None:
    watch = GpuLossWatch(plan_of())
    watch.take(sample(lost=True), 3.0)
    watch.take(sample(lost=True), 4.0)
    assert (watch.since_s, watch.lost_names) == (3.0, ("RTX 3060",))
    watch.take(sample(lost=False), 5.0)
    assert (watch.since_s, watch.lost_names) == (None, ())


def test_that_a_gpu_of_which_the_driver_says_nothing_is_taken_for_lost() -> None:
    watch = GpuLossWatch(plan_of())
    now_s = time.monotonic()
    hangs = DeviceReading(key=RTX_3060.key, age_s=1_000.0)
    readings = (DeviceReading(key=RTX_4090.key), hangs)
    watch.take(TelemetrySample(time_s=0.0, readings=readings), now_s + 100.0)
    assert watch.ask(0.05) == {RTX_3060.key}
    assert watch.unanswered(now_s + 100.0) == {"RTX 3060": now_s - 900.0}
    slow = DeviceReading(key=RTX_3060.key, age_s=1.0)
    watch.take(TelemetrySample(time_s=0.0, readings=(readings[0], slow)), now_s + 100.0)
    assert watch.unanswered(now_s + 100.0) == {}
    assert watch.ask(0.05) == frozenset()


def test_that_what_has_never_answered_here_is_not_waited_for() -> None:
    # As of GPUs on nodes of a cluster, whose agents may be gone.
    watch = GpuLossWatch(plan_of())
    begun_s = time.monotonic()
    assert watch.ask(10.0) == frozenset()
    worker = PlannedProcess(role=ProcessRole.WORKER, node="alpha")
    on_nodes = GpuLossWatch(plan_of().model_copy(update={"processes": (worker,)}))
    on_nodes.take(sample(lost=False), begun_s - 100.0)
    assert on_nodes.ask(10.0) == frozenset()
    assert on_nodes.unanswered(begun_s) == {}
    assert time.monotonic() - begun_s < 5.0


def test_that_the_run_is_planned_anew_for_the_gpus_that_answer(runs_dir: Path) -> None:
    plan = plan_of()
    layout = create_run(PROFILE, plan, runs_dir)
    watch = GpuLossWatch(plan)
    response = response_of(CheckedRun(layout), watch, TWO_UNEQUAL, sample(lost=True))
    assert response.plan_without_lost(plan) is None
    watch.take(sample(lost=True), 0.0)
    fewer = response.plan_without_lost(plan)
    assert fewer is not None
    assert [device.key for device in fewer[0].devices] == [RTX_4090.key]
    # From now on the lost one is nobody's business.
    watch.turn_to(fewer[0])
    assert watch.since_s is None
    watch.take(sample(lost=True), 1.0)
    assert watch.lost == frozenset()


@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
def test_that_a_process_that_cannot_be_killed_is_reported_after_seconds(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No signal reaches it, as none reaches one that waits in the driver."""

    def reach(process: object, number: signal.Signals) -> None:
        del process, number

    monkeypatch.setattr(local_gang, "signal_group", reach)
    monkeypatch.setattr(local_gang, "end_processes_of", reach_nobody)
    monkeypatch.setattr(local_gang, "KILL_S", 0.2)
    monkeypatch.setattr(gang_end, "waits_in_kernel", lambda _pid: True)
    plan = prepare(Profile(), CPU_ONLY).plan
    assert plan is not None
    layout = create_run(Profile(), plan, runs_dir)
    patience = Patience(step_s=0.5, term_s=0.1, kill_s=0.2)
    supervisor = Supervisor(layout, (sys.executable, str(FAKE_TRAINER), "hang_in_a_step"), patience)
    assert supervisor.run() is Outcome.LOST
    events = RunFollower(layout).poll().events
    end = events[-1]
    assert isinstance(end, RunEnded)
    assert end.problem is not None
    assert end.problem.code == "no_step"
    (left,) = (
        each.problem
        for each in events
        if isinstance(each, ProblemReported) and each.problem.code == "trainer_not_killable"
    )
    (child,) = child_processes()
    assert f"(process {child.pid}) was killed and does not end: it waits in the kernel" in (
        left.message
    )
    child.kill()
    child.wait()
    assert not any(isinstance(each, RunRestarted) for each in events)


def reach_nobody(layout: RunLayout) -> None:
    del layout
