"""Trains several run directories in one process, which saves imports of TensorFlow.

``python train_several.py RUN_DIR... [--evaluated=RUN_DIR]... [--as-written] [--each-step-saved]``:
devices are configured once, by the plan of the first. An evaluated run gets an ``evaluation.json``
beside its model: what plain Keras measures with ``model.keras`` on the whole training, validation
and test sets, what it predicts of the validation examples that the training followed, and of two
classes scikit-learn's area under the ROC curve of the validation set. As written, graphs are not
rewritten before they are first run: that takes a sixth of the time of so short a training, and may
change the last bits of what comes out. Where each step is saved, it is a call of its own, and has a
checkpoint. Balanced shares are measured in a tenth of the time: whether they are the right ones is
looked at elsewhere.
"""

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from gpupanel.domain.data import Target
from gpupanel.domain.events import TrainingEnded
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.following.validation_history import read_validation_history
from gpupanel.trainer import training
from gpupanel.trainer.balancing import measuring
from gpupanel.trainer.datasets.examples import Array, Examples, held_rows
from gpupanel.trainer.datasets.learned_from import known_content
from gpupanel.trainer.datasets.packed_inputs import apart
from gpupanel.trainer.datasets.source import Reading, read_data
from gpupanel.trainer.datasets.split import Split, split
from gpupanel.trainer.device_configuration import configure_devices, configure_graph_optimizer
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.interruptions import Interruptions
from gpupanel.trainer.loop import consensus
from gpupanel.trainer.models.saved_recipe import reading_to_train
from gpupanel.trainer.progress import TrainingRecord
from gpupanel.trainer.saving.run_saving import Saving
from gpupanel.trainer.started_run import read_started_run
from gpupanel.trainer.strategies.make_strategy import make_strategy
from tests.fakes.checked_files import as_checked

# TensorFlow numbers its collectives per strategy: two strategies over the same devices in one
# process would mix them up. A run has a process of its own, so only this one shares strategies.
STRATEGIES: dict[str, tf.distribute.Strategy] = {}


def shared_strategy(plan: LaunchPlan) -> tf.distribute.Strategy:
    # As each run's own process does.
    configure_graph_optimizer(is_one_cpu_device=plan.is_one_cpu_device)
    devices = [replica.logical_device for replica in plan.replicas]
    name = f"{plan.strategy} {plan.all_reduce} {devices}"
    return STRATEGIES.get(name) or STRATEGIES.setdefault(name, make_strategy(plan))


def train_one(layout: RunLayout) -> tuple[RunLayout, Split]:
    run = read_started_run(layout, as_checked(layout))
    seed = run.profile.training.seed
    settings, reading = run.profile, Reading(print, run.data_code, seed)
    reading = reading_to_train(reading, settings.model, settings.data, run.start_model)
    data = read_data(settings.data, reading)
    parts = split(data, run.profile.data, seed)
    record = TrainingRecord()
    with EventWriter(layout.events) as events, training.reporting_skipped(parts, events):
        content = known_content(data.training.features, parts.training.features)
        parts = replace(parts, content=content)
        training.train(run, parts, events, Interruptions(layout.requests, events), record)
        metrics, now_s = record.metrics, time.time()
        events.write(TrainingEnded(time_s=now_s, outcome=Outcome.COMPLETED, metrics=metrics))
    return layout, parts


def given_to_model(parts: Split, features: Array) -> Array | dict[str, Array]:
    inputs = parts.data.inputs
    return apart(features, inputs) if inputs else features


def measure(layout: RunLayout, parts: Split) -> None:
    model = keras.models.load_model(layout.model)
    losses = {
        Target.CLASSES: ("sparse_categorical_crossentropy", "accuracy"),
        Target.LABELS: ("binary_crossentropy", "binary_accuracy"),
        Target.VALUES: ("mse", "mae"),
    }
    loss, metric = losses[parts.data.target]
    # In few batches and not as a graph: tracing it takes longer than all that is measured.
    model.compile(loss=loss, metrics=[metric], run_eagerly=True)

    def evaluate(examples: Examples | None) -> list[float]:
        if examples is None or held_rows(examples.features) is None:
            return []
        given = given_to_model(parts, examples.read_all())
        result = model.evaluate(given, examples.labels, batch_size=700, verbose=0)
        return [float(value) for value in result]

    measured = {
        "train": evaluate(parts.training),
        "validation": evaluate(parts.validation),
        "test": evaluate(parts.test),
    }
    if len(parts.data.class_names) == 2 and parts.validation is not None:
        from sklearn.metrics import roc_auc_score  # takes a tenth of a second

        outputs = model.predict_on_batch(given_to_model(parts, parts.validation.read_all()))
        scores = np.diff(np.log(outputs.astype(np.float64)), axis=1)[:, 0]
        measured["areas"] = [float(roc_auc_score(parts.validation.labels, scores))]
    followed = [each.index for each in read_validation_history(layout).examples]
    if followed and parts.validation is not None:
        features = given_to_model(parts, parts.validation.read(np.array(followed, np.int32)))
        measured["followed"] = np.asarray(model(features, training=False)).tolist()
    (layout.root / "evaluation.json").write_text(json.dumps(measured), encoding="utf-8")


parser = argparse.ArgumentParser()
parser.add_argument("runs", nargs="+", type=Path)
parser.add_argument("--evaluated", action="append", default=[], type=Path)
parser.add_argument("--as-written", action="store_true")
parser.add_argument("--each-step-saved", action="store_true")
arguments = parser.parse_args()
layouts = [RunLayout(path) for path in arguments.runs]
training.make_strategy = shared_strategy
measuring.TRIAL_S /= 10
if arguments.each_step_saved:
    consensus._CALL_S = 0.0
    Saving.is_due = property(lambda saving: True)
tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": arguments.as_written})
configure_devices(read_started_run(layouts[0]).plan)
for one in layouts:
    trained = train_one(one)
    if one.root in arguments.evaluated:
        measure(*trained)
