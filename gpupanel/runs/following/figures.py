"""Figures of programs in bulk: one reports them twenty times a second, for days."""

from array import array
from collections.abc import Iterator, Sequence
from math import isnan, nan
from typing import TYPE_CHECKING, Annotated, Literal, Self

import msgspec

from gpupanel.runs.following.steps import Counts, Floats

if TYPE_CHECKING:
    # A process that only reads history for a window stands five times as fast without Pydantic.
    from gpupanel.domain.events import FiguresReported

_MOST_COUNT = 2**53
"""The greatest whole number that a column of real ones surely holds."""
_MOST_FIGURES = 200
"""As the event has it."""
_Count = Annotated[int, msgspec.Meta(ge=0, le=_MOST_COUNT)]


class _Line(msgspec.Struct, forbid_unknown_fields=True, gc=False, kw_only=True):
    """The keys of an event; it refuses at least what the event refuses."""

    time_s: float
    kind: Literal["figures_reported"]
    step: _Count | None = None
    epoch: _Count | None = None
    figures: Annotated[dict[str, float], msgspec.Meta(max_length=_MOST_FIGURES)]


_DECODER = msgspec.json.Decoder(_Line)


class PackedFigures(
    msgspec.Struct, array_like=True, forbid_unknown_fields=True, gc=False, tag="figures"
):
    """A :class:`FigureBatch` as one process hands it to another of this machine.

    Attributes:
        columns: Times, steps and epochs; eight bytes a number.
        figures: Name, places and values of each.
    """

    columns: tuple[bytes, bytes, bytes]
    figures: list[tuple[str, bytes, bytes]]


class FigureBatch:
    """Consecutive :class:`FiguresReported` events, in the order in which they were written.

    Complete when it is handed out; it has one event at least then.

    Attributes:
        time_s: When each was reported, in seconds since the epoch (UTC).
        step: Of each; not-a-number where the program did not say.
        epoch: Likewise.
        figures: By name: in which of them it was reported, counted from 0, and its values.
    """

    def __init__(self) -> None:
        self.time_s: Floats = array("d")
        self.step: Floats = array("d")
        self.epoch: Floats = array("d")
        self.figures: dict[str, tuple[Counts, Floats]] = {}

    @classmethod
    def of(cls, events: Sequence["FiguresReported"]) -> Self:
        """The same events as one value."""
        batch = cls()
        for event in events:
            batch._add(event.time_s, event.step, event.epoch, event.figures)
        return batch

    @classmethod
    def unpacked(cls, packed: PackedFigures) -> Self:
        """The batch that was packed.

        Raises:
            ValueError: Its columns do not belong together.
        """
        batch = cls()
        for column, content in zip(batch._columns(), packed.columns, strict=True):
            column.frombytes(content)
        count = len(batch)
        if not count or {len(column) for column in batch._columns()} != {count}:
            raise ValueError("the columns of these figures are not of one length")
        for name, content, of_values in packed.figures:
            places, values = array("q", content), array("d", of_values)
            is_within = bool(places) and min(places) >= 0 and max(places) < count
            if len(places) != len(values) or not is_within:
                raise ValueError(f"the columns of {name} are not those of these figures")
            batch.figures[name] = places, values
        return batch

    def packed(self) -> PackedFigures:
        """The same to hand over."""
        time_s, step, epoch = (column.tobytes() for column in self._columns())
        figures = [
            (name, places.tobytes(), values.tobytes())
            for name, (places, values) in self.figures.items()
        ]
        return PackedFigures((time_s, step, epoch), figures)

    def take(self, block: bytes) -> bool:
        """Add the figures of whole lines, unless any of them is something else, or damaged.

        Args:
            block: The lines, with their ends.

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
        for line in lines:
            self._add(line.time_s, line.step, line.epoch, line.figures)
        return True

    def __len__(self) -> int:
        return len(self.time_s)

    def __iter__(self) -> Iterator["FiguresReported"]:
        """The events, one by one."""
        # Not at the top: a process that only reads history stands without Pydantic.
        from gpupanel.domain.events import FiguresReported

        reported: list[dict[str, float]] = [{} for _ in self.time_s]
        for name, (places, values) in self.figures.items():
            for place, value in zip(places, values, strict=True):
                reported[place][name] = value
        for time_s, step, epoch, figures in zip(*self._columns(), reported, strict=True):
            yield FiguresReported(
                time_s=time_s, step=_count(step), epoch=_count(epoch), figures=figures
            )

    @property
    def last_figures(self) -> dict[str, float]:
        """The last value of each."""
        return {name: values[-1] for name, (_, values) in self.figures.items()}

    @property
    def last_step(self) -> int | None:
        """The greatest step that was said; ``None``: none was."""
        return _count(max((step for step in self.step if not isnan(step)), default=nan))

    @property
    def last_epoch(self) -> int | None:
        """The epoch that was said last; ``None``: none was."""
        return _count(next((each for each in reversed(self.epoch) if not isnan(each)), nan))

    def _columns(self) -> tuple[Floats, Floats, Floats]:
        return self.time_s, self.step, self.epoch

    def _add(
        self, time_s: float, step: int | None, epoch: int | None, figures: dict[str, float]
    ) -> None:
        place = len(self.time_s)
        self.time_s.append(time_s)
        self.step.append(nan if step is None else step)
        self.epoch.append(nan if epoch is None else epoch)
        for name, value in figures.items():
            known = self.figures.get(name)
            if known is None:
                known = self.figures[name] = array("q"), array("d")
            known[0].append(place)
            known[1].append(value)


def _count(value: float) -> int | None:
    return None if isnan(value) else int(value)
