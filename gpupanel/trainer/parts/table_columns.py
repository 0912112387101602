"""Columns of a table as a network takes them: for each category numbers are learned."""

from collections.abc import Callable, Sequence

import keras


def embedded_columns(
    features: keras.KerasTensor,
    categories: Sequence[tuple[int, int]],
    units_of: Callable[[int], int],
    call: Callable[..., keras.KerasTensor] = keras.layers.Layer.__call__,
) -> keras.KerasTensor:
    """The columns in their order.

    The features of a category are 0 but for one that is 1, or all 0 where the cell is empty or the
    category is new: a dense layer over them, without bias, is an embedding in which those are 0.

    Args:
        features: Shape [n, features].
        categories: Of each column of categories its first feature, and how many it has.
        units_of: From a number of categories to the numbers that are learned for each.
        call: Calls a layer with what it is given.
    """
    parts, done = [], 0
    for place, (start, width) in enumerate(categories, start=1):
        if start > done:
            parts.append(features[:, done:start])
        done = start + width
        layer = keras.layers.Dense(units_of(width), use_bias=False, name=f"category_{place}")
        parts.append(call(layer, features[:, start:done]))
    if done < features.shape[1]:
        parts.append(features[:, done:])
    return call(keras.layers.Concatenate(name="columns"), parts) if len(parts) > 1 else parts[0]
