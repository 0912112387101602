"""One worker of a gang that trains several run directories, one after the other.

``python train_gang.py RUN_DIR...`` with ``TF_CONFIG`` and ``GPUPANEL_PROCESS``, as a supervisor
starts it. Each run gets a ``state-PLACE.npz``: what this worker's variables hold at the end, and,
where examples are read from disk, a ``read-PLACE``: how many.
"""

import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import tensorflow as tf

from gpupanel.domain.events import TrainingEnded
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.trainer import training
from gpupanel.trainer.datasets.examples import Array, Indices
from gpupanel.trainer.datasets.images.files import ImageFiles
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.interruptions import Interruptions
from gpupanel.trainer.learner import Learner, make_learner
from gpupanel.trainer.progress import TrainingRecord
from gpupanel.trainer.start_up import read_split, reading_for
from gpupanel.trainer.started_run import process_place, read_started_run
from tests.fakes.checked_files import as_checked

learners: list[Learner] = []
read: list[int] = []
read_files = ImageFiles.read_readable


def counted(files: ImageFiles, indices: Indices) -> tuple[Array, Mapping[int, ProblemError]]:
    read.append(len(indices))
    return read_files(files, indices)


def remembered_learner(*arguments: object) -> Learner:
    learners.append(make_learner(*arguments))
    return learners[-1]


def train_all(layouts: list[RunLayout]) -> None:
    training.make_learner = remembered_learner
    ImageFiles.read_readable = counted
    joined = None
    for layout in layouts:
        read.clear()
        run = read_started_run(layout, as_checked(layout))
        with EventWriter(layout.events, leads=run.leads) as events:
            joined = joined or training.prepare_devices(run, events)
            interruptions = Interruptions(layout.requests, events, leads=run.leads)
            parts = read_split(run, reading_for(run, print))
            record = TrainingRecord()
            training.train(run, parts, events, interruptions, record, joined)
            metrics, now_s = record.metrics, time.time()
            events.write(TrainingEnded(time_s=now_s, outcome=Outcome.COMPLETED, metrics=metrics))
        (layout.root / f"read-{run.place}").write_text(str(sum(read)))
        np.savez(layout.root / f"state-{run.place}.npz", **learners[-1].state())


def wait_for_the_others(folder: Path) -> None:
    """Until all are done: one may still have to fetch its part of the last sum from another."""
    (folder / f"done-{process_place()}").touch()
    while len(list(folder.glob("done-*"))) < count():
        time.sleep(0.05)


def count() -> int:
    return len(json.loads(os.environ["TF_CONFIG"])["cluster"]["worker"])


# Rewriting each graph before it is first run takes a sixth of the time of so short a training.
tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
layouts = [RunLayout(Path(argument)) for argument in sys.argv[1:]]
train_all(layouts)
wait_for_the_others(layouts[0].root)
sys.stdout.flush()
sys.stderr.flush()
os._exit(0)  # as the trainer does: TensorFlow waits for peers otherwise
