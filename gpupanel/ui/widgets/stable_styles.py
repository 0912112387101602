"""Colours and kinds of line that stay with what they were given to."""

from collections.abc import Sequence


class StableStyles:
    """Numbers of styles: what was shown once keeps its own as long as nothing beside it has it."""

    def __init__(self) -> None:
        self._kept: dict[str, int] = {}

    def of(self, names: Sequence[str]) -> tuple[int, ...]:
        """The number of each, from 0; no two are the same.

        The first of two that had the same number keeps it; what had none gets the least that is
        free.
        """
        given: dict[str, int] = {}
        for name in names:
            number = self._kept.get(name)
            if number is not None and number not in given.values():
                given[name] = number
        taken = set(given.values())
        free = (number for number in range(len(names) + len(taken)) if number not in taken)
        return tuple(given[name] if name in given else next(free) for name in names)

    def keep(self, names: Sequence[str]) -> tuple[int, ...]:
        """The numbers that :meth:`of` gives, to be theirs from now on."""
        numbers = self.of(names)
        self._kept.update(zip(names, numbers, strict=True))
        return numbers
