"""In which 16-bit floats mixed precision computes on the devices of a run."""

from collections.abc import Iterable
from typing import Final

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.training import HalfPrecision, TrainingSettings

BFLOAT16_FROM: Final = (8, 0)
"""Compute capability from which NVIDIA GPUs calculate with bfloat16 (Ampere)."""
TENSOR_CORES_FROM: Final = (7, 0)
"""Compute capability from which they have tensor cores (Volta), which are fast with float16."""


def half_precision(training: TrainingSettings, gpus: Iterable[PhysicalDevice]) -> HalfPrecision:
    """The 16-bit floats of a training: as chosen, else those that all GPUs calculate with.

    Of a GPU whose compute capability is not known it is not known either: the trainer, which asks
    TensorFlow, refuses it.
    """
    if training.half_precision is not HalfPrecision.AUTO:
        return training.half_precision
    return HalfPrecision.FLOAT16 if below(BFLOAT16_FROM, gpus) else HalfPrecision.BFLOAT16


def below(
    capability: tuple[int, int], gpus: Iterable[PhysicalDevice]
) -> tuple[PhysicalDevice, ...]:
    """Those whose compute capability is known, and less."""
    return tuple(
        gpu
        for gpu in gpus
        if gpu.compute_capability is not None and gpu.compute_capability < capability
    )
