"""How much an operation of a graph computes, by the shapes of what it takes and gives."""

from collections.abc import Callable
from math import prod
from typing import Final

import tensorflow as tf

_WRITTEN: Final = 50
"""A number that is written takes as long as so many multiplications: most operations wait for
memory, of a GPU (some 10 TFLOP/s beside 0.5 TB/s) as of a CPU."""

_FREE: Final = frozenset(
    ("Const", "Identity", "NoOp", "Placeholder", "Reshape", "Shape", "Squeeze")
)


def is_launched(operation: tf.Operation) -> bool:
    """Whether it takes a moment of a device, and is not only written down."""
    return operation.type not in _FREE


def operations_of(operation: tf.Operation) -> int:
    """Multiplications and additions; what only moves numbers counts by how many it writes."""
    written = sum(each.shape.num_elements() or 0 for each in operation.outputs)
    multiplied = _MULTIPLYING.get(operation.type)
    return _WRITTEN * written + (0 if multiplied is None else 2 * multiplied(operation))


def _elements(tensor: tf.Tensor) -> int:
    return tensor.shape.num_elements() or 0


def _sides(tensor: tf.Tensor, count: int) -> int:
    """The product of the first sides; those that are not known count as 1."""
    return prod(side or 1 for side in tensor.shape[:count])


def _of_product(operation: tf.Operation) -> int:
    """Of two matrices, or of many pairs: each number given is the sum over the inner side."""
    first = operation.inputs[0].shape
    turned = "transpose_a" if operation.type == "MatMul" else "adj_x"
    inner = first[-2] if operation.get_attr(turned) else first[-1]
    return _elements(operation.outputs[0]) * (inner or 1)


def _of_einsum(operation: tf.Operation) -> int:
    """Each number given is a sum over the labels that it has not."""
    given, _, kept = operation.get_attr("equation").decode().partition("->")
    sides: dict[str, int] = {}
    for labels, tensor in zip(given.split(","), operation.inputs, strict=True):
        # From the end, where an ellipsis stands before them.
        for label, side in zip(reversed(labels), reversed(tensor.shape), strict=False):
            if label == ".":
                break
            sides[label] = side or 1
    summed = prod(side for label, side in sides.items() if label not in kept)
    return _elements(operation.outputs[0]) * summed


_MULTIPLYING: Final[dict[str, Callable[[tf.Operation], int]]] = {
    "MatMul": _of_product,
    "BatchMatMulV2": _of_product,
    "Einsum": _of_einsum,
    "Conv2D": lambda each: _elements(each.outputs[0]) * _sides(each.inputs[1], 3),
    "Conv2DBackpropInput": lambda each: _elements(each.inputs[2]) * _sides(each.inputs[1], 3),
    "Conv2DBackpropFilter": lambda each: _elements(each.inputs[2]) * _sides(each.outputs[0], 3),
    "DepthwiseConv2dNative": lambda each: _elements(each.outputs[0]) * _sides(each.inputs[1], 2),
    "DepthwiseConv2dNativeBackpropInput": lambda each: (
        _elements(each.inputs[2]) * _sides(each.inputs[1], 2)
    ),
    "DepthwiseConv2dNativeBackpropFilter": lambda each: (
        _elements(each.inputs[2]) * _sides(each.outputs[0], 2)
    ),
}
