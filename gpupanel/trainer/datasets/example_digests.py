"""Examples that are found again among others, in whatever order, by short digests of them.

Of a set the smallest digests are kept: as such they are a sample that does not depend on order, and
of which the same part is among other examples as of the whole set.
"""

import numpy as np
import numpy.typing as npt

from gpupanel.trainer.datasets.examples import Array, Features, held_rows

MOST_KEPT = 64
_SEED = 0x6770_7570  # of the weights: a digest is the same everywhere
_CHUNK_BYTES = 8 * 2**20
_LARGEST_BYTES = 4 * 2**30
"""What is hashed in some seconds; larger sets stay on disk as a rule."""
_LEAST_DIFFERENT = 0.95
"""Examples of which more are alike, such as rows of few categories, are found among any others."""

Digests = npt.NDArray[np.uint64]


def digests_of(features: Features) -> Digests | None:
    """A digest of each example, shape [examples]; ``None`` where they are not held in memory."""
    held = held_rows(features)
    if held is None:
        return None
    count, bytes_each = held.shape[0], max(1, held[:1].nbytes)
    if count * bytes_each > _LARGEST_BYTES:
        return None
    words = -(-bytes_each // 4)
    # A sum of products modulo 2**64 with odd numbers drawn once; its upper bits are even.
    draw = np.random.default_rng(_SEED)
    weights = draw.integers(0, 2**63, words, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    rows = max(1, _CHUNK_BYTES // bytes_each)
    parts = [
        _mixed(_words(held[first : first + rows], words) @ weights)
        for first in range(0, count, rows)
    ]
    return np.concatenate(parts) if parts else np.empty(0, np.uint64)


def sample_of(digests: Digests) -> tuple[str, ...]:
    """The smallest of these digests, written out; none where too many examples are alike."""
    different = _different(digests)
    if len(different) < _LEAST_DIFFERENT * len(digests):
        return ()
    return tuple(f"{digest:016x}" for digest in different[:MOST_KEPT].tolist())


def found_of(sample: tuple[str, ...], digests: Digests) -> float:
    """Which part of a sample is among these examples."""
    if not sample:
        return 0.0
    there = _different(digests)
    known = np.array([int(each, 16) for each in sample], np.uint64)
    places = np.minimum(np.searchsorted(there, known), max(0, len(there) - 1))
    return float((there[places] == known).mean()) if len(there) else 0.0


def _different(digests: Digests) -> Digests:
    """Each once, in ascending order: sorted, which takes a tenth of the time of ``np.unique``."""
    ordered = np.sort(digests)
    is_first = np.ones(len(ordered), bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_first]


def _words(block: Array, words: int) -> Digests:
    """The bytes of each example as numbers of 32 bits, shape [examples, words]."""
    raw = np.ascontiguousarray(block).reshape(len(block), -1).view(np.uint8)
    filled = np.zeros((len(block), 4 * words), np.uint8)
    filled[:, : raw.shape[1]] = raw
    return filled.view("<u4").astype(np.uint64)


def _mixed(sums: Digests) -> Digests:
    """Every bit of each sum in every bit of its digest (the finalizer of MurmurHash3)."""
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        sums = (sums ^ (sums >> np.uint64(33))) * np.uint64(factor)
    return sums ^ (sums >> np.uint64(33))
