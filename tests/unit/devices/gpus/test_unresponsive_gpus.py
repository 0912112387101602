"""GPUs that the driver counts and that do not answer: what they are, what came back, what to do."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpupanel.devices.gpus.introductions import SILENT_S
from gpupanel.devices.gpus.registry import REFRESH_INTERVAL_S, GpuRegistry
from gpupanel.devices.gpus.unresponsive_gpus import named_by_kernel
from gpupanel.devices.slow_calls import SlowCallThreads
from gpupanel.domain.device import UnresponsiveGpu
from gpupanel.domain.gpu_failure import NO_ANSWER, GpuFailure
from tests.fakes.clock import Clock
from tests.nvml.standin import (
    GPU_IS_LOST,
    INSUFFICIENT_POWER,
    NO_PERMISSION,
    RTX_3060,
    RTX_4090,
    TWO_UNEQUAL_GPUS,
    UNKNOWN,
    Standin,
    StandinState,
)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def kernel_gpus(tmp_path: Path) -> Path:
    folder = tmp_path / "gpus"
    for gpu in (RTX_4090, RTX_3060):
        entry = folder / gpu.bus.removeprefix("0000").lower()
        entry.mkdir(parents=True)
        (entry / "information").write_text(
            f"Model: \t\t {gpu.name}\nIRQ:   \t\t 54\nGPU UUID: \t {gpu.uuid}\n"
        )
    return folder


@pytest.fixture
def registry(nvml_in_process: Standin, clock: Clock, kernel_gpus: Path) -> Iterator[GpuRegistry]:
    registry = GpuRegistry(clock=clock, kernel_gpus=kernel_gpus)
    yield registry
    registry.close()


def _refresh(registry: GpuRegistry, clock: Clock) -> None:
    clock.now_s += REFRESH_INTERVAL_S
    registry.refresh()


NAMED = UnresponsiveGpu(
    failure=GpuFailure(said="GPU is lost", code=GPU_IS_LOST),
    index=1,
    name="NVIDIA GeForce RTX 3060",
    pci_bus_id="0000:02:00.0",
    key=RTX_3060.uuid,
)


def _fails(function: str, code: int) -> StandinState:
    return TWO_UNEQUAL_GPUS.with_gpu(1, fail={function: code})


def test_that_a_gpu_that_was_lost_before_is_named_by_the_kernel_and_comes_back(
    registry: GpuRegistry, nvml_in_process: Standin, clock: Clock
) -> None:
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(1, lost=True))
    for _ in range(3):
        _refresh(registry, clock)
        assert registry.unresponsive == (NAMED,)
        assert [gpu.device.key for gpu in registry.gpus] == [RTX_4090.uuid]
    nvml_in_process.tell(TWO_UNEQUAL_GPUS)
    _refresh(registry, clock)
    assert registry.unresponsive == ()
    assert len(registry.gpus) == 2


def test_that_the_only_gpu_may_be_the_lost_one(
    registry: GpuRegistry, nvml_in_process: Standin, clock: Clock
) -> None:
    state = TWO_UNEQUAL_GPUS.with_gpu(0, lost=True).with_gpu(1, lost=True)
    nvml_in_process.tell(state)
    _refresh(registry, clock)
    names = [gpu.name for gpu in registry.unresponsive]
    assert names == ["NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 3060"]


def test_that_one_that_is_lost_later_is_known_and_not_counted_again(
    registry: GpuRegistry, nvml_in_process: Standin, clock: Clock
) -> None:
    _refresh(registry, clock)
    assert registry.unresponsive == ()
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(1, lost=True))
    registry.lose(registry.gpus[1], NAMED.failure)
    for _ in range(3):
        assert registry.unresponsive == ()
        _refresh(registry, clock)
    assert registry.gpus[1].nvml is None
    assert registry.gpus[1].failure == NAMED.failure


@pytest.mark.parametrize(
    ("code", "said", "advice"),
    [
        (INSUFFICIENT_POWER, "Insufficient External Power", "plug in the power cables"),
        (GPU_IS_LOST, "GPU is lost", "Restart the machine"),
        (16, "GPU requires restart", "nvidia-smi --gpu-reset"),
        (11, "Interrupt Request Issue", "another slot"),
        (UNKNOWN, "Unknown Error", "restart the container"),
    ],
)
@pytest.mark.parametrize("function", ["nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetUUID"])
def test_that_a_gpu_that_answers_with_an_error_says_which_and_what_to_do(
    registry: GpuRegistry,
    nvml_in_process: Standin,
    clock: Clock,
    function: str,
    code: int,
    said: str,
    advice: str,
) -> None:
    nvml_in_process.tell(_fails(function, code))
    _refresh(registry, clock)
    (gpu,) = registry.unresponsive
    assert (gpu.failure.said, gpu.failure.code, gpu.index) == (said, code, 1)
    assert gpu.failure.words == f"the driver says: {said} (NVML error {code})"
    assert advice in gpu.failure.advice
    assert gpu.title == "NVIDIA GeForce RTX 3060 at 0000:02:00.0"
    assert gpu.is_meant_by(RTX_3060.uuid)
    assert [each.device.key for each in registry.gpus] == [RTX_4090.uuid]


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("function", ["nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetUUID"])
def test_that_a_gpu_whose_driver_never_comes_back_holds_up_no_other_and_is_said_to_be_silent(
    nvml_in_process: Standin, clock: Clock, kernel_gpus: Path, function: str, place: int
) -> None:
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(place, hangs=function))
    threads = SlowCallThreads(0.1)
    registry = GpuRegistry(clock=clock, kernel_gpus=kernel_gpus, make_calls=threads.make_calls)
    other = TWO_UNEQUAL_GPUS.gpus[1 - place].uuid
    _refresh(registry, clock)
    assert threads.wait_until(lambda: [g.device.key for g in registry.gpus] == [other], 10.0)
    assert registry.unresponsive == ()
    clock.now_s += SILENT_S
    _refresh(registry, clock)
    (silent,) = registry.unresponsive
    assert (silent.key, silent.failure) == (TWO_UNEQUAL_GPUS.gpus[place].uuid, NO_ANSWER)

    nvml_in_process.tell(TWO_UNEQUAL_GPUS)
    assert threads.wait_until(lambda: len(registry.gpus) == 2, 10.0)
    assert threads.wait_until(lambda: registry.unresponsive == (), 10.0)
    registry.close()
    threads.close(5.0)


def test_that_a_uuid_that_is_none_leaves_the_gpu_where_the_driver_says_it_is(
    registry: GpuRegistry, nvml_in_process: Standin, clock: Clock, kernel_gpus: Path
) -> None:
    # Beside one of others, so that the kernel's list alone does not tell.
    (kernel_gpus / "0000:09:00.0").mkdir()
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(1, uuid="GPU \x1b[31m"))
    _refresh(registry, clock)
    (gpu,) = registry.unresponsive
    assert gpu.title == "NVIDIA GeForce RTX 3060 at 0000:02:00.0"
    assert gpu.failure.code is None
    assert "is not a UUID" in gpu.failure.words
    assert "\x1b" not in gpu.failure.words


@pytest.mark.parametrize("function", ["nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetUUID"])
def test_that_a_gpu_that_is_not_for_this_user_is_not_lost(
    registry: GpuRegistry, nvml_in_process: Standin, clock: Clock, function: str
) -> None:
    nvml_in_process.tell(_fails(function, NO_PERMISSION))
    _refresh(registry, clock)
    assert registry.unresponsive == ()
    assert len(registry.gpus) == 1
    registry.close()
    assert registry.unresponsive == ()


def test_that_gpus_of_others_in_the_kernels_list_leave_the_lost_one_with_its_number_alone(
    registry: GpuRegistry, nvml_in_process: Standin, clock: Clock, kernel_gpus: Path
) -> None:
    (kernel_gpus / "0000:09:00.0").mkdir()
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(1, lost=True))
    _refresh(registry, clock)
    (gpu,) = registry.unresponsive
    assert (gpu.title, gpu.key, gpu.pci_bus_id) == ("GPU 1", None, None)
    assert gpu.is_meant_by("1")
    assert not gpu.is_meant_by(RTX_3060.uuid)


def test_that_what_the_kernel_writes_may_be_missing_damaged_or_long(tmp_path: Path) -> None:
    entry = tmp_path / "0000:02:00.0"
    entry.mkdir()
    (tmp_path / "not a bus id").mkdir()
    gpu = UnresponsiveGpu(failure=NO_ANSWER)
    placed = gpu.model_copy(update={"pci_bus_id": entry.name})
    assert named_by_kernel([gpu], tmp_path, ()) == (placed,)
    information = entry / "information"
    information.write_bytes(b"\xff" * 100_000)
    assert named_by_kernel([gpu], tmp_path, ()) == (placed,)
    information.write_bytes(b"Model:\nIRQ: 4\nGPU UUID: \t GPU-????????-????-????-????????????\n")
    assert named_by_kernel([gpu], tmp_path, (None,)) == (placed,)
    information.write_bytes(b"Model: RTX\x1b[31m 9\n")
    assert named_by_kernel([gpu], tmp_path, ())[0].name == r"RTX\x1b[31m 9"
    assert named_by_kernel([gpu] * 10_000, tmp_path / "none", ()) == (gpu,) * 64
