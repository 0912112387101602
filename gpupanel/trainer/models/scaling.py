"""Raw features on a scale that suits a model, as the first layer of every one that is trained."""

from dataclasses import dataclass

import keras
import numpy as np
import numpy.typing as npt

from gpupanel.domain.data import Scaling
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.models.network import Building


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """Of each column.

    Attributes:
        mean: One a column.
        deviation: The standard deviation; 1 where all values are the same.
    """

    mean: npt.NDArray[np.float32]
    deviation: npt.NDArray[np.float32]


def statistics(values: Array) -> Statistics:
    """Statistics over the first axis, summed in double precision."""
    numbers = np.asarray(values, np.float64)
    deviation = numbers.std(axis=0)
    return Statistics(
        mean=np.asarray(numbers.mean(axis=0), np.float32),
        deviation=np.asarray(np.where(deviation > 0.0, deviation, 1.0), np.float32),
    )


def scaled(inputs: keras.KerasTensor, building: Building) -> keras.KerasTensor:
    """The features as the data asks for them."""
    data = building.data
    # In float32 also under mixed precision: raw values need not fit into a half.
    if data.scaling is Scaling.DIVIDE:
        layer = keras.layers.Rescaling(1.0 / data.greatest, name="pixels", dtype="float32")
        return building.through(layer, inputs)
    if data.scaling is Scaling.NONE:
        return inputs
    features = building.training.in_memory
    if features is None:
        raise ValueError("statistics need features in memory")
    columns = statistics(features)
    layer = keras.layers.Normalization(
        mean=columns.mean, variance=columns.deviation**2, name="standardise", dtype="float32"
    )
    return building.through(layer, inputs)
