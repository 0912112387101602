"""Steps in bulk: a run of days has a million of them, and each is looked at by its columns."""

from array import array
from collections.abc import Iterator, Sequence
from math import nan
from typing import Annotated, Literal, Self, TypeAlias

import msgspec

from gpupanel.domain.events import StepsDone, encode_event

Floats: TypeAlias = "array[float]"
Counts: TypeAlias = "array[int]"
"""Numbers in a row, eight bytes each; ``numpy.asarray`` makes an array of them without copying."""

_MOST = 2**63 - 1
_Count = Annotated[int, msgspec.Meta(ge=-_MOST, le=_MOST)]
"""What a column of counts can hold."""


class _StepsLine(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A :class:`StepsDone` as it is read in bulk: refuses at least what that refuses."""

    time_s: float
    kind: Literal["steps_done"]
    step: _Count
    steps: _Count
    epoch: _Count
    step_in_epoch: _Count
    examples: _Count
    loss: float
    examples_per_second: float
    accuracy: float | None = None


_DECODER = msgspec.json.Decoder(_StepsLine)


class StepBatch:
    """Consecutive :class:`StepsDone` events, in the order in which they were written.

    Complete when it is handed out; it has one event at least then.

    Attributes:
        time_s: When each was reported, in seconds since the epoch (UTC).
        step: Updates done by then.
        epoch: The epoch of the steps, counted from 1.
        loss: Mean over the examples of the steps.
        accuracy: Fraction right, 0 to 1; not-a-number where values are predicted.
        examples_per_second: Over the steps of each event.
    """

    def __init__(self) -> None:
        self.time_s: Floats = array("d")
        self.step: Counts = array("q")
        self.epoch: Counts = array("q")
        self.loss: Floats = array("d")
        self.accuracy: Floats = array("d")
        self.examples_per_second: Floats = array("d")
        self._blocks: list[bytes] = []

    @classmethod
    def of(cls, events: Sequence[StepsDone]) -> Self:
        """The same events as one value."""
        batch = cls()
        for event in events:
            batch._add_lines([_line(event)])
            batch._blocks.append(encode_event(event).encode() + b"\n")
        return batch

    def take(self, block: bytes) -> bool:
        """Add the steps of whole lines, unless any of them is something else, or damaged.

        Args:
            block: The lines, with their ends. Few at a time are taken fastest: what a processor
                holds close is decoded, put into the columns and forgotten.

        Returns:
            Whether they were taken, all of them.
        """
        try:
            lines = _DECODER.decode_lines(block)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return False
        # As many objects as lines: no line was cut in two, or stands in one with the next.
        if len(lines) != block.count(b"\n"):
            return False
        self._add_lines(lines)
        self._blocks.append(block)
        return True

    def __len__(self) -> int:
        return len(self.time_s)

    def __iter__(self) -> Iterator[StepsDone]:
        """The events, one by one: ten times as slow as the columns."""
        for block in self._blocks:
            yield from map(StepsDone.model_validate_json, block.split(b"\n")[:-1])

    @property
    def first(self) -> StepsDone:
        """The first of the events."""
        return StepsDone.model_validate_json(self._blocks[0].partition(b"\n")[0])

    @property
    def last(self) -> StepsDone:
        """The last of the events."""
        return StepsDone.model_validate_json(self._blocks[-1][:-1].rpartition(b"\n")[2])

    def _add_lines(self, lines: list[_StepsLine]) -> None:
        self.time_s.fromlist([line.time_s for line in lines])
        self.step.fromlist([line.step for line in lines])
        self.epoch.fromlist([line.epoch for line in lines])
        self.loss.fromlist([line.loss for line in lines])
        accuracies = [line.accuracy for line in lines]
        self.accuracy.fromlist([nan if value is None else value for value in accuracies])
        self.examples_per_second.fromlist([line.examples_per_second for line in lines])


def _line(event: StepsDone) -> _StepsLine:
    # A count that no column can hold is of a damaged line; it must harm nobody who draws it.
    fields = event.model_dump()
    fields["step"] = max(-_MOST, min(event.step, _MOST))
    fields["epoch"] = max(-_MOST, min(event.epoch, _MOST))
    return _StepsLine(**fields)
