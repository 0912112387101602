"""A few training examples as an epoch changes them, for a preview."""

import contextlib

import numpy as np
import tensorflow as tf

from gpupanel.domain.augmentation import Augmentation
from gpupanel.trainer.augmentation.augmenter import make_augmenter
from gpupanel.trainer.datasets.examples import Array, DataSet, Examples


def augmented_examples(
    data: DataSet, augmentation: Augmentation, examples: Examples, seed: int
) -> Array:
    """The features of these examples, changed as if they were all that there are.

    Args:
        data: What they are from.
        augmentation: What may be changed.
        examples: At least one.
        seed: Of the run.

    Raises:
        ProblemError: They cannot be changed so, or one of them cannot be read.
    """
    with contextlib.suppress(RuntimeError):  # in use already, by whoever asks in its own process
        tf.config.set_visible_devices([], "GPU")
    augmenter = make_augmenter(
        augmentation,
        examples,
        data.target,
        class_count=len(data.class_names),
        greatest=data.greatest,
        seed=seed,
    )
    indices = np.arange(len(examples), dtype=np.int32)
    features = examples.read(indices)
    if augmenter is None:
        return features
    augmenter.begin_epoch(1, len(examples))
    draws = tf.constant(augmenter.draws(0, (len(examples),)))
    own = augmenter.changed(tf.constant(features), draws), tf.constant(examples.labels)
    if augmenter.blends:
        before = tf.roll(own[0], 1, axis=0), tf.roll(own[1], 1, axis=0)
        own = augmenter.blended(own, before, draws)
    changed: Array = own[0].numpy()
    # Shown as the others are: bytes by their greatest value.
    return changed.round().astype(np.uint8) if features.dtype == np.uint8 else changed
