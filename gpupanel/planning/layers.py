"""The layers of a model that is to be built, by the names that Keras will give them.

The names are those of ``trainer/models/network.py``; a test builds both and compares.
"""

from collections.abc import Mapping
from math import prod

from gpupanel.domain.model import BuildableModel, CnnModel
from gpupanel.domain.value import Value


class ModelLayer(Value):
    """One layer that holds weights, and so can be placed on a device of its own.

    A layer without weights (an activation, a pooling, dropout) works where the layer before it
    does; those before the first weights work where these are.

    Attributes:
        name: As Keras names it, and as ``strategy.placement`` does.
        what: What it is, in a few words ("128 units").
        parameters: How many numbers it holds; ``None`` while the shape of an example or the
            number of classes is not known.
    """

    name: str
    what: str
    parameters: int | None = None


def model_layers(
    model: BuildableModel, feature_shape: tuple[int, ...] = (), outputs: int | None = None
) -> tuple[ModelLayer, ...]:
    """The layers with weights, in the order in which an example passes them.

    Args:
        model: What is built.
        feature_shape: Of one example, without the batch axis; empty while it is not known.
        outputs: Of the last layer: one a class, or 1 where a value is predicted.
    """
    layers: list[ModelLayer] = []
    width = prod(feature_shape) if feature_shape else None
    if isinstance(model, CnnModel):
        layers, width = _convolutions(model, feature_shape)
    for number, units in enumerate(model.hidden, start=1):
        name = f"dense_{number}"
        layers += _with_norm(model, name, f"{units:,} units", width, units)
        width = units
    last = None if width is None or outputs is None else (width + 1) * outputs
    return (*layers, ModelLayer(name="outputs", what="the output", parameters=last))


def places_of(
    layers: tuple[ModelLayer, ...], placement: Mapping[str, int]
) -> tuple[tuple[str, int], ...]:
    """The place of every layer: one that is not named goes with the layer before it.

    Those before the first one that is named go with that one. Empty where none is named.
    """
    place = next((placement[layer.name] for layer in layers if layer.name in placement), None)
    if place is None:
        return ()
    places = []
    for layer in layers:
        place = placement.get(layer.name, place)
        places.append((layer.name, place))
    return tuple(places)


def split_evenly(layers: tuple[ModelLayer, ...], places: int) -> dict[str, int]:
    """A first placement to go on from: one after the other, about as many parameters on each.

    Args:
        layers: Where a size is not known all count alike.
        places: How many logical devices there are; each gets a layer as long as there are enough.
    """
    known = all(layer.parameters is not None for layer in layers)
    sizes = [(layer.parameters or 1) if known else 1 for layer in layers]
    placement, before, place = {}, 0, 0
    for index, (layer, size) in enumerate(zip(layers, sizes, strict=True)):
        middle = (before + size / 2.0) / sum(sizes)
        least = max(0, places - (len(layers) - index))
        place = min(place + 1 if index else 0, max(place, int(middle * places), least), places - 1)
        placement[layer.name] = place
        before += size
    return placement


def _convolutions(
    model: CnnModel, feature_shape: tuple[int, ...]
) -> tuple[list[ModelLayer], int | None]:
    """The convolutions, and how many numbers the last one hands to the dense layers."""
    layers: list[ModelLayer] = []
    is_picture = len(feature_shape) in (2, 3)
    channels = None if not is_picture else (*feature_shape, 1)[2]
    for number, filters in enumerate(model.filters, start=1):
        name = f"convolution_{number}"
        inputs = None if channels is None else 9 * channels
        layers += _with_norm(model, name, f"{filters:,} filters", inputs, filters)
        channels = filters
    if not is_picture:
        return layers, None
    halved = 2 ** len(model.filters)
    return layers, (feature_shape[0] // halved) * (feature_shape[1] // halved) * model.filters[-1]


def _with_norm(
    model: BuildableModel, name: str, what: str, inputs: int | None, units: int
) -> list[ModelLayer]:
    """A layer with so many inputs per unit, and the batch normalisation that follows it."""
    # Batch normalisation takes the place of the bias.
    weights = None if inputs is None else (inputs + (not model.batch_norm)) * units
    layers = [ModelLayer(name=name, what=what, parameters=weights)]
    if model.batch_norm:
        norm = ModelLayer(name=f"{name}_norm", what="batch normalisation", parameters=4 * units)
        layers.append(norm)
    return layers
