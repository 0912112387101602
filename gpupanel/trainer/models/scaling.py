"""The first layer of every model that is trained here: raw features on a scale that suits it."""

from collections.abc import Callable

import keras

from gpupanel.domain.data import Scaling
from gpupanel.trainer.datasets.examples import DataSet, Examples
from gpupanel.trainer.models.statistics import statistics

Through = Callable[[keras.layers.Layer, keras.KerasTensor], keras.KerasTensor]
"""Calls a layer."""


def scaled(
    inputs: keras.KerasTensor, data: DataSet, training: Examples, through: Through
) -> keras.KerasTensor:
    """The features as the data asks for them.

    Args:
        inputs: Raw.
        data: Tells how.
        training: The examples that statistics are taken of.
        through: Calls the layer that does it.
    """
    # In float32 also under mixed precision: raw values need not fit into a half.
    if data.scaling is Scaling.DIVIDE:
        scale = 1.0 / data.greatest
        return through(keras.layers.Rescaling(scale, name="pixels", dtype="float32"), inputs)
    if data.scaling is Scaling.NONE:
        return inputs
    features = training.in_memory
    if features is None:
        raise ValueError("statistics need features in memory")
    columns = statistics(features)
    layer = keras.layers.Normalization(
        mean=columns.mean, variance=columns.deviation**2, name="standardise", dtype="float32"
    )
    return through(layer, inputs)
