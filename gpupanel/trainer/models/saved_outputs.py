"""What a saved model takes and gives, read from its configuration alone.

Keras takes seconds to load it; this is what a preview can say before.
"""

from collections.abc import Iterator
from typing import TypeGuard

import numpy as np

from gpupanel.domain.random_layers import MIXING_LAYERS

Configuration = dict[str, object]
_AROUND = ("Activation", "Dropout", "Rescaling", "Softmax")
"""What gives as many numbers as it takes."""
_MOST_STEPS = 1000
_MOST_SIDE = 2**31


def outputs_in(configuration: object) -> int | None:
    """Numbers that the model gives an example; ``None``: only Keras can say.

    Args:
        configuration: As ``config.json`` holds it; a stranger's may say anything.
    """
    return _outputs(configuration, _MOST_STEPS) if _is_object(configuration) else None


def input_shape_in(configuration: object) -> tuple[int | None, ...] | None:
    """The shape of one example that a model with one input takes; ``None``: only Keras can say.

    Args:
        configuration: As ``config.json`` holds it; a stranger's may say anything.
    """
    inputs = [each for each in layers_of(configuration) if each.get("class_name") == "InputLayer"]
    inside = inputs[0].get("config") if len(inputs) == 1 else None
    shape = inside.get("batch_shape") if _is_object(inside) else None
    if not isinstance(shape, list) or not shape:
        return None
    sides: list[int | None] = []
    for side in shape[1:]:
        if side is not None and not (type(side) is int and 0 < side < _MOST_SIDE):
            return None
        sides.append(side)
    return tuple(sides)


def ends_in(configuration: object) -> tuple[int, int] | None:
    """How many inputs and outputs the model has; ``None``: only Keras can say.

    Args:
        configuration: As ``config.json`` holds it; a stranger's may say anything.
    """
    if not _is_object(configuration) or not _is_object(inside := configuration.get("config")):
        return None
    if configuration.get("class_name") == "Sequential":
        return 1, 1
    inputs, outputs = (_places_in(inside.get(key)) for key in ("input_layers", "output_layers"))
    return (inputs, outputs) if inputs and outputs else None


def _places_in(structure: object) -> int:
    """How many layers are named in a list or an object of any depth: each is ``["name", 0, 0]``."""
    found, waiting = 0, [structure]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting.extend(one.values())
        elif isinstance(one, list) and one and isinstance(one[0], str):
            found += 1
        elif isinstance(one, list):
            waiting.extend(one)
    return found


def mixing_layers_in(configuration: object) -> tuple[str, ...]:
    """The names of layers that take something from other examples of a batch, however deep.

    Args:
        configuration: As ``config.json`` holds it; a stranger's may say anything.
    """
    found, waiting = [], [configuration]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            inside = one.get("config")
            if one.get("class_name") in _MIXING and _is_object(inside):
                found.append(str(inside.get("name")))
            waiting.extend(reversed(one.values()))
        elif isinstance(one, list):
            waiting.extend(reversed(one))
    return tuple(dict.fromkeys(found))


_MIXING = tuple(MIXING_LAYERS)
_SCALING = frozenset({"BatchNormalization", "Normalization", "Rescaling"})
"""Layers that bring what they are given into another range."""
_WEIGHTED = (
    *("Bidirectional", "Conv", "Dense", "DepthwiseConv", "EinsumDense", "GRU", "LSTM"),
    *("SeparableConv", "SimpleRNN", "TimeDistributed"),
)
_BEFORE = frozenset(
    (
        *("Cast", "CenterCrop", "Concatenate", "Dropout", "Flatten", "GaussianNoise", "Identity"),
        *("InputLayer", "Permute", "Reshape", "Resizing"),
    )
)
"""What may stand before it, beside what :data:`_KINDS_BEFORE` says."""
_KINDS_BEFORE = (
    *("AveragePooling", "Cropping", "Global", "MaxPooling", "Random", "UpSampling", "ZeroPadding"),
)
"""How the names of further such layers begin."""
_DIVIDING = ("Divide", "TrueDivide")
_SHIFTING = frozenset({"Add", "Subtract"})
_MOST_DEVIATIONS = 20.0
_DIVIDES_PIXELS = 1 / 100
"""Layers for pixels multiply by less: 1 / 255, 1 / 128 or 1 / 127.5."""


def begins_with_scaling(configuration: object) -> bool | None:
    """Whether the first layers of a model bring what it is given into another range.

    Args:
        configuration: As ``config.json`` holds it; a stranger's may say anything.

    Returns:
        ``False``: its first layer with weights is given the numbers as they are; ``None``: it
        begins with something else.
    """
    first = _first_in(configuration)
    if first is None or first.get("class_name") in _SCALING:
        return None if first is None else True
    return False if str(first.get("class_name")).startswith(_WEIGHTED) else None


def begins_with_division(configuration: object) -> bool:
    """Whether the first layers of a model divide pixels from 0 to 255.

    By a ``Rescaling``, or as the functions ``preprocess_input`` of Keras do it.

    Args:
        configuration: As ``config.json`` holds it; a stranger's may say anything.
    """
    first = _first_in(configuration, _BEFORE | _SHIFTING)
    if first is None:
        return False
    if first.get("class_name") == "Rescaling":
        inside = first.get("config")
        scale = inside.get("scale") if _is_object(inside) else None
    else:
        scale = _number_given(first)
        if first.get("class_name") in _DIVIDING and scale:
            scale = 1 / scale
    return isinstance(scale, int | float) and 0 < scale < _DIVIDES_PIXELS


def standardised_range(configuration: object) -> tuple[float, float] | None:
    """The values that a ``Normalization`` at the beginning of a model is made for.

    Args:
        configuration: As ``config.json`` holds it; a stranger's may say anything.

    Returns:
        The least mean without, and the greatest with 20 standard deviations; ``None``: the model
        begins with another layer, or with one that was adapted.
    """
    first = _first_in(configuration)
    if first is None or first.get("class_name") != "Normalization":
        return None
    inside = first.get("config")
    if not _is_object(inside):
        return None
    try:
        means, variances = (np.array(inside[key], np.float64) for key in ("mean", "variance"))
        around = _MOST_DEVIATIONS * np.sqrt(variances)
        found = float(np.min(means - around)), float(np.max(means + around))
    except (KeyError, TypeError, ValueError):
        return None
    return found if np.isfinite(found).all() else None


def _number_given(operation: Configuration) -> float | None:
    """The number that an operation takes beside what it is given; ``None``: it takes none."""
    nodes = operation.get("inbound_nodes")
    node = nodes[0] if isinstance(nodes, list) and nodes else None
    arguments = node.get("args") if _is_object(node) else None
    if not isinstance(arguments, list) or len(arguments) != 2:
        return None
    number = arguments[1]
    if _is_object(number):  # a tensor
        inside = number.get("config")
        number = inside.get("value") if _is_object(inside) else None
    return float(number) if isinstance(number, int | float) else None


def _first_in(configuration: object, before: frozenset[str] = _BEFORE) -> Configuration | None:
    """The first layer that scales or has weights, or multiplies; ``None``: another comes before.

    Args:
        configuration: Of the model.
        before: Kinds of layers that are passed over.
    """
    waiting = [configuration] if _is_object(configuration) else []
    for _ in range(_MOST_STEPS):
        if not waiting:
            return None
        layer = waiting.pop(0)
        inside, kind = layer.get("config"), str(layer.get("class_name"))
        if kind in ("Functional", "Sequential"):
            listed = inside.get("layers") if _is_object(inside) else None
            waiting[:0] = (
                [each for each in listed or () if _is_object(each)]
                if isinstance(listed, list)
                else []
            )
        elif kind in (*_SCALING, *_DIVIDING, "Multiply") or kind.startswith(_WEIGHTED):
            return layer
        elif kind not in before and not kind.startswith(_KINDS_BEFORE):
            return None
    return None


def _outputs(model: Configuration, steps: int) -> int | None:
    """Walks back from the last layer to one that says how many numbers it gives."""
    for layer in backwards(model):
        steps -= 1
        inside = layer.get("config")
        if steps < 0 or not _is_object(inside):
            return None
        if layer.get("class_name") == "Dense":
            units = inside.get("units")
            return units if isinstance(units, int) and units > 0 else None
        if layer.get("class_name") in ("Functional", "Sequential"):
            return _outputs(layer, steps)
        if layer.get("class_name") not in _AROUND:
            return None
    return None


def backwards(model: Configuration) -> Iterator[Configuration]:
    """The layers from the last one back, as long as each is given what one other gives.

    Args:
        model: Sequential or functional; a stranger's may say anything.
    """
    inside, layers = model.get("config"), layers_of(model)
    if not _is_object(inside) or not layers:
        return
    if model.get("class_name") == "Sequential":
        yield from reversed(layers)
        return
    by_name = {str(each.get("name")): each for each in layers}
    name = _named(inside.get("output_layers"))
    for _ in layers:
        layer = by_name.get(name)
        if layer is None:
            return
        yield layer
        name = _given_by(layer)


def layers_of(model: object) -> list[Configuration]:
    """The layers that a model lists; none where it is no model."""
    inside = model.get("config") if _is_object(model) else None
    listed = inside.get("layers") if _is_object(inside) else None
    return [each for each in listed if _is_object(each)] if isinstance(listed, list) else []


def _given_by(layer: Configuration) -> str:
    """The one layer that gives a layer its input; empty where there are several, or none."""
    nodes = layer.get("inbound_nodes")
    if not isinstance(nodes, list) or len(nodes) != 1 or not _is_object(nodes[0]):
        return ""
    arguments = nodes[0].get("args")
    if not isinstance(arguments, list) or len(arguments) != 1 or not _is_object(arguments[0]):
        return ""
    tensor = arguments[0].get("config")
    return _named(tensor.get("keras_history")) if _is_object(tensor) else ""


def _named(place: object) -> str:
    """The layer of a place: ``["outputs", 0, 0]``, or one such in a list or by its name."""
    while isinstance(place, list | dict) and len(place) == 1:
        place = next(iter(place.values() if isinstance(place, dict) else place))
    return str(place[0]) if isinstance(place, list) and place else ""


def _is_object(found: object) -> TypeGuard[Configuration]:
    return isinstance(found, dict)
