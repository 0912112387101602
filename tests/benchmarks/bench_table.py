"""A CSV table, imported and trained on, against ``pandas.read_csv`` and ``fit``.

``python bench_table.py [ROWS [ROUNDS]]``: 20 columns, of which one is a category and one is
predicted, 5 million rows unless told otherwise. Both start a Python of their own, ours through
launcher, supervisor and trainer with the rows left on disk, and train the same network for two
epochs on batches of 1,024. Whole seconds from the start to the end, the seconds of an epoch, and
the greatest anonymous memory of the process that trains (``RssAnon``, sampled). Rounds are
interleaved, each with an empty cache; each has a second run of ours that finds the import.
"""

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

sys.path.insert(0, str(Path(__file__).parents[2]))

from gpupanel.devices.sampler import DeviceSampler
from gpupanel.domain.data import TableData
from gpupanel.domain.events import EpochDone, RunEnded
from gpupanel.domain.model import MlpModel
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.prepare import prepare
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.launcher import launch

ROWS, ROUNDS, BATCH, EPOCHS = 5_000_000, 3, 1_024, 2
NUMBERS, BLOCK_ROWS = 18, 10_000
PLAIN = """
import sys, time
import pandas as pd
import keras
import numpy as np

table = pd.read_csv(sys.argv[1])
y = table.pop("y").to_numpy(np.float32)
x = pd.get_dummies(table, columns=["kind"]).to_numpy(np.float32)
del table
keras.utils.set_random_seed(1)
scale = keras.layers.Normalization()
scale.adapt(x)
model = keras.Sequential(
    [keras.Input(x.shape[1:]), scale, keras.layers.Dense(64, activation="relu"),
     keras.layers.Dense(1)]
)
model.compile("adam", "mse", steps_per_execution=16)
for _ in range({epochs}):
    start_s = time.perf_counter()
    model.fit(x, y, batch_size={batch}, epochs=1, verbose=0)
    print("epoch", time.perf_counter() - start_s, flush=True)
"""


@dataclass(frozen=True)
class Measured:
    """What one round took."""

    whole_s: float
    epoch_s: float
    anonymous_mib: float


def write_table(path: Path, rows: int, columns: int = NUMBERS) -> None:
    """Write blocks of rows over and over: the readers do not know."""
    random = np.random.default_rng(0)
    numbers = random.normal(0.0, 10.0, (BLOCK_ROWS, columns))
    kinds = random.integers(0, 5, BLOCK_ROWS)
    values = numbers.sum(axis=1) + kinds
    lines = (
        ",".join([*(f"{cell:.5f}" for cell in row), f"kind {kind}", f"{value:.4f}"])
        for row, kind, value in zip(numbers, kinds, values, strict=True)
    )
    block = "\n".join(lines) + "\n"
    with path.open("w") as file:
        file.write(",".join([*(f"x{place}" for place in range(columns)), "kind", "y"]) + "\n")
        for _ in range(rows // BLOCK_ROWS):
            file.write(block)


def anonymous_mib(process: psutil.Process) -> float:
    """Of the process and its children, the greatest."""
    found = [0.0]
    with contextlib.suppress(psutil.Error):
        for each in (process, *process.children(recursive=True)):
            with contextlib.suppress(OSError, psutil.Error, StopIteration):
                lines = Path(f"/proc/{each.pid}/status").read_text().splitlines()
                line = next(line for line in lines if line.startswith("RssAnon"))
                found.append(int(line.split()[1]) / 1024)
    return max(found)


def profile_of(path: Path) -> Profile:
    """The network of the plain script."""
    return Profile(
        devices=DeviceSettings(visible=("cpu",)),
        strategy=StrategySettings(kind=StrategyKind.ONE_DEVICE),
        data=TableData(path=str(path), target="y", cache="none"),
        model=MlpModel(hidden=(64,)),
        training=TrainingSettings(epochs=EPOCHS, global_batch_size=BATCH, tensorboard=False),
    )


def ours(path: Path, folder: Path) -> Measured:
    """Launch a run and follow it to its end."""
    profile = profile_of(path)
    with DeviceSampler() as sampler:
        plan = prepare(profile, sampler.inventory()).plan
    assert plan is not None
    start_s, most, epochs = time.perf_counter(), 0.0, []
    follower = RunFollower(launch(profile, plan, folder / "runs"))
    while True:
        most = max(most, anonymous_mib_of_trainer(folder))
        for event in follower.poll().events:
            if isinstance(event, EpochDone):
                epochs.append(event.seconds)
            if isinstance(event, RunEnded):
                if event.problem is not None:
                    raise SystemExit(f"the run failed: {event.problem}")
                whole_s = time.perf_counter() - start_s
                return Measured(whole_s, statistics.median(epochs), most)
        time.sleep(0.05)


def anonymous_mib_of_trainer(folder: Path) -> float:
    """Of the processes whose command names that folder of runs."""
    named = (each for each in psutil.process_iter(["cmdline"]))
    of_run = (each for each in named if str(folder) in " ".join(each.info["cmdline"] or ()))
    return max(map(anonymous_mib, of_run), default=0.0)


def plain(path: Path) -> Measured:
    """Run the plain script to its end."""
    start_s, most = time.perf_counter(), 0.0
    code = PLAIN.format(epochs=EPOCHS, batch=BATCH)
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "KERAS_BACKEND": "tensorflow"},
    ) as child:
        process = psutil.Process(child.pid)
        while child.poll() is None:
            most = max(most, anonymous_mib(process))
            time.sleep(0.05)
        assert child.stdout is not None
        epochs = [float(line.split()[1]) for line in child.stdout if line.startswith("epoch")]
    if child.returncode:
        raise SystemExit("the plain script failed; it needs pandas")
    return Measured(time.perf_counter() - start_s, statistics.median(epochs), most)


@contextlib.contextmanager
def empty_cache(folder: Path) -> Iterator[None]:
    """A cache of its own, in which nothing is."""
    with tempfile.TemporaryDirectory(dir=folder) as cache:
        os.environ["GPUPANEL_CACHE_DIR"] = cache
        yield


def show(name: str, rounds: list[Measured]) -> None:
    """Print medians."""
    whole, epoch, memory = (
        statistics.median(getattr(each, key) for each in rounds)
        for key in ("whole_s", "epoch_s", "anonymous_mib")
    )
    print(f"{name:28} {whole:7.1f} s whole {epoch:7.2f} s an epoch {memory:8.0f} MiB")


def main() -> None:
    """Print the medians of both, and of a run that finds its table imported."""
    told = [int(argument) for argument in sys.argv[1:]]
    rows, rounds = (*told, *(ROWS, ROUNDS)[len(told) :])
    here: list[Measured] = []
    again: list[Measured] = []
    there: list[Measured] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "table.csv"
        write_table(path, rows)
        print(f"{rows:,} rows x {NUMBERS + 2} columns, {path.stat().st_size / 2**20:,.0f} MiB")
        for _ in range(rounds):
            with empty_cache(folder):
                here.append(ours(path, folder))
                again.append(ours(path, folder))
            there.append(plain(path))
    show("gpupanel", here)
    show("gpupanel, imported before", again)
    show("pandas.read_csv and fit", there)


if __name__ == "__main__":
    main()
