"""How a file of events is read: in blocks, which make up portions for another process."""

from dataclasses import dataclass
from typing import IO

import msgspec

from gpupanel.runs.directory.tails import Place
from gpupanel.runs.following.steps import PackedSteps, StepBatch

BLOCK_BYTES = 2**18
"""Read at once: what a processor holds close is still there when it is decoded."""

_LENGTH_BYTES = 8
_MOST_BYTES = 2**31
"""Of a message; more than any portion has."""


@dataclass(frozen=True, slots=True)
class Portion:
    """Some of a file.

    Attributes:
        parts: As :class:`GatheredLines` gathers them.
        place: Where in the file they end.
    """

    parts: list[bytes | StepBatch]
    place: Place


class _Message(msgspec.Struct, array_like=True, forbid_unknown_fields=True, gc=False):
    """A portion as it is handed over: numbers and text, nothing that could carry code."""

    parts: list[bytes | PackedSteps]
    place: Place


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(_Message)


def write_portion(portion: Portion, stream: IO[bytes]) -> None:
    """Hand a portion over: its length in eight bytes, then as much MessagePack.

    Raises:
        BrokenPipeError: Nobody takes it.
    """
    parts = [part if isinstance(part, bytes) else part.packed() for part in portion.parts]
    message = _ENCODER.encode(_Message(parts, portion.place))
    stream.write(len(message).to_bytes(_LENGTH_BYTES, "little"))
    stream.write(message)
    stream.flush()


def read_portion(stream: IO[bytes]) -> Portion | None:
    """The next portion; ``None`` after the last, and where the stream ends within one.

    Raises:
        ValueError: There is something else.
    """
    length = int.from_bytes(stream.read(_LENGTH_BYTES), "little")
    if length > _MOST_BYTES:
        raise ValueError(f"no portion has {length} bytes")
    content = stream.read(length)
    if not content or len(content) < length:
        return None
    try:
        message = _DECODER.decode(content)
    except msgspec.MsgspecError as error:
        raise ValueError(str(error)) from error
    return Portion(
        [part if isinstance(part, bytes) else StepBatch.unpacked(part) for part in message.parts],
        message.place,
    )
