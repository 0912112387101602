"""What layers draw in a script, as ``random_numbers`` of ``trainer/models`` has it in a run."""

from gpupanel.planning.script.sections import lines_for

# In the margin: K other layers than those of gpupanel's own models, which only drop.
_TEXT = '''
  |import math
  |import threading
  |from functools import wraps
K |from keras.src.backend.tensorflow import image as keras_image
  |from keras.src.backend.tensorflow import random as keras_random
  |DRAWN_FOR = threading.local()  # the part of a batch whose step is traced: first, count and step
  |
  |
k |def by_example(shape, dtype):
k |    """Uniform numbers by step and example: the same whatever the division of a batch.
K |def by_example(
K |    shape, dtype, draw=tf.raw_ops.StatelessRandomUniformV2, seed=None, counts_of=None, **limits
K |):
K |    """Random numbers by step and example: the same whatever the division of a batch.
  |
  |    Each draw of a step has its own key, and each example its own counts, of 128 bits.
  |    """
k |    seed = tf.stack([tf.constant(next_draw(), tf.int64), DRAWN_FOR.step])
K |    if draw is tf.raw_ops.StatelessRandomUniformV2:
K |        limits = {"dtype": dtype}
K |    if isinstance(seed, int):  # the same each time
K |        seed = tf.constant([seed, 0])
K |    else:
K |        seed = tf.stack([tf.constant(next_draw(), tf.int64), DRAWN_FOR.step])
  |    key, _ = tf.raw_ops.StatelessRandomGetKeyCounter(seed=seed)
K |    shape = [
K |        size if known is None else int(known)
K |        for size in (tf.unstack(shape) if tf.is_tensor(shape) else shape)
K |        for known in [tf.get_static_value(size) if tf.is_tensor(size) else size]
K |    ]
K |    if not shape or isinstance(shape[0], int):  # not of examples: all parts have the same
K |        zero = tf.zeros([2], tf.uint64)
K |        return draw(shape=shape, key=key, counter=zero, alg=1, **limits)
k |    numbers = math.prod(shape[1:])
k |    counts = -(-numbers // 4)
k |    begin = tf.stack([tf.cast(DRAWN_FOR.first, tf.int64) * counts, 0])
k |    drawn = tf.raw_ops.StatelessRandomUniformV2(
k |        shape=[shape[0], 4 * counts],
k |        key=key,
k |        counter=tf.bitcast(begin, tf.uint64),
k |        alg=1,
k |        dtype=dtype,
k |    )
K |    numbers = width = math.prod(shape[1:])
K |    if counts_of:  # of each number
K |        counts = numbers * counts_of
K |    else:  # several numbers have one
K |        of_count = min(4, 16 // tf.as_dtype(dtype).size)
K |        counts = -(-numbers // of_count)
K |        width = counts * of_count
K |    rows = tf.cast(DRAWN_FOR.first * (shape[0] // DRAWN_FOR.count), tf.int64)
K |    drawn = draw(
K |        shape=[shape[0], width],
K |        key=key,
K |        counter=tf.bitcast(tf.stack([rows * tf.cast(counts, tf.int64), 0]), tf.uint64),
K |        alg=1,
K |        **limits,
K |    )
  |    return tf.reshape(drawn[:, :numbers], shape)
  |
  |
  |def next_draw():
  |    DRAWN_FOR.draws += 1
  |    return SEED * 2**20 + DRAWN_FOR.draws - 1
  |
  |
  |def dropout(inputs, rate, noise_shape=None, seed=None):
k |    """In place of Keras's, which draws for as many examples as it is given."""
k |    shape = [tf.shape(inputs)[0], *inputs.shape[1:]]
k |    kept = by_example(shape, inputs.dtype) >= rate
K |    if rate in (0.0, 1.0):
K |        return inputs if rate == 0.0 else tf.zeros_like(inputs)
K |    inputs = tf.convert_to_tensor(inputs)
K |    now = tf.shape(inputs)
K |    shape = [now[axis] if size is None else size for axis, size in enumerate(inputs.shape)]
K |    if noise_shape is not None:
K |        shape = [there if size is None else size for size, there in zip(noise_shape, shape)]
K |    kept = by_example(shape, inputs.dtype, seed=seed) >= rate
  |    scaled = inputs * tf.cast(1.0 / (1.0 - rate), inputs.dtype)
  |    return tf.where(kept, scaled, tf.zeros([], inputs.dtype))
  |
  |
  |def in_steps(function, otherwise):
  |    """The function while a step is traced, else what Keras does."""
  |
  |    @wraps(otherwise)
  |    def draw(*args, **kwargs):
  |        is_traced = getattr(DRAWN_FOR, "step", None) is not None
  |        return (function if is_traced else otherwise)(*args, **kwargs)
  |
  |    return draw
  |
  |
k |keras_random.dropout = in_steps(dropout, keras_random.dropout)
K |def type_of(dtype):
K |    return tf.as_dtype(keras.backend.standardize_dtype(dtype or keras.config.floatx()))
K |
K |
K |def uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
K |    drawn = by_example(shape, type_of(dtype), seed=seed)
K |    least, most = tf.cast(minval, drawn.dtype), tf.cast(maxval, drawn.dtype)
K |    return drawn * (most - least) + least
K |
K |
K |def normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None, beyond=0.0):
K |    fine = tf.float64 if type_of(dtype) == tf.float64 else tf.float32
K |    drawn = by_example(shape, fine, seed=seed) + np.finfo(fine.as_numpy_dtype).eps / 2.0
K |    drawn = tf.cast(tf.math.ndtri(beyond + (1.0 - 2.0 * beyond) * drawn), type_of(dtype))
K |    return drawn * tf.cast(stddev, drawn.dtype) + tf.cast(mean, drawn.dtype)
K |
K |
K |def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
K |    beyond = math.erfc(math.sqrt(2.0)) / 2.0  # so much lies more than 2 deviations away
K |    return normal(shape, mean, stddev, dtype, seed, beyond)
K |
K |
K |def randint(shape, minval, maxval, dtype="int32", seed=None):
K |    whole = tf.int32 if type_of(dtype) == tf.int32 else tf.int64
K |    limits = {"minval": tf.cast(minval, whole), "maxval": tf.cast(maxval, whole)}
K |    draw = tf.raw_ops.StatelessRandomUniformIntV2
K |    return tf.cast(by_example(shape, whole, draw, seed, **limits), type_of(dtype))
K |
K |
K |def gamma(shape, alpha, dtype=None, seed=None):
K |    wanted = type_of(dtype)
K |    fine = tf.float32 if wanted == tf.bfloat16 else wanted
K |    of_each = tf.broadcast_to(tf.cast(alpha, fine), shape)
K |
K |    def draw(shape, **known):
K |        alpha = tf.reshape(of_each, shape)
K |        return tf.raw_ops.StatelessRandomGammaV3(shape=shape, alpha=alpha, **known)
K |
K |    # TensorFlow sets 256 counts apart for each number, which it draws until one is accepted.
K |    return tf.cast(by_example(shape, fine, draw, seed, counts_of=256), wanted)
K |
K |
K |def beta(shape, alpha, beta, dtype=None, seed=None):
K |    one = gamma(shape, alpha, dtype, seed)
K |    return one / (one + gamma(shape, beta, dtype, seed + 12 if isinstance(seed, int) else seed))
K |
K |
K |def categorical(logits, num_samples, dtype="int64", seed=None):
K |    logits = tf.cast(tf.convert_to_tensor(logits), tf.float32)
K |    rows, classes = tf.unstack(tf.shape(logits))
K |    drawn = by_example([rows, num_samples, classes], tf.float32, seed=seed)
K |    noise = -tf.math.log(-tf.math.log(drawn + np.finfo(np.float32).eps / 2.0))
K |    return tf.argmax(logits[:, tf.newaxis] + noise, axis=2, output_type=type_of(dtype))
K |
K |
K |class GivenSeed(keras.random.SeedGenerator):
K |    def __init__(self, seed):
K |        self.given = seed
K |
K |    def next(self, ordered=True):
K |        return self.given
K |
K |
K |def elastic_transform(images, *args, seed=None, **kwargs):
K |    """Of each image: Keras's own takes the first one for all where their number is not known."""
K |    seeds = randint([tf.shape(images)[0], 2], 0, 2**31 - 1, seed=seed)
K |
K |    def changed(each):
K |        return keras_elastic(each[0], *args, seed=GivenSeed(each[1]), **kwargs)
K |
K |    moved = tf.map_fn(changed, (images, seeds), fn_output_signature=images.dtype)
K |    return tf.ensure_shape(moved, images.shape)
K |
K |
K |def seed_of_part(generator, ordered=True):
K |    """All else is drawn for each part by itself."""
K |    part = tf.stack([0, tf.cast(DRAWN_FOR.first, tf.int64) * 2**32])
K |    seed = tf.stack([tf.constant(next_draw(), tf.int64), DRAWN_FOR.step]) + part
K |    return tf.cast(tf.random.stateless_uniform([2], seed, None, None, tf.int32), tf.int64)
K |
K |
K |for each in (dropout, uniform, normal, truncated_normal, randint, gamma, beta, categorical):
K |    name = each.__name__
K |    setattr(keras_random, name, in_steps(each, getattr(keras_random, name)))
K |keras_elastic = keras_image.elastic_transform
K |keras_image.elastic_transform = in_steps(elastic_transform, keras_elastic)
K |generator = keras.random.SeedGenerator
K |generator.next = in_steps(seed_of_part, generator.next)
'''


def random_functions(*, only_dropout: bool) -> str:
    """Python that replaces what Keras draws with: it uses ``SEED`` and defines ``DRAWN_FOR``.

    Args:
        only_dropout: Nothing else is drawn, of examples alone.
    """
    return lines_for(_TEXT, () if only_dropout else {"K"})
