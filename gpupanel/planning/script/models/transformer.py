"""A transformer for texts, as the trainer builds it."""

from string import Template

from typing_extensions import override

from gpupanel.domain.model import TransformerModel
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.model_section import BuiltText, ModelScript, outputs_of
from gpupanel.planning.script.sections import lines_for

# In the margin: P dropout.
_FUNCTIONS = """
  |def block(given, attended, name):
  |    hidden = keras.layers.LayerNormalization(name=f"{name}_attention_norm")(given)
  |    attention = keras.layers.MultiHeadAttention(
  |        $heads, $units_of_head, use_bias=False, name=f"{name}_attention"
  |    )
  |    found = attention(hidden, hidden, attention_mask=attended)
P |    found = keras.layers.Dropout($dropout, name=f"{name}_attention_dropout")(found)
  |    given = keras.layers.Add(name=f"{name}_attention_sum")([given, found])
  |    hidden = keras.layers.LayerNormalization(name=f"{name}_dense_norm")(given)
  |    hidden = keras.layers.Dense($hidden, activation="gelu", name=f"{name}_dense_1")(hidden)
  |    hidden = keras.layers.Dense($width, name=f"{name}_dense_2")(hidden)
P |    hidden = keras.layers.Dropout($dropout, name=f"{name}_dense_dropout")(hidden)
  |    return keras.layers.Add(name=f"{name}_dense_sum")([given, hidden])
"""

_BUILT = """
  |inputs = keras.Input(x.shape[1:], name="features")
  |is_word = keras.ops.not_equal(inputs, 0)  # word 0 fills up texts that are shorter
  |words = keras.layers.Embedding($tokens, $width, name="words")
  |places = keras.layers.Embedding(x.shape[1], $width, name="places")
  |numbered = keras.ops.cumsum(keras.ops.ones_like(inputs), axis=1) - 1
  |hidden = keras.layers.Add(name="embedded")([words(inputs), places(numbered)])
P |hidden = keras.layers.Dropout($dropout, name="embedded_dropout")(hidden)
  |attended = keras.ops.expand_dims(is_word, 1)
  |for number in range(1, $after_last):
  |    hidden = block(hidden, attended, f"block_{number}")
  |hidden = keras.layers.LayerNormalization(name="norm")(hidden)
  |counted = keras.ops.expand_dims(keras.ops.cast(is_word, "float32"), -1)
  |total = keras.ops.sum(keras.ops.cast(hidden, "float32") * counted, axis=1)
  |hidden = total / keras.ops.maximum(keras.ops.sum(counted, axis=1), 1.0)
P |hidden = keras.layers.Dropout($dropout, name="dropout", dtype="float32")(hidden)
  |outputs = keras.layers.Dense($outputs, name="outputs", dtype="float32")(hidden)
"""


class _Transformer(ModelScript[TransformerModel]):
    """Python that builds the blocks."""

    @override
    def built(self, model: TransformerModel, profile: Profile, plan: LaunchPlan) -> BuiltText:
        holds = {"P"} if model.dropout else set()
        values = {
            "heads": model.heads,
            "units_of_head": model.units_of_head,
            "hidden": model.hidden_units,
            "width": model.width,
            "dropout": model.dropout,
            "tokens": profile.data.token_count,
            "after_last": model.blocks + 1,
            "outputs": outputs_of(profile.data),
        }
        functions, built = (
            Template(lines_for(text, holds)).substitute(values) for text in (_FUNCTIONS, _BUILT)
        )
        return BuiltText(functions, in_scope=built)


SCRIPT = _Transformer()
