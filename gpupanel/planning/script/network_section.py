"""The layers of a script's model, with the names and in the order of a run's.

They are those of ``trainer/models/network.py``: made in the same order, they draw the same initial
weights.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from gpupanel.domain.data import DataSettings, Scaling, Target
from gpupanel.domain.model import BuildableModel, CnnModel

_FLOAT32 = 'dtype="float32"'

OVER_REPLICAS = """
def over_replicas(norm):
    \"\"\"Have the layer normalise by the examples of all replicas, each counted once.

    Keras's own synchronized=True takes the variance as E[x^2] - E[x]^2, which loses its digits
    where the mean is great. Here it is that of the parts and of their means.
    \"\"\"
    call_alone = norm.call

    def call(inputs, training=None, mask=None):
        if not training or isinstance(inputs, keras.KerasTensor):
            return call_alone(inputs, training=training, mask=mask)
        context, values = tf.distribute.get_replica_context(), tf.cast(inputs, tf.float32)
        mean, variance = tf.nn.moments(values, list(range(len(values.shape) - 1)))
        count = tf.cast(tf.size(values) // tf.shape(values)[-1], tf.float32)
        place = tf.one_hot(context.replica_id_in_sync_group, context.num_replicas_in_sync)
        own = tf.concat([[count], mean, variance], axis=0)
        # Summed with zeros of the others, the numbers of each replica stand in a row of their own.
        parts = context.all_reduce(tf.distribute.ReduceOp.SUM, place[:, tf.newaxis] * own)
        weights = parts[:, :1] / tf.reduce_sum(parts[:, 0])
        means, variances = tf.split(parts[:, 1:], 2, axis=1)
        mean = tf.reduce_sum(weights * means, axis=0)
        variance = tf.reduce_sum(weights * (variances + (means - mean) ** 2), axis=0)
        for moving, new in ((norm.moving_mean, mean), (norm.moving_variance, variance)):
            moving.assign(moving * norm.momentum + new * (1 - norm.momentum))
        outputs = tf.nn.batch_normalization(
            values, mean, variance, norm.beta, norm.gamma, norm.epsilon
        )
        return tf.cast(outputs, norm.compute_dtype)

    norm.call = call
    return norm
"""
"""As ``trainer/models/synchronized_batch_norm.py`` does it."""


@dataclass(frozen=True, slots=True)
class NetworkSection:
    """Python that makes layers, from ``x`` to ``outputs``.

    Attributes:
        data: Tells how features are scaled.
        across_replicas: Whether there is more than one replica.
        placed: Whether each layer is put on a device of its own.
    """

    data: DataSettings
    across_replicas: bool = False
    placed: bool = False

    @property
    def outputs(self) -> str:
        """How many outputs the model has, as an expression."""
        return "class_count" if self.data.target is Target.CLASSES else "1"

    def scaled(self) -> str:
        """From ``x`` to ``inputs`` and ``hidden``: raw features on a scale that suits a model."""
        return "\n".join(['inputs = keras.Input(x.shape[1:], name="features")', *self._scaling()])

    def layers(self, model: BuildableModel) -> str:
        """From ``hidden`` to ``outputs``."""
        lines = list(
            self._convolutions(model)
            if isinstance(model, CnnModel)
            else [self._through('Flatten(name="flatten")')]
        )
        lines += self._dense(model)
        last = self._through(f'Dense({self.outputs}, name="outputs", {_FLOAT32})')
        return "\n".join([*lines, last.replace("hidden", "outputs", 1)])

    def _through(self, layer: str, before: str = "hidden", around: str = "") -> str:
        around = around or ("placed" if self.placed else "")
        made = f"keras.layers.{layer}"
        return f"hidden = {f'{around}({made})' if around else made}({before})"

    def _scaling(self) -> list[str]:
        scaling = self.data.scaling
        if scaling is Scaling.STANDARDISE:
            standardised = (
                f'Normalization(mean=mean, variance=deviation**2, name="standardise", {_FLOAT32})'
            )
            return ["mean, deviation = statistics(x)", self._through(standardised, "inputs")]
        if scaling is Scaling.NONE:
            return ["hidden = inputs"]
        divided = f'Rescaling(1 / {self.data.greatest}, name="pixels", {_FLOAT32})'
        if scaling is Scaling.DIVIDE:
            return [self._through(divided, "inputs")]
        # Bytes are taken for pixels.
        return ["hidden = inputs", "if x.dtype == np.uint8:", f"    {self._through(divided)}"]

    def _convolutions(self, model: CnnModel) -> Iterator[str]:
        yield "if len(hidden.shape) == 3:"
        channel = self._through('Reshape((*hidden.shape[1:], 1), name="channel")')
        yield f"    {channel}"
        for number, filters in enumerate(model.filters, start=1):
            name = f"convolution_{number}"
            bias = ", use_bias=False" if model.batch_norm else ""
            convolution = f'Conv2D({filters}, 3, padding="same"{bias}, name="{name}")'
            yield self._through(convolution)
            yield from self._normed(model, name)
            yield self._through(f'ReLU(name="{name}_relu")')
            yield self._through(f'MaxPooling2D(2, name="{name}_pool")')
        yield self._through('Flatten(name="flatten")')

    def _dense(self, model: BuildableModel) -> Iterator[str]:
        for number, units in enumerate(model.hidden, start=1):
            name = f"dense_{number}"
            bias = ", use_bias=False" if model.batch_norm else ""
            yield self._through(f'Dense({units}{bias}, name="{name}")')
            yield from self._normed(model, name)
            yield self._through(f'ReLU(name="{name}_relu")')
            if model.dropout:
                yield self._through(f'Dropout({model.dropout}, name="{name}_dropout")')
        if isinstance(model, CnnModel) and model.dropout and not model.hidden:
            yield self._through(f'Dropout({model.dropout}, name="dropout")')

    def _normed(self, model: BuildableModel, name: str) -> Iterator[str]:
        if model.batch_norm:
            norm = f'BatchNormalization(name="{name}_norm")'
            whole = model.batch_norm_synchronized and self.across_replicas
            yield self._through(norm, around="over_replicas") if whole else self._through(norm)
