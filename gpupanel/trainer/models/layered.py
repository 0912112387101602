"""The layers that a model is declared to have, one after the other."""

import keras
from typing_extensions import override

from gpupanel.domain.layers import Layer, LayerKind, word_layers
from gpupanel.domain.model import CnnModel, MlpModel
from gpupanel.trainer.models.network import Building, Network
from gpupanel.trainer.models.scaling import scaled


class _Layered(Network[MlpModel | CnnModel]):
    """Builds each layer and calls it."""

    @override
    def outputs(
        self, model: MlpModel | CnnModel, inputs: keras.KerasTensor, building: Building
    ) -> keras.KerasTensor:
        hidden = scaled(inputs, building)
        words = word_layers(building.data.token_count)
        for layer in (*words, *model.stack.layers):
            if layer.kind is LayerKind.CHANNEL:
                if len(hidden.shape) == 3:
                    channel = keras.layers.Reshape((*hidden.shape[1:], 1), name=layer.name)
                    hidden = building.through(channel, hidden)
            else:
                hidden = building.through(_made(layer), hidden)
        last = keras.layers.Dense(building.output_count, name="outputs", dtype="float32")
        return building.through(last, hidden)


def _made(layer: Layer) -> keras.layers.Layer:
    kind = getattr(keras.layers, layer.kind)
    return kind(*layer.arguments, **dict(layer.options), name=layer.name)


NETWORK = _Layered()
