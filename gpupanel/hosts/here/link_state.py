"""How the connection to a host is."""

from dataclasses import dataclass
from enum import StrEnum

from gpupanel.domain.problem import Problem
from gpupanel.hosts.lines import Hello


class LinkCondition(StrEnum):
    """How the connection is."""

    CONNECTING = "connecting"
    CONNECTED = "connected"
    CUT = "cut"
    """It was there, and is tried again."""
    REFUSED = "refused"
    """Somebody has to do something before it can be tried again."""


@dataclass(frozen=True, slots=True)
class LinkState:
    """How the connection is, and since when.

    Attributes:
        since_s: Seconds since the epoch, by the clock here.
        problem: Why there is none.
        hello: What the host said of itself; ``None`` before it was ever reached.
        behind_s: How far its clock is behind the one here.
    """

    kind: LinkCondition
    since_s: float
    problem: Problem | None = None
    hello: Hello | None = None
    behind_s: float = 0.0
