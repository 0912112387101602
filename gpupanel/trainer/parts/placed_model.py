"""A model on one device, as evaluation and prediction call it."""

import keras
import numpy as np
import numpy.typing as npt
import tensorflow as tf


class PlacedModel:
    """Gives the model's outputs for some examples.

    Attributes:
        shape: What examples are brought into before the model takes them.
        outputs: Numbers that it gives an example.

    Args:
        model: With one input and one output.
        device: A logical device of this process, on which its weights are.
        shape: Of an example.
        dtype: Of what is given, ``uint8`` or ``float32``.
        outputs: Numbers an example.
        scale_and_offset: What the examples are multiplied by, and what is added then.
    """

    def __init__(
        self,
        model: keras.Model,
        device: str,
        shape: tuple[int, ...],
        dtype: npt.DTypeLike,
        outputs: int,
        scale_and_offset: tuple[float, float] = (1.0, 0.0),
    ) -> None:
        self.shape, self.outputs = shape, outputs
        self._model, self._device = model, device
        self._scale, self._offset = scale_and_offset
        signature = [tf.TensorSpec([None, *shape], tf.as_dtype(np.dtype(dtype)))]
        self._function = tf.function(self._forward, input_signature=signature, autograph=False)

    def outputs_for(self, features: npt.NDArray[np.generic]) -> tf.Tensor:
        """The outputs, shape [examples, outputs], float32; they may still be computed.

        Args:
            features: At least one example; several threads may call at the same time.
        """
        with tf.device(self._device):
            tensor = tf.constant(features.reshape(len(features), *self.shape))
        return self._function(tensor)

    def _forward(self, features: tf.Tensor) -> tf.Tensor:
        with tf.device(self._device):
            if (self._scale, self._offset) != (1.0, 0.0):
                features = tf.cast(features, tf.float32) * self._scale + self._offset
            outputs = self._model(tf.cast(features, self._model.inputs[0].dtype), training=False)
            return tf.reshape(tf.cast(outputs, tf.float32), [-1, self.outputs])
