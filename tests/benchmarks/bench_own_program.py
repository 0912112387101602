"""What the panel costs a program of a person's own; bound 1 % of its training.

The same program trains alone and under the panel in turns, several times, with steps of about one
and five milliseconds; it says itself which processor time its ``fit`` took. Beside it stands what
the run's own processes use meanwhile.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil

BOUND_PERCENT = 1.0
ROUNDS = 5
_PROGRAM = """
import sys, time, keras, numpy as np
units, epochs = int(sys.argv[1]), int(sys.argv[2])
x = np.random.default_rng(0).normal(size=(12_800, 64)).astype("float32")
model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(units, "relu")])
model.add(keras.layers.Dense(1))
model.compile("sgd", "mse", metrics=["mae"])
model.fit(x, x[:, 0], epochs=1, verbose=0)
begun, wall = time.process_time(), time.perf_counter()
model.fit(x, x[:, 0], epochs=epochs, verbose=0)
print("TOOK", time.process_time() - begun, time.perf_counter() - wall, flush=True)
"""
SIZES = {"steps of about 1 ms": (64, 12), "steps of about 5 ms": (4_096, 4)}


def alone(program: Path, arguments: list[str]) -> tuple[float, float]:
    done = subprocess.run(
        [sys.executable, program, *arguments], capture_output=True, text=True, check=True
    )
    return took(done.stdout)


def under_the_panel(program: Path, arguments: list[str], runs: Path) -> tuple[float, float, float]:
    """Processor and wall seconds of fit, and of the processes beside it in percent of a core."""
    command = [sys.executable, "-P", "-m", "gpupanel", "run", program, "--python", sys.executable]
    environment = {**os.environ, "GPUPANEL_RUNS_DIR": str(runs), "GPUPANEL_CONFIG_DIR": str(runs)}
    done = subprocess.run(
        [*command, "--json", "--detach", "--", *arguments],
        capture_output=True,
        env=environment,
        check=True,
    )
    layout = Path(json.loads(done.stdout)["run"])
    used: dict[int, float] = {}
    watched = subprocess.Popen(
        [sys.executable, "-P", "-m", "gpupanel", "watch", layout, "--json"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    while watched.poll() is None:
        for process in psutil.process_iter(["cmdline"]):
            words = process.info["cmdline"] or ()
            if str(layout) in words and "watch" not in words:
                with process.oneshot():
                    times = process.cpu_times()
                    used[process.pid] = times.user + times.system
        try:
            watched.wait(0.5)
        except subprocess.TimeoutExpired:
            continue
    processor_s, wall_s = took((layout / "trainer.log").read_text())
    return processor_s, wall_s, sum(used.values())


def took(text: str) -> tuple[float, float]:
    (line,) = (line for line in text.splitlines() if line.startswith("TOOK"))
    processor_s, wall_s = map(float, line.split()[1:])
    return processor_s, wall_s


def main() -> int:
    missed = 0
    with tempfile.TemporaryDirectory() as place:
        program = Path(place) / "train.py"
        program.write_text(_PROGRAM)
        for title, sizes in SIZES.items():
            arguments = [str(each) for each in sizes]
            costs, walls, beside = [], [], []
            for _ in range(ROUNDS):
                one = alone(program, arguments)
                other = under_the_panel(program, arguments, Path(place) / "runs")
                costs.append(100.0 * (other[0] / one[0] - 1.0))
                walls.append(100.0 * (other[1] / one[1] - 1.0))
                beside.append(other[2])
            cost = statistics.median(costs)
            missed += cost > BOUND_PERCENT
            print(
                f"{title}: {cost:+.1f} % of processor time of fit (each {_each(costs)}; bound "
                f"{BOUND_PERCENT:.0f} %), {statistics.median(walls):+.1f} % of its duration; the "
                f"run's own processes {statistics.median(beside):.1f} s of a processor, start and "
                "end included",
                flush=True,
            )
    return 1 if missed else 0


def _each(costs: list[float]) -> str:
    return ", ".join(f"{cost:+.1f}" for cost in costs)


if __name__ == "__main__":
    sys.exit(main())
