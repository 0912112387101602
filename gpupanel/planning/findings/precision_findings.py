"""Mixed precision, where the GPUs make it sure to help."""

from collections.abc import Iterator
from statistics import fmean
from typing import Final

from gpupanel.domain.finding import Finding
from gpupanel.domain.problem import Fix
from gpupanel.domain.time_spent import TimeCategory
from gpupanel.planning.findings.context import FindingContext, hint
from gpupanel.planning.half_precision import TENSOR_CORES_FROM

_BUSY_PERCENT: Final = 90.0
_COMPUTING: Final = 0.8
"""Fraction of the time spent computing from which a training is compute-bound."""
_LEAST_SHARE: Final = 8
"""Examples of a replica: Tensor Cores compute in tiles of eight (NVIDIA, "Matrix Multiplication
Background User's Guide"); fewer leave them empty."""
_LEAST_PARAMETERS: Final = 1_000_000
"""Below, a network computes too little for what its matrices cost to make a difference."""


def mixed_precision_helps(context: FindingContext) -> Iterator[Finding]:
    """GPUs that are busy with float32 and have tensor cores for 16-bit floats.

    From compute capability 8.0 on they do twice as much in bfloat16 as in TensorFloat-32, and move
    half as much memory (NVIDIA, "A100 Tensor Core GPU Architecture", table 1); those of 7.0 on have
    tensor cores for float16, and none for float32 ("Tesla V100 GPU Architecture", table 1).
    """
    training = context.profile.training
    gpus = tuple(context.gpus)
    if training.mixed_precision or not gpus or not context.has_settled:
        return
    if context.parameters is None or context.parameters < _LEAST_PARAMETERS:
        return
    share = min((share for share in context.shares if share > 0), default=0)
    is_computing = context.spent.fractions().get(TimeCategory.COMPUTING, 0.0) >= _COMPUTING
    if not is_computing or share // context.plan.accumulation_steps < _LEAST_SHARE:
        return
    for gpu in gpus:
        device, readings = context.device(gpu.key), context.working(gpu.key)
        known = [each.gpu_utilization_percent or 0.0 for _, each in readings]
        capability = None if device is None else device.compute_capability
        if capability is None or capability < TENSOR_CORES_FROM:
            return
        if not known or fmean(known) < _BUSY_PERCENT:
            return
    names = " and ".join(dict.fromkeys(gpu.name for gpu in gpus))
    yield Finding(
        problem=hint(
            "mixed_precision_helps",
            f"The training computes in float32 for nearly all of its time; {names} computes at "
            "least twice as fast in 16-bit floats.",
            "Switch mixed precision on: weights stay float32.",
            (context.fix(Fix.of("Use mixed precision", "training.mixed_precision", value=True)),),
            "training.mixed_precision",
        ),
        since_s=context.reports[0].begun_s,
    )
