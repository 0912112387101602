"""TensorFlow and Keras imported as every process does that computes with a model."""

import importlib
import os

from gpupanel.trainer.failures import tensorflow_not_importable
from gpupanel.trainer.memory_shortage import is_out_of_memory
from gpupanel.trainer.quick_import import quick_import


def import_tensorflow() -> None:
    """Import TensorFlow and Keras.

    Raises:
        ProblemError: They cannot be imported.
        Exception: There is not enough memory for them.
    """
    # A keras.json of the user's may name another backend.
    os.environ["KERAS_BACKEND"] = "tensorflow"
    try:
        with quick_import():
            importlib.import_module("tensorflow")
            importlib.import_module("keras")
    except Exception as error:
        if is_out_of_memory(error):
            raise
        # A broken build raises whatever its libraries raise, not only ImportError.
        raise tensorflow_not_importable(error) from error
