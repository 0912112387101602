"""Contents of examples in 128 bits each: those with the same are the same example."""

import hashlib
from typing import BinaryIO

import numpy as np

from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.datasets.scanning.scanned import Digests

_BYTES = 16
_PIECE_BYTES = 2**20
_MOST_BYTES = 2**30
"""Of a file: no image that is unpacked is longer, and a stranger's file may be as long as he
likes."""


def digests_of_rows(rows: Array) -> Digests:
    """The digest of each row along the first axis, whatever its shape."""
    whole = np.ascontiguousarray(rows)
    found = np.empty((len(whole), 2), np.uint64)
    for place, row in enumerate(whole.reshape(len(whole), -1)):
        found[place] = _numbers(hashlib.blake2b(row.data, digest_size=_BYTES))
    return found


def digest_of_file(file: BinaryIO, size_bytes: int) -> Digests:
    """The digest of a file's content from its current position, shape [2].

    Args:
        file: Open.
        size_bytes: Of the whole; of a very long one that and its first GiB make the digest.

    Raises:
        OSError: It cannot be read.
    """
    hasher = hashlib.blake2b(size_bytes.to_bytes(8, "little"), digest_size=_BYTES)
    left = _MOST_BYTES
    while left and (piece := file.read(min(_PIECE_BYTES, left))):
        hasher.update(piece)
        left -= len(piece)
    return _numbers(hasher)


def _numbers(hasher: hashlib.blake2b) -> Digests:
    return np.frombuffer(hasher.digest(), np.uint64)
