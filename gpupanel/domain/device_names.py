"""Names that distinguish devices of one make."""

from collections import Counter
from collections.abc import Sequence


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
