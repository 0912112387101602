"""The optimizer's state is cut into as few pieces as there have to be, near the quotas."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpupanel.domain.optimizer_pieces import ALIGNMENT, Piece, cut

SIZES = st.lists(st.integers(0, 5_000), max_size=12)
QUOTAS = st.lists(st.integers(0, 100), min_size=1, max_size=6).filter(any)


@given(SIZES, QUOTAS)
def test_that_the_pieces_are_all_of_each_weight_in_its_order(
    sizes: list[int], quotas: list[int]
) -> None:
    pieces = cut(sizes, quotas)
    for weight, size in enumerate(sizes):
        own = [each for each in pieces if each.weight == weight]
        borders = [each.begin for each in own] + [size]
        assert borders[0] == 0
        assert [each.end for each in own] == borders[1:]
        assert all(begin < end for begin, end in pairwise(borders))


@given(SIZES, QUOTAS)
def test_that_each_replica_gets_its_quota_but_for_an_alignment(
    sizes: list[int], quotas: list[int]
) -> None:
    pieces = cut(sizes, quotas)
    for replica, quota in enumerate(quotas):
        kept = sum(each.end - each.begin for each in pieces if each.replica == replica)
        assert abs(kept - sum(sizes) * quota / sum(quotas)) <= ALIGNMENT + 1


@given(SIZES, QUOTAS)
def test_that_weights_are_cut_where_vectors_of_numbers_end(
    sizes: list[int], quotas: list[int]
) -> None:
    pieces = cut(sizes, quotas)
    assert all(each.begin % ALIGNMENT == 0 for each in pieces)
    assert len(pieces) <= len(sizes) + len(quotas) - 1


@pytest.mark.parametrize(
    ("sizes", "quotas", "pieces"),
    [
        ([100, 100], [1, 1], (Piece(0, 0, 100, 0), Piece(1, 0, 100, 1))),
        ([640], [60, 20, 20], (Piece(0, 0, 384, 0), Piece(0, 384, 512, 1), Piece(0, 512, 640, 2))),
        ([70], [0, 5], (Piece(0, 0, 70, 1),)),
        ([12, 30, 10], [1, 1], (Piece(0, 0, 12, 0), Piece(1, 0, 30, 1), Piece(2, 0, 10, 1))),
        ([], [1, 1], ()),
    ],
)
def test_that_large_weights_are_cut_and_small_ones_stay_whole(
    sizes: list[int], quotas: list[int], pieces: tuple[Piece, ...]
) -> None:
    assert cut(sizes, quotas) == pieces
