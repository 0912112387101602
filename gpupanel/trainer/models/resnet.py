"""A residual network for small images; see ``ResNetModel`` in the domain."""

import keras
from typing_extensions import override

from gpupanel.domain.model import ResNetModel
from gpupanel.trainer.models.network import Building, Network
from gpupanel.trainer.models.scaling import scaled
from gpupanel.trainer.parts.residual_network import residual_network


class _ResNet(Network[ResNetModel]):
    """Stages of blocks: two convolutions each, added to what they were given."""

    @override
    def outputs(
        self, model: ResNetModel, inputs: keras.KerasTensor, building: Building
    ) -> keras.KerasTensor:
        hidden = scaled(inputs, building)
        hidden = residual_network(hidden, model.filters, model.blocks, building.through)
        if model.dropout:
            hidden = building.through(keras.layers.Dropout(model.dropout, name="dropout"), hidden)
        last = keras.layers.Dense(building.output_count, name="outputs", dtype="float32")
        return building.through(last, hidden)


NETWORK = _ResNet()
