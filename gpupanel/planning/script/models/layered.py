"""The layers of a model that is built one after the other, by the names and in the order of a run.

Made in the same order, they draw the same initial weights. With the strategy ``model_parallel``
they stand on several devices.
"""

from collections.abc import Iterator, Mapping
from string import Template

from typing_extensions import override

from gpupanel.domain.layers import Layer, LayerKind, Stack, word_layers
from gpupanel.domain.model import CnnModel, MlpModel
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.planning.layers import ModelLayer, places_of
from gpupanel.planning.rules.placement_rules import placeable_layers
from gpupanel.planning.script.model_section import (
    WHOLE_MODEL,
    BuiltText,
    ModelScript,
    outputs_of,
    scaled,
    through,
)
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import indented, joined

_PLACED = """
def placed(layer):
    put_on_device(layer, ${several}PLACES[PLACEMENT.get(layer.name, 0)])
    return layer
"""

_AUTOMATIC = """
# The layers in their order, about as much on each device: weights with gradient and two moments,
# and the activations of a batch. They are built in the host's memory first, to be measured.
with tf.device("/device:CPU:0"):
    layers = build(lambda layer: layer).layers[1:]
sizes = np.array(
    [4 * layer.count_params() + $batch * np.prod(layer.output.shape[1:]) for layer in layers]
)
middles = (np.cumsum(sizes) - sizes / 2) / sizes.sum()
PLACEMENT = {layer.name: int(at * len(PLACES)) for layer, at in zip(layers, middles)}
"""


class _Layered(ModelScript[MlpModel | CnnModel]):
    """Python that builds layers."""

    @override
    def built(self, model: MlpModel | CnnModel, profile: Profile, plan: LaunchPlan) -> BuiltText:
        placed = bool(plan.places)
        around = "placed" if placed else ""
        lines = [
            *_lines(model.stack, profile.data.token_count, around),
            through(
                f'Dense({outputs_of(profile.data)}, name="outputs", dtype="float32")',
                around=around,
                after="outputs",
            ),
        ]
        text = joined(scaled(profile.data, around), "\n".join(lines))
        if not placed:
            return BuiltText("", in_scope=text)
        build = f"def build(placed):\n{indented(text)}\n    return {WHOLE_MODEL}"
        # In each replica on another device.
        several = "*" if len(plan.replicas) > 1 else ""
        around_each = Template(_PLACED).substitute(several=several)
        placement = _placement(profile, model, plan.global_batch_size)
        return BuiltText(
            joined(part("placed_layer"), around_each, build, placement),
            in_scope="",
            model="build(placed)",
        )


def _lines(stack: Stack, token_count: int, around: str) -> Iterator[str]:
    """From ``hidden`` to ``hidden``, a layer a line."""
    for layer in (*word_layers(token_count), *stack.layers):
        if layer.kind is LayerKind.CHANNEL:
            yield "if len(hidden.shape) == 3:"
            channel = f'Reshape((*hidden.shape[1:], 1), name="{layer.name}")'
            yield indented(through(channel, around=around))
        else:
            yield through(_written(layer), around=around)


def _written(layer: Layer) -> str:
    arguments = [str(each) for each in layer.arguments]
    for name, option in (*layer.options, ("name", layer.name)):
        arguments.append(f'{name}="{option}"' if isinstance(option, str) else f"{name}={option}")
    return f"{layer.kind}({', '.join(arguments)})"


def _placement(profile: Profile, model: MlpModel | CnnModel, batch: int) -> str:
    """Python that says on which device each layer is.

    Where the profile does not, the script measures the layers that its function ``build`` makes.
    """
    placement = profile.strategy.placement
    if not isinstance(placement, Mapping):
        return Template(_AUTOMATIC).substitute(batch=batch)
    names = placeable_layers(model, profile.data)
    layers = tuple(ModelLayer(name=name, what="") for name in names)
    return f"PLACEMENT = {dict(places_of(layers, placement))!r}"


SCRIPT = _Layered()
