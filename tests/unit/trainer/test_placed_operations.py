"""What a library builds is placed whole: models within it, and sums that are no layers."""

import json
import sys

import pytest

from tests.forked.processes import run_forked
from tests.unit.trainer.trained_runs import CHILD_ENVIRONMENT

pytestmark = pytest.mark.tensorflow

PROGRAM = """
import json
import keras
import tensorflow as tf
from gpupanel.trainer.models.network import Building
from gpupanel.trainer.parts.placed_layer import put_on_device

(processor,) = tf.config.list_physical_devices("CPU")
three = [tf.config.LogicalDeviceConfiguration()] * 3
tf.config.set_logical_device_configuration(processor, three)

def network():
    inputs = keras.Input([4])
    # A model within the model: its layers are placed one by one.
    hidden = keras.Sequential([keras.layers.Dense(4, name="first")], name="stem")(inputs)
    hidden = hidden + keras.layers.Dense(4, name="second")(hidden)
    hidden = hidden * keras.ops.sigmoid(hidden)
    return keras.Model(inputs, keras.layers.Dense(2, name="third")(hidden))

places = {"first": 1, "second": 2, "third": 0}
shown = []

def place(layer):
    shown.append(layer.name)
    put_on_device(layer, f"/device:CPU:{places.get(layer.name, 0)}")

building = Building(None, None, hook=place)
model = building.made_whole(network)
graph = tf.function(model).get_concrete_function(tf.TensorSpec([None, 4])).graph
given = tf.ones([3, 4])
whole = network()
whole.set_weights(model.get_weights())
print(json.dumps({
    "shown": shown,
    "weights": {each.path: each.value.device[-1:] for each in model.weights},
    "places": {each.type: each.device[-1:] for each in graph.get_operations()},
    "same": bool((model(given).numpy() == whole(given).numpy()).all()),
}))
"""


def test_that_layers_within_a_model_within_are_placed_and_sums_beside_what_they_take() -> None:
    done = run_forked(
        [sys.executable, "-c", PROGRAM],
        env=CHILD_ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["same"]
    assert found["shown"] == ["first", "second", "third"]
    of_kernels = [place for path, place in found["weights"].items() if path.endswith("kernel")]
    assert of_kernels == ["1", "2", "0"]
    assert [found["places"][each] for each in ("AddV2", "Mul", "Sigmoid")] == ["2", "2", "2"]
