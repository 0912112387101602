"""The layers of a model that is to be built, and what they hold; a test builds and compares."""

from collections.abc import Mapping
from math import prod

from gpupanel.domain.layers import EMBEDDING_UNITS, Layer, LayerKind, word_layers
from gpupanel.domain.model import Model
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
    model: Model,
    feature_shape: tuple[int, ...] = (),
    outputs: int | None = None,
    token_count: int = 0,
) -> tuple[ModelLayer, ...]:
    """The layers with weights, in the order in which an example passes them.

    Args:
        model: What is built; of one that a file or code makes no layers are known.
        feature_shape: Of one example, without the batch axis; empty while it is not known.
        outputs: Of the last layer: one a class, or 1 where a value is predicted.
        token_count: How many different numbers stand for words; 0: the features are no words.
    """
    if model.stack is None:
        return ()
    found: list[ModelLayer] = []
    shape: tuple[int | None, ...] = feature_shape or (None,)
    if model.stack.filters:
        is_image = len(feature_shape) in (2, 3)
        shape = (*feature_shape, 1)[:3] if is_image else (None, None, None)
    for layer in (*word_layers(token_count), *model.stack.layers):
        match layer.kind:
            case LayerKind.EMBEDDING:
                what, count = f"{EMBEDDING_UNITS} numbers per word", token_count * EMBEDDING_UNITS
                found.append(ModelLayer(name=layer.name, what=what, parameters=count))
                shape = (EMBEDDING_UNITS,)
            case LayerKind.CONVOLUTION:
                found.append(_weighted(layer, "filters", shape[-1], kernel=9))
                shape = (*shape[:-1], layer.units)
            case LayerKind.DENSE:
                found.append(_weighted(layer, "units", shape[-1]))
                shape = (layer.units,)
            case LayerKind.NORM:
                count = 4 * (shape[-1] or 0)
                found.append(
                    ModelLayer(name=layer.name, what="batch normalisation", parameters=count)
                )
            case LayerKind.POOL:
                shape = tuple(side and side // 2 for side in shape[:2]) + shape[2:]
            case LayerKind.FLATTEN:
                sizes = [size for size in shape if size is not None]
                shape = (prod(sizes) if len(sizes) == len(shape) else None,)
    width = shape[-1]
    last = None if width is None or outputs is None else (width + 1) * outputs
    return (*found, ModelLayer(name="outputs", what="the output", parameters=last))


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


def _weighted(layer: Layer, noun: str, inputs: int | None, kernel: int = 1) -> ModelLayer:
    """A layer each of whose units or filters has so many weights for each input."""
    parameters = None if inputs is None else (kernel * inputs + layer.has_bias) * layer.units
    return ModelLayer(name=layer.name, what=f"{layer.units:,} {noun}", parameters=parameters)
