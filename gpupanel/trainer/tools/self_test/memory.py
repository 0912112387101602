"""Patterns in a device's memory: each bit is 0 once and 1 once, and read again after all else."""

import time
from typing import Final

import numpy as np
import tensorflow as tf

from gpupanel.domain.self_test import CaseResult, SelfTestCase
from gpupanel.trainer.memory_shortage import is_out_of_memory
from gpupanel.trainer.tools.self_test.finding import BYTES_PER_MIB, CaseFinding

_CHUNK_MIB: Final = 32
_SPARE: Final = 4
"""Chunks that are held besides while one is compared."""
_FILLED: Final = 0.125
"""Of the time of the case, after which no more is filled. What was filled is written and read
again, twice, which moves six times as many bytes."""
_READ: Final = (0.5, 0.9)
"""Of the time of the case, after which no more is read the first and the second time: a device that
somebody else begins to use meanwhile is not broken."""
_STRIDE: Final = 0x9E3779B97F4A7C15
"""Odd: no two chunks have the same pattern, so that a wrong address is noticed, too."""


def memory_patterns(case: SelfTestCase) -> CaseFinding:
    """Fill as much as the case says, or as there is; the figure is how much that was."""
    (place,) = case.places
    begin_s = time.monotonic()
    count = max(1, case.amount_mib // _CHUNK_MIB)
    numbers = np.random.default_rng(11).integers(
        -(2**63), 2**63 - 1, _CHUNK_MIB * BYTES_PER_MIB // 8, np.int64
    )
    wrong = 0
    with tf.device(place.logical_device):
        base = tf.identity(tf.constant(numbers))
        count = _fill(base, count, begin_s + _FILLED * case.seconds)
        for flip, part in zip((0, -1), _READ, strict=True):
            count, more = _read_again(base, count, flip, begin_s + part * case.seconds)
            wrong += more
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


def _fill(base: tf.Tensor, most: int, until_s: float) -> int:
    """How many chunks there is room and time for."""
    chunks: list[tf.Tensor] = []
    while len(chunks) < most and time.monotonic() < until_s:
        try:
            chunks.append(_pattern(base, len(chunks), flip=0))
            chunks[-1][:1].numpy()
        except tf.errors.OpError as error:
            if not is_out_of_memory(error):
                raise
            # What is compared needs room itself.
            return max(1, len(chunks) - _SPARE)
    return max(1, len(chunks))


def _read_again(base: tf.Tensor, count: int, flip: int, until_s: float) -> tuple[int, int]:
    """Write all, then read all; how many there was time for, and how many words are wrong."""
    chunks = [_pattern(base, chunk, flip) for chunk in range(count)]
    wrong = 0
    for number, chunk in enumerate(chunks):
        differs = tf.not_equal(chunk, _pattern(base, number, flip))
        # Counted on the host: TensorFlow counts in a copy that is as large as the chunk.
        if tf.reduce_any(differs).numpy():
            wrong += int(np.count_nonzero(differs.numpy()))
        if time.monotonic() >= until_s:
            return number + 1, wrong
    return count, wrong
