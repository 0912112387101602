"""Steps in bulk: a run of days has a million of them, and each is looked at by its columns."""

from array import array
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import nan
from typing import Annotated, Self, TypeAlias

import msgspec

from gpupanel.domain.events import StepsDone

Floats: TypeAlias = "array[float]"
Counts: TypeAlias = "array[int]"
"""Numbers in a row, eight bytes each; ``numpy.asarray`` makes an array of them without copying."""

_Count = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""What a column of counts can hold."""


class StepsLine(
    msgspec.Struct, tag_field="kind", tag="steps_done", forbid_unknown_fields=True, gc=False
):
    """A :class:`StepsDone` as it is read in bulk: refuses at least what that refuses."""

    time_s: float
    step: _Count
    steps: _Count
    epoch: _Count
    step_in_epoch: _Count
    examples: _Count
    loss: float
    examples_per_second: float
    accuracy: float | None = None


_DECODER = msgspec.json.Decoder(StepsLine)


def decode_steps(block: bytes) -> list[StepsLine] | None:
    """The steps of whole lines; ``None`` when any of the lines is something else, or damaged.

    Args:
        block: The lines with their ends.
    """
    try:
        lines = _DECODER.decode_lines(block)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    # As many objects as lines: no line was cut in two, or stands in one with the next.
    return lines if len(lines) == block.count(b"\n") else None


class StepBatch:
    """Consecutive :class:`StepsDone` events, one at least, in the order in which they were written.

    The columns have one number for each of the events and are made when they are first asked for:
    who only wants to know where the run stands asks :attr:`first` and :attr:`last`.
    """

    def __init__(self, lines: Sequence[StepsLine]) -> None:
        self._lines = lines

    @classmethod
    def of(cls, events: Sequence[StepsDone]) -> Self:
        """The same events as one value.

        Raises:
            ValueError: There are none.
        """
        if not events:
            raise ValueError("a batch has one event at least")
        return cls([StepsLine(**event.model_dump(exclude={"kind"})) for event in events])

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[StepsDone]:
        """The events, one by one."""
        return map(_event, self._lines)

    @property
    def first(self) -> StepsDone:
        """The first of the events."""
        return _event(self._lines[0])

    @property
    def last(self) -> StepsDone:
        """The last of the events."""
        return _event(self._lines[-1])

    @cached_property
    def time_s(self) -> Floats:
        """When each was reported, in seconds since the epoch (UTC)."""
        return array("d", [line.time_s for line in self._lines])

    @cached_property
    def step(self) -> Counts:
        """Updates done by then."""
        return array("q", [line.step for line in self._lines])

    @cached_property
    def epoch(self) -> Counts:
        """The epoch of the steps, counted from 1."""
        return array("q", [line.epoch for line in self._lines])

    @cached_property
    def loss(self) -> Floats:
        """Mean over the examples of the steps."""
        return array("d", [line.loss for line in self._lines])

    @cached_property
    def accuracy(self) -> Floats:
        """Fraction right, 0 to 1; not-a-number where values are predicted."""
        values = [line.accuracy for line in self._lines]
        return array("d", [nan if value is None else value for value in values])

    @cached_property
    def examples_per_second(self) -> Floats:
        """Over the steps of each event."""
        return array("d", [line.examples_per_second for line in self._lines])


def _event(line: StepsLine) -> StepsDone:
    return StepsDone.model_validate(msgspec.structs.asdict(line))
