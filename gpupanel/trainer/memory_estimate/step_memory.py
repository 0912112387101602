"""What a training step of a model holds in memory, without carrying it out."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import keras
import numpy as np
import tensorflow as tf

from gpupanel.domain.step_memory import LayerMemory, StepMemory
from gpupanel.trainer.datasets.examples import Examples
from gpupanel.trainer.memory_estimate.live_buffers import (
    HOLDS_NOTHING,
    Size,
    needed_operations,
    peaks,
    peaks_by_place,
)
from gpupanel.trainer.memory_estimate.operations import is_launched, operations_of
from gpupanel.trainer.models.objectives import Objective
from gpupanel.trainer.parts.recompute import Segment
from gpupanel.trainer.steps.batch_part import BatchPart
from gpupanel.trainer.steps.contribution import ContributionOf, State, Variables
from gpupanel.trainer.steps.data_on_gpu import kept_bytes

_FEW, _MANY = 1024, 2048
"""Examples that a step is traced with: every size grows in a straight line. Fewer would make other
graphs, as TensorFlow writes up to 1,000 equal numbers as a constant."""

_BACKWARD = "gradients"
"""How TensorFlow names operations of the backward pass, and what only that needs."""


def step_memory(
    model: keras.Model,
    objective: Objective,
    examples: Examples,
    segments: Sequence[Segment] = (),
    layers: Sequence[tuple[int, keras.layers.Layer]] = (),
) -> StepMemory | None:
    """What a step holds on one replica; ``None`` where the number of examples changes its graph.

    Args:
        model: The trained one; its variables need hold nothing.
        objective: What is made small.
        examples: For the shapes of features and labels.
        segments: Of the model, whose activations are computed again; none: they are kept.
        layers: In the model's order, with the number of the device that it alone is called on;
            none: what a single layer holds is not asked for.
    """
    # A traced function holds the tensors of its graph no longer than it is held.
    (few, operations), (_, more_operations) = (
        _traced(model, objective, examples, count, segments) for count in (_FEW, _MANY)
    )
    sizes = _sizes(operations, more_operations)
    if sizes is None:
        return None
    variables = Variables(model)
    shapes = (examples.feature_shape, examples.labels.shape[1:])
    types = (examples.features.dtype, examples.labels.dtype)
    return StepMemory(
        peaks=peaks(operations, few.outputs, sizes),
        example_bytes=sum(
            math.prod(shape) * np.dtype(dtype).itemsize
            for shape, dtype in zip(shapes, types, strict=True)
        ),
        feature_bytes=examples.example_bytes,
        kept_bytes=kept_bytes(examples),
        weight_bytes=_bytes_of((*variables.weights, *variables.fixed)),
        trainable_bytes=_bytes_of(variables.weights),
        largest_weight_bytes=_largest(variables.weights),
        operations=sum(_operations_each(operations, more_operations)),
        launches=sum(map(is_launched, operations)),
        layers=tuple(_layers(layers, segments, operations, more_operations, few.outputs, sizes)),
    )


def _layers(
    layers: Sequence[tuple[int, keras.layers.Layer]],
    segments: Sequence[Segment],
    operations: Sequence[tf.Operation],
    more_operations: Sequence[tf.Operation],
    outputs: Sequence[tf.Tensor],
    sizes: dict[tuple[int, int], Size],
) -> Iterator[LayerMemory]:
    """What each layer holds, by the device that its operations are on."""
    # What no layer computes is on the first device when it is carried out.
    places = [tf.DeviceSpec.from_string(each.device).device_index or 0 for each in operations]
    backward = [each.name.startswith(_BACKWARD) for each in operations]
    found = peaks_by_place(operations, outputs, sizes, places, backward)
    computed, launched = Counter[int](), Counter[int]()
    for place, each in zip(places, _operations_each(operations, more_operations), strict=True):
        computed[place] += each
    for place, operation in zip(places, operations, strict=True):
        launched[place] += is_launched(operation)
    blocks = {
        id(step.operation): number
        for number, segment in enumerate(segments)
        for step in segment.steps
    }
    for number, layer in layers:
        peaks_there = found.get(number, HOLDS_NOTHING)
        learned = layer.trainable_weights
        yield LayerMemory(
            name=layer.name,
            weight_bytes=_bytes_of(layer.weights),
            trainable_bytes=_bytes_of(learned),
            largest_weight_bytes=_largest(learned),
            kept=peaks_there.kept.as_peak,
            again=peaks_there.again.as_peak,
            block=blocks.get(id(layer), len(segments) + number),
            most=peaks_there.most,
            operations=computed[number],
            launches=launched[number],
            outputs=math.prod(layer.output.shape[1:]),
        )


def _operations_each(few: Sequence[tf.Operation], many: Sequence[tf.Operation]) -> list[int]:
    """What each operation computes for one example more."""
    return [
        max(0, operations_of(more) - operations_of(less)) // (_MANY - _FEW)
        for less, more in zip(few, many, strict=True)
    ]


def _traced(
    model: keras.Model,
    objective: Objective,
    examples: Examples,
    count: int,
    segments: Sequence[Segment],
) -> tuple[tf.types.experimental.ConcreteFunction, list[tf.Operation]]:
    variables = Variables(model)
    contribution = ContributionOf(
        model, variables, objective, seed=0, jit_compile=False, segments=segments
    )
    state = State(_specs(variables.weights), _specs(variables.fixed))
    part = BatchPart(*(tf.TensorSpec((), each) for each in (tf.float32, tf.int32, tf.int64)))
    features, labels = examples.features, examples.labels
    traced = tf.function(contribution, autograph=False).get_concrete_function(
        state,
        tf.TensorSpec((count, *examples.feature_shape), features.dtype),
        tf.TensorSpec((count, *labels.shape[1:]), labels.dtype),
        part,
    )
    return traced, needed_operations(traced.outputs)


def _specs(variables: Sequence[keras.Variable]) -> list[tf.TensorSpec]:
    return [tf.TensorSpec(each.shape, each.dtype) for each in variables]


def _sizes(
    few: Sequence[tf.Operation], many: Sequence[tf.Operation]
) -> dict[tuple[int, int], Size] | None:
    """Of each tensor, by the place of its operation and its own; ``None``: the graphs differ."""
    if [each.type for each in few] != [each.type for each in many]:
        return None
    sizes = {}
    for place, (one, other) in enumerate(zip(few, many, strict=True)):
        for number, (less, more) in enumerate(zip(one.outputs, other.outputs, strict=True)):
            some = _tensor_bytes(less)
            each = max(0, _tensor_bytes(more) - some) // (_MANY - _FEW)
            sizes[place, number] = Size(max(0, some - _FEW * each), each)
    return sizes


def _tensor_bytes(tensor: tf.Tensor) -> int:
    # What has no size before it is there is the shape of something, or as small.
    count = tensor.shape.num_elements()
    return 0 if count is None else count * tensor.dtype.size


def _largest(variables: Sequence[keras.Variable]) -> int:
    return max((_bytes_of([each]) for each in variables), default=0)


def _bytes_of(variables: Sequence[keras.Variable]) -> int:
    return sum(math.prod(each.shape) * tf.as_dtype(each.dtype).size for each in variables)
