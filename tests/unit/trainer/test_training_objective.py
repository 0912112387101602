"""A focal loss and smoothed labels are those of Keras, and change what is learned, not measured."""

import json
import os
import sys

import pytest

from tests.forked.processes import run_forked

pytestmark = pytest.mark.tensorflow

COMPARE = """
import json
import keras, numpy as np, tensorflow as tf
from gpupanel.domain.data import Target
from gpupanel.domain.training import TrainingSettings
from gpupanel.trainer.models.objectives import Classification, SeveralLabels
from gpupanel.trainer.models.training_objective import TrainingObjective

random, losses = np.random.default_rng(4), keras.losses
logits = (2.0 * random.normal(size=(50, 5))).astype(np.float32)
classes = random.integers(0, 5, 50).astype(np.int32)
weights = np.float32([1.0, 0.5, 2.0, 0.0, 3.0])
several = (random.random((50, 5)) < 0.4).astype(np.float32)
one_hot = np.eye(5, dtype=np.float32)[classes]
blended = 0.75 * one_hot + 0.25 * np.roll(one_hot, 1, axis=0)
SETTINGS = {
    "smoothed": dict(label_smoothing=0.1),
    "focal": dict(loss="focal"),
    "both": dict(loss="focal", focal_gamma=0.5, label_smoothing=0.2),
}

def summed(target, labels, training, weights=None):
    plain = Classification() if target is Target.CLASSES else SeveralLabels()
    changed = TrainingObjective(plain, target, training, weights)
    variable = tf.Variable(logits)
    with tf.GradientTape() as tape:
        loss, *measures = changed.sums(variable, tf.constant(labels))
    wanted = plain.sums(tf.constant(logits), tf.constant(labels))[1:]
    assert [float(each) for each in measures] == [float(each) for each in wanted]
    assert changed.size == plain.size == 1 + len(measures)
    gradient = tape.gradient(loss, variable).numpy()
    assert np.isfinite(gradient).all()
    return float(loss)

def keras_loss(name, training, one, focal):
    arguments = dict(
        from_logits=True, label_smoothing=training.label_smoothing, reduction="sum"
    )
    gamma = training.focal_power
    return focal(gamma=gamma, **arguments) if gamma else one(**arguments)

found = {}
for name, settings in SETTINGS.items():
    training = TrainingSettings(**settings)
    focal = lambda **more: losses.CategoricalFocalCrossentropy(alpha=1.0, **more)
    of_classes = keras_loss(name, training, losses.CategoricalCrossentropy, focal)
    of_labels = keras_loss(
        name, training, losses.BinaryCrossentropy, losses.BinaryFocalCrossentropy
    )
    found[name] = {
        "classes": (summed(Target.CLASSES, classes, training), float(of_classes(one_hot, logits))),
        "weighted": (
            summed(Target.CLASSES, classes, training, weights),
            float(of_classes(one_hot, logits, sample_weight=weights[classes])),
        ),
        "blended": (summed(Target.CLASSES, blended, training), float(of_classes(blended, logits))),
        "labels": (summed(Target.LABELS, several, training), float(of_labels(several, logits))),
    }
# What is certain leaves no gradient, and none that is no number.
logits = np.float32([[90.0, -90.0], [-90.0, 90.0]])
for target, labels in (
    (Target.CLASSES, np.int32([0, 0])), (Target.LABELS, np.float32([[1, 0], [1, 0]]))
):
    summed(target, labels, TrainingSettings(**SETTINGS["both"]))
print(json.dumps(found))
"""


def test_that_losses_that_train_are_those_of_keras() -> None:
    done = run_forked(
        [sys.executable, "-c", COMPARE],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout.splitlines()[-1])

    pairs = [pair for cases in found.values() for pair in cases.values()]
    assert len(pairs) == 12
    for ours, keras in pairs:
        assert ours == pytest.approx(keras, rel=1e-5)
    assert len({round(ours, 3) for ours, _ in pairs}) == 12
