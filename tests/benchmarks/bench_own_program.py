"""What the panel costs a program of a person's own; bound 1 % of its training.

A program under the panel trains by Keras's ``fit``, watched and as Keras has it, in turns of less
than a second: what the machine does else meets both. The cost is the median of these pairs, with
the interval that holds it in 95 of 100 such measurements (bootstrap). Beside it stands what the
run's own processes use of a processor meanwhile.
"""

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import psutil

BOUND_PERCENT = 1.0
PAIRS = 200
"""A single pair differs by 4 %: the median of these by 0.6 %."""
_RESAMPLED = 2_000
_PROGRAM = """
import json, sys, time, keras, numpy as np
units, examples, pairs = map(int, sys.argv[1:])
x = np.random.default_rng(0).normal(size=(examples, 64)).astype("float32")
model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(units, "relu")])
model.add(keras.layers.Dense(1))
model.compile("sgd", "mse", metrics=["mae"])
fits = [type(model).fit, type(model).fit.__wrapped__]
for fit in fits:
    fit(model, x, x[:, 0], verbose=0)
found, began = [], time.perf_counter()
for pair in range(pairs):
    took = {}
    for fit in fits if pair % 2 else fits[::-1]:
        begun = time.process_time()
        fit(model, x, x[:, 0], verbose=0)
        took[fit] = time.process_time() - begun
    found.append([took[fit] for fit in fits])
print("TOOK", json.dumps([found, time.perf_counter() - began]), flush=True)
"""
SIZES = {"steps of about 1 ms": (64, 12_800), "steps of about 5 ms": (4_096, 3_200)}


@dataclass(frozen=True)
class Measured:
    """Of one program.

    Attributes:
        costs: Of each pair, in percent of what Keras's own ``fit`` took.
        beside: Processor of the run's own processes while it trained, percent of a core.
    """

    costs: list[float]
    beside: float

    @property
    def interval(self) -> tuple[float, float]:
        """Where the median of such pairs lies."""
        draw = random.Random(0)
        count = len(self.costs)
        medians = sorted(
            statistics.median(draw.choices(self.costs, k=count)) for _ in range(_RESAMPLED)
        )
        return medians[_RESAMPLED // 40], medians[-_RESAMPLED // 40]


def measured(program: Path, arguments: list[str], runs: Path) -> Measured:
    """Run it under the panel."""
    command = [sys.executable, "-P", "-m", "gpupanel", "run", program, "--python", sys.executable]
    environment = {**os.environ, "GPUPANEL_RUNS_DIR": str(runs), "GPUPANEL_CONFIG_DIR": str(runs)}
    done = subprocess.run(
        [*command, "--json", "--detach", "--", *arguments],
        capture_output=True,
        env=environment,
        check=True,
    )
    layout = Path(json.loads(done.stdout)["run"])
    used: dict[int, tuple[float, float]] = {}
    watched = subprocess.Popen(
        [sys.executable, "-P", "-m", "gpupanel", "watch", layout, "--json"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    while watched.poll() is None:
        for process in psutil.process_iter(["cmdline"]):
            words = process.info["cmdline"] or ()
            if str(layout) in words and "watch" not in words and str(program) not in words:
                times = process.cpu_times()
                now_s = times.user + times.system
                used[process.pid] = used.get(process.pid, (now_s, now_s))[0], now_s
        try:
            watched.wait(0.5)
        except subprocess.TimeoutExpired:
            continue
    log = (layout / "trainer.log").read_text()
    (line,) = (line for line in log.splitlines() if line.startswith("TOOK"))
    pairs, wall_s = json.loads(line.removeprefix("TOOK "))
    costs = [100.0 * (watched_s / plain_s - 1.0) for watched_s, plain_s in pairs]
    return Measured(costs, 100.0 * sum(end - begin for begin, end in used.values()) / wall_s)


def main() -> int:
    missed = 0
    with tempfile.TemporaryDirectory() as place:
        program = Path(place) / "train.py"
        program.write_text(_PROGRAM)
        for title, sizes in SIZES.items():
            arguments = [str(each) for each in (*sizes, PAIRS)]
            found = measured(program, arguments, Path(place) / "runs")
            cost, (low, high) = statistics.median(found.costs), found.interval
            missed += cost > BOUND_PERCENT
            print(
                f"{title}: {cost:+.2f} % of the processor time of fit ({low:+.2f} to {high:+.2f}, "
                f"{PAIRS} pairs; bound {BOUND_PERCENT:.0f} %); the run's own processes "
                f"{found.beside:.2f} % of a core",
                flush=True,
            )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
