"""The layers that model settings ask for, one after the other."""

from collections.abc import Callable
from dataclasses import dataclass

import keras

from gpupanel.domain.model import BuildableModel, CnnModel
from gpupanel.trainer.datasets.examples import DataSet, Examples
from gpupanel.trainer.models.fit_check import output_count
from gpupanel.trainer.models.scaling import scaled
from gpupanel.trainer.models.synchronized_batch_norm import SynchronizedBatchNormalization

LayerHook = Callable[[keras.layers.Layer], None]
"""Is shown every layer before it is built: it may decide where that happens."""


def _leave_as_it_is(layer: keras.layers.Layer) -> None:
    del layer


@dataclass(frozen=True, slots=True)
class Network:
    """From raw features to the outputs that a loss is computed from.

    Attributes:
        settings: What to build.
        data: Tells scaling and classes.
        training: The examples that statistics are taken of.
        synchronized: Batch normalisation over all replicas.
        hook: See :data:`LayerHook`.
    """

    settings: BuildableModel
    data: DataSet
    training: Examples
    synchronized: bool = False
    hook: LayerHook = _leave_as_it_is

    def outputs(self, inputs: keras.KerasTensor) -> keras.KerasTensor:
        """Build the layers; the initial weights depend on Keras's seed alone."""
        hidden = scaled(inputs, self.data, self.training, self._through)
        if isinstance(self.settings, CnnModel):
            hidden = self._convolutions(hidden, self.settings)
        else:
            hidden = self._through(keras.layers.Flatten(name="flatten"), hidden)
        hidden = self._dense(hidden)
        outputs = output_count(self.data.target, len(self.data.class_names))
        return self._through(keras.layers.Dense(outputs, name="outputs", dtype="float32"), hidden)

    def _through(self, layer: keras.layers.Layer, hidden: keras.KerasTensor) -> keras.KerasTensor:
        self.hook(layer)
        return layer(hidden)

    def _convolutions(self, hidden: keras.KerasTensor, settings: CnnModel) -> keras.KerasTensor:
        if len(hidden.shape) == 3:
            channel = keras.layers.Reshape((*hidden.shape[1:], 1), name="channel")
            hidden = self._through(channel, hidden)
        for number, filters in enumerate(settings.filters, start=1):
            name = f"convolution_{number}"
            # Batch normalisation subtracts any bias again.
            bias = not settings.batch_norm
            convolution = keras.layers.Conv2D(filters, 3, padding="same", use_bias=bias, name=name)
            hidden = self._normed(self._through(convolution, hidden), name)
            hidden = self._through(keras.layers.ReLU(name=f"{name}_relu"), hidden)
            hidden = self._through(keras.layers.MaxPooling2D(2, name=f"{name}_pool"), hidden)
        return self._through(keras.layers.Flatten(name="flatten"), hidden)

    def _dense(self, hidden: keras.KerasTensor) -> keras.KerasTensor:
        settings = self.settings
        for number, units in enumerate(settings.hidden, start=1):
            name = f"dense_{number}"
            bias = not settings.batch_norm
            hidden = self._through(keras.layers.Dense(units, use_bias=bias, name=name), hidden)
            hidden = self._normed(hidden, name)
            hidden = self._through(keras.layers.ReLU(name=f"{name}_relu"), hidden)
            hidden = self._dropped(hidden, f"{name}_dropout")
        if isinstance(settings, CnnModel) and not settings.hidden:
            hidden = self._dropped(hidden, "dropout")
        return hidden

    def _normed(self, hidden: keras.KerasTensor, name: str) -> keras.KerasTensor:
        if not self.settings.batch_norm:
            return hidden
        kind = (
            SynchronizedBatchNormalization if self.synchronized else keras.layers.BatchNormalization
        )
        return self._through(kind(name=f"{name}_norm"), hidden)

    def _dropped(self, hidden: keras.KerasTensor, name: str) -> keras.KerasTensor:
        if not self.settings.dropout:
            return hidden
        return self._through(keras.layers.Dropout(self.settings.dropout, name=name), hidden)
