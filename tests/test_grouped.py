"""Groups are prepared when they are asked for, and once."""

from collections.abc import Sequence

import pytest

from tests.grouped import Grouped


def test_that_a_group_is_prepared_when_one_of_it_is_asked_for_and_once() -> None:
    asked: list[Sequence[str]] = []

    def prepare(names: Sequence[str]) -> dict[str, int]:
        asked.append(names)
        return {name: len(asked) for name in names}

    numbers = Grouped(prepare, ("a", "b"), ("c",))
    assert asked == []
    assert (numbers["b"], numbers["a"]) == (1, 1)
    assert asked == [("a", "b")]
    assert (numbers["c"], numbers["a"]) == (2, 1)
    assert asked == [("a", "b"), ("c",)]
    with pytest.raises(KeyError):
        numbers["d"]
