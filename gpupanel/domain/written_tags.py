"""Several labels in one cell: ``a;b``, ``a|b``, ``a, b``, ``a b``, ``['a', 'b']``.

The exported script contains this file's text, so that it reads a cell as a run does: it needs
nothing but Python's standard library.
"""

import re
from collections import Counter
from collections.abc import Iterable

LIST = "["
"""In place of a separator: each cell is a list as Python or JSON writes it."""
_BETWEEN = ("|", ";", ",")
_ITEM = re.compile(r"""'([^']*)'|"([^"]*)"|([^\s,'"\[\]][^,'"\[\]]*)""")


def tag_separator(cells: Iterable[str]) -> str:
    """What stands between the labels of a cell; empty: no cell holds several.

    A space may be part of a name such as "hot dog". It separates where two labels at least are in
    several cells, and one of them stands alone in another, or they are fewer than the cells.

    Args:
        cells: Those that hold something.
    """
    different = {cell.strip() for cell in cells}
    if different and all(cell[:1] == "[" and cell[-1:] == "]" for cell in different):
        return LIST
    for mark in _BETWEEN:
        if any(len(tags_in(cell, mark)) > 1 for cell in different):
            return mark
    apart = [tags_in(cell, " ") for cell in different]
    counts = Counter(tag for tags in apart for tag in tags)
    alone = {tags[0] for tags in apart if len(tags) == 1}
    are_shared = sum(count > 1 for count in counts.values()) > 1
    are_alone = any(counts[tag] > 1 for tag in alone)
    return " " if are_shared and (are_alone or len(counts) < len(different)) else ""


def are_combined(cells: Iterable[str]) -> bool:
    """Whether cells look like several labels each: one of these stands in different cells."""
    different = {cell.strip() for cell in cells}
    separator = tag_separator(different)
    apart = [tags_in(cell, separator) for cell in different]
    counts = Counter(tag for tags in apart for tag in tags)
    holds_several = any(len(tags) > 1 for tags in apart)
    return bool(separator) and holds_several and max(counts.values()) > 1


def tags_in(cell: str, separator: str) -> tuple[str, ...]:
    """The labels in a cell, each once.

    Args:
        cell: Its text.
        separator: As :func:`tag_separator` says it.
    """
    if separator == LIST:
        found = [next(filter(None, each), "") for each in _ITEM.findall(cell)]
    else:
        found = cell.split(separator) if separator else [cell]
    stripped = (tag.strip() for tag in found)
    return tuple(dict.fromkeys(tag for tag in stripped if tag))
