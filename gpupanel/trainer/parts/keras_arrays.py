"""Examples in the files of Keras's data sets."""

from collections.abc import Collection
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from gpupanel.trainer.parts.restricted_pickle import read_pickled

WORD_COUNT = 5_000
"""Words that are distinguished: the most frequent ones, since Keras numbers them by frequency."""


def cifar_batch(
    file: IO[bytes], labels: bytes
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.generic]]:
    """The images of a file of CIFAR, shape [images, 32, 32, 3], and their labels.

    Args:
        file: At its start.
        labels: What the labels are called in it.

    Raises:
        Exception: Whatever the bytes of a damaged file make of its readers.
    """
    batch = read_pickled(file)
    if not isinstance(batch, dict):
        raise TypeError("it holds no CIFAR batch")
    # https://www.cs.toronto.edu/~kriz/cifar.html: channels first.
    pixels = np.asarray(batch[b"data"], np.uint8).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(pixels), np.asarray(batch[labels])


def multi_hot(texts: Collection[Any]) -> npt.NDArray[np.uint8]:
    """One row a text: 1 at each word number that occurs in it, 0 elsewhere.

    Word number ``n`` (from 1, the most frequent) stands in column ``n - 1``; rarer words are left
    out.

    Args:
        texts: One list of word numbers an example.
    """
    rows = np.zeros((len(texts), WORD_COUNT), np.uint8)
    for row, text in zip(rows, texts, strict=True):
        words = np.asarray(text, np.int64)
        row[words[(words >= 1) & (words <= WORD_COUNT)] - 1] = 1
    return rows
