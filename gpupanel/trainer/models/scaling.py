"""Raw features on a scale that suits a model, as the first layer of every one that is trained."""

from collections.abc import Iterator

import keras
import numpy as np
import numpy.typing as npt

from gpupanel.domain.data import Scaling
from gpupanel.trainer.datasets.examples import Examples
from gpupanel.trainer.models.network import Building
from gpupanel.trainer.parts.statistics import Statistics, as_statistics, statistics

_CHUNK_EXAMPLES = 16_384


def statistics_of(examples: Examples) -> Statistics:
    """Statistics over examples, wherever they are."""
    if examples.in_memory is not None:
        return statistics(examples.in_memory)
    # Twice over the file: a sum of squares alone would lose what the mean is large against.
    mean = sum(chunk.sum(axis=0) for chunk in _chunks(examples)) / len(examples)
    squares = sum(np.square(chunk - mean).sum(axis=0) for chunk in _chunks(examples))
    return as_statistics(mean, np.sqrt(squares / len(examples)))


def are_from_0_to_1(examples: Examples) -> bool:
    """Whether no value is below 0 or above 1."""
    if examples.in_memory is not None:
        values = examples.in_memory
        return bool(values.min() >= 0 and values.max() <= 1)
    return all(bool(each.min() >= 0 and each.max() <= 1) for each in _chunks(examples))


def _chunks(examples: Examples) -> Iterator[npt.NDArray[np.float64]]:
    for start in range(0, len(examples), _CHUNK_EXAMPLES):
        end = min(len(examples), start + _CHUNK_EXAMPLES)
        yield np.asarray(examples.read(np.arange(start, end, dtype=np.int32)), np.float64)


def scaled(inputs: keras.KerasTensor, building: Building) -> keras.KerasTensor:
    """The features as the data asks for them."""
    data = building.data
    # In float32 also under mixed precision: raw values need not fit into a half.
    if data.scaling is Scaling.DIVIDE:
        layer = keras.layers.Rescaling(1.0 / data.greatest, name="pixels", dtype="float32")
        return building.through(layer, inputs)
    if data.scaling is Scaling.NONE:
        return inputs
    columns = statistics_of(building.training)
    mean, deviation = columns.mean, columns.deviation
    for start, width in data.categories:
        mean[start : start + width], deviation[start : start + width] = 0, 1
    layer = keras.layers.Normalization(
        mean=mean, variance=deviation**2, name="standardise", dtype="float32"
    )
    return building.through(layer, inputs)
