"""The kernel's files about the two unequal GPUs of a machine that puts them to sleep."""

from pathlib import Path

from gpupanel.devices.gpus.registry import REFRESH_INTERVAL_S, GpuRegistry
from gpupanel.domain.pci import short_bus_id
from tests.nvml.standin import RTX_3060, RTX_4090, StandinGpu


class Laptop:
    """The kernel's files of two GPUs, and a clock that a test winds."""

    def __init__(self, folder: Path) -> None:
        self.kernel_gpus, self.pci_devices = folder / "gpus", folder / "devices"
        self.now_s = 100.0
        for gpu in (RTX_4090, RTX_3060):
            self.know(gpu, gpu.uuid)
            self.put(gpu, "active", control="auto")

    def clock(self) -> float:
        return self.now_s

    def know(self, gpu: StandinGpu, uuid: str) -> None:
        entry = self.kernel_gpus / short_bus_id(gpu.bus)
        entry.mkdir(parents=True, exist_ok=True)
        lines = (f"Model: \t\t {gpu.name}", f"GPU UUID: \t {uuid}", "")
        (entry / "information").write_text("\n".join(lines))

    def put(self, gpu: StandinGpu, status: str, *, control: str = "auto") -> None:
        power = self.pci_devices / short_bus_id(gpu.bus) / "power"
        power.mkdir(parents=True, exist_ok=True)
        (power / "runtime_status").write_text(f"{status}\n")
        (power / "control").write_text(f"{control}\n")

    def registry(self, *, wakes: bool = False) -> GpuRegistry:
        return GpuRegistry(
            clock=self.clock,
            kernel_gpus=self.kernel_gpus,
            pci_devices=self.pci_devices,
            wakes=wakes,
        )

    def wind(self, seconds: float = 2 * REFRESH_INTERVAL_S) -> None:
        self.now_s += seconds
