"""Which replica keeps the optimizer's state of which part of the weights.

The state of all weights stands in a row, weight after weight, each flattened; every replica has the
run of them that its quota says. So no more weights are cut than there are borders, however large
one of them is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

ALIGNMENT = 64
"""Weights are cut at multiples of so many numbers: processors calculate with several at once, and
so with the same ones together as in the whole weight."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a flattened weight.

    Attributes:
        weight: Its index.
        begin: The first number.
        end: The one after the last.
        replica: Whose it is.
    """

    weight: int
    begin: int
    end: int
    replica: int


def cut(sizes: Sequence[int], quotas: Sequence[int]) -> tuple[Piece, ...]:
    """Divide weights, in their order.

    Args:
        sizes: How many numbers each has.
        quotas: What each replica gets, in proportion; one at least is not 0. What it does get
            differs from that by :data:`ALIGNMENT` numbers at most.

    Returns:
        What each weight consists of, from its beginning; of a weight without numbers nothing.
    """
    total, whole = sum(sizes), sum(quotas)
    ends = [total * sum(quotas[: number + 1]) // whole for number in range(len(quotas))]
    pieces, first = [], 0
    for weight, size in enumerate(sizes):
        borders = [0, *(_rounded(end - first, size) for end in ends)]
        pieces += [
            Piece(weight, begin, end, replica)
            for replica, (begin, end) in enumerate(pairwise(borders))
            if begin < end
        ]
        first += size
    return tuple(pieces)


def _rounded(border: int, size: int) -> int:
    """The place nearest to the border where a weight of that size may be cut, or ends."""
    border = min(max(border, 0), size)
    below = border // ALIGNMENT * ALIGNMENT
    above = min(below + ALIGNMENT, size)
    return below if border - below < above - border else above
