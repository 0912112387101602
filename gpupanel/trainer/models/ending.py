"""What a model ends in, by its configuration: Keras builds it, in a process of its own."""

import contextlib

import keras
import tensorflow as tf

from gpupanel.trainer.parts.model_ending import ending_of


def ending_of_configuration(configuration: object) -> str:
    """What a model ends in that is known by its configuration alone.

    Its weights get no values and GPUs are left alone, so that it takes no memory. For a process of
    its own.

    Args:
        configuration: As a ``.keras`` file holds it, of layers of Keras's own.

    Raises:
        Exception: Whatever Keras raises of what it cannot build.
    """
    with contextlib.suppress(RuntimeError):  # in use already
        tf.config.set_visible_devices([], "GPU")
    with keras.StatelessScope(initialize_variables=False):
        model = keras.saving.deserialize_keras_object(configuration, safe_mode=True)
        return ending_of(model)
