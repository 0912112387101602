"""One axis of a scatter plot: where values stand on it, and what is written beside it."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Protocol

from gpupanel.domain.round_numbers import round_logarithms, round_numbers

_TICKS, _LOG_TICKS = 5, 3
"""The most ticks; of powers of ten there may be twice as many."""
_MOST_VALUES, _LEAST_APART = 6, 0.08
"""Of values that are ticks themselves: how many, and how far apart as a part of the axis."""
_MARGIN = 0.05
_WIDE = 30.0


class ScatterAxis(Protocol):
    """Places values from 0 (left or below) to 1."""

    def place(self, value: str | float) -> float | None:
        """Where a value stands; ``None``: nowhere on this axis."""

    def ticks(self) -> list[tuple[float, str]]:
        """Places that are marked, and their texts."""


class NumberAxis:
    """Numbers, by their value or by powers of ten.

    Args:
        values: What is to be seen, at least one.
        words: What a number is called.
        is_log: By powers of ten; only where all values are above 0 (:func:`can_be_log`).
        are_chosen: Somebody chose the values: where they are few and apart, they are the ticks.
    """

    def __init__(
        self,
        values: Iterable[float],
        words: Callable[[float], str],
        *,
        is_log: bool,
        are_chosen: bool = False,
    ) -> None:
        self._is_log = is_log
        self._words = words
        values = tuple(values)
        self._chosen = sorted(set(values)) if are_chosen else []
        scaled = [math.log10(value) if is_log else value for value in values]
        low, high = min(scaled), max(scaled)
        span = high - low or abs(high) * 0.1 or 1.0
        self._low, self._high = low - _MARGIN * span, high + _MARGIN * span

    def place(self, value: str | float) -> float | None:
        """Where a number stands; ``None``: it is a text, or has no power of ten."""
        if isinstance(value, str) or (self._is_log and value <= 0.0):
            return None
        scaled = math.log10(value) if self._is_log else value
        return (scaled - self._low) / (self._high - self._low)

    def ticks(self) -> list[tuple[float, str]]:
        """Round numbers, of powers of ten where these are several; two at least."""
        low, high = self._low, self._high
        own = [((self.place(value) or 0.0), self._words(value)) for value in self._chosen]
        are_apart = all(b[0] - a[0] >= _LEAST_APART for a, b in pairwise(own))
        if 1 < len(own) <= _MOST_VALUES and are_apart:
            return own
        found = (
            round_logarithms(low, high, _LOG_TICKS)
            if self._is_log
            else round_numbers(low, high, _TICKS)
        )
        return [
            (
                min(1.0, max(0.0, (each - low) / (high - low))),
                self._words(10.0**each if self._is_log else each),
            )
            for each in found
        ]


class CategoryAxis:
    """Texts, each in a lane of its own, in their order.

    Args:
        values: What is to be seen.
    """

    def __init__(self, values: Iterable[str]) -> None:
        self._lanes = {value: lane for lane, value in enumerate(sorted(set(values)))}

    @property
    def lane(self) -> float:
        """How wide a lane is."""
        return 1.0 / max(1, len(self._lanes))

    def place(self, value: str | float) -> float | None:
        """The middle of a text's lane."""
        lane = self._lanes.get(str(value))
        return None if lane is None else (lane + 0.5) * self.lane

    def ticks(self) -> list[tuple[float, str]]:
        """The middle of each lane, and its text."""
        return [((lane + 0.5) * self.lane, value) for value, lane in self._lanes.items()]


def is_wide(values: Sequence[float]) -> bool:
    """Whether these numbers are so far apart that powers of ten show them better."""
    return bool(values) and can_be_log(values) and max(values) > _WIDE * min(values)


def can_be_log(values: Iterable[float]) -> bool:
    """Whether each of these numbers has a power of ten."""
    return all(value > 0.0 for value in values)
