"""A transformer for texts; see ``TransformerModel`` in the domain."""

import keras
from typing_extensions import override

from gpupanel.domain.model import TransformerModel
from gpupanel.trainer.models.network import Building, Network


class _Transformer(Network[TransformerModel]):
    """Embeddings of words and places, blocks of attention, the mean of the words."""

    @override
    def outputs(
        self, model: TransformerModel, inputs: keras.KerasTensor, building: Building
    ) -> keras.KerasTensor:
        through = building.through
        # Word 0 is none: it fills up texts that are shorter.
        is_word = keras.ops.not_equal(inputs, 0)
        words = keras.layers.Embedding(building.data.token_count, model.width, name="words")
        places = keras.layers.Embedding(inputs.shape[1], model.width, name="places")
        numbered = keras.ops.cumsum(keras.ops.ones_like(inputs), axis=1) - 1
        added = keras.layers.Add(name="embedded")
        building.hook(added)
        hidden = added([through(words, inputs), through(places, numbered)])
        if model.dropout:
            hidden = through(keras.layers.Dropout(model.dropout, name="embedded_dropout"), hidden)
        attended = keras.ops.expand_dims(is_word, 1)
        for number in range(1, model.blocks + 1):
            hidden = _block(hidden, attended, f"block_{number}", model, building)
        hidden = through(keras.layers.LayerNormalization(name="norm"), hidden)
        # In float32 also under mixed precision: a mean of many halves is none.
        counted = keras.ops.expand_dims(keras.ops.cast(is_word, "float32"), -1)
        total = keras.ops.sum(keras.ops.cast(hidden, "float32") * counted, axis=1)
        hidden = total / keras.ops.maximum(keras.ops.sum(counted, axis=1), 1.0)
        if model.dropout:
            dropout = keras.layers.Dropout(model.dropout, name="dropout", dtype="float32")
            hidden = through(dropout, hidden)
        last = keras.layers.Dense(building.output_count, name="outputs", dtype="float32")
        return through(last, hidden)


def _block(
    given: keras.KerasTensor,
    attended: keras.KerasTensor,
    name: str,
    model: TransformerModel,
    building: Building,
) -> keras.KerasTensor:
    through = building.through
    normed = through(keras.layers.LayerNormalization(name=f"{name}_attention_norm"), given)
    # Without biases: what is added to all keys changes no attention, and would only drift.
    attention = keras.layers.MultiHeadAttention(
        model.heads, model.units_of_head, use_bias=False, name=f"{name}_attention"
    )
    building.hook(attention)
    found = attention(normed, normed, attention_mask=attended)
    if model.dropout:
        dropout = keras.layers.Dropout(model.dropout, name=f"{name}_attention_dropout")
        found = through(dropout, found)
    given = _added(given, found, f"{name}_attention_sum", building)
    hidden = through(keras.layers.LayerNormalization(name=f"{name}_dense_norm"), given)
    wide = keras.layers.Dense(model.hidden_units, activation="gelu", name=f"{name}_dense_1")
    hidden = through(wide, hidden)
    hidden = through(keras.layers.Dense(model.width, name=f"{name}_dense_2"), hidden)
    if model.dropout:
        dropout = keras.layers.Dropout(model.dropout, name=f"{name}_dense_dropout")
        hidden = through(dropout, hidden)
    return _added(given, hidden, f"{name}_dense_sum", building)


def _added(
    given: keras.KerasTensor, found: keras.KerasTensor, name: str, building: Building
) -> keras.KerasTensor:
    added = keras.layers.Add(name=name)
    building.hook(added)
    return added([given, found])


NETWORK = _Transformer()
