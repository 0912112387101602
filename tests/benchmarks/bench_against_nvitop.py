"""What one sample of eight GPUs costs, beside nvitop's ``Device.as_snapshot()`` of the same eight.

``python tests/benchmarks/bench_against_nvitop.py``. Both ask the same stand-in NVML in the same
process, block by block in turns; its calls cost next to nothing, so the figures are what each
program adds to the driver's own time. nvitop is no dependency: where it is not installed only
gpupanel is measured. To compare, put it into a folder of its own and name that:

    pip install --no-deps --target FOLDER nvitop
    NVITOP=FOLDER python tests/benchmarks/bench_against_nvitop.py
"""

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.nvml.machines import HOPPER  # noqa: E402
from tests.nvml.standin import Standin, StandinState, compile_library, compiler  # noqa: E402

RATE_HZ = 2.0
TARGET_PERCENT = 2.0
SAMPLES_A_BLOCK = 10
QUESTIONS = Path(__file__).with_name("nvitop_questions.c")

# In a child: LD_LIBRARY_PATH is read when a process starts.
MEASURED = """
import ctypes, json, sys, time
rounds, block, seconds, rate_hz = json.loads(sys.argv[1])
from gpupanel.devices.sampler import DeviceSampler
sampler = DeviceSampler()
assert len(sampler.inventory().gpus) == 8

def ours():
    sampler.inventory()
    sampler.sample()

programs = {"gpupanel, DeviceSampler": ours}
if sys.argv[2]:
    from nvitop import Device
    devices = Device.all()
    assert len(devices) == 8
    programs["nvitop, Device.as_snapshot()"] = lambda: [each.as_snapshot() for each in devices]

library = ctypes.CDLL("libnvidia-ml.so.1")
figures = {}
for name, sample in programs.items():
    sample()
    library.standin_reset_calls()
    sample()
    figures[name] = {"calls": library.standin_calls(b""), "cpu_ms": [], "wall_ms": []}
for number in range(rounds):
    turn = list(programs.items())
    for name, sample in turn if number % 2 else turn[::-1]:
        cpu, wall = time.process_time(), time.perf_counter()
        for _ in range(block):
            sample()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        figures[name]["cpu_ms"].append(cpu / block * 1e3)
        figures[name]["wall_ms"].append(wall / block * 1e3)
for name, sample in programs.items():
    begun, cpu = time.perf_counter(), time.process_time()
    while time.perf_counter() - begun < seconds:
        sample()
        time.sleep(1 / rate_hz)
    passed, cpu = time.perf_counter() - begun, time.process_time() - cpu
    figures[name]["core_percent"] = 100 * cpu / passed
sampler.close()
print(json.dumps(figures))
"""


def eight_busy_gpus() -> StandinState:
    """Eight equal GPUs that tell everything, each with a process."""
    return StandinState(
        gpus=tuple(
            replace(
                HOPPER,
                uuid=f"GPU-{index:08x}-cccc-4ccc-8ccc-0000000a0100",
                bus=f"00000000:{0x10 + index:02X}:00.0",
                compute=((os.getpid(), 60_000),),
            )
            for index in range(8)
        )
    )


def nvitop_folder() -> str:
    """Where nvitop can be imported from; empty where it cannot."""
    named = os.environ.get("NVITOP", "")
    if named:
        return named if (Path(named) / "nvitop").is_dir() else ""
    found = importlib.util.find_spec("nvitop")
    return "" if found is None or found.origin is None else str(Path(found.origin).parents[1])


def measure(rounds: int, seconds: float, nvitop: str) -> dict[str, dict[str, object]]:
    """Figures by program, measured in a child."""
    with tempfile.TemporaryDirectory() as folder:
        library = compile_library(Path(folder) / "library", more=(QUESTIONS,))
        standin = Standin(library, Path(folder) / "state.txt", eight_busy_gpus())
        numbers = json.dumps([rounds, SAMPLES_A_BLOCK, seconds, RATE_HZ])
        answer = subprocess.run(
            [sys.executable, "-c", MEASURED, numbers, nvitop],
            cwd=ROOT,
            env=os.environ | standin.environment | {"PYTHONPATH": nvitop},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    figures: dict[str, dict[str, object]] = json.loads(answer.stdout)
    return figures


def main() -> int:
    """Print the figures; 1 when a sample twice a second costs more than the target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30, help="blocks of each program")
    parser.add_argument("--seconds", type=float, default=10.0, help="at two samples a second")
    arguments = parser.parse_args()
    if compiler() is None:
        print("no C compiler: the stand-in NVML cannot be built")
        return 0
    nvitop = nvitop_folder()
    figures = measure(arguments.rounds, arguments.seconds, nvitop)
    heads = ("NVML calls", "cpu ms", "10-90 %", "wall ms", "% core 2 Hz")
    print(f"{'one sample of 8 GPUs':<30}" + "".join(f"{head:>14}" for head in heads))
    for name, measured in figures.items():
        cpu, wall = measured["cpu_ms"], measured["wall_ms"]
        tenths = statistics.quantiles(cpu, n=10)
        print(
            f"{name:<30}{measured['calls']:>14}{statistics.median(cpu):>14.3f}"
            f"{f'{tenths[0]:.2f}-{tenths[-1]:.2f}':>14}{statistics.median(wall):>14.3f}"
            f"{measured['core_percent']:>14.2f}"
        )
    if not nvitop:
        print("nvitop was not found. To compare: pip install --no-deps --target FOLDER nvitop,")
        print(f"then NVITOP=FOLDER python {Path(__file__).relative_to(ROOT)}")
    percent = next(iter(figures.values()))["core_percent"]
    verdict = "met" if percent < TARGET_PERCENT else "MISSED"
    print("gpupanel's also names processes, reads the host, and looks for GPUs that come or go;")
    print(f"% core: measured over {arguments.seconds:.0f} s at two samples a second;")
    print(f"target of gpupanel below {TARGET_PERCENT:.0f} %: {verdict}")
    return 0 if percent < TARGET_PERCENT else 1


if __name__ == "__main__":
    sys.exit(main())
