"""By which operations of TensorFlow's it is found out what a model ends in.

A run and an exported script go by the same ones (:mod:`gpupanel.trainer.models.ending`).
"""

from typing import Final

PASSING: Final = frozenset(
    (
        *("Cast", "EnsureShape", "ExpandDims", "Identity", "PreventGradient", "Reshape"),
        *("Squeeze", "StopGradient"),
    )
)
"""Operations that give the numbers that they are given, in the same order."""
WEIGHTED: Final = frozenset(
    (
        *("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Conv2D", "DepthwiseConv2dNative"),
        *("Einsum", "FusedBatchNormV3", "Log", "Log1p", "LogSoftmax", "MatMul"),
    )
)
"""Operations that give numbers without bounds: logits, or values."""
COMBINING: Final = frozenset(
    (
        *("Add", "AddN", "AddV2", "BiasAdd", "ConcatV2", "Max", "Maximum", "Mean", "Minimum"),
        *("Mul", "Neg", "RealDiv", "Sub"),
    )
)
"""Operations that give such numbers where they are given no others."""
MIXING: Final = frozenset({"BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "MatMul"})
"""Operations whose result may be probabilities where all that they are given are: a mixture."""
JOINING: Final = frozenset({"ConcatV2", "Pack"})
"""Operations that give the numbers that several others give."""
UNBOUNDED: Final = frozenset({"linear", "elu", "leakyrelu", "relu", "selu", "softplus"})
"""Endings that give numbers without bounds."""
SMALLEST_PROBABILITY: Final = 1e-37
"""Near the smallest number that float32 holds in full precision."""
LARGEST_PROBABILITY: Final = 1.0 - 2.0**-24
"""The largest number below 1 that float32 holds."""
MOST_STEPS: Final = 200
"""As many layers or operations are gone back from a model's output."""
