"""Layers are divided so that the fullest device holds least, and names are checked."""

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpupanel.domain.placement import LayerSize, balanced_runs, place_layers
from gpupanel.domain.problem import ProblemError

LAYERS = (
    LayerSize("pixels", 0, 64),
    LayerSize("dense_1", 6_500, 100),
    LayerSize("dense_1_relu", 0, 100),
    LayerSize("outputs", 1_010, 10),
)


def place(wanted: dict[str, int] | None, places: int = 2) -> tuple[int, ...]:
    return place_layers(LAYERS, wanted, places=places, batch_size=8)


def test_that_a_layer_without_a_name_goes_with_the_one_before_it() -> None:
    assert place({"pixels": 1, "outputs": 0}) == (1, 1, 1, 0)


def test_that_layers_before_the_first_named_one_go_with_it() -> None:
    assert place({"dense_1": 1, "outputs": 0}) == (1, 1, 1, 0)


def test_that_a_layer_that_is_not_there_is_reported_with_those_that_are() -> None:
    with pytest.raises(ProblemError) as raised:
        place({"dense_2": 0, "outputs": 1})

    (problem,) = raised.value.problems
    assert problem.code == "placement_layer_missing"
    assert '"dense_2"' in problem.message
    assert '"pixels", "dense_1", "dense_1_relu", "outputs"' in problem.message


def test_that_a_place_beyond_the_devices_is_reported() -> None:
    with pytest.raises(ProblemError) as raised:
        place({"dense_1": 2, "outputs": 1})

    (problem,) = raised.value.problems
    assert problem.code == "placement_beyond_devices"
    assert '"dense_1"' in problem.message
    assert '"outputs"' not in problem.message


def test_that_layers_are_divided_by_what_they_hold() -> None:
    # 4 numbers a parameter and 8 examples: 512, 26,800, 800 and 4,120 of them.
    assert place(None, places=1) == (0, 0, 0, 0)
    assert place(None, places=2) == (0, 0, 1, 1)
    # Nothing is gained by a fourth: the second layer alone is the fullest.
    assert place(None, places=4) == place(None, places=3) == (0, 1, 2, 2)


sizes = st.lists(
    st.builds(LayerSize, st.just("x"), st.integers(0, 50), st.integers(1, 20)),
    min_size=1,
    max_size=7,
)


def fullest(layers: list[LayerSize], chosen: tuple[int, ...]) -> int:
    return max(
        sum(layer.values(4) for layer, place in zip(layers, chosen, strict=True) if place == one)
        for one in set(chosen)
    )


def crossing(layers: list[LayerSize], chosen: tuple[int, ...]) -> int:
    borders = zip(layers, pairwise(chosen), strict=False)
    return sum(layer.activations for layer, (one, other) in borders if one != other)


def all_runs(count: int, places: int) -> list[tuple[int, ...]]:
    """Every way to divide so many layers into at most so many contiguous runs."""
    return [
        tuple(sum(index >= cut for cut in cuts) for index in range(count))
        for runs in range(1, places + 1)
        for cuts in combinations(range(1, count), runs - 1)
    ]


@given(layers=sizes, places=st.integers(1, 4))
def test_that_no_other_division_is_more_even_or_crosses_less(
    layers: list[LayerSize], places: int
) -> None:
    chosen = balanced_runs(layers, places=places, batch_size=4)

    best = min(
        (fullest(layers, other), crossing(layers, other)) for other in all_runs(len(layers), places)
    )
    assert chosen in all_runs(len(layers), places)
    assert (fullest(layers, chosen), crossing(layers, chosen)) == best
