"""Records of ``tf.train.Example`` by TensorFlow's own reader, all of them at once."""

import io
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from PIL import Image
from tensorflow.core.framework.tensor_pb2 import TensorProto

ReadImage = Callable[[io.BytesIO], npt.NDArray[np.uint8]]


class RecordForm(NamedTuple):
    """What is read of each record.

    Attributes:
        features: The name of the feature that an example is.
        labels: Likewise of what it is.
        shape: Of an example of numbers or bytes; none: as the features say it.
        shape_features: The names of those.
        raw_type: Of the numbers in bytes, or ``tensor``; ``None``: the bytes are an image, or
            numbers of 8 bits.
    """

    features: str
    labels: str
    shape: tuple[int, ...] = ()
    shape_features: tuple[str, ...] = ()
    raw_type: str | None = None


def read_records(
    files: Iterable[Path], form: RecordForm, image: ReadImage, formats: list[str] | tuple[str, ...]
) -> tuple[npt.NDArray[np.generic], npt.NDArray[np.generic] | None]:
    """Examples and labels; there are none of these where the first record has none.

    Args:
        files: Plain, or compressed with GZIP.
        form: What is read.
        image: Gives the pixels of an encoded image.
        formats: Of images, as Pillow calls them.
    """
    x, y, of_bytes = [], [], ""
    for example in _examples_in(files):
        if not of_bytes:
            value = example[form.features].bytes_list.value
            is_one = form.raw_type is None and len(value) == 1 and _is_image(value[0], formats)
            of_bytes = "image" if is_one else form.raw_type or "uint8"
        found = _values(example[form.features], of_bytes, image)
        if of_bytes != "image":
            said = [size for name in form.shape_features for size in _numbers(example[name])]
            if form.shape or said or of_bytes != "tensor":
                found = found.reshape(form.shape or said or -1)
        x.append(found)
        y.append(_label(example[form.labels]))
    return np.stack(x), np.stack(y) if len(y[0]) else None


def _examples_in(files: Iterable[Path]) -> Iterator[Any]:
    for file in files:
        with file.open("rb") as opened:
            packed = opened.read(2) == b"\x1f\x8b"
        records = tf.data.TFRecordDataset(os.fsencode(file), "GZIP" if packed else "")
        for record in records.as_numpy_iterator():
            yield tf.train.Example.FromString(record).features.feature


def _numbers(feature: Any) -> npt.NDArray[np.generic]:  # noqa: ANN401 - of TensorFlow's types
    if feature.HasField("float_list"):
        return np.array(feature.float_list.value, np.float32)
    return np.array(feature.int64_list.value, np.int64)


def _label(feature: Any) -> Any:  # noqa: ANN401
    """Numbers, or the name of a class."""
    if feature.HasField("bytes_list"):
        return feature.bytes_list.value[0].decode(errors="surrogateescape")
    return _numbers(feature)


def _is_image(value: bytes, formats: list[str] | tuple[str, ...]) -> bool:
    try:
        with Image.open(io.BytesIO(value), formats=formats):
            return True
    except Exception:  # noqa: BLE001 - whatever other bytes make of the decoders
        return False


def _values(feature: Any, of_bytes: str, image: ReadImage) -> npt.NDArray[np.generic]:  # noqa: ANN401
    """The numbers of an example; bytes are an image, or numbers themselves."""
    if not feature.HasField("bytes_list"):
        return _numbers(feature)
    (value,) = feature.bytes_list.value
    if of_bytes == "image":
        return image(io.BytesIO(value))
    if of_bytes == "tensor":
        return np.asarray(tf.make_ndarray(TensorProto.FromString(value)))
    return np.frombuffer(value, np.dtype(of_bytes).newbyteorder("<"))
