"""TFRecord files for tests, written without TensorFlow; one test holds them against it."""

import gzip
import io
import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from gpupanel.trainer.datasets.records.crc32c import masked_crc, masked_crcs

Value = bytes | Sequence[bytes] | Sequence[float] | Sequence[int] | float | np.ndarray


def varint(number: int) -> bytes:
    number &= 2**64 - 1
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def message(number: int, content: bytes) -> bytes:
    """A field that holds bytes."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def feature(value: Value) -> bytes:
    """A ``tf.train.Feature``; Python's floats are floats, its whole numbers int64."""
    if isinstance(value, bytes | int | float):
        value = [value]
    if isinstance(value, np.ndarray):
        value = value.ravel().tolist()
    if all(isinstance(each, bytes) for each in value):
        return message(1, b"".join(message(1, each) for each in value))
    if any(isinstance(each, float) for each in value):
        return message(2, message(1, struct.pack(f"<{len(value)}f", *value)))
    return message(3, message(1, b"".join(map(varint, value))))


def example(**features: Value) -> bytes:
    """A ``tf.train.Example``; in names ``__`` stands for a slash."""
    return example_of({name.replace("__", "/"): value for name, value in features.items()})


def example_of(features: Mapping[str, Value]) -> bytes:
    entries = (
        message(1, message(1, name.encode()) + message(2, feature(value)))
        for name, value in features.items()
    )
    return message(1, b"".join(entries))


def framed(record: bytes) -> bytes:
    """A record as it stands in a file."""
    head = struct.pack("<Q", len(record))
    (crc,) = masked_crcs([record])
    return head + struct.pack("<I", masked_crc(head)) + record + struct.pack("<I", crc)


def write_records(path: Path, records: Iterable[bytes], *, packed: bool = False) -> Path:
    content = b"".join(map(framed, records))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content) if packed else content)
    return path


def tensor(values: np.ndarray) -> bytes:
    """A serialized tensor of ``float32``."""
    axes = b"".join(message(2, varint(1 << 3) + varint(size)) for size in values.shape)
    content = message(4, values.astype("<f4").tobytes())
    return varint(1 << 3) + varint(1) + message(2, axes) + content


def image(value: int, side: int = 9, form: str = "PNG") -> bytes:
    """An encoded image of one colour."""
    file = io.BytesIO()
    Image.fromarray(np.full((side, side + 2, 3), value, np.uint8)).save(file, form)
    return file.getvalue()
