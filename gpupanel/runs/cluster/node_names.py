"""What the nodes of a cluster are called."""

from collections import Counter
from collections.abc import Iterable

from gpupanel.domain.visible_text import visible_line

_SHOWN_OF_ID = 6

NodeIdentity = tuple[str, str, str, str]
"""Id, name with which a node was started, address and host name. Ray names a node by its address
where nobody gave it a name."""


def names_of(nodes: Iterable[NodeIdentity]) -> dict[str, str]:
    """A name for each node, different from all others.

    Args:
        nodes: Of one cluster.

    Returns:
        The name by the id. Where several have the same, as raylets on one machine have, the
        beginning of the id stands behind it.
    """
    plain = _plain(nodes)
    counts = Counter(plain.values())
    return {
        node: name if counts[name] == 1 else f"{name}-{node[:_SHOWN_OF_ID]}"
        for node, name in plain.items()
    }


def returned(lost: Iterable[NodeIdentity], alive: Iterable[NodeIdentity]) -> frozenset[str]:
    """The ids of lost nodes that have come back: with another id, and the same name.

    Of several lost ones with one name the last counts.
    """
    there, names = set(_plain(alive).values()), _plain(lost)
    last = {name: node for node, name in names.items()}
    return frozenset(node for node, name in names.items() if name in there or last[name] != node)


def _plain(nodes: Iterable[NodeIdentity]) -> dict[str, str]:
    return {
        node: visible_line(host if not named or named == address else named)
        for node, named, address, host in nodes
    }
