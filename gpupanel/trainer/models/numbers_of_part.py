"""Numbers for the examples of a part of a batch: each has its own, whatever the part is."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import keras
import numpy as np
import tensorflow as tf

Size: TypeAlias = tf.Tensor | int
Shape: TypeAlias = tf.Tensor | Sequence[Size]
Seed: TypeAlias = keras.random.SeedGenerator | int | None
Number: TypeAlias = tf.Tensor | float
Draw = Callable[[Sequence[Size], tf.Tensor, tf.Tensor], tf.Tensor]
"""From a shape, a key and a counter to numbers."""

PHILOX = 1
"""TensorFlow's number of the generator that has a counter, and is the same on CPU and GPU."""
_COUNT_BYTES = 16
"""Philox gives four numbers of 32 bits a count (Salmon et al. 2011, doi:10.1145/2063384.2063405);
for a shorter one TensorFlow takes 32 bits, too."""
_MOST_DRAWS = 2**20
"""Of a step: between the keys of two seeds."""
_LARGEST_BATCH = 2**32
SCOPE = "drawn_by_example"
"""In the names of the operations that draw here, and depend on nothing but step and example."""
_OTHER_SCOPE = "drawn_with_examples_last"


@dataclass(slots=True)
class DrawnPart:
    """The examples that a call of the model is about.

    Attributes:
        seed: Of the run.
        step: Whose batch they are of, int64.
        first: The place of the first of them in the batch, int64.
        count: How many they are; a number where that is known while the graph is built.
        draws: How often numbers were drawn for them until now.
    """

    seed: int
    step: tf.Tensor
    first: tf.Tensor
    count: Size
    draws: int = 0

    def seed_of_batch(self) -> tf.Tensor:
        """Of the next draw, the same for each part of the batch; int64, shape [2]."""
        number = self.seed * _MOST_DRAWS + self.draws
        self.draws += 1
        return tf.stack([tf.constant(number, tf.int64), self.step])

    def seed_of_part(self) -> tf.Tensor:
        """Of the next draw, for this part alone; as a generator of Keras gives it."""
        of_part = tf.stack([tf.zeros([], tf.int64), self.first * _LARGEST_BATCH])
        seed = self.seed_of_batch() + of_part
        return tf.cast(tf.random.stateless_uniform([2], seed, None, None, tf.int32), tf.int64)


def drawn_numbers(
    part: DrawnPart,
    shape: Shape,
    dtype: tf.DType,
    seed: Seed,
    draw: Draw,
    counts_of_number: int | None = None,
) -> tf.Tensor:
    """Numbers of this shape, whose first axis is that of the examples.

    Where its size is known beforehand, unlike that of the batch, it is another axis: then all parts
    of the batch have the same numbers. Where it is a multiple of the examples, each has several.

    Args:
        part: The examples.
        shape: Of the numbers.
        dtype: Theirs.
        seed: As Keras's functions have it.
        draw: Draws them.
        counts_of_number: How many counts a number takes; ``None``: several have one.
    """
    sizes = sizes_of(shape)
    is_other = bool(sizes) and _is_another_axis(sizes[0], part)
    # Numbers for examples that come in a later axis depend on how many there are.
    has_later = is_other and any(not isinstance(size, int) for size in sizes[1:])
    with tf.name_scope(_OTHER_SCOPE if has_later else SCOPE):
        # Of a seed that is a number, Keras draws the same numbers each time.
        whole = tf.constant([seed, 0]) if isinstance(seed, int) else part.seed_of_batch()
        key, _ = tf.raw_ops.StatelessRandomGetKeyCounter(seed=whole)
        if not sizes or is_other:
            return draw(sizes, key, tf.zeros([2], tf.uint64))
        rows, *of_row = sizes
        numbers = width = _product(of_row)
        if counts_of_number is None:
            # Each example begins with a count of its own.
            of_count = min(4, _COUNT_BYTES // dtype.size)
            counts = -(-numbers // of_count)
            width = counts * of_count
        else:
            counts = numbers * counts_of_number
        rows_before = part.first * tf.cast(rows // part.count, tf.int64)
        begin = [rows_before * tf.cast(counts, tf.int64), tf.zeros([], tf.int64)]
        drawn = draw([rows, width], key, tf.bitcast(tf.stack(begin), tf.uint64))
        return tf.reshape(drawn[:, :numbers], sizes)


def _is_another_axis(size: Size, part: DrawnPart) -> bool:
    if not isinstance(size, int):
        return False
    return not isinstance(part.count, int) or size != part.count


def sizes_of(shape: Shape) -> list[Size]:
    """Of each axis, a number where it is known while the graph is built."""
    every = tf.unstack(shape) if tf.is_tensor(shape) else shape
    known = [tf.get_static_value(size) if tf.is_tensor(size) else size for size in every]
    return [
        tf.cast(size, tf.int32) if number is None else int(number)
        for size, number in zip(every, known, strict=True)
    ]


def _product(sizes: Sequence[Size]) -> Size:
    return functools.reduce(lambda one, other: one * other, sizes, 1)


def uniform_numbers(part: DrawnPart, shape: Shape, dtype: tf.DType, seed: Seed) -> tf.Tensor:
    """Numbers of at least 0 and below 1."""

    def draw(sizes: Sequence[Size], key: tf.Tensor, counter: tf.Tensor) -> tf.Tensor:
        return tf.raw_ops.StatelessRandomUniformV2(
            shape=sizes, key=key, counter=counter, alg=PHILOX, dtype=dtype
        )

    return drawn_numbers(part, shape, dtype, seed, draw)


def normal_numbers(
    part: DrawnPart, shape: Shape, dtype: tf.DType, seed: Seed, beyond: float = 0.0
) -> tf.Tensor:
    """Of a standard normal distribution, without so much of it on either side.

    One from each uniform number. TensorFlow makes pairs, which XLA takes from the two halves of a
    shape: what an example has would depend on how many there are.
    """
    fine = tf.float64 if dtype == tf.float64 else tf.float32
    # The middle between 0 and the next number, so that neither 0 nor 1 is among them.
    uniform = uniform_numbers(part, shape, fine, seed) + np.finfo(fine.as_numpy_dtype).eps / 2.0
    return tf.cast(tf.math.ndtri(beyond + (1.0 - 2.0 * beyond) * uniform), dtype)
