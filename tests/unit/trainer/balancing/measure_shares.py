"""Measures the shares of a run without training it and prints what came of it, as JSON.

``python measure_shares.py RUN_DIR``: once as it is, then with a second replica whose memory is
really too small for more than 20 examples.
"""

import json
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf

from gpupanel.domain.run_layout import RunLayout
from gpupanel.trainer.balancing.balancing import make_balancing
from gpupanel.trainer.balancing.measuring import Measuring
from gpupanel.trainer.datasets.source import Reading, read_data
from gpupanel.trainer.datasets.split import split
from gpupanel.trainer.device_configuration import configure_devices
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.learner import make_learner
from gpupanel.trainer.started_run import read_started_run
from gpupanel.trainer.steps.data_copies import DataCopies
from gpupanel.trainer.steps.feeds import make_feed
from gpupanel.trainer.steps.replica_sums import ReplicaSums
from gpupanel.trainer.steps.trials import Trials
from gpupanel.trainer.strategies.make_strategy import make_strategy

HELD = 20
TOO_MUCH = 2**50


def main() -> None:
    run = read_started_run(RunLayout(Path(sys.argv[1])))
    plan = run.plan
    configure_devices(plan)
    data = read_data(run.profile.data, Reading(print))
    parts = split(data, run.profile.data, run.profile.training.seed)
    strategy = make_strategy(plan)
    learner = make_learner(run, parts, strategy)
    batches = np.arange(2 * plan.global_batch_size, dtype=np.int32).reshape(2, -1)
    learner.calls.of(plan.global_batch_size)(batches)  # moves everything away from where it starts
    before = learner.state()
    with EventWriter(run.layout.events) as events:
        balancing = make_balancing(run, learner, events)
        assert balancing is not None
        balancing.measure(2)
    measured = learner.state()
    learner.calls.of(plan.global_batch_size)(batches)
    trained = learner.state()
    assert learner.trials is not None
    tried_s = [learner.trials([size, size], 5).seconds for size in (32, 8192)]

    def tried(features: tf.Tensor, labels: tf.Tensor, examples: tf.Tensor) -> ReplicaSums:
        assert learner.trials is not None
        sums = learner.trials._tried(features, labels, examples)
        replica = tf.distribute.get_replica_context().replica_id_in_sync_group
        full = (tf.shape(labels)[0] > HELD) & (tf.convert_to_tensor(replica) == 1)
        needed = tf.fill([tf.where(full, tf.constant(TOO_MUCH, tf.int64), 1)], 0.0)
        assert sums.timing is not None
        timing = sums.timing._replace(witness=needed[0])
        return sums._replace(timing=timing)

    trials = Trials(strategy, make_feed(parts.training, plan, DataCopies()), tried, plan)
    curves = Measuring(trials, len(plan.replicas), plan.global_batch_size, 1).curves()
    reported = {
        "unchanged": [bool(np.array_equal(before[name], measured[name])) for name in before],
        "learned": [not np.array_equal(measured[name], trained[name]) for name in before],
        "names": list(before),
        "tried_s": tried_s,
        "largest": [curve.largest_share for curve in curves],
    }
    print(json.dumps(reported))


main()
