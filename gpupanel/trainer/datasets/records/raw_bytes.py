"""What the bytes of an example are: a serialized tensor, or numbers whose type nobody wrote down.

A serialized tensor is a ``TensorProto`` (``tensorflow/core/framework/tensor.proto``) as
``tf.io.serialize_tensor`` writes it: fields for the type and the shape, and then the numbers, least
significant byte first. What stands before the numbers is the same in all records whose tensors are
of one type and shape.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from gpupanel.trainer.datasets.records.example_fields import NoExampleError, varint

_TYPES: Final = {
    1: "float32",
    2: "float64",
    3: "int32",
    4: "uint8",
    5: "int16",
    6: "int8",
    9: "int64",
    10: "bool",
    17: "uint16",
    19: "float16",
    22: "uint32",
    23: "uint64",
}
"""Numeric types of ``tensorflow/core/framework/types.proto``."""
_TYPE, _SHAPE, _CONTENT = 1 << 3, 2 << 3 | 2, 4 << 3 | 2
"""How the fields of a ``TensorProto`` begin."""
_AXIS, _SIZE = 2 << 3 | 2, 1 << 3
"""How an axis in a ``TensorShapeProto`` begins, and the size in it."""
_MOST_AXES: Final = 8
_OF_SIZE: Final = {
    1: ("uint8",),
    2: ("uint16", "int16", "float16"),
    4: ("float32", "int32"),
    8: ("float64", "int64"),
}
"""Types of that many bytes a number, by how often they are written."""
_LEAST_FLOAT, _GREATEST_FLOAT = 1e-12, 1e12
_LEAST_HALF: Final = 2.0**-14
"""The least normal number of ``float16``."""
_GREATEST_WHOLE: Final = {2: 2**13, 4: 2**24, 8: 2**32}
"""Whole numbers of that many bytes that are greater are seldom whole numbers."""
_FEW_HIGH: Final = 16
"""So many values the greatest bytes of small whole numbers have at most, with those of signs."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """What a serialized tensor says of itself.

    Attributes:
        dtype: Of its numbers.
        shape: Of it; none where it is one number.
        prefix: The bytes before its numbers.
    """

    dtype: str
    shape: tuple[int, ...]
    prefix: bytes


def tensor_in(value: bytes) -> Tensor | None:
    """What bytes say of themselves as a serialized tensor; ``None``: they are none of numbers."""
    try:
        return _tensor_in(value)
    except (IndexError, NoExampleError):
        return None


def _tensor_in(value: bytes) -> Tensor | None:
    if not value or value[0] != _TYPE:
        return None
    code, at = varint(value, 1)
    if value[at] != _SHAPE:
        return None
    length, at = varint(value, at + 1)
    shape = _shape(value[at : at + length])
    at += length
    if shape is None or value[at] != _CONTENT:
        return None
    count, at = varint(value, at + 1)
    dtype = _TYPES.get(code)
    is_whole = at + count == len(value)
    if dtype is None or not is_whole or math.prod(shape) * np.dtype(dtype).itemsize != count:
        return None
    return Tensor(dtype, shape, value[:at])


def _shape(content: bytes) -> tuple[int, ...] | None:
    found: list[int] = []
    at = 0
    while at < len(content):
        if content[at] != _AXIS or len(found) == _MOST_AXES:
            return None
        length, at = varint(content, at + 1)
        size, end = varint(content, at + 1)
        if content[at] != _SIZE or end != at + length or size <= 0:
            return None
        found.append(size)
        at = end
    return tuple(found)


def likely_types(value: bytes, number_bytes: int | None) -> tuple[str, ...]:
    """Which types the numbers of raw bytes may well be of; one where that is sure.

    Numbers of another type seldom look like any that somebody writes down: floating-point numbers
    are immense as whole numbers, and small whole numbers vanish as floating-point ones.

    Args:
        value: The bytes of an example.
        number_bytes: Of a number, as the example's shape says; ``None``: nobody knows.
    """
    if number_bytes is not None:
        types = _OF_SIZE.get(number_bytes, ())
        return tuple(each for each in types if _is_likely(value, each)) or types
    # Pixels, unless these bytes look like wider numbers.
    wider = [
        dtype
        for size in (2, 4, 8)
        if not len(value) % size and (len(value) > size)
        for dtype in _OF_SIZE[size]
        if _is_likely(value, dtype) and _shows_width(value, dtype)
    ]
    return ("uint8", *wider)


def _is_likely(value: bytes, name: str) -> bool:
    dtype = np.dtype(name).newbyteorder("<")
    numbers = np.frombuffer(value, dtype)
    if dtype.itemsize == 1:
        return True
    if dtype.kind == "f":
        sizes = np.abs(numbers[numbers != 0].astype(np.float64))
        least = _LEAST_HALF if dtype.itemsize == 2 else _LEAST_FLOAT
        return bool(np.all((sizes >= least) & (sizes <= _GREATEST_FLOAT)))
    signed = numbers.view(dtype.str.replace("u", "i")).astype(np.int64)
    is_small = bool(np.all(abs(signed) <= _GREATEST_WHOLE[dtype.itemsize]))
    if dtype.itemsize == 2:
        # Without a sign it is the same numbers.
        has_sign = bool((signed < 0).any())
        return has_sign if name == "int16" else not (has_sign and is_small)
    return is_small


def _shows_width(value: bytes, name: str) -> bool:
    """Whether the last byte of each number differs from the first as it does in numbers."""
    dtype = np.dtype(name)
    columns = np.frombuffer(value, np.uint8).reshape(-1, dtype.itemsize)
    low, high = _different(columns[:, 0]), _different(columns[:, -1])
    if dtype.kind == "f":
        return _different(np.frombuffer(value, dtype).astype(np.float64)) > 1
    return high <= _FEW_HIGH and low > 2 * high


def _different(values: npt.NDArray[np.generic]) -> int:
    return len(np.unique(values))
