"""In which shape a saved model takes examples."""

import math


def fitting(wanted: tuple[int | None, ...], shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape that examples get before a model takes them; ``None``: it takes something else.

    Images without a channel axis fit a model that wants one, and the other way round; a model
    that takes flat rows gets flat rows: the same numbers in the same order.

    Args:
        wanted: What the model takes.
        shape: Of one example as the source has it.
    """
    flat = (math.prod(shape),)
    without = shape[:-1] if shape[-1:] == (1,) else ()
    for candidate in (shape, (*shape, 1), without, flat):
        if (candidate or candidate == shape) and is_taken(wanted, candidate):
            return candidate
    return None


def is_taken(wanted: tuple[int | None, ...], shape: tuple[int, ...]) -> bool:
    """Whether a model that wants examples of one shape takes those of another as they are."""
    return len(wanted) == len(shape) and all(
        side in (None, there) for side, there in zip(wanted, shape, strict=True)
    )
