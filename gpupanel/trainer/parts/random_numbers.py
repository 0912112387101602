"""Random numbers of layers by step and example: any division of a batch has the same.

Dropout, noise, stochastic depth and all else that draws by ``keras.random`` ask Keras's backend for
numbers, which it draws for as many examples as a call has: a replica that takes the last four of a
batch would drop what another one drops of the first four. Here each draw of a step has a key of its
own, and each example of the whole batch its own place in the sequence of numbers of that key: a
replica draws those of its own examples, whatever the others do.

Keras has no public way to say so, so its functions are replaced, in this file alone. They do what
they did wherever no step is traced.
"""

import functools
import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeAlias

import keras
import numpy as np
import tensorflow as tf

Size: TypeAlias = tf.Tensor | int
Shape: TypeAlias = tf.Tensor | Sequence[Size]
Dtype: TypeAlias = str | None
Seed: TypeAlias = keras.random.SeedGenerator | int | None
Number: TypeAlias = tf.Tensor | float
Draw: TypeAlias = Callable[[Sequence[Size], tf.Tensor, tf.Tensor], tf.Tensor]
"""Makes numbers from a shape, a key and a counter."""

PHILOX = 1
"""TensorFlow's number of the generator that has a counter, and is the same on CPU and GPU."""
COUNT_BYTES = 16
"""Philox gives four numbers of 32 bits a count (Salmon et al. 2011, doi:10.1145/2063384.2063405);
for a shorter one TensorFlow takes 32 bits, too."""
MOST_DRAWS = 2**20
"""The most draws of a step: the keys of two seeds are so far apart."""
LARGEST_BATCH = 2**32
COUNTS_OF_GAMMA = 256
"""That TensorFlow sets apart for each number, which it draws until one is accepted
(``kReservedSamplesPerOutput`` of its stateless_random_gamma_op)."""
BETWEEN_SEEDS_OF_BETA = 12
"""Of the two numbers of the gamma distribution that Keras makes one of."""
SCOPE = "drawn_by_example"
"""In the names of the operations that draw here, and depend on nothing but step and example."""
OTHER_SCOPE = "drawn_with_examples_last"


@dataclass(slots=True)
class DrawnPart:
    """The examples that a call of the model is about.

    Attributes:
        seed: Of the training.
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
        number = self.seed * MOST_DRAWS + self.draws
        self.draws += 1
        return tf.stack([tf.constant(number, tf.int64), self.step])

    def seed_of_part(self) -> tf.Tensor:
        """Of the next draw, for this part alone; as a generator of Keras gives it."""
        of_part = tf.stack([tf.zeros([], tf.int64), self.first * LARGEST_BATCH])
        seed = self.seed_of_batch() + of_part
        return tf.cast(tf.random.stateless_uniform([2], seed, None, None, tf.int32), tf.int64)


DRAWN_FOR: ContextVar[DrawnPart | None] = ContextVar("part_that_is_drawn_for", default=None)


@contextmanager
def drawn_by_example(
    seed: int, step: tf.Tensor, first: tf.Tensor, features: tf.Tensor
) -> Iterator[None]:
    """Have layers that are called within draw by step and example; while a graph is built.

    Args:
        seed: Of the training.
        step: Whose batch the examples are of, counted over the training; a whole number, shape [].
        first: The place of the first of the examples in that batch, likewise.
        features: Of the examples, shape [n, ...].
    """
    not_replaced()
    count = features.shape[0]
    count = tf.shape(features)[0] if count is None else count
    part = DrawnPart(seed, tf.cast(step, tf.int64), tf.cast(first, tf.int64), count)
    token = DRAWN_FOR.set(part)
    try:
        yield
    finally:
        DRAWN_FOR.reset(token)


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
    is_other = bool(sizes) and is_another_axis(sizes[0], part)
    # Numbers for examples that come in a later axis depend on how many there are.
    has_later = is_other and any(not isinstance(size, int) for size in sizes[1:])
    with tf.name_scope(OTHER_SCOPE if has_later else SCOPE):
        # Of a seed that is a number, Keras draws the same numbers each time.
        whole = tf.constant([seed, 0]) if isinstance(seed, int) else part.seed_of_batch()
        key, _ = tf.raw_ops.StatelessRandomGetKeyCounter(seed=whole)
        if not sizes or is_other:
            return draw(sizes, key, tf.zeros([2], tf.uint64))
        rows, *of_row = sizes
        numbers = width = functools.reduce(lambda one, other: one * other, of_row, 1)
        if counts_of_number is None:
            # Each example begins with a count of its own.
            of_count = min(4, COUNT_BYTES // dtype.size)
            counts = -(-numbers // of_count)
            width = counts * of_count
        else:
            counts = numbers * counts_of_number
        rows_before = part.first * tf.cast(rows // part.count, tf.int64)
        begin = [rows_before * tf.cast(counts, tf.int64), tf.zeros([], tf.int64)]
        drawn = draw([rows, width], key, tf.bitcast(tf.stack(begin), tf.uint64))
        return tf.reshape(drawn[:, :numbers], sizes)


def is_another_axis(size: Size, part: DrawnPart) -> bool:
    """Whether an axis of this size is not that of the examples."""
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


# In place of the functions of Keras's backend, with the same parameters after the first.


def drawn_uniform(
    part: DrawnPart,
    shape: Shape,
    minval: float = 0.0,
    maxval: float = 1.0,
    dtype: Dtype = None,
    seed: Seed = None,
) -> tf.Tensor:
    """Draws as ``keras.random.uniform`` does."""
    drawn = uniform_numbers(part, shape, named_dtype(dtype), seed)
    least, most = tf.cast(minval, drawn.dtype), tf.cast(maxval, drawn.dtype)
    return drawn * (most - least) + least


def drawn_normal(
    part: DrawnPart,
    shape: Shape,
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: Dtype = None,
    seed: Seed = None,
) -> tf.Tensor:
    """Draws as ``keras.random.normal`` does."""
    drawn = normal_numbers(part, shape, named_dtype(dtype), seed)
    return drawn * tf.cast(stddev, drawn.dtype) + tf.cast(mean, drawn.dtype)


def drawn_truncated_normal(
    part: DrawnPart,
    shape: Shape,
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: Dtype = None,
    seed: Seed = None,
) -> tf.Tensor:
    """As ``keras.random.truncated_normal``; TensorFlow draws until a number lies within."""
    beyond = math.erfc(math.sqrt(2.0)) / 2.0  # so much lies more than two deviations away
    drawn = normal_numbers(part, shape, named_dtype(dtype), seed, beyond)
    return drawn * tf.cast(stddev, drawn.dtype) + tf.cast(mean, drawn.dtype)


def drawn_randint(
    part: DrawnPart, shape: Shape, minval: int, maxval: int, dtype: str = "int32", seed: Seed = None
) -> tf.Tensor:
    """Draws as ``keras.random.randint`` does."""
    whole = tf.int32 if named_dtype(dtype) == tf.int32 else tf.int64

    def draw(sizes: Sequence[Size], key: tf.Tensor, counter: tf.Tensor) -> tf.Tensor:
        least, end = tf.cast(minval, whole), tf.cast(maxval, whole)
        return tf.raw_ops.StatelessRandomUniformIntV2(
            shape=sizes, key=key, counter=counter, alg=PHILOX, minval=least, maxval=end
        )

    return tf.cast(drawn_numbers(part, shape, whole, seed, draw), named_dtype(dtype))


def drawn_dropout(
    part: DrawnPart,
    inputs: tf.Tensor,
    rate: float,
    noise_shape: Sequence[Size | None] | None = None,
    seed: Seed = None,
) -> tf.Tensor:
    """Drops as ``keras.random.dropout`` does."""
    if rate in (0.0, 1.0):
        return inputs if rate == 0.0 else tf.zeros_like(inputs)
    inputs = tf.convert_to_tensor(inputs)
    now = tf.shape(inputs)
    sizes = [now[axis] if size is None else size for axis, size in enumerate(inputs.shape)]
    if noise_shape is not None:
        pairs = zip(noise_shape, sizes, strict=False)
        sizes = [there if size is None else size for size, there in pairs]
    kept = uniform_numbers(part, sizes, inputs.dtype, seed) >= rate
    enlarged = inputs * tf.cast(1.0 / (1.0 - rate), inputs.dtype)
    return tf.where(kept, enlarged, tf.zeros([], inputs.dtype))


def drawn_gamma(
    part: DrawnPart, shape: Shape, alpha: Number, dtype: Dtype = None, seed: Seed = None
) -> tf.Tensor:
    """Draws as ``keras.random.gamma`` does."""
    wanted = named_dtype(dtype)
    fine = tf.float32 if wanted == tf.bfloat16 else wanted
    # Of each number its own: otherwise TensorFlow counts by another order.
    of_each = tf.broadcast_to(tf.cast(alpha, fine), sizes_of(shape))

    def draw(sizes: Sequence[Size], key: tf.Tensor, counter: tf.Tensor) -> tf.Tensor:
        return tf.raw_ops.StatelessRandomGammaV3(
            shape=sizes, key=key, counter=counter, alg=PHILOX, alpha=tf.reshape(of_each, sizes)
        )

    return tf.cast(drawn_numbers(part, shape, fine, seed, draw, COUNTS_OF_GAMMA), wanted)


def drawn_beta(
    part: DrawnPart,
    shape: Shape,
    alpha: Number,
    beta: Number,
    dtype: Dtype = None,
    seed: Seed = None,
) -> tf.Tensor:
    """Draws as ``keras.random.beta`` does."""
    one = drawn_gamma(part, shape, alpha, dtype, seed)
    next_seed = seed + BETWEEN_SEEDS_OF_BETA if isinstance(seed, int) else seed
    return one / (one + drawn_gamma(part, shape, beta, dtype, next_seed))


def drawn_categorical(
    part: DrawnPart, logits: tf.Tensor, num_samples: int, dtype: str = "int64", seed: Seed = None
) -> tf.Tensor:
    """As ``keras.random.categorical``.

    The greatest of logits with noise of a Gumbel distribution is drawn by their softmax.
    """
    logits = tf.cast(tf.convert_to_tensor(logits), tf.float32)
    rows, classes = tf.unstack(tf.shape(logits))
    uniform = uniform_numbers(part, [rows, num_samples, classes], tf.float32, seed)
    noise = -tf.math.log(-tf.math.log(uniform + np.finfo(np.float32).eps / 2.0))
    return tf.argmax(logits[:, tf.newaxis] + noise, axis=2, output_type=named_dtype(dtype))


def named_dtype(name: Dtype) -> tf.DType:
    """A dtype as TensorFlow has it; ``None``: Keras's own."""
    return tf.as_dtype(keras.backend.standardize_dtype(name or keras.config.floatx()))


class FixedSeed(keras.random.SeedGenerator):  # type: ignore[misc]
    """A generator that gives what it was given."""

    def __init__(self, seed: tf.Tensor) -> None:  # not Keras's, which makes a variable
        self._given = seed

    def next(self, ordered: bool = True) -> tf.Tensor:  # noqa: FBT001, FBT002 - as Keras has it
        """The same each time."""
        return self._given


def each_elastic(of_keras: Callable[..., tf.Tensor]) -> Callable[..., tf.Tensor]:
    """Keras's ``elastic_transform`` for each image alone.

    Of a batch whose size is not known while the graph is built, Keras's own takes the first image
    in place of all.
    """

    @functools.wraps(of_keras)
    def drawn(
        images: tf.Tensor,
        *args: Any,  # noqa: ANN401 - as Keras calls it
        seed: Seed = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> tf.Tensor:
        part = DRAWN_FOR.get()
        if part is None or len(images.shape) != 4:
            return of_keras(images, *args, seed=seed, **kwargs)
        seeds = drawn_randint(part, [tf.shape(images)[0], 2], 0, 2**31 - 1, seed=seed)

        def changed(each: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
            with tf.name_scope(SCOPE):
                return of_keras(each[0], *args, seed=FixedSeed(each[1]), **kwargs)

        moved = tf.map_fn(changed, (images, seeds), fn_output_signature=images.dtype)
        return tf.ensure_shape(moved, images.shape)

    return drawn


@functools.cache
def not_replaced() -> tuple[str, ...]:
    """Replace what Keras draws with, once.

    Returns:
        Names of functions that this Keras has otherwise than those that are known here: what they
        draw depends on how a batch is divided.
    """
    own: dict[str, Callable[..., tf.Tensor]] = {
        "uniform": drawn_uniform,
        "normal": drawn_normal,
        "truncated_normal": drawn_truncated_normal,
        "randint": drawn_randint,
        "dropout": drawn_dropout,
        "gamma": drawn_gamma,
        "beta": drawn_beta,
        "categorical": drawn_categorical,
    }
    of_keras = keras.random.SeedGenerator.next

    # All else that is drawn begins here. A step assigns nothing, so that a generator stands where
    # it stood: what it gives follows from the step.
    @functools.wraps(of_keras)
    def seed_of_part(
        generator: keras.random.SeedGenerator,
        ordered: bool = True,  # noqa: FBT001, FBT002 - as Keras has it
    ) -> tf.Tensor:
        part = DRAWN_FOR.get()
        return of_keras(generator, ordered) if part is None else part.seed_of_part()

    keras.random.SeedGenerator.next = seed_of_part
    try:
        from keras.src.backend.tensorflow import image, random
    except ImportError:
        return tuple(own)
    image.elastic_transform = each_elastic(image.elastic_transform)
    others = []
    for name, function in own.items():
        there = getattr(random, name, None)
        if there is None or parameters_of(there) != parameters_of(function)[1:]:
            others.append(name)
        else:
            setattr(random, name, in_steps(function, there))
    return tuple(others)


def parameters_of(function: Callable[..., tf.Tensor]) -> list[str]:
    """The names of what it takes."""
    return list(inspect.signature(function).parameters)


def in_steps(
    own: Callable[..., tf.Tensor], of_keras: Callable[..., tf.Tensor]
) -> Callable[..., tf.Tensor]:
    """The first function while a step is traced, else what Keras does."""

    @functools.wraps(of_keras)
    def drawn(*args: Any, **kwargs: Any) -> tf.Tensor:  # noqa: ANN401 - as Keras calls it
        part = DRAWN_FOR.get()
        return of_keras(*args, **kwargs) if part is None else own(part, *args, **kwargs)

    return drawn
