"""Builds and trains a model on configured devices and data that was read."""

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import numpy as np
import tensorflow as tf

from gpupanel.domain.event_details import names_for_event
from gpupanel.domain.events import (
    DataReady,
    LayersPlaced,
    ModelReady,
    Phase,
    ProblemReported,
)
from gpupanel.domain.problem import Problem
from gpupanel.domain.strategy import StrategyKind
from gpupanel.trainer.datasets.split import Split
from gpupanel.trainer.device_configuration import configure_devices, report_devices
from gpupanel.trainer.device_log import DeviceLog
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.interruptions import Interruption, Interruptions
from gpupanel.trainer.learner import Learner, make_learner
from gpupanel.trainer.loop.loop import TrainingLoop
from gpupanel.trainer.models.build import check_built_again
from gpupanel.trainer.models.own_objective import check_own_measures
from gpupanel.trainer.models.random_layers import drawn_when_predicting, random_layer_warning
from gpupanel.trainer.progress import TrainingRecord
from gpupanel.trainer.saving.restoring import restore_latest
from gpupanel.trainer.started_run import StartedRun
from gpupanel.trainer.steps.order import make_epoch_order, steps_per_epoch
from gpupanel.trainer.strategies.make_strategy import join_workers, make_strategy

_TRIED_EXAMPLES = 4
"""A model of code is carried out on them, before it learns."""
_HOST = "/device:CPU:0"


def prepare_devices(run: StartedRun, events: EventWriter) -> tf.distribute.Strategy | None:
    """Configure the devices and report what TensorFlow made of it.

    Returns:
        The strategy over several workers, which has to be there before anything else of
        TensorFlow is; ``None`` for the others.

    Raises:
        PortTaken: See :func:`~gpupanel.trainer.strategies.make_strategy.join_workers`.
        ProblemError: See :func:`~gpupanel.trainer.device_configuration.configure_devices` and
            :func:`~gpupanel.trainer.device_configuration.report_devices`.
    """
    events.phase(Phase.CONFIGURING_DEVICES)
    joined: list[tf.distribute.Strategy] = []
    several = run.plan.strategy is StrategyKind.MULTI_WORKER and run.plan.communicates
    connect = (lambda: joined.append(join_workers(run))) if several else None
    log = DeviceLog(run.layout.process_log(run.place))
    report_devices(run, configure_devices(run.plan, run.place, connect, log), events)
    return joined[0] if joined else None


def report_data(run: StartedRun, split: Split, events: EventWriter) -> None:
    """Report what was read.

    Raises:
        ProblemError: See :func:`~gpupanel.trainer.steps.order.make_epoch_order`.
    """
    order = make_epoch_order(run.profile.data, split, run.profile.training.seed)
    events.write(
        DataReady(
            time_s=time.time(),
            training_examples=len(split.training),
            validation_examples=len(split.validation or ()),
            test_examples=len(split.test or ()),
            feature_shape=split.training.feature_shape,
            class_count=len(split.data.class_names),
            class_names=names_for_event(split.data.class_names),
            steps_per_epoch=steps_per_epoch(len(order), run.plan.global_batch_size),
        )
    )
    for note in split.data.all_notes() if run.leads else ():
        events.write(ProblemReported(time_s=time.time(), problem=note))


@contextmanager
def reporting_skipped(split: Split, events: EventWriter) -> Iterator[None]:
    """Report at the end the files that turned out meanwhile to be unreadable, if any did."""
    skipped = split.data.skipped
    before = 0 if skipped is None else len(skipped)
    yield
    note = None if skipped is None or len(skipped) == before else skipped.note()
    if note is not None:
        events.write(ProblemReported(time_s=time.time(), problem=note))


def train(
    run: StartedRun,
    split: Split,
    events: EventWriter,
    interruptions: Interruptions,
    record: TrainingRecord,
    joined: tf.distribute.Strategy | None = None,
) -> Interruption | None:
    """Build the model and train it, from its last checkpoint where it has one.

    Devices are configured.

    Args:
        run: What to train.
        split: The data.
        events: Where it is reported.
        interruptions: Checked between calls.
        record: Filled with what was reached.
        joined: What :func:`prepare_devices` gave; without it the strategy is made here.

    Returns:
        What ended the training early; ``None`` when it came to its end.

    Raises:
        ProblemError: It cannot be built or trained.
        OSError: Something cannot be written.
    """
    events.phase(Phase.BUILDING_MODEL)
    strategy = joined if joined is not None else make_strategy(run.plan)
    learner = make_learner(run, split, strategy)
    trained = learner.built.trained
    events.write(
        ModelReady(
            time_s=time.time(),
            parameters=trained.count_params(),
            # Of all that ever learn.
            trainable_parameters=learner.periods[-1].parameters,
        )
    )
    if run.leads and (run.profile.model.is_code or run.profile.model.is_saved):
        _check_external_model(run, learner, split, events)
    if learner.placed:
        events.write(LayersPlaced(time_s=time.time(), layers=learner.placed))
    restored = restore_latest(run, learner, events)
    fitted = restored.position.epochs_within(run.profile.training.time_limit_s)
    if fitted is not None:
        learner.train_for(fitted)
    learner.turn_to(restored.position.epoch)
    events.phase(Phase.TRACING)
    learner.calls.trace()
    interruptions.listen_to_sigterm()
    with closing(learner):
        return TrainingLoop(run, split, learner, events, interruptions, record, restored).train()


def _check_external_model(
    run: StartedRun, learner: Learner, split: Split, events: EventWriter
) -> None:
    """Warn of what a model that was not built here draws otherwise than by step and example.

    All other models are made of layers that do.

    Raises:
        ProblemError: Code builds another one each time, or has a loss or a metric that does not
            measure each example by itself.
    """
    built = learner.built

    def warn(warning: Problem | None) -> None:
        if warning is not None:
            events.write(ProblemReported(time_s=time.time(), problem=warning))

    if len(run.plan.replicas) > 1 or run.plan.accumulation_steps > 1:
        warn(random_layer_warning(built.trained))
    if not run.profile.model.is_code:
        return
    drawn = drawn_when_predicting(built.trained)
    warn(drawn)
    few = np.arange(min(_TRIED_EXAMPLES, len(split.training)), dtype=np.int32)
    with tf.device(_HOST):
        if drawn is None:
            check_built_again(built, split.training.read(few))
        check_own_measures(learner.own, built, split.training.subset(few))
