"""Which examples are trained on and which are held back, drawn by seed alone."""

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int32]
"""Places of examples."""


def drawn_order(examples: int, seed: int) -> Numbers:
    """All examples, as they are drawn; epochs count from 1, so that this stream is its own."""
    return np.random.default_rng([seed, 0]).permutation(examples).astype(np.int32)


def groups_first(
    order: Numbers, groups: npt.NDArray[np.generic], count: int
) -> tuple[Numbers, int]:
    """The examples with those first that are held back, and how many these are.

    Whole groups in the order in which they are drawn, as long as they are no more than ``count``;
    at least the first.
    """
    _, codes = np.unique(groups, return_inverse=True)
    in_order = codes[order]
    drawn = in_order[np.sort(np.unique(in_order, return_index=True)[1])]
    ends = np.cumsum(np.bincount(codes)[drawn])
    taken = drawn[: max(1, int(np.searchsorted(ends, count, side="right")))]
    is_kept = ~np.isin(in_order, taken)
    return order[np.argsort(is_kept, kind="stable")], len(order) - int(is_kept.sum())


def parts_of_classes_first(
    order: Numbers, classes: npt.NDArray[np.generic], count: int
) -> tuple[Numbers, int]:
    """The examples with those first that are held back, and how many these are.

    Of each class its part of ``count`` is held back, rounded down; what is then missing comes from
    the classes that lost most by it, of equal ones from the first. One example of each class stays.
    """
    sizes = np.bincount(classes)
    parts, rests = np.divmod(sizes * count, len(order))
    by_rest = np.argsort(-rests, kind="stable")
    gives_more = (rests > 0) & (parts + 1 < sizes)
    parts[by_rest[gives_more[by_rest]][: count - parts.sum()]] += 1
    by_class = order[np.argsort(classes[order], kind="stable")]
    place_in_class = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    is_kept = place_in_class >= np.repeat(parts, sizes)
    return by_class[np.argsort(is_kept, kind="stable")], int(parts.sum())


def fold(
    number: int,
    folds: int,
    order: Numbers,
    classes: npt.NDArray[np.generic] | None = None,
    groups: npt.NDArray[np.generic] | None = None,
) -> Numbers:
    """The examples of one of so many parts: each example is in exactly one of them.

    Args:
        number: Of the part, from 1.
        folds: How many parts there are, nearly equal ones.
        order: All examples, as they are drawn.
        classes: Of each example, of which each part has its share; ``None``: no matter which.
        groups: Whole ones are in a part, whatever their classes; ``None``: there are none.

    Returns:
        None where no such part is left.
    """
    ends = [len(order) * place // folds for place in range(folds + 1)]
    rest, taken = order, order[:0]
    if number > folds:
        return taken
    for place in range(1, number + 1):
        count = ends[place] - ends[place - 1]
        if place == folds or len(rest) == 0:
            count = len(rest)
        elif groups is not None:
            rest, count = groups_first(rest, groups, count)
        elif classes is not None:
            local, count = parts_of_classes_first(
                np.arange(len(rest), dtype=np.int32), classes[rest], count
            )
            rest = rest[local]
        taken, rest = rest[:count], rest[count:]
    return taken
