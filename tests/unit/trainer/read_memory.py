"""Reports the memory of two logical devices of the CPU as if they were those of a GPU."""

import sys
from pathlib import Path
from types import SimpleNamespace

import tensorflow as tf

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.plan import PlannedDevice
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.loop import memory_reports
from gpupanel.trainer.loop.memory_reports import MemoryReports

HELD = 64


def main(path: Path) -> None:
    original = memory_reports.tf.config.experimental.get_memory_info
    memory_reports.tf.config.experimental.get_memory_info = lambda name: original(
        name.replace("GPU:2", "CPU:0").replace("GPU", "CPU")
    )
    gpus = tuple(
        PlannedDevice(
            key=f"GPU-{index}",
            kind=DeviceKind.GPU,
            name="x",
            index=index,
            logical_limits_mib=(100, 100) if index == 0 else (),
        )
        for index in (1, 0)
    )
    cpu = PlannedDevice(key="cpu", kind=DeviceKind.CPU, name="x", index=0)
    now = [0.0]

    def reports(*devices: PlannedDevice) -> MemoryReports:
        run = SimpleNamespace(place=3, process=SimpleNamespace(devices=devices))
        return MemoryReports(run, events, clock=lambda: now[0])

    with EventWriter(path, leads=False) as events:
        of_gpus, of_cpu = reports(*gpus, cpu), reports(cpu)
        kept = tf.ones([HELD, 2**18])  # MiB
        for now[0] in (9.9, 10.0, 15.0, 20.0):
            of_gpus.report()
            of_cpu.report()
        of_gpus.report(now=True)
        of_cpu.report(now=True)
        del kept
        # An allocator that does not count raises; it is not asked again.
        asked = []

        def refuse(name: str) -> None:
            asked.append(name)
            raise ValueError("Allocator stats not available for device")

        memory_reports.tf.config.experimental.get_memory_info = refuse
        for now[0] in (30.0, 40.0):
            of_gpus.report()
        assert len(asked) == 1


if __name__ == "__main__":
    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
    )
    main(Path(sys.argv[1]))
