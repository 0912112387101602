"""Names that distinguish devices of one make."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

_NUMBER = re.compile(r" #\d+$")


def make(name: str) -> str:
    """A device's name without its number among equal ones."""
    return _NUMBER.sub("", name)


def gathered(names: Iterable[str], present: Iterable[str]) -> tuple[str, ...]:
    """Numbered names; a make of which all are meant stands once, without numbers.

    Args:
        names: Of the devices that are meant.
        present: Of all devices that there are.
    """
    meant = tuple(names)
    some = {make(name) for name in set(present) - set(meant)}
    return tuple(dict.fromkeys(name if make(name) in some else make(name) for name in meant))


def numbered(names: Sequence[str], nodes: Sequence[str | None] = ()) -> tuple[str, ...]:
    """The names; those that several devices on one node have get a number, "RTX 3090 #2".

    Args:
        names: Of the devices, in order.
        nodes: Of a cluster, the node of each; none: all are on this machine.
    """
    placed = list(zip(names, nodes or [None] * len(names), strict=True))
    counts, seen = Counter(placed), Counter[tuple[str, str | None]]()
    labels: list[str] = []
    for each in placed:
        seen[each] += 1
        labels.append(each[0] if counts[each] == 1 else f"{each[0]} #{seen[each]}")
    return tuple(labels)
