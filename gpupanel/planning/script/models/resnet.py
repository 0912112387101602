"""A residual network for small images, as the trainer builds it."""

from string import Template

from typing_extensions import override

from gpupanel.domain.model import ResNetModel
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.model_section import (
    BuiltText,
    ModelScript,
    outputs_of,
    scaled,
    through,
)
from gpupanel.planning.script.sections import joined

_FUNCTIONS = """
def convolved(hidden, name, filters, size=3, strides=1):
    hidden = keras.layers.Conv2D(
        filters, size, strides, padding="same", use_bias=False, name=name
    )(hidden)
    norm = keras.layers.BatchNormalization(name=f"{name}_norm")
    return norm(hidden)


def block(given, name, filters, strides):
    \"\"\"Two convolutions, and a connection around them.\"\"\"
    hidden = convolved(given, f"{name}_1", filters, strides=strides)
    hidden = keras.layers.ReLU(name=f"{name}_1_relu")(hidden)
    hidden = convolved(hidden, f"{name}_2", filters)
    if given.shape[1:] != hidden.shape[1:]:
        given = convolved(given, f"{name}_shortcut", filters, size=1, strides=strides)
    hidden = keras.layers.Add(name=f"{name}_sum")([hidden, given])
    return keras.layers.ReLU(name=f"{name}_relu")(hidden)
"""

_BUILT = """
if len(hidden.shape) == 3:
    hidden = keras.layers.Reshape((*hidden.shape[1:], 1), name="channel")(hidden)
hidden = convolved(hidden, "first", $first)
hidden = keras.layers.ReLU(name="first_relu")(hidden)
for stage, filters in enumerate($filters, start=1):
    for number in range(1, $after_last):
        strides = 2 if stage > 1 and number == 1 else 1
        hidden = block(hidden, f"stage_{stage}_block_{number}", filters, strides)
hidden = keras.layers.GlobalAveragePooling2D(name="mean")(hidden)
"""


class _ResNet(ModelScript[ResNetModel]):
    """Python that builds the blocks."""

    @override
    def built(self, model: ResNetModel, profile: Profile, plan: LaunchPlan) -> BuiltText:
        text = Template(_BUILT).substitute(
            first=model.filters[0], filters=list(model.filters), after_last=model.blocks + 1
        )
        last = [f'Dense({outputs_of(profile.data)}, name="outputs", dtype="float32")']
        dropout = [f'Dropout({model.dropout}, name="dropout")'] if model.dropout else []
        lines = [*map(through, dropout), through(*last, after="outputs")]
        return BuiltText(
            _FUNCTIONS,
            in_scope=joined(scaled(profile.data), text, "\n".join(lines)),
        )


SCRIPT = _ResNet()
