"""Round numbers: 1, 2 and 5 times powers of ten, as people label axes and change values."""

import math
from typing import Final

_DIGITS: Final = (1, 2, 5)
_ROUNDING: Final = 1e-9
"""As a part of a number: what differs by less is the same one."""
_MORE_PARTS: Final = 6
"""With so many more parts, any range holds two round numbers."""
_LARGEST: Final = 307.0
"""The greatest exponent of ten that a number can have."""
_WIDE: Final = 3.0
"""Decades of which whole powers of ten say enough."""


def round_step(span: float, parts: float = 5.0) -> float:
    """A step of 1, 2 or 5 times a power of ten that divides a span into about so many parts."""
    rough = span / max(1.0, parts) * (1.0 - _ROUNDING)
    if rough <= 0.0 or not math.isfinite(rough):
        return 1.0
    power: float = 10.0 ** math.floor(math.log10(rough))
    return next((digit * power for digit in _DIGITS if digit * power >= rough), 10.0 * power)


def labelled_step(low: float, high: float, parts: float) -> float:
    """Such a step of which at least two multiples are within a range.

    One number alone says nothing of how far apart places are.

    Args:
        low: The least that is shown.
        high: The greatest.
        parts: About so many have room.
    """
    steps = [round_step(high - low, parts + more) for more in range(_MORE_PARTS)]
    enough = (step for step in steps if math.floor(high / step) > math.ceil(low / step))
    return next(enough, steps[0])


def round_numbers(low: float, high: float, parts: int) -> list[float]:
    """Round numbers within a range, equally far apart: at least two of any that has a width.

    Args:
        low: The least that is shown.
        high: The greatest.
        parts: About so many have room.
    """
    step = labelled_step(low, high, parts)
    first, last = math.ceil(low / step - _ROUNDING), math.floor(high / step + _ROUNDING)
    # A range far from 0 and narrow beyond all digits has numbers without end.
    return [(first + place) * step for place in range(min(last - first + 1, 3 * max(1, parts) + 9))]


def round_logarithms(low: float, high: float, parts: int) -> list[float]:
    """Logarithms of round numbers between two logarithms, all to base 10; at least two.

    Args:
        low: The least that is shown.
        high: The greatest.
        parts: About so many have room.
    """
    low, high = (max(-_LARGEST, min(each, _LARGEST)) for each in (low, high))
    room = _ROUNDING * (high - low)
    powers = range(math.floor(low) - 1, math.ceil(high) + 1)
    for digits in (_DIGITS, (1, 3), (1,)):
        logs = [power + math.log10(digit) for power in powers for digit in digits]
        found = [place for place in logs if low - room <= place <= high + room]
        if 3 <= len(found) <= 2 * parts:
            return found
    if high - low >= _WIDE:
        apart = min(math.ceil((high - low) / max(1, parts)), math.floor((high - low) / 2.0))
        whole = range(math.ceil(low - room), math.floor(high + room) + 1)
        return [float(power) for power in whole if power % apart == 0]
    return [math.log10(each) for each in round_numbers(10.0**low, 10.0**high, parts) if each > 0.0]


def next_round(number: float, direction: int) -> float:
    """The neighbour in ..., 0.1, 0.2, 0.5, 1, 2, 5, ..., below 0 the same; 0 lies between ±1.

    Args:
        number: Any, round or not.
        direction: 1 for the next greater one, -1 for the next smaller one.
    """
    if number == 0.0:
        return float(direction)
    if number < 0.0:
        return -next_round(-number, -direction)
    exponent = math.floor(math.log10(number))
    ladder = [
        float(f"{digit}e{power}")
        for power in range(exponent - 1, exponent + 2)
        for digit in _DIGITS
    ]
    if direction > 0:
        return next(rung for rung in ladder if rung > number * (1.0 + _ROUNDING))
    return next(rung for rung in reversed(ladder) if rung < number * (1.0 - _ROUNDING))
