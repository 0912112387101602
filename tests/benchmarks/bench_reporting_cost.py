"""What reports and a checkpoint an epoch cost of the throughput: under 2 % is wanted.

One training of many epochs of 60,000 examples. In every other block of epochs nothing is reported,
saved or drawn for TensorBoard; the first epoch of a block is not counted, since the checkpoint
before it is still being written. Each block is held against the one before it, so that whatever
else the machine does meets both.
"""

import dataclasses
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
from bench_training_loop import CASES, ENVIRONMENT, learnable, plan_of, write_run
from typing_extensions import override

from gpupanel.domain.events import EpochDone, KnownEvent
from gpupanel.domain.outcome import Metrics
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.saving.position import Position

BLOCKS = {"dense": 24, "cnn": 8}
EPOCHS_A_BLOCK = {"dense": 5, "cnn": 3}
EXAMPLES = 60_000
BOUND = 2.0


class Switch:
    """Turns reports and checkpoints off in every other block, and notes when epochs ended."""

    def __init__(self, epochs_a_block: int) -> None:
        self.is_on = True
        self._epochs_a_block = epochs_a_block
        self._ended_s: list[float] = []

    def epoch_ended(self) -> None:
        """Note it, and turn at the end of a block."""
        self._ended_s.append(time.perf_counter())
        self.is_on = len(self._ended_s) // self._epochs_a_block % 2 == 0

    def cost_percent(self) -> float:
        """How much longer epochs take with everything than without."""
        took_s = [after - before for before, after in pairwise(self._ended_s)]
        size = self._epochs_a_block
        # The first block warms up; of each other its first epoch is left out.
        blocks = [
            statistics.mean(took_s[first + 1 : first + size])
            for first in range(size - 1, len(took_s) - size + 1, size)
        ]
        silent, loud = blocks[0::2], blocks[1::2]
        pairs = zip(loud, silent, strict=False)
        return 100.0 * (statistics.median(one / other for one, other in pairs) - 1.0)


def measure(name: str) -> None:
    """Train and print."""
    from gpupanel.trainer.datasets.source import Reading, read_data
    from gpupanel.trainer.datasets.split import split
    from gpupanel.trainer.device_configuration import configure_devices
    from gpupanel.trainer.interruptions import Interruptions
    from gpupanel.trainer.loop import loop
    from gpupanel.trainer.progress import TrainingRecord
    from gpupanel.trainer.saving.run_saving import Reason, Saving
    from gpupanel.trainer.saving.tensorboard import TensorBoardFiles
    from gpupanel.trainer.started_run import read_started_run
    from gpupanel.trainer.strategies.make_strategy import make_strategy
    from gpupanel.trainer.training import train

    switch = Switch(EPOCHS_A_BLOCK[name])

    class Events(EventWriter):
        @override
        def write(self, event: KnownEvent) -> None:
            if switch.is_on:
                super().write(event)
            if isinstance(event, EpochDone):
                switch.epoch_ended()

    class Checkpoints(Saving):
        @override
        def save_checkpoint(self, position: Position, reason: Reason) -> None:
            if switch.is_on:
                super().save_checkpoint(position, reason)

    class Board(TensorBoardFiles):
        @override
        def write_epoch(self, epoch: int, metrics: Metrics) -> None:
            if switch.is_on:
                super().write_epoch(epoch, metrics)

    loop.Saving, loop.TensorBoardFiles = Checkpoints, Board
    epochs = BLOCKS[name] * EPOCHS_A_BLOCK[name]
    case = dataclasses.replace(CASES[name], examples=EXAMPLES, epochs=epochs)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.npz"
        pixels, labels = learnable(case)
        np.savez(data, x=pixels, y=labels)
        layout = write_run(Path(folder) / "run", case, data)
        configure_devices(plan_of(case))
        run = read_started_run(layout)
        parts = split(
            read_data(run.profile.data, Reading(print)),
            run.profile.data,
            run.profile.training.seed,
        )
        with Events(layout.events) as events:
            interruptions = Interruptions(layout.requests, events)
            train(run, parts, events, interruptions, TrainingRecord(), make_strategy(run.plan))
    print(f"{case.title}: {switch.cost_percent():+.1f} %  (at most {BOUND:.0f} %)", flush=True)


def main() -> None:
    """Measure the cases, each in a process of its own."""
    if len(sys.argv) > 1:
        measure(sys.argv[1])
        return
    for name in BLOCKS:
        subprocess.run([sys.executable, __file__, name], env=ENVIRONMENT, check=True)


if __name__ == "__main__":
    main()
