"""Steps in bulk: a run of days has a million of them, and each is read by its columns."""

from array import array
from collections.abc import Iterator, Sequence
from math import nan
from typing import TYPE_CHECKING, Annotated, Literal, Self, TypeAlias

import msgspec

if TYPE_CHECKING:
    # A process that only reads history for a window stands five times as fast without Pydantic.
    from gpupanel.domain.events import StepsDone

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
    learning_rate: float | None = None
    gradient_norm: float | None = None
    waiting_for_data: float = 0.0


_DECODER = msgspec.json.Decoder(_StepsLine)


class PackedSteps(msgspec.Struct, array_like=True, forbid_unknown_fields=True, gc=False):
    """A :class:`StepBatch` without its lines, as one process hands it to another of this machine.

    Attributes:
        columns: As the attributes of a batch, in their order; eight bytes a number.
    """

    first: _StepsLine
    last: _StepsLine
    columns: tuple[bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes]


class StepBatch:
    """Consecutive :class:`StepsDone` events, in the order in which they were written.

    Complete when it is handed out; it has one event at least then.

    Args:
        keeps_lines: Whether the events can be had one by one later, and not by their columns only.

    Attributes:
        time_s: When each was reported, in seconds since the epoch (UTC).
        step: Updates done by then.
        epoch: The epoch of the steps, counted from 1.
        loss: Mean over the examples of the steps.
        accuracy: Fraction right, 0 to 1; not-a-number where values are predicted.
        examples_per_second: Over the steps of each event.
        learning_rate: Of the last of them; not-a-number where nobody reported it.
        gradient_norm: Mean over the steps; not-a-number where nobody reported it.
        waiting_for_data: The share of the last seconds of training, 0 to 1, in which steps waited
            for their examples.
    """

    def __init__(self, *, keeps_lines: bool = True) -> None:
        self.time_s: Floats = array("d")
        self.step: Counts = array("q")
        self.epoch: Counts = array("q")
        self.loss: Floats = array("d")
        self.accuracy: Floats = array("d")
        self.examples_per_second: Floats = array("d")
        self.learning_rate: Floats = array("d")
        self.gradient_norm: Floats = array("d")
        self.waiting_for_data: Floats = array("d")
        self._ends: list[_StepsLine] = []
        self._blocks: list[bytes] | None = [] if keeps_lines else None

    @classmethod
    def of(cls, events: Sequence["StepsDone"]) -> Self:
        """The same events as one value; a count that no column can hold is the most that one can.

        Such a count is of a damaged line, and must harm nobody who draws it.
        """
        batch = cls()
        for event in events:
            line = _line(event)
            batch._add([line], msgspec.json.encode(line) + b"\n")
        return batch

    @classmethod
    def unpacked(cls, packed: PackedSteps) -> Self:
        """The batch that was packed; its events cannot be had one by one.

        Raises:
            ValueError: Its columns are not of one length.
        """
        batch = cls(keeps_lines=False)
        batch._ends = [packed.first, packed.last]
        for column, content in zip(batch._columns(), packed.columns, strict=True):
            column.frombytes(content)
        if len({len(column) for column in batch._columns()}) != 1 or not len(batch):
            raise ValueError("the columns of these steps are not of one length")
        return batch

    def packed(self) -> PackedSteps:
        """The same to hand over, without the lines."""
        time_s, step, epoch, loss, accuracy, speed, rate, norm, waiting = (
            column.tobytes() for column in self._columns()
        )
        columns = (time_s, step, epoch, loss, accuracy, speed, rate, norm, waiting)
        return PackedSteps(self._ends[0], self._ends[1], columns)

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
        if lines:
            self._add(lines, block)
        return True

    def __len__(self) -> int:
        return len(self.time_s)

    def __iter__(self) -> Iterator["StepsDone"]:
        """The events, one by one: ten times as slow as the columns.

        Raises:
            ValueError: The lines were not kept.
        """
        if self._blocks is None:
            raise ValueError("only the columns of these steps were kept")
        for block in self._blocks:
            yield from map(_event, _DECODER.decode_lines(block))

    @property
    def first(self) -> "StepsDone":
        """The first of the events."""
        return _event(self._ends[0])

    @property
    def last(self) -> "StepsDone":
        """The last of the events."""
        return _event(self._ends[-1])

    def _columns(self) -> "tuple[Floats | Counts, ...]":
        return (
            self.time_s,
            self.step,
            self.epoch,
            self.loss,
            self.accuracy,
            self.examples_per_second,
            self.learning_rate,
            self.gradient_norm,
            self.waiting_for_data,
        )

    def _add(self, lines: list[_StepsLine], block: bytes) -> None:
        self._ends = [(self._ends or lines)[0], lines[-1]]
        if self._blocks is not None:
            self._blocks.append(block)
        self.time_s.fromlist([line.time_s for line in lines])
        self.step.fromlist([line.step for line in lines])
        self.epoch.fromlist([line.epoch for line in lines])
        self.loss.fromlist([line.loss for line in lines])
        accuracies = [line.accuracy for line in lines]
        self.accuracy.fromlist([nan if value is None else value for value in accuracies])
        self.examples_per_second.fromlist([line.examples_per_second for line in lines])
        rates = [line.learning_rate for line in lines]
        self.learning_rate.fromlist([nan if value is None else value for value in rates])
        norms = [line.gradient_norm for line in lines]
        self.gradient_norm.fromlist([nan if value is None else value for value in norms])
        self.waiting_for_data.fromlist([line.waiting_for_data for line in lines])


def _event(line: _StepsLine) -> "StepsDone":
    # Not at the top: a process that only reads history stands without Pydantic.
    from gpupanel.domain.events import StepsDone

    return StepsDone(**msgspec.structs.asdict(line))


def _line(event: "StepsDone") -> _StepsLine:
    counts = ("step", "steps", "epoch", "step_in_epoch", "examples")
    fields = event.model_dump()
    held = {name: max(-_MOST, min(fields[name], _MOST)) for name in counts}
    return _StepsLine(**{**fields, **held})
