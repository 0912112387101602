"""A transformer for texts; see ``TransformerModel`` in the domain."""

import keras
from typing_extensions import override

from gpupanel.domain.model import TransformerModel
from gpupanel.trainer.models.network import Building, Network
from gpupanel.trainer.parts.transformer import TransformerSize, transformer


class _Transformer(Network[TransformerModel]):
    """Embeddings of words and places, blocks of attention, the mean of the words."""

    @override
    def outputs(
        self, model: TransformerModel, inputs: keras.KerasTensor, building: Building
    ) -> keras.KerasTensor:
        size = TransformerSize(
            words=building.data.token_count,
            width=model.width,
            heads=model.heads,
            units_of_head=model.units_of_head,
            hidden_units=model.hidden_units,
            blocks=model.blocks,
            dropout=model.dropout,
        )
        hidden = transformer(inputs, size, building.through)
        last = keras.layers.Dense(building.output_count, name="outputs", dtype="float32")
        return building.through(last, hidden)


NETWORK = _Transformer()
