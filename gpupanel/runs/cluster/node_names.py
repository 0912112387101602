"""What the nodes of a cluster are called."""

from collections import Counter
from collections.abc import Iterable

from gpupanel.domain.visible_text import visible_line

_SHOWN_OF_ID = 6


def names_of(nodes: Iterable[tuple[str, str, str, str]]) -> dict[str, str]:
    """A name for each node, different from all others.

    Args:
        nodes: Id, name with which it was started, address and host name of each. Ray names a node
            by its address where nobody gave it a name.

    Returns:
        The name by the id. Where several have the same, as raylets on one machine have, the
        beginning of the id stands behind it.
    """
    plain = {
        node: visible_line(host if not named or named == address else named)
        for node, named, address, host in nodes
    }
    counts = Counter(plain.values())
    return {
        node: name if counts[name] == 1 else f"{name}-{node[:_SHOWN_OF_ID]}"
        for node, name in plain.items()
    }
