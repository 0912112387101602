"""Batch normalisation in a script, as ``trainer/models/batch_norm.py`` has it in a run."""

_OVER_REPLICAS = """
def over_replicas(norm):
    \"\"\"Have the layer normalise by the examples of all replicas, each counted once.

    Keras's own synchronized=True takes the variance as E[x^2] - E[x]^2, which loses its digits
    where the mean is great. Here it is that of the parts and of their means.
    \"\"\"
    call_alone = norm.call

    @wraps(call_alone)  # Keras reads the arguments
    def call(inputs, training=None, mask=None):
        if not training or not norm.trainable or isinstance(inputs, keras.KerasTensor):
            return call_alone(inputs, training=training, mask=mask)
        context, values = tf.distribute.get_replica_context(), tf.cast(inputs, tf.float32)
        channels = norm.axis % len(values.shape)
        axes = [axis for axis in range(len(values.shape)) if axis != channels]
        if mask is None:
            mean, variance = tf.nn.moments(values, axes)
            count = tf.cast(tf.size(values) // tf.shape(values)[channels], tf.float32)
        else:
            counted = tf.cast(mask, tf.float32)[..., tf.newaxis]
            mean, variance = tf.nn.weighted_moments(values, axes, counted)
            count = tf.reduce_sum(counted)
        place = tf.one_hot(context.replica_id_in_sync_group, context.num_replicas_in_sync)
        own = tf.concat([[count], mean, variance], axis=0)
        # Summed with zeros of the others, the numbers of each replica stand in a row of their own.
        parts = context.all_reduce(tf.distribute.ReduceOp.SUM, place[:, tf.newaxis] * own)
        weights = parts[:, :1] / tf.reduce_sum(parts[:, 0])
        means, variances = tf.split(parts[:, 1:], 2, axis=1)
        mean = tf.reduce_sum(weights * means, axis=0)
        distances = tf.math.squared_difference(means, mean)
        variance = tf.reduce_sum(weights * (variances + distances), axis=0)
        # A step begins them at zero.
        norm.moving_mean.assign(mean * (1 - norm.momentum))
        norm.moving_variance.assign(variance * (1 - norm.momentum))
        outputs = keras.ops.batch_normalization(
            values,
            mean,
            variance,
            norm.axis,
            offset=norm.beta if norm.center else None,
            scale=norm.gamma if norm.scale else None,
            epsilon=norm.epsilon,
        )
        return tf.cast(outputs, norm.compute_dtype)

    norm.call = call
    return norm
"""
_CALL_BY_CALL = """
def measured(norm):
    \"\"\"Have the layer begin each call in training at zero, and keep what it measured.

    One that is shared is called several times in a step, one that only infers never.
    \"\"\"
    call_unmeasured = norm.call

    @wraps(call_unmeasured)
    def call(inputs, training=None, mask=None):
        if not training or not norm.trainable or isinstance(inputs, keras.KerasTensor):
            return call_unmeasured(inputs, training=training, mask=mask)
        for moving in (norm.moving_mean, norm.moving_variance):
            moving.assign(tf.zeros(moving.shape))
        outputs = call_unmeasured(inputs, training=True, mask=mask)
        statistics = norm.moving_mean.value, norm.moving_variance.value
        TRACED.calls[norm].append([each / (1 - norm.momentum) for each in statistics])
        return outputs

    norm.call = call
"""


def batch_norm_functions(*, over_replicas: bool, call_by_call: bool) -> str:
    """Python of the functions that a script needs.

    Args:
        over_replicas: ``over_replicas(layer)``, which gives the layer back.
        call_by_call: ``measured(layer)``, which fills ``TRACED.calls``.
    """
    imports = ["import threading"] * call_by_call + ["from functools import wraps"]
    functions = [_OVER_REPLICAS] * over_replicas + [_CALL_BY_CALL] * call_by_call
    if not functions:
        return ""
    return "\n\n\n".join(["\n".join(imports), *(each.strip("\n") for each in functions)])
