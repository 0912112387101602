"""What it costs to watch devices: construct, sample, and the share of one core at 2 Hz.

``python tests/benchmarks/bench_sampler.py``. GPUs are those of the stand-in NVML, whose calls
cost next to nothing, so the figures are what gpupanel and pynvml add to the driver's own time.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.nvml.standin import (  # noqa: E402
    EIGHT_GPUS,
    STATE_VARIABLE,
    TWO_UNEQUAL_GPUS,
    Standin,
    compile_library,
    compiler,
)

SAMPLES = 400
RATE_HZ = 2.0

# In a child: LD_LIBRARY_PATH is read when a process starts, and imports are counted from cold.
MEASURED = """
import os, sys, time
samples = int(sys.argv[1])
import psutil
import gpupanel.domain.device
start = time.perf_counter()
from gpupanel.devices.sampler import DeviceSampler
imported = time.perf_counter()
sampler = DeviceSampler()
constructed = time.perf_counter()
inventory = sampler.inventory()
sampler.sample()
first = time.perf_counter()
cpu = time.process_time()
for _ in range(samples):
    sampler.sample()
cpu, wall = time.process_time() - cpu, time.perf_counter() - first
sampler.close()
print(len(inventory.gpus), imported - start, constructed - imported, first - constructed,
      cpu / samples, wall / samples)
"""


def measure(label: str, environment: dict[str, str]) -> None:
    """Print one line of figures."""
    answer = subprocess.run(
        [sys.executable, "-c", MEASURED, str(SAMPLES)],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    gpus, imported, constructed, first, cpu, wall = map(float, answer.stdout.split())
    print(
        f"{label:<22}{gpus:>4.0f}{imported * 1e3:>12.1f}{constructed * 1e3:>12.2f}"
        f"{first * 1e3:>12.2f}{cpu * 1e3:>12.3f}{wall * 1e3:>12.3f}{cpu * RATE_HZ * 100:>12.2f}"
    )


def main() -> None:
    """Measure without a driver, with two and with eight GPUs."""
    heads = ("import ms", "construct ms", "first ms", "cpu/sample", "wall/sample", "% core 2 Hz")
    print(f"{'devices':<22}{'gpus':>4}" + "".join(f"{head:>12}" for head in heads))
    measure("as this machine is", {})
    if compiler() is None:
        print("no C compiler: the stand-in NVML cannot be built")
        return
    with tempfile.TemporaryDirectory() as folder:
        library = compile_library(Path(folder) / "library")
        standin = Standin(library, Path(folder) / "state.txt", TWO_UNEQUAL_GPUS)
        measure("two (stand-in)", standin.environment)
        standin.tell(EIGHT_GPUS)
        measure("eight (stand-in)", standin.environment)
        no_driver = standin.environment | {STATE_VARIABLE: str(Path(folder) / "nothing")}
        measure("driver not loaded", no_driver)


if __name__ == "__main__":
    main()
