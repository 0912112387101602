"""A transformer for texts: embeddings of words and places, then blocks of attention."""

from collections.abc import Callable
from dataclasses import dataclass

import keras


@dataclass(frozen=True, slots=True)
class TransformerSize:
    """How large it is.

    Attributes:
        words: That are distinguished, with word 0, which is none.
        width: Numbers a word.
        heads: Of each attention.
        units_of_head: Numbers of each head.
        hidden_units: Of the dense layer in each block.
        blocks: How many.
        dropout: Which part of the numbers is dropped.
    """

    words: int
    width: int
    heads: int
    units_of_head: int
    hidden_units: int
    blocks: int
    dropout: float


def transformer(
    inputs: keras.KerasTensor,
    size: TransformerSize,
    call: Callable[..., keras.KerasTensor] = keras.layers.Layer.__call__,
) -> keras.KerasTensor:
    """From numbers of words to a row of numbers of each text, shape [n, width].

    Args:
        inputs: Shape [n, words of a text]; word 0 fills up texts that are shorter.
        size: How large it is.
        call: Calls a layer with what it is given.
    """
    is_word = keras.ops.not_equal(inputs, 0)
    words = keras.layers.Embedding(size.words, size.width, name="words")
    places = keras.layers.Embedding(inputs.shape[1], size.width, name="places")
    numbered = keras.ops.cumsum(keras.ops.ones_like(inputs), axis=1) - 1
    added = keras.layers.Add(name="embedded")
    hidden = call(added, [call(words, inputs), call(places, numbered)])
    if size.dropout:
        hidden = call(keras.layers.Dropout(size.dropout, name="embedded_dropout"), hidden)
    attended = keras.ops.expand_dims(is_word, 1)
    for number in range(1, size.blocks + 1):
        hidden = attention_block(hidden, attended, f"block_{number}", size, call)
    hidden = call(keras.layers.LayerNormalization(name="norm"), hidden)
    # In float32 also under mixed precision: a mean of many halves is none.
    counted = keras.ops.expand_dims(keras.ops.cast(is_word, "float32"), -1)
    total = keras.ops.sum(keras.ops.cast(hidden, "float32") * counted, axis=1)
    hidden = total / keras.ops.maximum(keras.ops.sum(counted, axis=1), 1.0)
    if size.dropout:
        hidden = call(keras.layers.Dropout(size.dropout, name="dropout", dtype="float32"), hidden)
    return hidden


def attention_block(
    given: keras.KerasTensor,
    attended: keras.KerasTensor,
    name: str,
    size: TransformerSize,
    call: Callable[..., keras.KerasTensor],
) -> keras.KerasTensor:
    """Attention and two dense layers, each added to what it is given."""
    normed = call(keras.layers.LayerNormalization(name=f"{name}_attention_norm"), given)
    # Without biases: what is added to all keys changes no attention, and would only drift.
    attention = keras.layers.MultiHeadAttention(
        size.heads, size.units_of_head, use_bias=False, name=f"{name}_attention"
    )
    found = call(attention, normed, normed, attention_mask=attended)
    if size.dropout:
        dropout = keras.layers.Dropout(size.dropout, name=f"{name}_attention_dropout")
        found = call(dropout, found)
    given = call(keras.layers.Add(name=f"{name}_attention_sum"), [given, found])
    hidden = call(keras.layers.LayerNormalization(name=f"{name}_dense_norm"), given)
    wide = keras.layers.Dense(size.hidden_units, activation="gelu", name=f"{name}_dense_1")
    hidden = call(wide, hidden)
    hidden = call(keras.layers.Dense(size.width, name=f"{name}_dense_2"), hidden)
    if size.dropout:
        dropout = keras.layers.Dropout(size.dropout, name=f"{name}_dense_dropout")
        hidden = call(dropout, hidden)
    return call(keras.layers.Add(name=f"{name}_dense_sum"), [given, hidden])
