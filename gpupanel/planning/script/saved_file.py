"""How a script gives examples to a saved model."""

from typing import Final

from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import joined

_SHAPE_FOR: Final = """
def shape_for(model):
    wanted, shape = tuple(model.inputs[0].shape[1:]), tuple(x.shape[1:])
    found = fitting(wanted, shape)
    if found is None:
        raise SystemExit(f"The model takes examples of the shape {wanted}, the data has {shape}.")
    return found
"""


def shape_function() -> str:
    """Python with ``shape_for(model)``: in which shape it takes the examples ``x``."""
    return joined(part("input_shape"), _SHAPE_FOR)
