"""Which parts of an image speak for a class: Grad-CAM, on the last layer that still has places.

Of each channel of that layer the mean gradient of the class's output is its weight; what the
channels then sum to, where it is positive, speaks for the class (Selvaraju and others, "Grad-CAM:
Visual Explanations from Deep Networks via Gradient-based Localization", 2017).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from gpupanel.trainer.parts.output_meaning import Floats

_CONVOLUTIONS = (
    keras.layers.Conv2D,
    keras.layers.Conv2DTranspose,
    keras.layers.DepthwiseConv2D,
    keras.layers.SeparableConv2D,
)
_IMAGE_RANK = 4
_LEAST_SIDE = 2


class NoHeatMapError(Exception):
    """There is none; the message is a sentence that says why."""


class HeatMaps:
    """Tells about one example after the other; the model is traced for the first one alone.

    As a graph it takes little longer than the outputs do: of the gradient only the part from the
    output back to that layer is computed.

    Args:
        model: Gives logits or probabilities, shape [1, outputs].
    """

    def __init__(self, model: keras.Model) -> None:
        self._model = model
        self._traced = tf.function(self._summed, autograph=False)
        self._reason = ""

    def of(self, inputs: tf.Tensor, output: int, *, sign: float = 1.0) -> Floats:
        """How much each place of an example speaks for an output.

        Args:
            inputs: The example as the model takes it, shape [1, ...].
            output: Which number.
            sign: -1 where a small number speaks for the class.

        Returns:
            From 0 to 1, the greatest is 1; shape [rows, columns] of the layer's.

        Raises:
            NoHeatMapError: The model has no such layer, or nothing speaks for the output.
        """
        if self._reason:
            raise NoHeatMapError(self._reason)
        try:
            summed = self._traced(inputs, tf.constant(output), tf.constant(sign, tf.float32))
        except NoHeatMapError as error:
            # It is the model's, whatever the example.
            self._reason = str(error)
            raise
        found = np.asarray(summed.numpy(), np.float32)
        most = float(found.max())
        if not np.isfinite(most) or most <= 0.0:
            raise NoHeatMapError("No part of the image speaks for this class more than the others.")
        return found / np.float32(most)

    def _summed(self, inputs: tf.Tensor, output: tf.Tensor, sign: tf.Tensor) -> tf.Tensor:
        with _noted_calls(self._model) as noted:
            outputs = tf.reshape(self._model(inputs, training=False), [-1])
        about = sign * tf.cast(outputs[output], tf.float32)
        # What a layer computed within a loop of its own is of another graph.
        maps = _last_with_places([each for each in noted if each[1].graph is outputs.graph])
        (gradient,) = tf.gradients(about, [maps])
        if gradient is None:
            raise NoHeatMapError("The model's output does not depend on a layer of image places.")
        weights = tf.reduce_mean(tf.cast(gradient, tf.float32), axis=(1, 2), keepdims=True)
        return tf.nn.relu(tf.reduce_sum(weights * tf.cast(maps, tf.float32), axis=-1))[0]


def resized(found: Floats, height: int, width: int) -> Floats:
    """The map in another size, by bilinear interpolation."""
    image = tf.image.resize(found[..., np.newaxis], (height, width), method="bilinear")
    return np.asarray(image.numpy()[..., 0], np.float32)


def _last_with_places(noted: list[tuple[keras.layers.Layer, tf.Tensor]]) -> tf.Tensor:
    """The last output that has rows and columns, from the first convolution on."""
    first = next(
        (at for at, (layer, _) in enumerate(noted) if isinstance(layer, _CONVOLUTIONS)), None
    )
    if first is None:
        raise NoHeatMapError("The model has no convolutional layer.")
    for _, output in reversed(noted[first:]):
        if output.shape.rank == _IMAGE_RANK and min(output.shape[1:3]) >= _LEAST_SIDE:
            return output
    raise NoHeatMapError("The convolutional layers of the model leave no rows and columns.")


@contextmanager
def _noted_calls(model: keras.Model) -> Iterator[list[tuple[keras.layers.Layer, tf.Tensor]]]:
    """What each layer gives, in the order in which they are called; also of models within."""
    noted: list[tuple[keras.layers.Layer, tf.Tensor]] = []
    layers = list(_layers(model))
    for layer in layers:
        layer.call = _noting(layer, noted)
    try:
        yield noted
    finally:
        for layer in layers:
            del layer.call


def _noting(layer: keras.layers.Layer, noted: list[tuple[keras.layers.Layer, tf.Tensor]]) -> Any:  # noqa: ANN401 - as Keras calls it
    call = layer.call

    @wraps(call)
    def noting(*given: Any, **named: Any) -> Any:  # noqa: ANN401
        output = call(*given, **named)
        if isinstance(output, tf.Tensor):
            noted.append((layer, output))
        return output

    return noting


def _layers(model: keras.Model) -> Iterator[keras.layers.Layer]:
    """Those that are no models themselves, each once."""
    seen: set[int] = set()
    for layer in model.layers:
        within = _layers(layer) if isinstance(layer, keras.Model) else (layer,)
        for each in within:
            if id(each) not in seen:
                seen.add(id(each))
                yield each
