"""Which shape of examples a saved model takes, and whether examples of another one fit it."""

from collections.abc import Sequence
from typing import Final, TypeGuard

from gpupanel.domain.data import DataSettings
from gpupanel.domain.decoded_images import GREATEST_SIDE
from gpupanel.domain.problem import Change, Fix, Problem

InputShape = tuple[int | None, ...]
"""The shape of one example; ``None``: any size."""
_GREATEST: Final = 2**31 - 1
"""No axis of an array is longer here: a file that says so is damaged, or a stranger's."""
_COLORS: Final = {3: "rgb", 1: "grayscale"}


def input_shape_in(configuration: object) -> InputShape | None:
    """The shape of one example of the model's only input; ``None``: only Keras can say.

    Args:
        configuration: As ``config.json`` holds it; a stranger's may say anything.
    """
    layers = _inside(configuration).get("layers")
    listed = layers if isinstance(layers, list) else []
    inputs = [_inside(each) for each in listed if _kind_of(each) == "InputLayer"]
    shape = inputs[0].get("batch_shape") if len(inputs) == 1 else None
    if not isinstance(shape, list) or not shape or not _are_sides(shape):
        return None
    return tuple(shape[1:])


def input_misfit(
    wanted: InputShape, shape: tuple[int, ...], data: DataSettings | None = None
) -> Problem:
    """What is said of examples that a model does not take.

    Args:
        wanted: What it takes.
        shape: Of one example as the source has it.
        data: Whose images may be scaled to what it takes; ``None``: nothing is offered.
    """
    shown = "x".join("any" if side is None else str(side) for side in wanted)
    fix = None if data is None else _scaled(wanted, shape, data)
    return Problem(
        code="model_input_does_not_fit",
        field="model.path",
        message=f"The model takes examples of the shape {shown or 'of one number'}, but those of "
        f"the data have the shape {'x'.join(map(str, shape))}.",
        hint="Choose the data that the model was trained for, or another model."
        if fix is None
        else "Read the images as the model takes them, or choose another model.",
        fix=fix,
    )


def _scaled(wanted: InputShape, shape: tuple[int, ...], data: DataSettings) -> Fix | None:
    """Images in the size and colours that the model takes; ``None``: these are chosen nowhere."""
    size, color = getattr(data, "image_size", None), getattr(data, "color", "")
    channels = next((count for count, name in _COLORS.items() if name == color), 0)
    if size is None or (*size, channels) != shape or len(wanted) != len(shape):
        return None
    if wanted[-1] not in (*_COLORS, None):
        return None
    sides = [has if side is None else side for side, has in zip(wanted, size, strict=False)]
    if max(sides[:2]) > GREATEST_SIDE:
        return None
    wanted_color = _COLORS[wanted[-1] or channels]
    return Fix(
        label=f"Use {sides[1]}x{sides[0]} pixels, {wanted_color}",
        changes=(
            Change(path=("data", "image_size"), value=sides),
            Change(path=("data", "color"), value=wanted_color),
        ),
    )


def _kind_of(layer: object) -> object:
    return layer.get("class_name") if isinstance(layer, dict) else None


def _inside(layer: object) -> dict[str, object]:
    inside = layer.get("config") if isinstance(layer, dict) else None
    return inside if isinstance(inside, dict) else {}


def _are_sides(shape: Sequence[object]) -> TypeGuard[Sequence[int | None]]:
    return all(side is None or (type(side) is int and 0 < side <= _GREATEST) for side in shape)
