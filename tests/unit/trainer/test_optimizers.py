"""Adam in one operation is Keras's Adam, on one device and on several replicas."""

import json
import os
import sys

import pytest

from tests.forked.processes import run_forked

pytestmark = pytest.mark.tensorflow

COMPARE = """
import json
import keras, numpy as np, tensorflow as tf
from gpupanel.trainer.models.optimizers import FusedAdam, FusedAdamW

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
two = tf.distribute.MirroredStrategy(
    ["/cpu:0", "/cpu:1"], cross_device_ops=tf.distribute.ReductionToOneDevice()
)
random = np.random.default_rng(0)
sizes = 10.0 ** random.integers(-6, 3, (20, 1, 1))
gradients = random.normal(size=(20, 7, 5)) * sizes

def learned(strategy, optimizer_of):
    with strategy.scope():
        weight = keras.Variable(np.ones((7, 5), np.float32))
        optimizer = optimizer_of(0.01, weight_decay=0.01)
        optimizer.build([weight])

    @tf.function
    def step(gradient):
        replicas = strategy.num_replicas_in_sync
        strategy.run(lambda: optimizer.apply([gradient / replicas], [weight]))

    for gradient in gradients.astype(np.float32):
        step(tf.constant(gradient))
    variables = [weight, *optimizer.variables]
    return [np.asarray(variable.value) for variable in variables]

def furthest(one, other):
    pairs = zip(one, other)
    distances = [float(np.abs(a - b).max() / max(np.abs(a).max(), 1e-12)) for a, b in pairs]
    # The second moment comes last: it differs by the rounding of 1 - beta_2.
    return max(distances[:-1]), distances[-1]

one = tf.distribute.OneDeviceStrategy("/cpu:0")
plain = learned(one, keras.optimizers.Adam)
print(json.dumps({
    "adam": furthest(plain, learned(one, FusedAdam)),
    "adamw": furthest(learned(one, keras.optimizers.AdamW), learned(one, FusedAdamW)),
    "two replicas": furthest(plain, learned(two, FusedAdam)),
    "moved": float(np.abs(plain[0] - 1.0).max()),
}))
"""


def test_that_one_operation_does_what_keras_does() -> None:
    done = run_forked(
        [sys.executable, "-c", COMPARE],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    reported = json.loads(done.stdout.splitlines()[-1])

    assert reported.pop("moved") > 0.05
    for nearly_all, second_moment in reported.values():
        assert nearly_all < 1e-6
        assert second_moment < 1.5e-5
