"""Classes that count differently while they are trained on."""

import json
import os
import sys

import pytest

from tests.forked.processes import run_forked

_MEASURE = """
import json, sys
import keras, numpy as np, tensorflow as tf
from sklearn.utils.class_weight import compute_class_weight
from gpupanel.trainer.models.objectives import Classification, named_weights
from gpupanel.trainer.parts.losses import balanced_weights

labels, classes = np.asarray(json.loads(sys.argv[1]), np.int32), 4
weights = balanced_weights(labels, classes)
logits = np.random.default_rng(1).normal(size=(len(labels), classes)).astype(np.float32)
loss, right = Classification(weights).sums(tf.constant(logits), tf.constant(labels))
keras_loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="sum")
print(json.dumps({
    "weights": weights[[0, 1, 3]].tolist(),
    "sklearn": compute_class_weight("balanced", classes=np.unique(labels), y=labels).tolist(),
    "loss": float(loss),
    "keras": float(keras_loss(labels, logits, sample_weight=weights[labels])),
    "named": named_weights({"c": 2.5, "a": 0.0}, ("a", "b", "c")).tolist(),
    "right": float(right) == float((logits.argmax(axis=1) == labels).sum()),
}))
"""


@pytest.mark.tensorflow
def test_that_balanced_classes_are_weighted_as_scikit_learn_does_and_summed_as_keras_does() -> None:
    labels = [0] * 20 + [1] * 5 + [3] * 2
    done = run_forked(
        [sys.executable, "-c", _MEASURE, str(labels)],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["weights"] == pytest.approx(found["sklearn"])
    assert found["loss"] == pytest.approx(found["keras"], rel=1e-6)
    assert found["right"]
    assert found["named"] == [0.0, 1.0, 2.5]
