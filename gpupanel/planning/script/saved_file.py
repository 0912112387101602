"""How a script gives examples to a saved model."""

from typing import Final

FITTING_SHAPE: Final = '''
def fitting_shape(wanted, shape):
    """The shape in which the model takes an example: the same numbers in the same order."""
    flat, without_channel = (int(np.prod(shape)),), shape[:-1] if shape[-1:] == (1,) else shape
    for each in (shape, (*shape, 1), without_channel, flat):
        if len(each) == len(wanted):
            if all(side in (None, there) for side, there in zip(wanted, each)):
                return each
    raise SystemExit(f"The model takes examples of the shape {wanted}, the data has {shape}.")
'''
