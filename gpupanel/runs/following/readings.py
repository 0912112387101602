"""Samples of the devices in bulk, as columns."""

from array import array
from collections.abc import Sequence
from math import nan
from typing import TYPE_CHECKING, Annotated, Self

import msgspec
from pydantic import ValidationError

from gpupanel.domain.telemetry import MOST_READINGS, TelemetrySample

if TYPE_CHECKING:
    from gpupanel.runs.following.steps import Floats


class _ReadingLine(msgspec.Struct, gc=False):
    """What curves show of a reading."""

    key: str
    memory_used_mib: float | None = None
    gpu_utilization_percent: float | None = None


class _SampleLine(msgspec.Struct, gc=False):
    """A line of telemetry, as far as curves show it."""

    time_s: float
    readings: Annotated[list[_ReadingLine], msgspec.Meta(max_length=MOST_READINGS)]


_DECODER = msgspec.json.Decoder(_SampleLine)
_UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What a damaged line raises: the last where a value that nobody asks for is nested deeply."""


class DeviceColumns:
    """What one device reported; a number for each sample, not-a-number where it reported nothing.

    Attributes:
        memory_used_mib: What processes held.
        gpu_utilization_percent: Percent of the time with a kernel running.
    """

    def __init__(self, length: int) -> None:
        self.memory_used_mib: Floats = array("d", [nan]) * length
        self.gpu_utilization_percent: Floats = array("d", [nan]) * length


class SampleBatch:
    """Consecutive samples of the devices, in the order in which they were written.

    A line that cannot be read is left out: it is a gap in a curve; the events say what happened.

    Args:
        block: Whole lines, with their ends.

    Attributes:
        time_s: When each was taken, in seconds since the epoch (UTC).
        devices: The columns of each device that is in any of the samples, by its key.
    """

    def __init__(self, block: bytes = b"") -> None:
        self._block = block
        samples = _decoded(block)
        self.time_s: Floats = array("d", [sample.time_s for sample in samples])
        self.devices = _columns(samples)

    @classmethod
    def of(cls, samples: Sequence[TelemetrySample]) -> Self:
        """The same samples as one value."""
        return cls(b"".join(sample.model_dump_json().encode() + b"\n" for sample in samples))

    def __len__(self) -> int:
        return len(self.time_s)

    def whole(self) -> tuple[TelemetrySample, ...]:
        """The samples with all that was kept of them; a hundred times as slow as the columns."""
        samples = (_whole(line) for line in self._block.split(b"\n"))
        return tuple(sample for sample in samples if sample is not None)


def _decoded(block: bytes) -> list[_SampleLine]:
    try:
        decoded = _DECODER.decode_lines(block)
        if len(decoded) == block.count(b"\n"):
            return decoded
    except _UNREADABLE:
        pass
    return [sample for line in block.split(b"\n") if (sample := _one(line)) is not None]


def _columns(samples: Sequence[_SampleLine]) -> dict[str, DeviceColumns]:
    columns: dict[str, DeviceColumns] = {}
    for index, sample in enumerate(samples):
        for reading in sample.readings:
            column = columns.get(reading.key)
            if column is None:
                column = columns[reading.key] = DeviceColumns(len(samples))
            if reading.memory_used_mib is not None:
                column.memory_used_mib[index] = reading.memory_used_mib
            if reading.gpu_utilization_percent is not None:
                column.gpu_utilization_percent[index] = reading.gpu_utilization_percent
    return columns


def _one(line: bytes) -> _SampleLine | None:
    try:
        return _DECODER.decode(line)
    except _UNREADABLE:
        return None


def _whole(line: bytes) -> TelemetrySample | None:
    try:
        return TelemetrySample.model_validate_json(line)
    except ValidationError:
        return None
