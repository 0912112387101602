"""The script's layers on several devices, for the strategy ``model_parallel``."""

from collections.abc import Mapping
from string import Template

from gpupanel.domain.data import DataSettings
from gpupanel.domain.model import BuildableModel
from gpupanel.domain.strategy import StrategySettings
from gpupanel.planning.layers import ModelLayer, places_of
from gpupanel.planning.rules.placement_rules import placeable_layers

_PLACED = """
from functools import wraps


def placed(layer):
    \"\"\"Have the layer built, with its weights, and called on its device.\"\"\"
    device = PLACES[PLACEMENT.get(layer.name, 0)]

    def on_device(function):
        @wraps(function)  # Keras looks at the arguments
        def there(*args, **kwargs):
            with tf.device(device):
                return function(*args, **kwargs)

        return there

    layer.build, layer.call = on_device(layer.build), on_device(layer.call)
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


def placed_section() -> str:
    """Python that puts a layer on its device."""
    return _PLACED


def placement_section(
    strategy: StrategySettings, model: BuildableModel, data: DataSettings, batch: int
) -> str:
    """Python that says on which device each layer is.

    Args:
        strategy: Names the places of layers; without it the script measures the layers that its
            function ``build`` makes.
        model: What is built.
        data: What it learns from.
        batch: Examples that pass through the layers at once.
    """
    if not isinstance(strategy.placement, Mapping):
        return Template(_AUTOMATIC).substitute(batch=batch)
    layers = tuple(ModelLayer(name=name, what="") for name in placeable_layers(model, data))
    return f"PLACEMENT = {dict(places_of(layers, strategy.placement))!r}"
