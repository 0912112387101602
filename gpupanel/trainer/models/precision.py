"""In which floats the layers of a model compute."""

import tensorflow as tf

from gpupanel.domain.problem import Fix, Problem, ProblemError
from gpupanel.domain.training import HalfPrecision, TrainingSettings
from gpupanel.trainer.models.keras_settings import set_keras

_BFLOAT16_FROM = (8, 0)
"""Compute capability from which NVIDIA GPUs calculate with bfloat16 (Ampere)."""


def set_precision(half: HalfPrecision | None) -> None:
    """Set Keras for the layers that are built from now on, its dtype policy above all.

    bfloat16 has the range of float32, so gradients need no loss scaling; in float16 they do.

    Args:
        half: The 16-bit floats of mixed precision; ``None``: all is float32.

    Raises:
        ProblemError: A visible GPU cannot calculate with bfloat16.
    """
    if half is None:
        set_keras()
        return
    too_old = _first_below_bfloat16() if half is HalfPrecision.BFLOAT16 else None
    if too_old is not None:
        name, (major, minor) = too_old
        raise ProblemError(
            Problem(
                code="mixed_precision_not_supported",
                field="training.half_precision",
                message=f"{name} cannot calculate with bfloat16: it has compute capability "
                f"{major}.{minor}, and 8.0 is needed.",
                hint="Compute in float16, which all GPUs have.",
                fix=Fix.of(
                    "Compute in float16", "training.half_precision", HalfPrecision.FLOAT16.value
                ),
            )
        )
    set_keras(f"mixed_{half.value}")


def half_precision_here(training: TrainingSettings) -> HalfPrecision | None:
    """The 16-bit floats of a training on the GPUs of this process; ``None``: it takes none."""
    if not training.mixed_precision:
        return None
    if training.half_precision is not HalfPrecision.AUTO:
        return training.half_precision
    is_old = _first_below_bfloat16() is not None
    return HalfPrecision.FLOAT16 if is_old else HalfPrecision.BFLOAT16


def _first_below_bfloat16() -> tuple[str, tuple[int, int]] | None:
    for gpu in tf.config.get_visible_devices("GPU"):
        details = tf.config.experimental.get_device_details(gpu)
        capability = details.get("compute_capability", _BFLOAT16_FROM)
        if capability < _BFLOAT16_FROM:
            return details.get("device_name", gpu.name), capability
    return None
