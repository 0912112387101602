"""What standing by costs, in processor time: windows, supervisors and commands, with their bounds.

Run with ``python tests/benchmarks/bench_standing.py``. The GPUs are eight of the stand-in NVML,
whose calls cost next to nothing. Percent are of one core, as the scheduler counts the time of a
process and of all its threads; seconds are those of a command with whatever it starts. Each figure
is the median of several; on a machine whose cores have much else to do all of them grow.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
import psutil  # noqa: E402

from tests.nvml.standin import EIGHT_GPUS, Standin, compile_library, compiler  # noqa: E402

BOUNDS = {
    "window with 8 GPUs and no run": (0.5, "% of a core"),
    "window that follows a fast run": (5.0, "% of a core"),
    "supervisor of that run": (0.5, "% of a core"),
    "`gpupanel run` that waits for it": (0.3, "% of a core"),
    "gpupanel --version": (0.3, "s"),
    "gpupanel devices": (0.4, "s"),
    "gpupanel check": (0.8, "s"),
}
SETTLED_S, SPAN_S, SPANS = 12.0, 5.0, 5
COMMANDS = 5
LONGEST_START_S = 90.0
FOLDERS = ("CONFIG", "STATE", "CACHE", "RUNS")
PROFILE = """
[devices]
visible = ["cpu"]
[data]
source = "npz"
path = "{path}"
[model]
source = "mlp"
hidden = [128]
[training]
epochs = 300
checkpoint_every_epochs = 0
"""
RUN = "fast"


def command(*arguments: str) -> list[str]:
    """The command that a person types."""
    return [sys.executable, "-P", "-m", "gpupanel", *arguments]


def used_s(process: psutil.Process) -> float:
    """Seconds of processor that a process has used with all its threads, also those that ended.

    By the clock of ``clock_getcpuclockid(3)``. The times of ``/proc/PID/stat`` come in hundredths
    of a second: too coarse here.
    """
    return time.clock_gettime(~process.pid << 3 | 2)


def percents(processes: list[psutil.Process]) -> list[float]:
    """What each takes of a core, the median of several spans."""
    found: list[list[float]] = []
    for _ in range(SPANS):
        before, begun_s = [*map(used_s, processes)], time.monotonic()
        time.sleep(SPAN_S)
        passed_s = time.monotonic() - begun_s
        found.append(
            [
                100.0 * (used_s(process) - used) / passed_s
                for process, used in zip(processes, before, strict=True)
            ]
        )
    return [statistics.median(each) for each in zip(*found, strict=True)]


def seconds_of(arguments: tuple[str, ...], environment: dict[str, str]) -> float:
    """Seconds of processor of a command and what it starts, the median of several."""
    found = []
    for _ in range(COMMANDS + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            command(*arguments), env=environment, cwd="/", capture_output=True, check=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return statistics.median(found[1:])  # the first one reads everything from the disk


@contextmanager
def started(arguments: tuple[str, ...], environment: dict[str, str]) -> Iterator[psutil.Process]:
    """A command while it goes on; it is terminated."""
    process = subprocess.Popen(
        command(*arguments),
        env=environment,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(timeout=30)


def wait_for(what: str, holds: Callable[[], bool]) -> None:
    """Wait until something holds; the benchmark ends where it never does."""
    end_s = time.monotonic() + LONGEST_START_S
    while not holds():
        if time.monotonic() > end_s:
            raise SystemExit(f"{what} did not begin")
        time.sleep(0.2)


def supervisor_of(run: Path) -> psutil.Process:
    """The process that looks after a run."""
    found = [
        each
        for each in psutil.process_iter(["cmdline"])
        if "gpupanel.runs.supervision.process" in (each.info["cmdline"] or ())
        and str(run) in each.info["cmdline"]
    ]
    if len(found) != 1:
        raise SystemExit(f"{len(found)} supervisors look after {run}")
    return found[0]


def standing_window(environment: dict[str, str]) -> list[float]:
    """What a window takes that shows eight GPUs, and nothing else goes on."""
    with started(("open",), environment) as window:
        time.sleep(2.0 * SETTLED_S)  # it looks at the data, and asks about the GPUs
        return percents([window])


def followed_run(environment: dict[str, str], folder: Path) -> list[float]:
    """What the window, the supervisor and the command take while a run trains."""
    data, profile = folder / "data.npz", folder / "profile.toml"
    random = np.random.default_rng(7)
    images = random.integers(0, 256, (60_000, 28, 28), np.uint8)
    np.savez(data, x=images, y=random.integers(0, 10, 60_000).astype(np.int32))
    profile.write_text(PROFILE.format(path=data), encoding="utf-8")
    run = Path(environment["GPUPANEL_RUNS_DIR"]) / RUN
    events = run / "events.jsonl"
    with ExitStack() as stack:
        waiting = stack.enter_context(
            started(("run", str(profile), "--run-name", RUN), environment)
        )
        stack.callback(
            subprocess.run, command("stop", RUN), env=environment, cwd="/", capture_output=True
        )
        wait_for("the run", lambda: events.exists() and "steps_done" in events.read_text())
        window = stack.enter_context(started(("open", str(run)), environment))
        time.sleep(SETTLED_S)
        return percents([window, supervisor_of(run), waiting])


def main() -> int:
    """Print the figures; 1 when a bound is exceeded."""
    if compiler() is None:
        print("no C compiler: the stand-in NVML cannot be built")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library = compile_library(folder / "library")
        standin = Standin(library, folder / "state.txt", EIGHT_GPUS)
        environment = {
            "QT_QPA_PLATFORM": "offscreen",
            **os.environ,
            **standin.environment,
            **{f"GPUPANEL_{each}_DIR": str(folder / each) for each in FOLDERS},
            "PYTHONPATH": str(ROOT),
        }
        example = str(ROOT / "resources" / "profiles" / "digits.toml")
        figures = [
            *standing_window(environment),
            *followed_run(environment, folder),
            seconds_of(("--version",), environment),
            seconds_of(("devices",), environment),
            seconds_of(("check", example), environment),
        ]
    exceeded = False
    for (what, (bound, unit)), figure in zip(BOUNDS.items(), figures, strict=True):
        mark = "" if figure <= bound else "  EXCEEDED"
        exceeded |= figure > bound
        print(f"{what + ':':<36}{figure:>6.2f} {unit} (bound {bound}){mark}")
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
