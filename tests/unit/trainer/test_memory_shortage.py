"""What a process asked for when it ran out of memory: TensorFlow's words, its log, a real run."""

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.event_details import ShortageCause
from gpupanel.domain.events import MemoryExhausted, TrainingEnded
from gpupanel.domain.model import MlpModel
from gpupanel.domain.plan import (
    LaunchPlan,
    PlannedDevice,
    PlannedProcess,
    PlannedReplica,
    ProcessRole,
)
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind
from gpupanel.trainer import failures, memory_shortage
from gpupanel.trainer.failures import problems_of
from gpupanel.trainer.memory_shortage import is_out_of_memory, read_shortage
from gpupanel.trainer.started_run import StartedRun
from tests.unit.trainer.conftest import MakeRun, StartTrainer
from tests.unit.trainer.trained_runs import CHILD_ENVIRONMENT, all_events

WIDEST = 2**31 - 1
"""Units of a layer: what a profile may ask for at most."""
GIB = 2**30
DUMP = """\
W0000 00:00:1795263914.840115    6487 bfc_allocator.cc:502] Allocator ({name}) ran out of memory \
trying to allocate 1.25GiB (rounded to 1342177280)requested by op MatMul
If the cause is memory fragmentation maybe the environment variable \
'TF_GPU_ALLOCATOR=cuda_malloc_async' will improve the situation. \nCurrent allocation summary \
follows.
I0000 00:00:1795263914.840930    6487 bfc_allocator.cc:1049] BFCAllocator dump for {name}
I0000 00:00:1795263914.840949    6487 bfc_allocator.cc:1056] Bin (256): \tTotal Chunks: 9
"""
STATS = """\
I0000 00:00:1795263914.841211    6487 bfc_allocator.cc:1119] Total size in pool: 4.00GiB \
memory_limit_: 4.00GiB available size: 0B curr_region_allocation_bytes_: 8.00GiB
I0000 00:00:1795263914.841218    6487 bfc_allocator.cc:1128] Stats: \n\
Limit:            {limit:>20}
InUse:            {held:>20}
MaxInUse:                    512.00MiB
NumAllocs:                           1
"""


class ResourceExhaustedError(Exception):
    """Has the name of TensorFlow's."""


class InternalError(Exception):
    """Has the name of TensorFlow's."""


class AbortedError(Exception):
    """Has the name of TensorFlow's."""


@pytest.fixture
def run(tmp_path: Path) -> StartedRun:
    """Two GPUs, of which the second one is split."""
    devices = (
        PlannedDevice(key="GPU-a", kind=DeviceKind.GPU, name="A", index=0),
        PlannedDevice(
            key="GPU-b", kind=DeviceKind.GPU, name="B", index=1, logical_limits_mib=(2_048, 2_048)
        ),
    )
    plan = LaunchPlan(
        environment={},
        devices=devices,
        strategy=StrategyKind.MIRRORED,
        replicas=(
            PlannedReplica(index=0, device_key="GPU-a", logical_device="/device:GPU:0", share=64),
        ),
        global_batch_size=64,
    )
    return StartedRun(RunLayout(tmp_path), Profile(), plan)


def words(name: str = "GPU_0_bfc", device: str = "GPU:0", what: str = "tensor with shape") -> str:
    return (
        "{{function_node __wrapped__Fill_device_/job:localhost/replica:0/task:0/device:CPU:0}} "
        f"OOM when allocating {what}[64,1024,5120] and type float on "
        f"/job:localhost/replica:0/task:0/device:{device} by allocator {name} [Op:Fill] name: "
    )


def read(run: StartedRun, error: BaseException, log: str = "") -> MemoryExhausted:
    run.layout.trainer_log.write_text(log, encoding="utf-8")
    return read_shortage(error, run)


@pytest.mark.parametrize(
    "what", ["tensor with shape", "temporary tensor with shape", "tensor of shape "]
)
def test_that_device_and_tensor_are_read_from_the_words(run: StartedRun, what: str) -> None:
    shortage = read(run, ResourceExhaustedError(words(device="GPU:2", what=what)))

    assert shortage.cause is ShortageCause.REFUSED
    assert (shortage.device_key, shortage.logical_device) == ("GPU-b", "/device:GPU:2")
    assert (shortage.tensor_shape, shortage.tensor_type) == ((64, 1024, 5120), "float")
    assert shortage.asked_bytes == 64 * 1024 * 5120 * 4
    assert (shortage.limit_bytes, shortage.held_bytes) == (None, None)


@pytest.mark.parametrize(("limit", "held"), [("4.00GiB", "3.50GiB"), ("4294967296", "3758096384")])
def test_that_limit_and_use_are_read_from_the_log(run: StartedRun, limit: str, held: str) -> None:
    log = DUMP.format(name="GPU_1_bfc") + STATS.format(limit="9", held="9")
    log += DUMP.format(name="GPU_0_bfc") + STATS.format(limit=limit, held=held)

    shortage = read(run, ResourceExhaustedError(words()), log)

    assert (shortage.limit_bytes, shortage.held_bytes) == (4 * GIB, 3.5 * GIB)


def test_that_numbers_of_two_dumps_at_once_are_not_taken_for_either(run: StartedRun) -> None:
    stats = STATS.format(limit="4.00GiB", held="3.50GiB")
    log = DUMP.format(name="GPU_0_bfc") + DUMP.format(name="GPU_1_bfc") + stats

    shortage = read(run, ResourceExhaustedError(words()), log)

    assert (shortage.limit_bytes, shortage.held_bytes) == (None, None)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("/runs/a/tensorboard/train/events.v2; No space left on device\n\tFlushing", "no_space"),
        ("/runs/a/events.v2; Disk quota exceeded", "quota_used_up"),
        ("/runs/a/events.v2; Too many open files", "trainer_crashed"),
        (words(), "out_of_memory"),
        ("/runs/a; Cannot allocate memory", "out_of_memory"),
    ],
)
def test_that_only_memory_is_taken_for_memory(run: StartedRun, said: str, code: str) -> None:
    error = ResourceExhaustedError(said)

    (problem,) = problems_of(error, run.plan)

    assert problem.code == code
    assert is_out_of_memory(error) == (code == "out_of_memory")


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        ImportError("libtensorflow_cc.so.2: failed to map segment from shared object"),
        InternalError("std::bad_alloc"),
    ],
)
def test_that_a_library_or_the_system_without_memory_is_reported_as_the_hosts(
    run: StartedRun, error: Exception
) -> None:
    assert [problem.code for problem in problems_of(error, run.plan)] == ["out_of_memory"]
    assert read(run, error).device_key == "cpu"


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("can't start new thread"),
        AbortedError(
            "Operation received an exception:Status: 5, message: could not execute a "
            "primitive, in file tensorflow/core/kernels/mkl/mkl_matmul_op_fused.cc:306"
        ),
    ],
)
def test_that_what_fails_for_memory_or_else_lacks_it_only_where_that_is_limited(
    run: StartedRun, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    assert not is_out_of_memory(error)

    for module in (memory_shortage, failures):
        monkeypatch.setattr(module, "address_space_limit", lambda: 2 * GIB)
    assert is_out_of_memory(error)
    (problem,) = problems_of(error, run.plan)
    assert "2.0 GiB of address space (ulimit -v)" in problem.detail


_IMPORT_WITHOUT_ROOM = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (1_200 * 2**20, resource.RLIM_INFINITY))
from pathlib import Path
from gpupanel.trainer.process import train_run
sys.exit(train_run(Path(sys.argv[1])))
"""


@pytest.mark.tensorflow
def test_that_a_tensorflow_that_finds_no_room_is_not_called_broken(
    tmp_path: Path, make_run: MakeRun
) -> None:
    layout = make_run(tmp_path / "run", Profile(), [64])
    subprocess.run(
        [sys.executable, "-c", _IMPORT_WITHOUT_ROOM, str(layout.root)],
        env=CHILD_ENVIRONMENT,
        capture_output=True,
        check=False,
    )

    events = all_events(layout)
    ended = events[-1]
    assert isinstance(ended, TrainingEnded)
    assert ended.problem is not None
    assert ended.problem.code == "out_of_memory", ended.problem
    assert "ulimit -v" in ended.problem.detail
    assert any(isinstance(event, MemoryExhausted) for event in events)


def test_that_a_tensor_that_could_not_be_copied_is_read_from_the_log(run: StartedRun) -> None:
    log = DUMP.format(name="GPU_2_bfc") + STATS.format(limit="4.00GiB", held="4.00GiB")

    shortage = read(run, InternalError("Dst tensor is not initialized."), log)

    assert (shortage.device_key, shortage.logical_device) == ("GPU-b", "/device:GPU:2")
    assert (shortage.asked_bytes, shortage.limit_bytes) == (1_342_177_280, 4 * GIB)


def test_that_nobody_is_blamed_for_a_copy_of_which_nobody_speaks(run: StartedRun) -> None:
    shortage = read(run, InternalError("Dst tensor is not initialized."))
    two = DUMP.format(name="GPU_0_bfc") + DUMP.format(name="GPU_1_bfc")

    assert (shortage.device_key, shortage.logical_device) == (None, None)
    assert read(run, InternalError("Dst tensor is not initialized."), two).device_key is None


COPIED = (
    "{{{{function_node __wrapped__AddV2_device_/job:localhost/replica:0/task:0/device:GPU:0}}}} "
    "Failed copying input tensor from /job:localhost/replica:0/task:0/device:{source} to "
    "/job:localhost/replica:0/task:0/device:{destination} in order to run AddV2: "
    "Dst tensor is not initialized."
)

RECEIVED = (
    "Graph execution error:\n\nDetected at node Update_3 defined at (most recent call last):\n"
    "<stack traces unavailable>\nSameWorkerRecvDone unable to allocate output tensor. Key: "
    "/job:localhost/replica:0/task:0/device:{source};bf049b2f480efd8f;"
    "/job:localhost/replica:0/task:0/device:{destination};edge_339_Func/while/_124;6315961604:0\n"
    "\t [[{{{{node Func/while/body/_1/input/_124/_52}}}}]]"
)


@pytest.mark.parametrize("source", ["GPU:0", "CPU:0"])
@pytest.mark.parametrize(
    ("words", "of_type"), [(COPIED, InternalError), (RECEIVED, ResourceExhaustedError)]
)
def test_that_the_device_is_full_that_a_tensor_was_to_be_copied_to(
    run: StartedRun, source: str, words: str, of_type: type[Exception]
) -> None:
    error = of_type(words.format(source=source, destination="GPU:1"))
    log = "".join(
        DUMP.format(name=name) + STATS.format(limit=limit, held=limit)
        for name, limit in (("GPU_0_bfc", "9.00GiB"), ("GPU_1_bfc", "4.00GiB"))
    )

    shortage = read(run, error, log)
    (problem,) = problems_of(error, run.plan)

    assert (shortage.device_key, shortage.logical_device) == ("GPU-b", "/device:GPU:1")
    assert (shortage.limit_bytes, shortage.held_bytes) == (4 * GIB, 4 * GIB)
    assert (
        problem.message == "The memory of B (/device:GPU:1) is not enough for this model and batch."
    )


def test_that_the_host_is_full_where_a_tensor_was_to_be_copied_to_it(run: StartedRun) -> None:
    error = InternalError(COPIED.format(source="GPU:0", destination="CPU:0"))

    assert read(run, error).device_key == "cpu"


def test_that_each_process_speaks_of_its_own_devices(run: StartedRun) -> None:
    """Both see one device, which TensorFlow calls GPU:0 in each; the cards are equal."""
    devices = [
        PlannedDevice(key=f"GPU-{place}", kind=DeviceKind.GPU, name="A100", index=0)
        for place in range(2)
    ]
    processes = tuple(
        PlannedProcess(role=ProcessRole.WORKER, index=place, devices=(device,))
        for place, device in enumerate(devices)
    )
    plan = run.plan.model_copy(update={"devices": tuple(devices), "processes": processes})

    (problem,) = problems_of(ResourceExhaustedError(words()), plan, place=1)

    assert "The memory of A100 #2 (/device:GPU:0)" in problem.message


def test_that_an_array_of_the_host_is_read(run: StartedRun) -> None:
    shortage = read(
        run,
        MemoryError(
            "Unable to allocate 4.00 GiB for an array with shape (1024, 1048576) and data type "
            "float32"
        ),
    )

    assert (shortage.device_key, shortage.asked_bytes) == ("cpu", 4 * GIB)
    assert (shortage.tensor_shape, shortage.tensor_type) == ((1024, 1_048_576), "float32")


def test_that_the_host_is_meant_where_a_run_on_gpus_lacks_its_memory(run: StartedRun) -> None:
    error = ResourceExhaustedError(words(name="mklcpu", device="CPU:0"))

    assert read(run, error).device_key == "cpu"


def test_that_a_shortage_is_seen_behind_another_error() -> None:
    error = RuntimeError("the step failed")
    error.__cause__ = ResourceExhaustedError(words())

    assert is_out_of_memory(error)
    assert is_out_of_memory(InternalError("Failed copying: Dst tensor is not initialized."))
    assert not is_out_of_memory(InternalError("something else"))


def test_that_a_message_too_long_for_the_channel_is_no_lack_of_memory() -> None:
    error = ResourceExhaustedError("Received message larger than max (5242880 vs. 4194304)")

    assert not is_out_of_memory(error)


@pytest.mark.slow
@pytest.mark.tensorflow
def test_that_a_real_run_reports_what_it_was_refused(
    tmp_path: Path, make_run: MakeRun, start_new_trainer: StartTrainer
) -> None:
    # Its weights want half a terabyte at once.
    vast = Profile(model=MlpModel(hidden=(WIDEST,)))
    trainer = start_new_trainer(
        make_run(tmp_path / "run", vast, [64]), TF_CPP_MIN_LOG_LEVEL="0", TF_ENABLE_ONEDNN_OPTS="1"
    )

    shortage = trainer.wait_for(MemoryExhausted)

    assert isinstance(shortage, MemoryExhausted)
    assert trainer.ended().problem is not None
    assert (shortage.device_key, shortage.logical_device) == ("cpu", "/device:CPU:0")
    assert (shortage.tensor_shape, shortage.tensor_type) == ((64, WIDEST), "float")
    assert shortage.asked_bytes == 64 * WIDEST * 4
    # TensorFlow's allocator of the host logs them as that of a GPU does.
    assert shortage.limit_bytes is not None
    assert shortage.held_bytes is not None
    assert shortage.held_bytes < shortage.limit_bytes
