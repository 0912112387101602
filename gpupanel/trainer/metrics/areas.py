"""The area under the ROC curve: exact where all scores are known, else from bins of scores.

In training the scores of a set are spread over replicas and processes, and only sums over them
are known: how many examples are in each bin. Whatever the bins are, scores may lie closer together
than one is wide. How far the area can be from the exact one follows from the counts: two examples
of one bin are counted as equal, and only they can be in either order. Where that is too much, the
set is measured again with the bins divided where such pairs are.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.float64]
Edges = npt.NDArray[np.float32]

GREATEST_ERROR: Final = 0.002
"""The greatest error of an area that is calculated from bins."""
MOST_REFINEMENTS: Final = 6
"""Each divides a bin into hundreds. ``float32`` has no more numbers than five of them separate
near a score; scores that lie in clusters of clusters need another one."""
_MOST_COUNTS: Final = 60_000
"""The most counts that the replicas sum in each step, in each of two rows."""
_MOST_BINS: Final = 4096
_GREATEST_LOGIT: Final = 100.0
_EVEN_UP_TO: Final = 0.05
"""The absolute logit up to which bins are equally wide."""
_PLACES_OF_A_NUMBER: Final = 4
"""Edges that a bin of one number takes, so that one is on either side of it."""
_WITHOUT_SIGN: Final = 0x7FFFFFFF
_LAST_DENORMAL: Final = 0x007FFFFF
"""Bits of ``float32``: numbers of the same sign are in the order of theirs."""


def bins_of_labels(labels: int) -> int:
    """How many bins the scores of each label have."""
    return min(_MOST_BINS, _MOST_COUNTS // labels)


def first_edges(labels: int) -> Edges:
    """Where bins begin before anything is known of the scores, shape [labels, bins - 1].

    Logits of a model that has not learned much lie near 0: the bins there are the narrowest.
    """
    greatest = np.arcsinh(_GREATEST_LOGIT / _EVEN_UP_TO)
    even = np.linspace(-greatest, greatest, bins_of_labels(labels) - 1)
    edges = (_EVEN_UP_TO * np.sinh(even)).astype(np.float32)
    return np.tile(edges, (labels, 1))


def area_error(has: Counts, has_not: Counts, edges: Edges) -> float:
    """How far the mean area of bins can be from that of the scores themselves.

    Args:
        has: See :func:`~gpupanel.trainer.parts.scores.mean_area`.
        has_not: See :func:`~gpupanel.trainer.parts.scores.mean_area`.
        edges: Where the bins begin, but for the first one, shape [labels, bins - 1].
    """
    every = has.sum(axis=1) * has_not.sum(axis=1)
    known = every > 0
    open_pairs = _open_pairs(has, has_not, edges).sum(axis=1)
    return float(np.mean(0.5 * open_pairs[known] / every[known])) if known.any() else 0.0


def finer_edges(has: Counts, has_not: Counts, edges: Edges) -> Edges:
    """Other edges, as many, that are close together where scores cannot be distinguished yet.

    A bin with p pairs of undecided order that is divided into k still has about p / k: the sum over
    all bins is least where each k grows with the root of its p. Bins whose order is known may
    become one again, but none with many examples.

    Args:
        has: See :func:`area_error`.
        has_not: See :func:`area_error`.
        edges: See :func:`area_error`.
    """
    with_it, without = (
        each / np.maximum(each.sum(axis=1, keepdims=True), 1.0) for each in (has, has_not)
    )
    open_pairs = _open_pairs(with_it, without, edges)
    mass = 0.5 * (with_it + without)
    enough = _PLACES_OF_A_NUMBER * 2.0 / has.shape[1]
    weights = np.where(_are_one_number(edges), np.minimum(mass, enough), np.sqrt(open_pairs) + mass)
    found = edges.copy()
    for label in np.flatnonzero(open_pairs.any(axis=1)):
        found[label] = _divided(weights[label], edges[label])
    return found


def _are_one_number(edges: Edges) -> npt.NDArray[np.bool_]:
    """Whether each bin holds a single number, shape [labels, bins]."""
    return np.pad(np.diff(_places(edges)) <= 1, ((0, 0), (1, 1)))


def _open_pairs(has: Counts, has_not: Counts, edges: Edges) -> Counts:
    """Pairs of each bin whose order is not known."""
    return np.where(_are_one_number(edges), 0.0, has * has_not)


def _divided(weights: Counts, edges: Edges) -> Edges:
    """As many edges, between which there is as much weight each; shapes [bins] and [bins - 1]."""
    greatest = _places(np.array([np.finfo(np.float32).max], np.float32))
    ends = np.concatenate((-greatest, _places(edges), greatest))
    total = np.concatenate(([0.0], np.cumsum(weights)))
    wanted = np.linspace(0.0, total[-1], len(edges) + 2)[1:-1]
    bins = np.searchsorted(total, wanted, side="left") - 1
    share = (wanted - total[bins]) / weights[bins]
    # Borders of what is divided stay: what is in no other bin must not get into the next one.
    share[np.diff(bins, append=len(weights)) > 0] = 1.0
    share[np.diff(bins, prepend=-1) > 0] = 0.0
    return _numbers(ends[bins] + np.rint(share * (ends[bins + 1] - ends[bins])).astype(np.int64))


def _places(numbers: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
    """How many numbers of ``float32`` lie between 0 and these, with their sign.

    Those too small to be normalised are no others than 0: TensorFlow takes them for it.
    """
    bits = numbers.view(np.int32).astype(np.int64)
    above = np.maximum((bits & _WITHOUT_SIGN) - _LAST_DENORMAL, 0)
    return np.asarray(np.where(bits < 0, -above, above), np.int64)


def _numbers(places: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """The numbers at these places."""
    size = np.where(places == 0, 0, abs(places) + _LAST_DENORMAL).astype(np.int32)
    return np.copysign(size.view(np.float32), places.astype(np.float32))
