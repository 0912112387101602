"""Patterns in a device's memory: each bit is 0 once and 1 once, and read again after all else."""

import time
from typing import Final

import numpy as np
import tensorflow as tf

from gpupanel.domain.self_test import CaseResult, SelfTestCase
from gpupanel.trainer.memory_shortage import is_out_of_memory
from gpupanel.trainer.self_test.finding import BYTES_PER_MIB, CaseFinding

_CHUNK_MIB: Final = 32
_SPARE: Final = 4
"""Chunks that are held besides while one is compared."""
_PART: Final = 0.4
"""Of the time of the case, after which no more is filled: it is read again, twice."""
_STRIDE: Final = 0x9E3779B97F4A7C15
"""Odd: no two chunks have the same pattern, so that a wrong address is noticed, too."""


def memory_patterns(case: SelfTestCase) -> CaseFinding:
    """Fill as much as the case says, or as there is; the figure is how much that was."""
    (place,) = case.places
    until_s = time.monotonic() + _PART * case.seconds
    count = max(1, case.amount_mib // _CHUNK_MIB)
    numbers = np.random.default_rng(11).integers(
        -(2**63), 2**63 - 1, _CHUNK_MIB * BYTES_PER_MIB // 8, np.int64
    )
    wrong = 0
    with tf.device(place.logical_device):
        base = tf.identity(tf.constant(numbers))
        count = _fill(base, count, until_s, flip=0)
        for flip in (0, -1):
            wrong += _wrong_words(base, count, flip)
    if not np.array_equal(base.numpy(), numbers):
        wrong += 1
    tested = float(count * _CHUNK_MIB)
    if wrong:
        detail = f"{wrong:,} words of 8 bytes held another value than was written."
        return CaseFinding(CaseResult.WRONG, tested, detail)
    less = f"{case.amount_mib:,} MiB were to be tested." if tested < 0.9 * case.amount_mib else ""
    return CaseFinding(CaseResult.PASSED, tested, less)


def _pattern(base: tf.Tensor, chunk: int, flip: int) -> tf.Tensor:
    word = np.uint64((chunk + 1) * _STRIDE % 2**64).astype(np.int64) ^ np.int64(flip)
    return tf.bitwise.bitwise_xor(base, tf.fill(tf.shape(base), tf.constant(word, tf.int64)))


def _fill(base: tf.Tensor, most: int, until_s: float, flip: int) -> int:
    """How many chunks there is room and time for."""
    chunks: list[tf.Tensor] = []
    while len(chunks) < most and time.monotonic() < until_s:
        try:
            chunks.append(_pattern(base, len(chunks), flip))
            chunks[-1][:1].numpy()
        except tf.errors.OpError as error:
            if not is_out_of_memory(error):
                raise
            # What is compared needs room itself.
            return max(1, len(chunks) - _SPARE)
    return max(1, len(chunks))


def _wrong_words(base: tf.Tensor, count: int, flip: int) -> int:
    """Write all, then read all."""
    chunks = [_pattern(base, chunk, flip) for chunk in range(count)]
    wrong = 0
    for number, chunk in enumerate(chunks):
        differs = tf.not_equal(chunk, _pattern(base, number, flip))
        wrong += int(tf.math.count_nonzero(differs).numpy())
    return wrong
