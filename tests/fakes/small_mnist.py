"""An MNIST without a download."""

from pathlib import Path

import numpy as np

from gpupanel.trainer.datasets.sources.digits import read_digits

TRAINED = 1500


def write_small_mnist(keras_home: Path) -> None:
    """Have Keras's cache hold an MNIST of the 1,797 bundled digits, drawn large.

    Args:
        keras_home: What ``KERAS_HOME`` is going to be.
    """
    digits = read_digits().training
    enlarged = np.kron(digits.features, np.ones((1, 3, 3)))
    images = np.pad(enlarged * 255 / 16, ((0, 0), (2, 2), (2, 2))).astype(np.uint8)
    labels = digits.labels.astype(np.uint8)
    (keras_home / "datasets").mkdir()
    np.savez(
        keras_home / "datasets" / "mnist.npz",
        x_train=images[:TRAINED],
        y_train=labels[:TRAINED],
        x_test=images[TRAINED:],
        y_test=labels[TRAINED:],
    )
