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
