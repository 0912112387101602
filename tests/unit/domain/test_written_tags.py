"""Several labels in one cell."""

import pytest

from gpupanel.domain.written_tags import are_combined, tag_separator, tags_in


@pytest.mark.parametrize(
    ("cells", "separator", "tags"),
    [
        (["a;b", "b", "c"], ";", ("a", "b")),
        (["a | b", "b"], "|", ("a", "b")),
        (["sea, sun", "sun"], ",", ("sea", "sun")),
        (["haze primary", "clear", "clear road primary"], " ", ("haze", "primary")),
        (["dry road", "wet road", "dry path", "wet path", "wet road path"], " ", ("dry", "road")),
        (["16 0", "0", "16 2 1", "2"], " ", ("16", "0")),
        (["['a b', \"c\"]", "[]", "['c']"], "[", ("a b", "c")),
        (["[a, b]", "[b]"], "[", ("a", "b")),
        (["['x' 'y']", "['y']"], "[", ("x", "y")),
    ],
)
def test_that_labels_in_a_cell_are_found(
    cells: list[str], separator: str, tags: tuple[str, ...]
) -> None:
    assert tag_separator(cells) == separator
    assert tags_in(cells[0], separator) == tags
    assert are_combined(cells)


@pytest.mark.parametrize(
    "cells",
    [
        ["golden retriever", "black cat", "pug"],
        ["dog", "hot dog", "cat"],
        ["cup", "tea"],
        ["[a]", "[b]"],
        ["a;b", "c;d"],
        [],
    ],
)
def test_that_names_are_no_combinations(cells: list[str]) -> None:
    assert not are_combined(cells)


def test_that_each_label_is_there_once() -> None:
    assert tags_in("b; a;;b", ";") == ("b", "a")
    assert tags_in("hot dog", "") == ("hot dog",)
    assert tags_in("", ";") == ()
