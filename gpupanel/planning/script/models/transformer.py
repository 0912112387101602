"""A transformer for texts, as the trainer builds it."""

from string import Template

from typing_extensions import override

from gpupanel.domain.model import TransformerModel
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.model_section import BuiltText, ModelScript, outputs_of
from gpupanel.planning.script.parts import part

_BUILT = """
inputs = keras.Input(x.shape[1:], name="features")
size = TransformerSize(
    words=$words,
    width=$width,
    heads=$heads,
    units_of_head=$units_of_head,
    hidden_units=$hidden,
    blocks=$blocks,
    dropout=$dropout,
)
hidden = transformer(inputs, size)
outputs = keras.layers.Dense($outputs, name="outputs", dtype="float32")(hidden)
"""


class _Transformer(ModelScript[TransformerModel]):
    """Python that builds the blocks."""

    @override
    def built(self, model: TransformerModel, profile: Profile, plan: LaunchPlan) -> BuiltText:
        built = Template(_BUILT).substitute(
            words=profile.data.token_count,
            width=model.width,
            heads=model.heads,
            units_of_head=model.units_of_head,
            hidden=model.hidden_units,
            blocks=model.blocks,
            dropout=model.dropout,
            outputs=outputs_of(profile.data),
        )
        return BuiltText(part("transformer"), in_scope=built)


SCRIPT = _Transformer()
