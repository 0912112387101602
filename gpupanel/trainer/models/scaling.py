"""Raw features on a scale that suits a model, as the first layer of every one that is trained."""

from collections.abc import Mapping
from dataclasses import dataclass

import keras
import numpy as np

from gpupanel.domain.data import Scaling
from gpupanel.trainer.datasets.examples import Array, Examples
from gpupanel.trainer.models.named_model import taken_apart
from gpupanel.trainer.models.network import Building
from gpupanel.trainer.parts.statistics import Statistics, parts_of, statistics


def are_from_0_to_1(examples: Examples) -> bool:
    """Whether no value is below 0 or above 1."""
    return all(part.min() >= 0.0 and part.max() <= 1.0 for part in parts_of(RowsOf(examples)))


@dataclass(frozen=True, slots=True)
class RowsOf:
    """The features of examples, wherever these are, as rows."""

    examples: Examples

    @property
    def shape(self) -> tuple[int, ...]:
        """Examples first."""
        return (len(self.examples), *self.examples.feature_shape)

    def __getitem__(self, rows: slice) -> Array:
        return self.examples.read(np.arange(len(self.examples), dtype=np.int32)[rows])


def scaled_apart(
    inputs: keras.KerasTensor | Mapping[str, keras.KerasTensor], building: Building
) -> list[keras.KerasTensor]:
    """Each of several inputs on a scale that suits a model.

    Bytes are pixels, and divided; columns of a table are standardised.

    Args:
        inputs: Raw ones by their names; or a row of all of them, which is taken apart.
        building: Knows them.
    """
    found = []
    is_of_columns = building.data.scaling is Scaling.STANDARDISE
    columns = _column_statistics(building) if is_of_columns else None
    for each in building.data.inputs:
        apart = isinstance(inputs, Mapping)
        given = inputs[each.name] if apart else taken_apart(inputs, each)
        if each.are_pixels:
            name = f"pixels_{each.name}"
            given = keras.layers.Rescaling(1.0 / 255.0, name=name, dtype="float32")(given)
        if columns is not None:
            mine = slice(each.start, each.end)
            of_input = Statistics(columns.mean[mine], columns.deviation[mine])
            given = _standardising(of_input, f"standardise_{each.name}")(given)
        found.append(given)
    return found


def scaled(inputs: keras.KerasTensor, building: Building) -> keras.KerasTensor:
    """The features as the data asks for them."""
    data = building.data
    # In float32 also under mixed precision: raw values need not fit into a half.
    if data.scaling is Scaling.DIVIDE:
        layer = keras.layers.Rescaling(1.0 / data.greatest, name="pixels", dtype="float32")
        return building.through(layer, inputs)
    if data.scaling is Scaling.NONE:
        return inputs
    return building.through(_standardising(_column_statistics(building), "standardise"), inputs)


def _column_statistics(building: Building) -> Statistics:
    """Of the training examples; those of categories are such that they stay 0 and 1."""
    columns = statistics(RowsOf(building.training))
    mean, deviation = columns.mean, columns.deviation
    for start, width in building.data.categories:
        mean[start : start + width], deviation[start : start + width] = 0, 1
    return columns


def _standardising(columns: Statistics, name: str) -> keras.layers.Layer:
    return keras.layers.Normalization(
        mean=columns.mean, variance=columns.deviation**2, name=name, dtype="float32"
    )
