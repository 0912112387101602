"""Layers of one model that follow each other on the same device."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from gpupanel.domain.value import Value


class Stage(Value):
    """Those on one device of each replica.

    Attributes:
        device_keys: Of the physical devices, each once.
        layers: By name, in their order.
        work: The part of a step's computation that is theirs.
    """

    device_keys: tuple[str, ...]
    layers: tuple[str, ...]
    work: Annotated[float, Field(ge=0.0, le=1.0)]


def placement_of(stages: Sequence[Stage], counts: Sequence[int]) -> dict[str, int]:
    """The place of each layer where the stages have so many layers each, in the same order."""
    names = iter([name for stage in stages for name in stage.layers])
    return {next(names): place for place, count in enumerate(counts) for _ in range(count)}
