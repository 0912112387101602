"""What is free of a device, and what of it others take, while something is tried there."""

import subprocess
import sys
from pathlib import Path

import pytest

from gpupanel.domain.device import CPU_KEY
from gpupanel.runs.supervision.memory.reading import KernelCounters
from gpupanel.runs.tools.batch_search.free_memory import memory_reader
from tests.nvml.standin import RTX_4090, TWO_UNEQUAL_GPUS, Standin

MIB = 2**20


def test_that_the_host_is_read_from_the_kernel() -> None:
    reader = memory_reader(CPU_KEY)
    now = reader.read()
    reader.close()
    assert now.free_mib is not None
    assert now.free_mib > 100
    assert now.others_mib is None


@pytest.mark.parametrize(
    ("group", "usage", "limit", "cgroup"),
    [
        ("run", "memory.current", "memory.max", "0::/run"),
        ("memory/run", "memory.usage_in_bytes", "memory.limit_in_bytes", "4:memory:/run"),
    ],
)
def test_that_a_control_group_counts_without_files_that_can_be_dropped(
    tmp_path: Path, group: str, usage: str, limit: str, cgroup: str
) -> None:
    proc, folder = tmp_path / "proc", tmp_path / "groups" / group
    for each in (proc / "7", folder):
        each.mkdir(parents=True)
    (proc / "7" / "cgroup").write_text(f"{cgroup}\n")
    (proc / "meminfo").write_text("MemTotal: 9000000 kB\nMemAvailable: 4000000 kB\n")
    counters = KernelCounters(proc, tmp_path / "groups")
    assert counters.available_to(7) == 4_000_000 * 1024
    (folder / limit).write_text(f"{1000 * MIB}\n")
    assert counters.available_to(7) == 1000 * MIB
    (folder / usage).write_text(f"{800 * MIB}\n")
    (folder / "memory.stat").write_text(f"anon 5\ninactive_file {100 * MIB}\n")
    assert counters.available_to(7) == 300 * MIB
    (folder / usage).write_text(f"{1800 * MIB}\n")
    assert counters.available_to(7) == 0
    (proc / "meminfo").unlink()
    (folder / limit).unlink()
    assert counters.available_to(7) is None


def test_that_memory_of_own_children_is_not_that_of_others(nvml_in_process: Standin) -> None:
    reader = memory_reader(RTX_4090.uuid)
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        # Process 1 is nobody's child here.
        nvml_in_process.tell(
            TWO_UNEQUAL_GPUS.with_gpu(
                0, memory_used_mib=6_000, compute=((child.pid, 4_000), (1, 1_500))
            )
        )
        now = reader.read()
        assert now.others_mib == 1_500
        assert now.free_mib is not None
        assert now.free_mib < RTX_4090.memory_total_mib - 6_000 + 1  # type: ignore[operator]
        gone = memory_reader("GPU-gone")
        assert gone.read().free_mib is None
        gone.close()
    finally:
        child.communicate(b"\n")
        reader.close()
