"""Mixed precision: arithmetic in 16 bits, weights in 32."""

import keras
import tensorflow as tf

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.training import TrainingSettings

_BFLOAT16_FROM = (8, 0)
"""Compute capability from which NVIDIA GPUs calculate with bfloat16 (Ampere)."""


def set_precision(training: TrainingSettings) -> None:
    """Set Keras's policy for the layers that are built from now on.

    bfloat16 has the range of float32, so gradients need no loss scaling and the loop stays what
    it is. float16 would need it.

    Raises:
        ProblemError: A visible GPU cannot calculate with bfloat16.
    """
    keras.config.set_floatx("float32")
    if not training.mixed_precision:
        keras.config.set_dtype_policy("float32")
        return
    for gpu in tf.config.get_visible_devices("GPU"):
        details = tf.config.experimental.get_device_details(gpu)
        capability = details.get("compute_capability", _BFLOAT16_FROM)
        if capability < _BFLOAT16_FROM:
            raise ProblemError(
                Problem(
                    code="mixed_precision_not_supported",
                    field="training.mixed_precision",
                    message=f"{details.get('device_name', gpu.name)} cannot calculate with "
                    f"bfloat16: it has compute capability {capability[0]}.{capability[1]}, and "
                    "8.0 is needed.",
                    hint="Turn off training.mixed_precision, or use newer GPUs only.",
                )
            )
    keras.config.set_dtype_policy("mixed_bfloat16")
