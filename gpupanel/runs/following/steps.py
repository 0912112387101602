"""Steps in bulk: a run of days has a million of them, and each is read by its columns."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, fields
from math import nan
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Self, TypeAlias

import msgspec

from gpupanel.domain.steps_line import LINE_TYPES, STEP_METRICS, StepsLine

if TYPE_CHECKING:
    # A process that only reads history for a window stands five times as fast without Pydantic.
    from gpupanel.domain.events import StepsDone

Floats: TypeAlias = "array[float]"
Counts: TypeAlias = "array[int]"
"""Numbers in a row, eight bytes each; ``numpy.asarray`` makes an array of them without copying."""

_MOST = 2**63 - 1
_Count = Annotated[int, msgspec.Meta(ge=-_MOST, le=_MOST)]
"""What a column of counts can hold."""


if TYPE_CHECKING:
    _Line = StepsLine
else:
    # The same keys, read ten times as fast: it refuses at least what the event refuses.
    _Line = msgspec.defstruct(
        "_Line",
        [
            (
                field.name,
                _Count if LINE_TYPES[field.name] is int else LINE_TYPES[field.name],
                # A line that does not say what it is, is none.
                msgspec.NODEFAULT if field.default in (MISSING, "steps_done") else field.default,
            )
            for field in fields(StepsLine)
        ],
        forbid_unknown_fields=True,
        gc=False,
        kw_only=True,
    )

_DECODER = msgspec.json.Decoder(_Line)
_COUNTS = tuple(name for name, kind in LINE_TYPES.items() if kind is int)
_METRICS = tuple((name, attrgetter(name)) for name in STEP_METRICS)
"""The name of each metric and the getter that reads it from a line."""


class PackedSteps(
    msgspec.Struct, array_like=True, forbid_unknown_fields=True, gc=False, tag="steps"
):
    """A :class:`StepBatch` without its lines, as one process hands it to another of this machine.

    Attributes:
        columns: Those of a batch, in their order; eight bytes a number.
    """

    first: _Line
    last: _Line
    columns: tuple[bytes, ...]


class StepBatch:
    """Consecutive :class:`StepsDone` events, in the order in which they were written.

    Complete when it is handed out; it has one event at least then.

    Args:
        keeps_lines: Whether the events can be had one by one later, and not by their columns only.

    Attributes:
        time_s: When each was reported, in seconds since the epoch (UTC).
        step: Updates done by then.
        metrics: Each of :data:`~gpupanel.domain.steps_line.STEP_METRICS` by its name, in their
            order; not-a-number where nobody reported it.
    """

    def __init__(self, *, keeps_lines: bool = True) -> None:
        self.time_s: Floats = array("d")
        self.step: Counts = array("q")
        self.metrics: dict[str, Floats] = {name: array("d") for name, _ in _METRICS}
        self._ends: list[StepsLine] = []
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
        columns = tuple(column.tobytes() for column in self._columns())
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
        return (self.time_s, self.step, *self.metrics.values())

    def _add(self, lines: list[StepsLine], block: bytes) -> None:
        self._ends = [(self._ends or lines)[0], lines[-1]]
        if self._blocks is not None:
            self._blocks.append(block)
        self.time_s.fromlist([line.time_s for line in lines])
        self.step.fromlist([line.step for line in lines])
        for name, value_of in _METRICS:
            values = list(map(value_of, lines))
            if values[0] is None and values.count(None) == len(values):
                values = [nan] * len(values)
            try:
                self.metrics[name].fromlist(values)
            except TypeError:  # some of them are None, and none was added
                self.metrics[name].fromlist([nan if value is None else value for value in values])


def _event(line: StepsLine) -> "StepsDone":
    # Not at the top: a process that only reads history stands without Pydantic.
    from gpupanel.domain.events import StepsDone

    return StepsDone(**{name: getattr(line, name) for name in LINE_TYPES})


def _line(event: "StepsDone") -> StepsLine:
    values = event.model_dump()
    held = {name: max(-_MOST, min(values[name], _MOST)) for name in _COUNTS}
    return _Line(**{**values, **held})
