"""Which layer goes on which device, when the layers of one model are divided over several."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from gpupanel.domain.problem import Problem, ProblemError

_VALUES_PER_PARAMETER = 4
"""A weight keeps its gradient and, with Adam, two moments beside it."""


@dataclass(frozen=True, slots=True)
class LayerSize:
    """What one layer needs.

    Attributes:
        parameters: Numbers that it holds.
        activations: Numbers that it gives on for one example.
    """

    name: str
    parameters: int
    activations: int

    def values(self, batch_size: int) -> int:
        """Numbers that a device keeps for it while it trains."""
        return _VALUES_PER_PARAMETER * self.parameters + batch_size * self.activations


def place_layers(
    layers: Sequence[LayerSize],
    wanted: Mapping[str, int] | Literal["auto"] | None,
    *,
    places: int,
    batch_size: int,
) -> tuple[int, ...]:
    """The index of the place of each layer.

    Args:
        layers: In the order in which they are called.
        wanted: Places by layer name: a layer that is not named goes with the layer before it, and
            those before the first that is named go with that one. Anything else balances them.
        places: How many there are.
        batch_size: Examples that pass through the layers at once.

    Raises:
        ProblemError: A name or an index is wanted that is not there.
    """
    if not isinstance(wanted, Mapping):
        return balanced_runs(layers, places=places, batch_size=batch_size)
    _check(layers, wanted, places)
    place = next((wanted[layer.name] for layer in layers if layer.name in wanted), 0)
    chosen = []
    for layer in layers:
        place = wanted.get(layer.name, place)
        chosen.append(place)
    return tuple(chosen)


def balanced_runs(layers: Sequence[LayerSize], *, places: int, batch_size: int) -> tuple[int, ...]:
    """Divide the layers into runs, one a place, so that the fullest place holds least.

    A run is contiguous, so that a tensor crosses only where one run ends and the next begins. Of
    all divisions whose fullest place holds as little as can be, it is the one where the fewest
    numbers cross. There is at least one layer.
    """
    cheapest = _cheapest_runs(layers, places, batch_size)
    end = len(layers)
    runs = min(
        (run for run in range(1, places + 1) if end in cheapest[run]),
        key=lambda run: cheapest[run][end].crossing,
    )
    chosen = [0] * end
    for run in range(runs, 0, -1):
        begin = cheapest[run][end].begin
        chosen[begin:end] = [run - 1] * (end - begin)
        end = begin
    return tuple(chosen)


@dataclass(frozen=True, slots=True)
class _Division:
    """The cheapest way to divide the first layers into so many runs.

    Attributes:
        crossing: Numbers an example that go from one run to the next.
        begin: Of the last run.
    """

    crossing: int
    begin: int


def _cheapest_runs(
    layers: Sequence[LayerSize], places: int, batch_size: int
) -> list[dict[int, _Division]]:
    """The best divisions by the number of runs, then by the number of layers covered."""
    values = [layer.values(batch_size) for layer in layers]
    limit, sums = _least_greatest(values, places), list(accumulate(values, initial=0))
    cheapest = [{0: _Division(0, 0)}]
    for _ in range(places):
        reached: dict[int, _Division] = {}
        for begin, before in cheapest[-1].items():
            crossing = before.crossing + (layers[begin - 1].activations if begin else 0)
            for end in range(begin + 1, len(layers) + 1):
                if sums[end] - sums[begin] > limit:
                    break
                if end not in reached or crossing < reached[end].crossing:
                    reached[end] = _Division(crossing, begin)
        cheapest.append(reached)
    return cheapest


def _least_greatest(values: Sequence[int], runs: int) -> int:
    """The least sum that the greatest of so many contiguous runs can have."""
    low, high = max(values), sum(values)
    while low < high:
        middle = (low + high) // 2
        if _runs_needed(values, middle) <= runs:
            high = middle
        else:
            low = middle + 1
    return low


def _runs_needed(values: Sequence[int], limit: int) -> int:
    runs, held = 1, 0
    for value in values:
        if held + value > limit:
            runs, held = runs + 1, 0
        held += value
    return runs


def _check(layers: Sequence[LayerSize], wanted: Mapping[str, int], places: int) -> None:
    names = {layer.name: None for layer in layers}
    unknown = [name for name in wanted if name not in names]
    problems = []
    if unknown:
        problems.append(
            Problem(
                code="placement_layer_missing",
                field="strategy.placement",
                message=f"The model has no layer {_quoted(unknown)}; its layers: {_quoted(names)}.",
                hint='Name layers of the model, or set strategy.placement to "auto".',
            )
        )
    beyond = [name for name, place in wanted.items() if place >= places]
    if beyond:
        problems.append(
            Problem(
                code="placement_beyond_devices",
                field="strategy.placement",
                message=f"The layers {_quoted(beyond)} are placed beyond the last of {places} "
                f"logical devices, which has the number {places - 1}.",
                hint="Use smaller numbers, counted from 0, or switch more devices on.",
            )
        )
    if problems:
        raise ProblemError(*problems)


def _quoted(names: Sequence[str] | Mapping[str, None]) -> str:
    return ", ".join(f'"{name}"' for name in names)
