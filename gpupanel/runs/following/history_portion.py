"""How a file of events is read: in blocks, which make up portions."""

from dataclasses import dataclass

from gpupanel.runs.directory.tails import Place
from gpupanel.runs.following.steps import StepBatch

BLOCK_BYTES = 2**18
"""Read at once: what a processor holds close is still there when it is decoded."""


@dataclass(frozen=True, slots=True)
class Portion:
    """Some of a file.

    Attributes:
        parts: As :class:`GatheredLines` gathers them.
        place: Where in the file they end.
    """

    parts: list[bytes | StepBatch]
    place: Place
