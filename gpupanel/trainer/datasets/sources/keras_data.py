"""Keras's built-in data sets, read from its cache with NumPy alone.

The same examples, in the same division into training and test, as ``keras.datasets`` gives; read
here because a preview must not wait for TensorFlow, and a download must report how far it is.
"""

import gzip
import zipfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from typing_extensions import override

from gpupanel.domain.data import KerasData, Target
from gpupanel.domain.keras_data import KERAS_CLASS_NAMES
from gpupanel.domain.problem import ProblemError
from gpupanel.files.keras_cache import place_of
from gpupanel.files.npy_members import read_npy
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.datasets.arrays.single_array import ArraySource
from gpupanel.trainer.datasets.checks import (
    ArrayName,
    check_lengths,
    checked_features,
)
from gpupanel.trainer.datasets.examples import Array, DataSet, Examples
from gpupanel.trainer.datasets.labels import checked_classes, checked_values
from gpupanel.trainer.datasets.source import Reading
from gpupanel.trainer.downloads.download import fetch
from gpupanel.trainer.downloads.keras_cache import damaged_files
from gpupanel.trainer.downloads.progress import OnDownload
from gpupanel.trainer.parts.keras_arrays import cifar_batch, multi_hot
from gpupanel.trainer.parts.restricted_pickle import read_pickled
from gpupanel.trainer.size_limits import check_unpacked

_TEST_FRACTION = 0.2
_SPLIT_SEED = 113
"""keras.datasets shuffles by this seed before it cuts off the test set; so do we."""

_LARGEST_IDX_BYTES = 16 + 60_000 * 28 * 28
"""A header and the greatest set of images."""

_DIVIDED = ("x_train", "y_train", "x_test", "y_test")

_Raw = tuple[Array, Array, Array, Array]


def read_keras_data(data: KerasData, on_download: OnDownload) -> DataSet:
    """The data set, downloaded first when it is not in Keras's cache.

    ``imdb`` and ``reuters`` become multi-hot rows of the most frequent words.

    Raises:
        ProblemError: It cannot be downloaded, or a cached file is damaged.
    """
    fetch(data, on_download)
    try:
        raw = _read(data)
    except (ProblemError, MemoryError):
        raise
    except Exception as error:
        # Whatever the bytes of a damaged file happen to make of its readers.
        raise damaged_files(data, error) from error
    names = KERAS_CLASS_NAMES.get(data.source, ())
    x_train, y_train, x_test, y_test = raw
    return DataSet(
        training=_examples(data, x_train, y_train, len(names), "training"),
        test=_examples(data, x_test, y_test, len(names), "test"),
        class_names=names,
        scaling=data.scaling,
        greatest=data.greatest,
    )


def _examples(data: KerasData, x: Array, y: Array, classes: int, part: str) -> Examples:
    of = ArrayName(source=f'the data set "{data.source}"', name=f"{part} examples")
    labels_of = ArrayName(source=of.source, name=f"{part} labels")
    features = checked_features(x, of)
    check_lengths(features, y, of, labels_of)
    if data.target_kind is Target.VALUES:
        return Examples(features, checked_values(y, labels_of))
    return Examples(features, checked_classes(y, labels_of, classes))


def _read(data: KerasData) -> _Raw:
    paths = [place_of(file) for file in data.downloads]
    match data.source:
        case "mnist":
            x_train, y_train, x_test, y_test = _read_npz(paths[0], _DIVIDED)
            return x_train, y_train, x_test, y_test
        case "fashion_mnist":
            return _read_idx(paths)
        case "cifar10":
            folder = paths[0] / "cifar-10-batches-py"
            train = [_read_cifar(folder / f"data_batch_{part}", b"labels") for part in range(1, 6)]
            test = _read_cifar(folder / "test_batch", b"labels")
            pixels = np.concatenate([batch[0] for batch in train])
            labels = np.concatenate([batch[1] for batch in train])
            return pixels, labels, *test
        case "cifar100":
            folder = paths[0] / "cifar-100-python"
            read = (_read_cifar(folder / part, b"fine_labels") for part in ("train", "test"))
            (x_train, y_train), (x_test, y_test) = read
            return x_train, y_train, x_test, y_test
        case "imdb":
            x_train, y_train, x_test, y_test = _read_pickled_npz(paths[0], _DIVIDED)
            return multi_hot(x_train), y_train, multi_hot(x_test), y_test
        case "reuters":
            words, labels = _read_pickled_npz(paths[0], ("x", "y"))
            return _divided(multi_hot(words), labels)
        case "boston_housing" | "california_housing":
            values, prices = _read_npz(paths[0], ("x", "y"))
            return _divided(values, prices)


def _divided(x: Array, y: Array) -> _Raw:
    order = np.arange(len(x))
    np.random.RandomState(_SPLIT_SEED).shuffle(order)
    x, y = x[order], y[order]
    cut = int(len(x) * (1 - _TEST_FRACTION))
    return x[:cut], y[:cut], x[cut:], y[cut:]


def _read_npz(path: Path, names: Iterable[str]) -> tuple[Array, ...]:
    with zipfile.ZipFile(path) as archive:
        check_unpacked(archive, path, "data.source")
        return tuple(read_npy(archive, f"{name}.npy") for name in names)


def _read_idx(paths: Iterable[Path]) -> _Raw:
    raw = []
    for path in paths:
        with gzip.open(path, "rb") as file:
            content = file.read(_LARGEST_IDX_BYTES + 1)
        if len(content) > _LARGEST_IDX_BYTES:
            raise ValueError(f"{path} holds more than the data set has")
        raw.append(np.frombuffer(content, np.uint8))
    # http://yann.lecun.com/exdb/mnist/: 16 bytes before the pixels, 8 before the labels.
    x_train, y_train, x_test, y_test = raw
    return (
        x_train[16:].reshape(-1, 28, 28),
        y_train[8:],
        x_test[16:].reshape(-1, 28, 28),
        y_test[8:],
    )


def _read_cifar(path: Path, labels: bytes) -> tuple[Array, Array]:
    with open_regular(path) as file:
        return cifar_batch(file, labels)


def _read_pickled_npz(path: Path, names: Iterable[str]) -> tuple[Array, ...]:
    """Arrays of word lists: NumPy stores them as pickles, which are read with care."""
    arrays = []
    with zipfile.ZipFile(path) as archive:
        check_unpacked(archive, path, "data.source")
        for name in names:
            with archive.open(f"{name}.npy") as file:
                version = np.lib.format.read_magic(file)
                read_header = (
                    np.lib.format.read_array_header_1_0
                    if version == (1, 0)
                    else np.lib.format.read_array_header_2_0
                )
                shape, _, dtype = read_header(file)
                if dtype.hasobject:
                    array = np.asarray(read_pickled(file))
                else:
                    array = np.frombuffer(file.read(), dtype).reshape(shape)
                arrays.append(array)
    return tuple(arrays)


class _Keras(ArraySource[KerasData]):
    """See :func:`read_keras_data`."""

    @override
    def read(self, data: KerasData, reading: Reading) -> DataSet:
        return read_keras_data(data, reading.on_download)


SOURCE = _Keras()
