"""Trains runs as train_several.py does, then reports where the first one's graph works.

``python placed_graph.py RUN_DIR...`` writes ``graph.json`` into the first directory: the device of
every variable by its name, and of every matrix product of one training step, of all replicas.
"""

import json
import runpy
import sys
from pathlib import Path

import tensorflow as tf

from gpupanel.domain.run_layout import RunLayout
from gpupanel.trainer.datasets.source import Reading, read_data
from gpupanel.trainer.datasets.split import split
from gpupanel.trainer.learner import make_learner
from gpupanel.trainer.started_run import read_started_run
from gpupanel.trainer.steps.batch_part import BatchPart
from gpupanel.trainer.steps.replica_steps import TrainingStep
from gpupanel.trainer.strategies.make_strategy import make_strategy
from tests.fakes.checked_files import as_checked

WORK = {"MatMul", "Mul", "AddV2", "ResourceApplyAdam", "Rsqrt"}


def main() -> None:
    runpy.run_path(str(Path(__file__).with_name("train_several.py")))
    layout = RunLayout(Path(sys.argv[1]))
    run = read_started_run(layout, as_checked(layout))
    data = read_data(run.profile.data, Reading(print))
    strategy = make_strategy(run.plan)
    learner = make_learner(run, split(data, run.profile.data, 7), strategy)
    model, training = learner.built.trained, run.profile.training
    step = TrainingStep(
        model,
        learner.objective,
        learner.period.optimizer,
        seed=7,
        micro_batches=2,
        jit_compile=False,
        clip_norm=training.clip_norm,
    )
    graph = (
        tf.function(lambda *given: strategy.run(step, args=given))
        .get_concrete_function(
            tf.TensorSpec([None, *model.input.shape[1:]]),
            tf.TensorSpec([None], tf.int32),
            BatchPart(*(tf.TensorSpec([], each) for each in (tf.float32, tf.int32, tf.int64))),
        )
        .graph
    )
    variables = [*model.weights, *learner.period.optimizer.variables]
    reported = {
        "variables": {variable.path: variable.value.device for variable in variables},
        "operations": [
            {"type": op.type, "size": size(op), "device": op.device}
            for op in graph.get_operations()
            if op.type in WORK
        ],
    }
    (layout.root / "graph.json").write_text(json.dumps(reported), encoding="utf-8")


def size(op: tf.Operation) -> list[int | None]:
    if not op.outputs:
        return []
    shape = op.outputs[0].shape
    return [] if shape.rank is None else shape.as_list()


main()
