"""What takes seconds to prepare, prepared group by group as tests ask for it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import pytest

T = TypeVar("T")


class Grouped(dict[str, T]):
    """By name; a group is prepared whole when one of its names is first asked for.

    So what only tests look at that are not selected is not prepared.

    Args:
        prepare: Prepares those of the names that it is given.
        groups: Names that are prepared together, each in one group.
    """

    def __init__(
        self, prepare: Callable[[Sequence[str]], Mapping[str, T]], *groups: Sequence[str]
    ) -> None:
        super().__init__()
        self._prepare = prepare
        self._groups = groups

    def __missing__(self, name: str) -> T:
        group = next((each for each in self._groups if name in each), None)
        if group is None:
            raise KeyError(name)
        prepared = self._prepare(group)
        self.update(prepared)
        return prepared[name]


def others_long(names: Iterable[str], *quick: str) -> list[Any]:
    """Parameters of a test, of which all but the quick ones are marked ``long``."""
    return [name if name in quick else pytest.param(name, marks=pytest.mark.long) for name in names]
