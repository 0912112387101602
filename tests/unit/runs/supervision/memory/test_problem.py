"""A run that runs out of memory is explained, and tried with less where the person asked for it."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpupanel.domain.device import DeviceInventory, DeviceKind
from gpupanel.domain.event_details import ShortageCause
from gpupanel.domain.events import Event, MemoryExhausted, RunEnded, RunRestarted
from gpupanel.domain.memory import LimitedMemory
from gpupanel.domain.model import MlpModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import PlannedDevice, PlannedProcess
from gpupanel.domain.problem import Change, Problem
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.telemetry import DeviceProcess, DeviceReading, TelemetrySample
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import prepare
from gpupanel.runs.directory.log_since import LogSince
from gpupanel.runs.directory.profile_file import read_profile
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.launcher import create_run
from gpupanel.runs.supervision.memory import reading
from gpupanel.runs.supervision.memory.problem import ShortageContext, shortage_problem
from gpupanel.runs.supervision.memory.reading import shortage_in_log
from gpupanel.runs.supervision.supervisor import Supervisor
from tests.fakes.devices import CPU, CPU_ONLY, RTX_3060, TWO_UNEQUAL

HUNGRY = Path(__file__).parents[4] / "fakes" / "hungry_trainer.py"
MIB = 2**20


def run_of(profile: Profile, runs_dir: Path, inventory: DeviceInventory = CPU_ONLY) -> RunLayout:
    plan = prepare(profile, inventory).plan
    assert plan is not None
    return create_run(profile, plan, runs_dir)


def run_with_retries(runs_dir: Path, retries: int, **training: object) -> RunLayout:
    settings = TrainingSettings(out_of_memory_retries=retries, **training)
    return run_of(Profile(training=settings), runs_dir)


def supervise(layout: RunLayout, enough: int) -> Outcome:
    return Supervisor(layout, (sys.executable, str(HUNGRY), str(enough))).run()


def events_of(layout: RunLayout) -> tuple[Event, ...]:
    return RunFollower(layout).poll().events


def problem_of(layout: RunLayout) -> Problem:
    end = events_of(layout)[-1]
    assert isinstance(end, RunEnded)
    assert end.problem is not None
    return end.problem


def test_that_a_refusal_is_explained_with_what_to_try(runs_dir: Path) -> None:
    layout = run_with_retries(runs_dir, 0)

    assert supervise(layout, enough=2) is Outcome.FAILED

    problem = problem_of(layout)
    assert problem.code == "out_of_memory"
    assert problem.message == (
        "The host's memory (/device:CPU:0) ran out: 1.2 GiB were asked for, for 64 x 1,024 x "
        "5,120 numbers of type float; the run held 3.5 GiB of the 4.0 GiB that TensorFlow may take."
    )
    assert problem.hint == (
        "Half the examples at a time is the same training with less memory. Or close other "
        "programs."
    )
    assert "the trace" in problem.detail
    assert problem.fix is not None
    assert problem.fix.label == "Double the accumulation steps"
    assert [fix.label for fix in problem.alternatives] == [
        "Compute activations again, block by block",
        "Use mixed precision",
    ]
    for fix in (problem.fix, *problem.alternatives):
        assert prepare(apply_fix(read_profile(layout.profile), fix), CPU_ONLY).is_startable
    assert not list(layout.root.glob("profile-*.toml"))


def test_that_a_run_is_tried_with_less_at_a_time_and_says_what_it_changed(runs_dir: Path) -> None:
    layout = run_with_retries(runs_dir, 3)

    assert supervise(layout, enough=4) is Outcome.COMPLETED

    restarts = [event for event in events_of(layout) if isinstance(event, RunRestarted)]
    path = ("training", "accumulation_steps")
    assert [(each.attempt, each.changes) for each in restarts] == [
        (1, (Change(path=path, value=2),)),
        (2, (Change(path=path, value=4),)),
    ]
    assert all(each.problem and each.problem.code == "out_of_memory" for each in restarts)
    assert read_profile(layout.profile).training.accumulation_steps == 4
    assert read_profile(layout.former_profile(1)).training.accumulation_steps == 1


@pytest.mark.parametrize(
    ("retries", "batch", "steps"),
    [(1, 64, 2), (10, 3, 2)],
    ids=["as often as asked for", "as far as a share has examples"],
)
def test_that_trying_with_less_has_an_end(
    runs_dir: Path, retries: int, batch: int, steps: int
) -> None:
    layout = run_with_retries(runs_dir, retries, global_batch_size=batch)

    assert supervise(layout, enough=1_000) is Outcome.FAILED

    assert read_profile(layout.profile).training.accumulation_steps == steps
    assert problem_of(layout).code == "out_of_memory"


def test_that_another_training_is_not_tried_by_itself(runs_dir: Path) -> None:
    profile = Profile(
        model=MlpModel(batch_norm=True), training=TrainingSettings(out_of_memory_retries=3)
    )
    layout = run_of(profile, runs_dir)

    assert supervise(layout, enough=2) is Outcome.FAILED

    problem = problem_of(layout)
    assert problem.fix is not None
    assert problem.fix.label == "Double the accumulation steps"
    assert "the same training" not in problem.hint


def test_that_the_status_of_a_run_has_the_explanation_only(runs_dir: Path) -> None:
    layout = run_with_retries(runs_dir, 0)
    supervise(layout, enough=2)

    status = RunStatus()
    for event in events_of(layout):
        status = status.after(event)

    assert status.ending_problem == problem_of(layout)


SMALL = Profile(
    devices=DeviceSettings(visible=("GPU-4090", "GPU-3060")),
    memory={"GPU-3060": LimitedMemory(limit_mib=4_096, growth=True)},
    strategy=StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16)),
)
REFUSED = MemoryExhausted(
    time_s=0.0,
    device_key="GPU-3060",
    logical_device="/device:GPU:1",
    asked_bytes=1_280 * MIB,
    limit_bytes=4_096 * MIB,
    held_bytes=3_584 * MIB,
)
GAME = DeviceProcess(pid=77, name="game", memory_used_mib=1_536)


def explained(
    shortage: MemoryExhausted, context: ShortageContext, profile: Profile = SMALL
) -> Problem:
    plan = prepare(profile, TWO_UNEQUAL).plan
    assert plan is not None
    return shortage_problem(shortage, "worker 1", profile, plan, context)


def test_that_a_gpu_is_reported_with_its_cap_and_who_held_the_rest() -> None:
    problem = explained(REFUSED, ShortageContext(TWO_UNEQUAL, None, 1_536, (GAME,)))

    assert problem.message == (
        "RTX 3060 (/device:GPU:1) ran out of memory: 1.2 GiB were asked for; the run held 3.5 GiB "
        "of the 4.0 GiB that TensorFlow may take; other processes held 1.5 GiB of its 12.0 GiB."
    )
    assert "game (77): 1.5 GiB" in problem.detail
    offered = [fix.label for fix in (problem.fix, *problem.alternatives) if fix is not None]
    assert offered == [
        "Double the accumulation steps",
        "Give RTX 3060 half its share",
        "Raise the limit to 10,252 MiB",
        "Compute activations again, block by block",
        "Use mixed precision",
        "Use RTX 4090 alone",
        "Keep the weights on the host",
        "Divide the layers over 2 GPUs",
    ]


def test_that_what_nobody_reported_is_left_out() -> None:
    bare = MemoryExhausted(time_s=0.0)

    problem = explained(bare, ShortageContext())

    assert problem.message == ("A device ran out of memory: more was asked for than there was.")
    assert problem.fix is not None


def test_that_where_nothing_can_be_changed_the_hint_says_what_is_left() -> None:
    profile = Profile(training=TrainingSettings(mixed_precision=True, global_batch_size=1))

    problem = explained(
        REFUSED.model_copy(update={"device_key": "cpu"}),
        ShortageContext(DeviceInventory(devices=(RTX_3060, CPU))),
        profile,
    )

    assert problem.fix is None
    assert problem.hint == "Use a smaller model, or close other programs."


def sample_of_host(used_mib: int) -> TelemetrySample:
    reading = DeviceReading(key="cpu", memory_used_mib=used_mib, memory_total_mib=24_576)
    return TelemetrySample(time_s=0.0, readings=(reading,))


@pytest.mark.parametrize(
    ("cause", "message"),
    [
        (
            ShortageCause.GROUP_LIMIT,
            (
                "The kernel killed worker 1 for taking more memory than it may: it held 20.0 "
                "GiB and its control group may take 21.0 GiB."
            ),
        ),
        (
            ShortageCause.MACHINE,
            (
                "The kernel killed worker 1, because the machine had no memory left: it held "
                "20.0 GiB and other programs held 3.0 GiB of 24.0 GiB."
            ),
        ),
        (
            ShortageCause.LIKELY,
            (
                "Worker 1 was killed while the machine's memory was nearly full, most likely "
                "because of that: it held 20.0 GiB and other programs held 3.0 GiB of 24.0 GiB."
            ),
        ),
        (
            ShortageCause.ADDRESS_SPACE,
            (
                "Worker 1 crashed with nearly all the address space taken that it may have "
                "(ulimit -v): it held 20.0 GiB and it may take 21.0 GiB."
            ),
        ),
    ],
)
def test_that_a_kill_is_reported_as_surely_as_it_is_known(
    cause: ShortageCause, message: str
) -> None:
    killed = MemoryExhausted(
        time_s=0.0,
        cause=cause,
        device_key="cpu",
        held_bytes=20 * 1024 * MIB,
        limit_bytes=21 * 1024 * MIB,
    )

    problem = explained(killed, ShortageContext(CPU_ONLY, sample_of_host(23 * 1024)), Profile())

    assert (problem.code, problem.message) == ("host_out_of_memory", message)
    is_own = cause is ShortageCause.ADDRESS_SPACE
    assert problem.hint.endswith("raise the limit (ulimit -v)." if is_own else "programs.")


REFUSAL = (
    b"W0000 00:00:1 1 bfc_allocator.cc:502] Allocator (%b) ran out of memory trying to allocate "
    b"1.25GiB (rounded to 1342177280)requested by op MatMul\nCurrent allocation summary follows.\n"
)


@pytest.mark.parametrize(
    ("allocator", "key", "logical"),
    [
        (b"GPU_1_bfc", "GPU-b", "/device:GPU:1"),
        (b"GPU_9_bfc", None, "/device:GPU:9"),
        (b"mklcpu", "cpu", None),
    ],
)
def test_that_a_crash_over_a_refusal_is_read_from_the_log(
    allocator: bytes, key: str | None, logical: str | None
) -> None:
    log = REFUSAL % b"other" + REFUSAL % allocator + b"the dump\n" * 99
    gpus = tuple(
        PlannedDevice(key=f"GPU-{name}", kind=DeviceKind.GPU, name=name, index=index)
        for index, name in enumerate("ab")
    )

    shortage = shortage_in_log(log.splitlines(), 2, PlannedProcess(devices=gpus))

    assert shortage is not None
    assert (shortage.process, shortage.device_key, shortage.logical_device) == (2, key, logical)
    assert shortage.asked_bytes == 1_342_177_280


def test_that_a_crash_of_another_kind_is_not_taken_for_lack_of_memory() -> None:
    fault = b"Fatal Python error: Segmentation fault"

    assert shortage_in_log([fault], 0, PlannedProcess()) is None
    refused = b"terminate called after throwing 'std::bad_alloc'"
    shortage = shortage_in_log([refused], 0, PlannedProcess())
    assert shortage is not None
    assert (shortage.device_key, shortage.asked_bytes) == ("cpu", None)


def test_that_a_crash_in_abseils_allocator_is_lack_of_memory() -> None:
    refused = b"[low_level_alloc.cc : 599] RAW: mmap error: 12"

    shortage = shortage_in_log([refused], 0, PlannedProcess())

    assert shortage is not None
    assert shortage.device_key == "cpu"


def test_that_a_thread_without_room_for_its_stack_is_lack_of_memory_where_that_is_limited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failed = (
        b"F0000 env.cc:84] Check failed: ret == 0 (11 vs. 0) Thread tf_numa_-1_Eigen creation via "
        b"pthread_create() failed."
    )
    assert shortage_in_log([failed], 0, PlannedProcess()) is None

    monkeypatch.setattr(reading, "address_space_limit", lambda: 2**31)
    shortage = shortage_in_log([failed], 0, PlannedProcess())
    assert shortage is not None
    assert shortage.device_key == "cpu"


def test_that_a_refusal_of_an_earlier_attempt_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(REFUSAL % b"mklcpu")
    log = LogSince(path)
    assert log.last_lines(2**20) == []

    with path.open("ab") as file:
        file.write(b"Fatal Python error\nSegmentation fault\n")

    assert log.last_lines(2**20) == [b"Fatal Python error", b"Segmentation fault"]
    assert log.last_lines(24) == [b"Segmentation fault"]


def crashing(text: bytes) -> tuple[str, ...]:
    """A trainer that says so and crashes."""
    script = f"import os, signal; os.write(2, {text!r}); os.kill(os.getpid(), signal.SIGSEGV)"
    return (sys.executable, "-c", script)


def test_that_a_crash_over_a_refusal_is_explained(runs_dir: Path) -> None:
    layout = run_with_retries(runs_dir, 0)

    assert Supervisor(layout, crashing(REFUSAL % b"mklcpu")).run() is Outcome.LOST

    problem = problem_of(layout)
    assert problem.code == "out_of_memory"
    assert problem.message == "The host's memory ran out: 1.2 GiB were asked for."
    assert problem.fix is not None


@pytest.mark.slow
@pytest.mark.tensorflow
def test_that_a_real_run_gets_by_with_half_at_a_time_and_learns_the_same(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each layer's output of 1,024 examples is 78 MiB, and TensorFlow may take 152.
    monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", "1")
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "0")
    wide = MlpModel(hidden=(20_000,))
    settings = TrainingSettings(
        epochs=1, global_batch_size=1_024, optimizer=Optimizer.SGD, out_of_memory_retries=3
    )
    enough = run_of(Profile(model=wide, training=settings), runs_dir)
    capped = run_of(Profile(model=wide, training=settings), runs_dir)

    assert Supervisor(enough).run() is Outcome.COMPLETED
    monkeypatch.setenv("TF_MKL_ALLOC_MAX_BYTES", "160000000")
    assert Supervisor(capped).run() is Outcome.COMPLETED

    assert not [each for each in events_of(enough) if isinstance(each, RunRestarted)]
    (restart,) = [each for each in events_of(capped) if isinstance(each, RunRestarted)]
    assert restart.changes == (Change(path=("training", "accumulation_steps"), value=2),)
    assert restart.problem is not None
    assert "1,024 x 20,000 numbers of type float" in restart.problem.message
    assert "of the 152 MiB that TensorFlow may take" in restart.problem.message
    ends = [events_of(run)[-1] for run in (enough, capped)]
    losses = [end.metrics.loss for end in ends if isinstance(end, RunEnded)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)


@pytest.fixture
def memory_group(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A control group whose processes may take 1 GiB together."""
    groups = Path("/sys/fs/cgroup")
    version_1 = groups / "memory"
    base, limit = (
        (version_1, "memory.limit_in_bytes") if version_1.is_dir() else (groups, "memory.max")
    )
    group = base / f"gpupanel-{abs(hash(request.node.name)) % 10**8}"
    try:
        group.mkdir()
        (group / limit).write_text(str(1_536 * MIB))
    except OSError as error:
        if group.is_dir():
            group.rmdir()
        pytest.skip(f"this machine lets nobody make a control group for memory: {error}")
    yield group
    group.rmdir()


def in_group(group: Path, *command: str) -> tuple[str, ...]:
    """The command moving itself into that group first; what is added goes to it."""
    script = f'echo $$ > {group}/cgroup.procs && exec "$@"'
    return ("/bin/sh", "-c", script, "in_group", *command)


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_a_trainer_that_the_kernel_kills_is_reported_with_its_limit(
    runs_dir: Path, memory_group: Path
) -> None:
    # Its weights alone are 6 GiB.
    profile = Profile(model=MlpModel(hidden=(40_000, 40_000)))
    layout = run_of(profile, runs_dir)
    command = in_group(memory_group, sys.executable, "-P", "-m", "gpupanel.trainer")

    assert Supervisor(layout, command).run() is Outcome.LOST

    problem = problem_of(layout)
    assert problem.code == "host_out_of_memory"
    assert "The kernel killed the trainer for taking more memory than it may" in problem.message
    assert "its control group may take 1.5 GiB" in problem.message
    (killed,) = [event for event in events_of(layout) if isinstance(event, MemoryExhausted)]
    assert killed.cause is ShortageCause.GROUP_LIMIT
    assert killed.held_bytes is not None
    assert 200 * MIB < killed.held_bytes <= 1_536 * MIB
    assert problem.fix is None  # half the examples at a time do not make them less
