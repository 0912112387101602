"""A transformer for texts, as the trainer builds it."""

from collections.abc import Iterator
from string import Template

from typing_extensions import override

from gpupanel.domain.model import TransformerModel
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.model_section import BuiltText, ModelScript, outputs_of
from gpupanel.planning.script.sections import lines_of

_ATTENTION = """
def block(given, attended, name):
    hidden = keras.layers.LayerNormalization(name=f"{name}_attention_norm")(given)
    attention = keras.layers.MultiHeadAttention(
        $heads, $units_of_head, use_bias=False, name=f"{name}_attention"
    )
    found = attention(hidden, hidden, attention_mask=attended)
"""
_DENSE = """
    given = keras.layers.Add(name=f"{name}_attention_sum")([given, found])
    hidden = keras.layers.LayerNormalization(name=f"{name}_dense_norm")(given)
    hidden = keras.layers.Dense($hidden, activation="gelu", name=f"{name}_dense_1")(hidden)
    hidden = keras.layers.Dense($width, name=f"{name}_dense_2")(hidden)
"""
_SUM = """
    return keras.layers.Add(name=f"{name}_dense_sum")([given, hidden])
"""
_EMBEDDED = """
inputs = keras.Input(x.shape[1:], name="features")
is_word = keras.ops.not_equal(inputs, 0)  # word 0 fills up texts that are shorter
words = keras.layers.Embedding($tokens, $width, name="words")
places = keras.layers.Embedding(x.shape[1], $width, name="places")
numbered = keras.ops.cumsum(keras.ops.ones_like(inputs), axis=1) - 1
hidden = keras.layers.Add(name="embedded")([words(inputs), places(numbered)])
"""
_BLOCKS = """
attended = keras.ops.expand_dims(is_word, 1)
for number in range(1, $after_last):
    hidden = block(hidden, attended, f"block_{number}")
hidden = keras.layers.LayerNormalization(name="norm")(hidden)
counted = keras.ops.expand_dims(keras.ops.cast(is_word, "float32"), -1)
total = keras.ops.sum(keras.ops.cast(hidden, "float32") * counted, axis=1)
hidden = total / keras.ops.maximum(keras.ops.sum(counted, axis=1), 1.0)
"""
_OUTPUTS = """
outputs = keras.layers.Dense($outputs, name="outputs", dtype="float32")(hidden)
"""


class _Transformer(ModelScript[TransformerModel]):
    """Python that builds the blocks."""

    @override
    def built(self, model: TransformerModel, profile: Profile, plan: LaunchPlan) -> BuiltText:
        values = {
            "heads": model.heads,
            "units_of_head": model.units_of_head,
            "hidden": model.hidden_units,
            "width": model.width,
            "tokens": profile.data.token_count,
            "after_last": model.blocks + 1,
            "outputs": outputs_of(profile.data),
        }
        functions, built = (
            Template(lines_of(pieces)).substitute(values)
            for pieces in (_block(model.dropout), _built(model.dropout))
        )
        return BuiltText(functions, in_scope=built)


def _block(dropout: float) -> Iterator[str]:
    yield _ATTENTION
    if dropout:
        layer = _dropout(dropout, 'f"{name}_attention_dropout"')
        yield f"    found = {layer}(found)"
    yield _DENSE
    if dropout:
        layer = _dropout(dropout, 'f"{name}_dense_dropout"')
        yield f"    hidden = {layer}(hidden)"
    yield _SUM


def _built(dropout: float) -> Iterator[str]:
    yield _EMBEDDED
    if dropout:
        layer = _dropout(dropout, '"embedded_dropout"')
        yield f"hidden = {layer}(hidden)"
    yield _BLOCKS
    if dropout:
        layer = _dropout(dropout, '"dropout"', ', dtype="float32"')
        yield f"hidden = {layer}(hidden)"
    yield _OUTPUTS


def _dropout(rate: float, name: str, more: str = "") -> str:
    """The layer, by an expression for its name."""
    return f"keras.layers.Dropout({rate}, name={name}{more})"


SCRIPT = _Transformer()
