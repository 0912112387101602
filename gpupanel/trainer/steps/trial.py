"""What came of a step that was only tried."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Trial:
    """The same on every process of a run.

    Attributes:
        seconds: That each replica of the run took for one step.
        failed: Replicas whose memory was too small; nothing is known of the seconds then.
    """

    seconds: tuple[float, ...]
    failed: frozenset[int] = frozenset()
