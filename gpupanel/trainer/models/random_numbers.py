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
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from typing_extensions import override

from gpupanel.trainer.models.numbers_of_part import (
    PHILOX,
    SCOPE,
    DrawnPart,
    Number,
    Seed,
    Shape,
    Size,
    drawn_numbers,
    normal_numbers,
    sizes_of,
    uniform_numbers,
)

_COUNTS_OF_GAMMA = 256
"""That TensorFlow sets apart for each number, which it draws until one is accepted
(``kReservedSamplesPerOutput`` of its stateless_random_gamma_op)."""
_OF_BETA = 12
"""Between the seeds of the two numbers of the gamma distribution that Keras makes one of."""

_PART: ContextVar[DrawnPart | None] = ContextVar("part_that_is_drawn_for", default=None)


@contextmanager
def drawn_by_example(
    seed: int, step: tf.Tensor, first: tf.Tensor, features: tf.Tensor
) -> Iterator[None]:
    """Have layers that are called within draw by step and example; while a graph is built.

    Args:
        seed: Of the run.
        step: Whose batch the examples are of, counted over the run; a whole number, shape [].
        first: The place of the first of the examples in that batch, likewise.
        features: Of the examples, shape [n, ...].
    """
    not_replaced()
    count = features.shape[0]
    count = tf.shape(features)[0] if count is None else count
    token = _PART.set(DrawnPart(seed, tf.cast(step, tf.int64), tf.cast(first, tf.int64), count))
    try:
        yield
    finally:
        _PART.reset(token)


def _type(name: str | None) -> tf.DType:
    return tf.as_dtype(keras.backend.standardize_dtype(name or keras.config.floatx()))


def _keras_uniform(
    part: DrawnPart,
    shape: Shape,
    minval: float = 0.0,
    maxval: float = 1.0,
    dtype: str | None = None,
    seed: Seed = None,
) -> tf.Tensor:
    drawn = uniform_numbers(part, shape, _type(dtype), seed)
    least, most = tf.cast(minval, drawn.dtype), tf.cast(maxval, drawn.dtype)
    return drawn * (most - least) + least


def _keras_normal(
    part: DrawnPart,
    shape: Shape,
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: str | None = None,
    seed: Seed = None,
) -> tf.Tensor:
    drawn = normal_numbers(part, shape, _type(dtype), seed)
    return drawn * tf.cast(stddev, drawn.dtype) + tf.cast(mean, drawn.dtype)


def _keras_truncated_normal(
    part: DrawnPart,
    shape: Shape,
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: str | None = None,
    seed: Seed = None,
) -> tf.Tensor:
    # At two standard deviations; TensorFlow draws until a number lies within them.
    drawn = normal_numbers(part, shape, _type(dtype), seed, beyond=math.erfc(math.sqrt(2.0)) / 2.0)
    return drawn * tf.cast(stddev, drawn.dtype) + tf.cast(mean, drawn.dtype)


def _keras_randint(
    part: DrawnPart,
    shape: Shape,
    minval: int,
    maxval: int,
    dtype: str = "int32",
    seed: Seed = None,
) -> tf.Tensor:
    whole = tf.int32 if _type(dtype) == tf.int32 else tf.int64

    def draw(sizes: Sequence[Size], key: tf.Tensor, counter: tf.Tensor) -> tf.Tensor:
        least, end = tf.cast(minval, whole), tf.cast(maxval, whole)
        return tf.raw_ops.StatelessRandomUniformIntV2(
            shape=sizes, key=key, counter=counter, alg=PHILOX, minval=least, maxval=end
        )

    return tf.cast(drawn_numbers(part, shape, whole, seed, draw), _type(dtype))


def _keras_dropout(
    part: DrawnPart,
    inputs: tf.Tensor,
    rate: float,
    noise_shape: Sequence[Size | None] | None = None,
    seed: Seed = None,
) -> tf.Tensor:
    if rate in (0.0, 1.0):
        return inputs if rate == 0.0 else tf.zeros_like(inputs)
    inputs = tf.convert_to_tensor(inputs)
    now = tf.shape(inputs)
    sizes = [now[axis] if size is None else size for axis, size in enumerate(inputs.shape)]
    if noise_shape is not None:
        sizes = [
            there if size is None else size for size, there in zip(noise_shape, sizes, strict=False)
        ]
    kept = uniform_numbers(part, sizes, inputs.dtype, seed) >= rate
    scaled = inputs * tf.cast(1.0 / (1.0 - rate), inputs.dtype)
    return tf.where(kept, scaled, tf.zeros([], inputs.dtype))


def _keras_gamma(
    part: DrawnPart, shape: Shape, alpha: Number, dtype: str | None = None, seed: Seed = None
) -> tf.Tensor:
    wanted = _type(dtype)
    fine = tf.float32 if wanted == tf.bfloat16 else wanted
    # Of each number its own: otherwise TensorFlow counts by another order.
    of_each = tf.broadcast_to(tf.cast(alpha, fine), sizes_of(shape))

    def draw(sizes: Sequence[Size], key: tf.Tensor, counter: tf.Tensor) -> tf.Tensor:
        return tf.raw_ops.StatelessRandomGammaV3(
            shape=sizes, key=key, counter=counter, alg=PHILOX, alpha=tf.reshape(of_each, sizes)
        )

    return tf.cast(drawn_numbers(part, shape, fine, seed, draw, _COUNTS_OF_GAMMA), wanted)


def _keras_beta(
    part: DrawnPart,
    shape: Shape,
    alpha: Number,
    beta: Number,
    dtype: str | None = None,
    seed: Seed = None,
) -> tf.Tensor:
    one = _keras_gamma(part, shape, alpha, dtype, seed)
    next_seed = seed + _OF_BETA if isinstance(seed, int) else seed
    return one / (one + _keras_gamma(part, shape, beta, dtype, next_seed))


def _keras_categorical(
    part: DrawnPart, logits: tf.Tensor, num_samples: int, dtype: str = "int64", seed: Seed = None
) -> tf.Tensor:
    # The greatest of logits with noise of a Gumbel distribution is drawn by their softmax.
    logits = tf.cast(tf.convert_to_tensor(logits), tf.float32)
    rows, classes = tf.unstack(tf.shape(logits))
    uniform = uniform_numbers(part, [rows, num_samples, classes], tf.float32, seed)
    noise = -tf.math.log(-tf.math.log(uniform + np.finfo(np.float32).eps / 2.0))
    return tf.argmax(logits[:, tf.newaxis] + noise, axis=2, output_type=_type(dtype))


class _GivenSeed(keras.random.SeedGenerator):  # type: ignore[misc]
    """A generator that gives what it was given."""

    def __init__(self, seed: tf.Tensor) -> None:  # not Keras's, which makes a variable
        self._given = seed

    @override
    def next(self, ordered: bool = True) -> tf.Tensor:
        return self._given


def _each_elastic(of_keras: Callable[..., tf.Tensor]) -> Callable[..., tf.Tensor]:
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
        part = _PART.get()
        if part is None or len(images.shape) != 4:
            return of_keras(images, *args, seed=seed, **kwargs)
        seeds = _keras_randint(part, [tf.shape(images)[0], 2], 0, 2**31 - 1, seed=seed)

        def changed(each: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
            with tf.name_scope(SCOPE):
                return of_keras(each[0], *args, seed=_GivenSeed(each[1]), **kwargs)

        moved = tf.map_fn(changed, (images, seeds), fn_output_signature=images.dtype)
        return tf.ensure_shape(moved, images.shape)

    return drawn


_OWN: dict[str, Callable[..., tf.Tensor]] = {
    "uniform": _keras_uniform,
    "normal": _keras_normal,
    "truncated_normal": _keras_truncated_normal,
    "randint": _keras_randint,
    "dropout": _keras_dropout,
    "gamma": _keras_gamma,
    "beta": _keras_beta,
    "categorical": _keras_categorical,
}
"""In place of the functions of Keras's backend, with the same parameters after the first."""


@functools.cache
def not_replaced() -> tuple[str, ...]:
    """Replace what Keras draws with, once.

    Returns:
        Names of functions that this Keras has otherwise than those that are known here: what they
        draw depends on how a batch is divided.
    """
    of_keras = keras.random.SeedGenerator.next

    # All else that is drawn begins here. A step assigns nothing, so that a generator stands where
    # it stood: what it gives follows from the step.
    @functools.wraps(of_keras)
    def seed_of_part(
        generator: keras.random.SeedGenerator,
        ordered: bool = True,  # noqa: FBT001, FBT002 - as Keras has it
    ) -> tf.Tensor:
        part = _PART.get()
        return of_keras(generator, ordered) if part is None else part.seed_of_part()

    keras.random.SeedGenerator.next = seed_of_part
    try:
        from keras.src.backend.tensorflow import image, random
    except ImportError:
        return tuple(_OWN)
    image.elastic_transform = _each_elastic(image.elastic_transform)
    others = []
    for name, own in _OWN.items():
        given = getattr(random, name, None)
        if given is None or _parameters(given) != _parameters(own)[1:]:
            others.append(name)
        else:
            setattr(random, name, _replacing(given, own))
    return tuple(others)


def _parameters(function: Callable[..., tf.Tensor]) -> list[str]:
    return list(inspect.signature(function).parameters)


def _replacing(
    of_keras: Callable[..., tf.Tensor], own: Callable[..., tf.Tensor]
) -> Callable[..., tf.Tensor]:
    @functools.wraps(of_keras)
    def drawn(*args: Any, **kwargs: Any) -> tf.Tensor:  # noqa: ANN401 - as Keras calls it
        part = _PART.get()
        return of_keras(*args, **kwargs) if part is None else own(part, *args, **kwargs)

    return drawn
