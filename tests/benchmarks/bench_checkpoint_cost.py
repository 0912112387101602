"""What checkpoints cost: the share of the training time that is spent on them.

One training without end of a network of realistic size, in one process. Blocks of steps take
turns: in every other one a checkpoint is saved at its beginning and written beside the steps. Each
block is held against the one before it, so that whatever else the machine does meets both. What a
checkpoint costs is the time that its block takes longer; from that follows the share of the
training time for checkpoints so far apart.

    python tests/benchmarks/bench_checkpoint_cost.py            every size
    python tests/benchmarks/bench_checkpoint_cost.py large
"""

import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from bench_training_loop import ENVIRONMENT, Case, learnable, plan_of, write_run
from typing_extensions import override

from gpupanel.domain.events import CheckpointSaved, KnownEvent
from gpupanel.domain.model import CnnModel, MlpModel
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.interruptions import Interruption, Interruptions

CASES = {
    "small": Case("784-128-10, batch 64", MlpModel(hidden=(128,)), (784,), 60_000, 64),
    "convolutions": Case(
        "CNN 28x28, 32-64 filters, 256 units, batch 64",
        CnnModel(filters=(32, 64), hidden=(256,)),
        (28, 28, 1),
        9_600,
        64,
    ),
    "large": Case(
        "784-2048-2048-10, batch 256", MlpModel(hidden=(2048, 2048)), (784,), 20_000, 256
    ),
}
BLOCKS = 24
BLOCK_S = {"small": 2.0, "convolutions": 3.0, "large": 6.0}
"""Longer than a checkpoint takes to be written."""
APART_S = {"every 10 s": 10.0, "every minute": 60.0, "every 10 minutes": 600.0}


@dataclass
class Blocks:
    """When blocks began and ended, and how many steps they did."""

    seconds_a_step: list[float] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)

    def cost_s(self) -> list[float]:
        """By how much longer a block took for its checkpoint than those beside it would have.

        The first two warm up; those with a checkpoint have odd numbers.
        """
        return [
            (
                self.seconds_a_step[place]
                - (self.seconds_a_step[place - 1] + self.seconds_a_step[place + 1]) / 2.0
            )
            * self.steps[place]
            for place in range(3, len(self.steps) - 1, 2)
        ]


class Turns(Interruptions):
    """Asks for a checkpoint at the beginning of every other block, and notes what blocks did."""

    def __init__(self, events: "Watch", requests: Path, block_s: float) -> None:
        super().__init__(requests, events)
        self.blocks = Blocks()
        self._watch = events
        self._block_s = block_s
        self._began_s = time.perf_counter()
        self._first_step = 0

    @override
    def pending(self) -> Interruption | None:
        now_s = time.perf_counter()
        steps = self._watch.steps - self._first_step
        # A block ends when its checkpoint is written, too.
        if now_s - self._began_s < self._block_s or not steps or self._watch.is_writing:
            return None
        self.blocks.seconds_a_step.append((now_s - self._began_s) / steps)
        self.blocks.steps.append(steps)
        self._began_s, self._first_step = now_s, self._watch.steps
        if len(self.blocks.steps) == BLOCKS:
            return Interruption.STOP
        saves = len(self.blocks.steps) % 2 == 1
        self._watch.is_writing = saves
        return Interruption.CHECKPOINT if saves else None


class Watch(EventWriter):
    """Counts steps and keeps what was told of checkpoints."""

    steps = 0
    is_writing = False

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.saved: list[CheckpointSaved] = []

    @override
    def write(self, event: KnownEvent) -> None:
        super().write(event)
        if isinstance(event, CheckpointSaved):
            self.saved.append(event)
            self.is_writing = False


def measure(name: str) -> None:
    """Train and print."""
    from gpupanel.trainer.datasets.source import Reading, read_data
    from gpupanel.trainer.datasets.split import split
    from gpupanel.trainer.device_configuration import configure_devices
    from gpupanel.trainer.loop import loop
    from gpupanel.trainer.loop.calls_in_flight import FinishedCall
    from gpupanel.trainer.progress import TrainingRecord
    from gpupanel.trainer.started_run import read_started_run
    from gpupanel.trainer.strategies.make_strategy import make_strategy
    from gpupanel.trainer.training import train

    class Counting(loop.TrainingLoop):
        """Tells each call's steps: events come at most 20 times a second."""

        @override
        def _add(self, finished: FinishedCall, took_s: float) -> None:
            super()._add(finished, took_s)
            watch.steps += finished.sums.steps

    case = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.npz"
        pixels, labels = learnable(case)
        np.savez(data, x=pixels, y=labels)
        layout = write_run(Path(folder) / "run", case, data)
        configure_devices(plan_of(case))
        run = read_started_run(layout)
        training = run.profile.training.model_copy(
            update={"epochs": 100_000, "checkpoint_every_epochs": 0}
        )
        run = type(run)(layout, run.profile.model_copy(update={"training": training}), run.plan)
        parts = split(read_data(run.profile.data, Reading(print)), run.profile.data, 7)
        import gpupanel.trainer.training as module

        module.TrainingLoop = Counting
        with Watch(layout.events) as watch:
            turns = Turns(watch, layout.requests, BLOCK_S[name])
            train(run, parts, watch, turns, TrainingRecord(), make_strategy(run.plan))
        newest = layout.root / watch.saved[-1].path
        size_mib = sum(path.stat().st_size for path in newest.iterdir()) / 2**20
    tell(case, size_mib, watch.saved[:-1], turns.blocks.cost_s())


def tell(case: Case, size_mib: float, saved: list[CheckpointSaved], cost_s: list[float]) -> None:
    """Print a case."""
    stalled_s = statistics.median(one.stalled_s for one in saved)
    written_s = statistics.median(one.seconds for one in saved)
    cost = statistics.median(cost_s)
    print(f"{case.title}: a checkpoint of {size_mib:,.1f} MiB")
    print(f"  training stood still {1000.0 * stalled_s:,.1f} ms (median of {len(saved)})")
    print(f"  written within {written_s:,.2f} s")
    quarters = statistics.quantiles(cost_s, n=4)
    print(
        f"  cost {1000.0 * cost:,.0f} ms of training time "
        f"(half of them {1000.0 * quarters[0]:,.0f} to {1000.0 * quarters[2]:,.0f} ms)"
    )
    for name, apart_s in APART_S.items():
        most = 100.0 * written_s / apart_s
        print(
            f"  {name}: {100.0 * cost / apart_s:+.2f} % of the training time (on a busy machine "
            f"that is noise; {most:.2f} % if nothing went on while it is written)"
        )
    sys.stdout.flush()


def main() -> None:
    """Measure the cases, each in a process of its own."""
    if len(sys.argv) == 3 and sys.argv[1] == "--here":
        measure(sys.argv[2])
        return
    for name in sys.argv[1:] or CASES:
        subprocess.run([sys.executable, __file__, "--here", name], env=ENVIRONMENT, check=True)


if __name__ == "__main__":
    main()
