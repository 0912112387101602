"""GPUs that were lost before anybody asked: the driver counts them, the kernel may name them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpupanel.devices.gpus.lost_gpus import lost_gpus
from gpupanel.devices.gpus.registry import REFRESH_INTERVAL_S, GpuRegistry
from gpupanel.domain.device import LostGpu
from tests.nvml.standin import (
    NO_PERMISSION,
    RTX_3060,
    RTX_4090,
    TWO_UNEQUAL_GPUS,
    Standin,
)


class Clock:
    """A clock that a test winds."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def kernel_gpus(tmp_path: Path) -> Path:
    folder = tmp_path / "gpus"
    for gpu in (RTX_4090, RTX_3060):
        entry = folder / gpu.bus.removeprefix("0000").lower()
        entry.mkdir(parents=True)
        (entry / "information").write_text(f"Model: \t\t {gpu.name}\nIRQ:   \t\t 54\n")
    return folder


@pytest.fixture
def registry(nvml_in_process: Standin, clock: Clock, kernel_gpus: Path) -> Iterator[GpuRegistry]:
    registry = GpuRegistry(clock=clock, kernel_gpus=kernel_gpus)
    yield registry
    registry.close()


def _refresh(registry: GpuRegistry, clock: Clock) -> None:
    clock.now_s += REFRESH_INTERVAL_S
    registry.refresh()


NAMED = LostGpu(name="NVIDIA GeForce RTX 3060", pci_bus_id="0000:02:00.0")


def test_that_a_gpu_that_was_lost_before_is_named_by_the_kernel_and_comes_back(
    registry: GpuRegistry, nvml_in_process: Standin, clock: Clock
) -> None:
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(1, lost=True))
    for _ in range(3):
        _refresh(registry, clock)
        assert registry.lost_before == (NAMED,)
        assert [gpu.device.key for gpu in registry.gpus] == [RTX_4090.uuid]
    nvml_in_process.tell(TWO_UNEQUAL_GPUS)
    _refresh(registry, clock)
    assert registry.lost_before == ()
    assert len(registry.gpus) == 2


def test_that_the_only_gpu_may_be_the_lost_one(
    registry: GpuRegistry, nvml_in_process: Standin, clock: Clock
) -> None:
    state = TWO_UNEQUAL_GPUS.with_gpu(0, lost=True).with_gpu(1, lost=True)
    nvml_in_process.tell(state)
    _refresh(registry, clock)
    names = [gpu.name for gpu in registry.lost_before]
    assert names == ["NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 3060"]


def test_that_one_that_is_lost_later_is_known_and_not_counted_again(
    registry: GpuRegistry, nvml_in_process: Standin, clock: Clock
) -> None:
    _refresh(registry, clock)
    assert registry.lost_before == ()
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(1, lost=True))
    registry.lose(registry.gpus[1])
    for _ in range(3):
        assert registry.lost_before == ()
        _refresh(registry, clock)
    assert registry.gpus[1].nvml is None


def test_that_a_gpu_that_is_not_for_this_user_is_not_lost(
    registry: GpuRegistry, nvml_in_process: Standin, clock: Clock
) -> None:
    fail = {"nvmlDeviceGetUUID": NO_PERMISSION}
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(1, fail=fail))
    _refresh(registry, clock)
    assert registry.lost_before == ()
    registry.close()
    assert registry.lost_before == ()


def test_that_gpus_of_others_in_the_kernels_list_leave_the_lost_one_without_a_name(
    registry: GpuRegistry, nvml_in_process: Standin, clock: Clock, kernel_gpus: Path
) -> None:
    (kernel_gpus / "0000:09:00.0").mkdir()
    nvml_in_process.tell(TWO_UNEQUAL_GPUS.with_gpu(1, lost=True))
    _refresh(registry, clock)
    assert registry.lost_before == (LostGpu(),)


def test_that_what_the_kernel_writes_may_be_missing_damaged_or_long(tmp_path: Path) -> None:
    entry = tmp_path / "0000:02:00.0"
    entry.mkdir()
    (tmp_path / "not a bus id").mkdir()
    assert lost_gpus(1, tmp_path, ()) == (LostGpu(pci_bus_id=entry.name),)
    information = entry / "information"
    information.write_bytes(b"\xff" * 100_000)
    assert lost_gpus(1, tmp_path, ()) == (LostGpu(pci_bus_id=entry.name),)
    information.write_bytes(b"Model:\nIRQ: 4\n")
    assert lost_gpus(1, tmp_path, (None,)) == (LostGpu(pci_bus_id=entry.name),)
    information.write_bytes(b"Model: RTX\x1b[31m 9\n")
    assert lost_gpus(1, tmp_path, ())[0].name == r"RTX\x1b[31m 9"
    assert lost_gpus(10_000, tmp_path / "none", ()) == (LostGpu(),) * 64
