"""Trains run directories one after the other, each from the last checkpoint of the one before.

``python train_chain.py RUN_DIR...``: all but the last two are stopped after some calls; the last
two train to their end, the last one from its beginning. Devices are configured once, for three
replicas and for three places of layers.
"""

import shutil
import sys
from pathlib import Path

from typing_extensions import override

from gpupanel.domain.run_layout import RunLayout
from gpupanel.trainer import training
from gpupanel.trainer.datasets.source import Reading, read_data
from gpupanel.trainer.datasets.split import split
from gpupanel.trainer.device_configuration import configure_devices
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.interruptions import Interruption, Interruptions
from gpupanel.trainer.progress import TrainingRecord
from gpupanel.trainer.started_run import read_started_run
from tests.fakes.checked_files import as_checked

_CALLS = 2


class StoppedSoon(Interruptions):
    """Asked to stop after two calls, of one step and of at most four."""

    looks = 0

    @override
    def ending(self) -> Interruption | None:
        self.looks += 1
        return Interruption.STOP if self.looks > _CALLS else None


def train(layout: RunLayout, *, to_the_end: bool) -> None:
    run = read_started_run(layout, as_checked(layout))
    data = read_data(run.profile.data, Reading(print))
    parts = split(data, run.profile.data, run.profile.training.seed)
    with EventWriter(layout.events) as events:
        kind = Interruptions if to_the_end else StoppedSoon
        training.train(run, parts, events, kind(layout.requests, events), TrainingRecord())


layouts = [RunLayout(Path(argument)) for argument in sys.argv[1:]]
segments, undisturbed = layouts[:-1], layouts[-1]
plans = [read_started_run(segment).plan for segment in segments]
configure_devices(max(plans, key=lambda plan: len(plan.replicas)))
before: RunLayout | None = None
for segment in segments:
    if before is not None:
        shutil.copytree(before.checkpoints, segment.checkpoints)
    train(segment, to_the_end=segment is segments[-1])
    before = segment
train(undisturbed, to_the_end=True)
