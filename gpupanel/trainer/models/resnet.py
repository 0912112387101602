"""A residual network for small images; see ``ResNetModel`` in the domain."""

import keras
from typing_extensions import override

from gpupanel.domain.model import ResNetModel
from gpupanel.trainer.models.network import Building, Network
from gpupanel.trainer.models.scaling import scaled


class _ResNet(Network[ResNetModel]):
    """Stages of blocks: two convolutions each, added to what they were given."""

    @override
    def outputs(
        self, model: ResNetModel, inputs: keras.KerasTensor, building: Building
    ) -> keras.KerasTensor:
        hidden = scaled(inputs, building)
        if len(hidden.shape) == 3:
            channel = keras.layers.Reshape((*hidden.shape[1:], 1), name="channel")
            hidden = building.through(channel, hidden)
        hidden = _convolved(hidden, "first", model.filters[0], building)
        hidden = building.through(keras.layers.ReLU(name="first_relu"), hidden)
        for stage, filters in enumerate(model.filters, start=1):
            for block in range(1, model.blocks + 1):
                strides = 2 if stage > 1 and block == 1 else 1
                name = f"stage_{stage}_block_{block}"
                hidden = _block(hidden, name, filters, strides, building)
        hidden = building.through(keras.layers.GlobalAveragePooling2D(name="mean"), hidden)
        if model.dropout:
            hidden = building.through(keras.layers.Dropout(model.dropout, name="dropout"), hidden)
        last = keras.layers.Dense(building.output_count, name="outputs", dtype="float32")
        return building.through(last, hidden)


def _block(
    given: keras.KerasTensor, name: str, filters: int, strides: int, building: Building
) -> keras.KerasTensor:
    hidden = _convolved(given, f"{name}_1", filters, building, strides=strides)
    hidden = building.through(keras.layers.ReLU(name=f"{name}_1_relu"), hidden)
    hidden = _convolved(hidden, f"{name}_2", filters, building)
    if given.shape[1:] != hidden.shape[1:]:
        given = _convolved(given, f"{name}_shortcut", filters, building, size=1, strides=strides)
    added = keras.layers.Add(name=f"{name}_sum")
    building.hook(added)
    return building.through(keras.layers.ReLU(name=f"{name}_relu"), added([hidden, given]))


def _convolved(
    hidden: keras.KerasTensor,
    name: str,
    filters: int,
    building: Building,
    *,
    size: int = 3,
    strides: int = 1,
) -> keras.KerasTensor:
    convolution = keras.layers.Conv2D(
        filters, size, strides, padding="same", use_bias=False, name=name
    )
    norm = keras.layers.BatchNormalization(name=f"{name}_norm")
    return building.through(norm, building.through(convolution, hidden))


NETWORK = _ResNet()
