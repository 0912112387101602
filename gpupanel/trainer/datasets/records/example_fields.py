"""The features of a ``tf.train.Example``, found in its bytes without unpacking the whole of it.

TensorFlow's own classes would have to be imported with the whole of TensorFlow, which takes three
seconds, and a preview does without; and they unpack all features of a record, the images among
them, where only a label is wanted. What is read here is a small part of protocol buffers: fields
with a number and a wire type, one within the other
(``tensorflow/core/example/{example,feature}.proto``,
https://protobuf.dev/programming-guides/encoding). Like there the last of several entries of one
name counts, unknown fields are passed over, and numbers may be packed or not.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

FeatureKind = Literal["bytes", "float", "int64"]

Take = Callable[[int, int], bytes]
"""Bytes of a record: from which on, and how many; fewer where it ends before."""

_KINDS: Mapping[int, FeatureKind] = {1: "bytes", 2: "float", 3: "int64"}
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_HEAD_BYTES = 20
"""A field's number and a length, ten bytes each at most."""
_OF_LENGTH = {number: number << 3 | _LENGTH for number in (1, 2, 3)}
"""How fields of that number begin."""
_OF_LIST = {_OF_LENGTH[number]: kind for number, kind in _KINDS.items()}
_PACKED = bytes([_OF_LENGTH[1]])
"""How a list of packed numbers begins."""
_USUAL = (_OF_LENGTH[1], _OF_LENGTH[1], _OF_LENGTH[2])
"""How a feature, its name and its value begin."""
_USUAL_BYTES = 3 * _HEAD_BYTES + 128
_LONGEST_NAME = 4096
MOST_FIELDS = 100_000
"""The most fields of one record: more would take too long to read."""


class NoExampleError(Exception):
    """The bytes are no ``tf.train.Example``."""


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature of a record.

    Attributes:
        kind: Of its values.
        spans: Where the bytes of its list begin and end; several are one list.
    """

    kind: FeatureKind
    spans: tuple[tuple[int, int], ...]


def features_of(take: Take, size: int, wanted: frozenset[str] | None = None) -> dict[str, Feature]:
    """The features of a record that hold something.

    Args:
        take: Gives its bytes.
        size: How many there are.
        wanted: Other names are passed over; ``None``: none are.

    Raises:
        NoExampleError: It is no such record.
    """
    names = None if wanted is None else {name.encode() for name in wanted}
    usual = _usual_features(take, size, names)
    if usual is not None:
        return usual
    found: dict[str, Feature] = {}
    reader = _Fields(take)
    for number, wire, start, end in reader.within(0, size):
        if (number, wire) != (1, _LENGTH):
            continue
        for of_map, its_wire, first, last in reader.within(start, end):
            if (of_map, its_wire) == (1, _LENGTH):
                name, feature = _entry(reader, first, last, names)
                if name is not None:
                    found.pop(name, None)
                    if feature is not None:
                        found[name] = feature
    return found


def _usual_features(take: Take, size: int, names: set[bytes] | None) -> dict[str, Feature] | None:
    """The same of a record that was written as all are, in a tenth of the time; else ``None``.

    That is: one message of features, and of each its name, then one list of values.
    """
    found: dict[str, Feature] = {}
    try:
        head = take(0, _HEAD_BYTES)
        whole, at = varint(head, 1)
        if head[0] != _OF_LENGTH[1] or at + whole != size:
            return None
        while at < size:
            head = take(at, _USUAL_BYTES)
            length, place = varint(head, 1)
            end = at + place + length
            after_name = place + 2 + head[place + 1]
            # A name of 128 bytes or more has its length in two.
            if (head[0], head[place], head[after_name]) != _USUAL or head[place + 1] > 127:
                return None
            name = head[place + 2 : after_name]
            length, place = varint(head, after_name + 1)
            kind = _OF_LIST.get(head[place])
            of_list, first = varint(head, place + 1)
            if kind is None or at + place + length != end or at + first + of_list != end:
                return None
            if names is None or name in names:
                found[name.decode()] = Feature(kind, ((at + first, end),))
            at = end
    except (IndexError, NoExampleError, UnicodeDecodeError):
        return None
    return found if at == size else None


def _entry(
    reader: "_Fields", start: int, end: int, names: set[bytes] | None
) -> tuple[str | None, Feature | None]:
    name, feature = b"", None
    for number, wire, first, last in reader.within(start, end):
        if (number, wire) == (1, _LENGTH):
            if last - first > _LONGEST_NAME:
                raise NoExampleError(f"a feature has a name of {last - first:,} bytes")
            name = reader.take(first, last - first)
            if names is not None and name not in names:
                return None, None
        elif (number, wire) == (2, _LENGTH):
            feature = _feature(reader, first, last)
    try:
        return name.decode(), feature
    except UnicodeDecodeError as error:
        raise NoExampleError("the name of a feature is not UTF-8") from error


def _feature(reader: "_Fields", start: int, end: int) -> Feature | None:
    kind: FeatureKind | None = None
    spans: list[tuple[int, int]] = []
    for number, wire, first, last in reader.within(start, end):
        of_field = _KINDS.get(number) if wire == _LENGTH else None
        if of_field is not None:
            spans = [*spans, (first, last)] if of_field == kind else [(first, last)]
            kind = of_field
    return None if kind is None else Feature(kind, tuple(spans))


def byte_spans(take: Take, feature: Feature) -> list[tuple[int, int]]:
    """Where each of the values of a feature of bytes begins and ends.

    Raises:
        NoExampleError: Its list is damaged.
    """
    reader = _Fields(take)
    return [
        (first, last)
        for start, end in feature.spans
        for number, wire, first, last in reader.within(start, end)
        if (number, wire) == (1, _LENGTH)
    ]


def numbers_of(take: Take, feature: Feature) -> npt.NDArray[np.generic]:
    """The values of a feature of numbers, ``float32`` or ``int64``.

    Raises:
        NoExampleError: Its list is damaged.
    """
    is_float = feature.kind == "float"
    if len(feature.spans) == 1:
        (start, end), *_ = feature.spans
        whole = take(start, end - start)
        length, at = varint(whole, 1) if whole[:1] == _PACKED else (0, 0)
        if at and at + length == len(whole):  # as everybody writes it
            return _floats(whole[at:]) if is_float else _integers(whole[at:])
    reader = _Fields(take)
    pieces: list[npt.NDArray[np.generic]] = []
    for start, end in feature.spans:
        for number, wire, first, last in reader.within(start, end):
            if number != 1:
                continue
            if wire == _LENGTH:
                packed = take(first, last - first)
                pieces.append(_floats(packed) if is_float else _integers(packed))
            elif is_float and wire == _FIXED32:
                pieces.append(_floats(take(first, 4)))
            elif not is_float and wire == _VARINT:
                pieces.append(_integers(take(first, last - first)))
    if len(pieces) == 1:
        return pieces[0]
    return np.concatenate([np.empty(0, np.float32 if is_float else np.int64), *pieces])


def count_of(take: Take, feature: Feature) -> int:
    """How many numbers a feature of floats holds; where they are packed, none of them is read.

    Raises:
        NoExampleError: Its list is damaged.
    """
    reader, count = _Fields(take), 0
    for start, end in feature.spans:
        for number, wire, first, last in reader.within(start, end):
            if (number, wire) == (1, _LENGTH):
                count += (last - first) // 4
            elif (number, wire) == (1, _FIXED32):
                count += 1
    return count


def _floats(packed: bytes) -> npt.NDArray[np.generic]:
    if len(packed) % 4:
        raise NoExampleError("a list of floats ends within one of them")
    return np.frombuffer(packed, "<f4").astype(np.float32, copy=False)


def _integers(packed: bytes) -> npt.NDArray[np.generic]:
    """Numbers of seven bits a byte, the least significant first; the last byte's eighth bit is 0.

    A negative one has ten bytes, of which the last gives a single bit.
    """
    if len(packed) == 1 and packed[0] < 0x80:
        return np.array([packed[0]], np.int64)
    values = np.frombuffer(packed, np.uint8)
    ends = np.flatnonzero(values < 0x80)
    if len(values) and (not len(ends) or ends[-1] != len(values) - 1):
        raise NoExampleError("a list of whole numbers ends within one of them")
    if len(ends) == len(values):
        return values.astype(np.int64)
    firsts = np.concatenate([[0], ends[:-1] + 1])
    places = np.arange(len(values)) - np.repeat(firsts, ends - firsts + 1)
    if places.max() > 9:
        raise NoExampleError("a whole number has more than ten bytes")
    parts = (values & 0x7F).astype(np.uint64) << (7 * places).astype(np.uint64)
    return np.bitwise_or.reduceat(parts, firsts).view(np.int64)


class _Fields:
    """Goes through the fields of messages, and stops where they are too many."""

    def __init__(self, take: Take) -> None:
        self.take = take
        self._left = MOST_FIELDS

    def within(self, start: int, end: int) -> Iterator[tuple[int, int, int, int]]:
        """Number, wire type, start and end of each field between two places."""
        while start < end:
            self._left -= 1
            if self._left < 0:
                raise NoExampleError(f"it has more than {MOST_FIELDS:,} fields")
            head = self.take(start, min(_HEAD_BYTES, end - start))
            tag, at = varint(head, 0)
            number, wire = tag >> 3, tag & 7
            if wire == _LENGTH:
                length, at = varint(head, at)
                first = start + at
                start = first + length
            elif wire == _VARINT:
                first = start + at
                start += varint(head, at)[1]
            elif wire in (_FIXED64, _FIXED32):
                first = start + at
                start = first + (8 if wire == _FIXED64 else 4)
            else:
                raise NoExampleError(f"a field has the wire type {wire}")
            if start > end or not number:
                raise NoExampleError("a field is longer than what holds it")
            yield number, wire, first, start


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, and where it ends."""
    value = shift = 0
    for place in range(at, min(len(data), at + 10)):
        byte = data[place]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place + 1
        shift += 7
    raise NoExampleError("a field ends within its number or length")
