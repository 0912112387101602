"""Which buffers of a graph are in memory at a time, as TensorFlow counts references.

A buffer is there from the operation that makes it to the last one that reads it. Operations are
taken in the order in which they were made: forward, then backward. TensorFlow carries out what is
ready, two or more at a time, so that this is an estimate: for ten networks with 32 and 64 examples
it is 0.84 to 1.12 of the peak that TensorFlow reports on a CPU, 1.00 in the median; with 8, where
what is quick is carried out at once, up to 2.1 (``tests/benchmarks/bench_memory_estimate.py``).
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import tensorflow as tf

from gpupanel.domain.step_memory import MemoryPeak

_SAME_BUFFER = frozenset(
    ("ExpandDims", "Identity", "IdentityN", "PreventGradient", "Reshape", "Squeeze", "StopGradient")
)
"""What these give is what they were given."""
_IN_PLACE = frozenset(
    "Abs Add AddN AddV2 BiasAdd Cast Div DivNoNan Elu EluGrad Erf Exp Floor LeakyRelu "  # noqa: SIM905
    "LeakyReluGrad Log Log1p LogSoftmax Maximum Minimum Mul Neg Pow RealDiv Reciprocal Relu Relu6 "
    "Relu6Grad ReluGrad Rsqrt RsqrtGrad Select SelectV2 Selu SeluGrad Sigmoid SigmoidGrad Sign "
    "Softmax Softplus SoftplusGrad Sqrt SqrtGrad Square SquaredDifference Sub Tanh "
    "TanhGrad".split()
)
"""These write into a buffer that they were given, where nothing else reads it (their kernels call
``forward_input_or_allocate_output``)."""
_TRANSPOSING = frozenset(("BatchMatMulV2", "Einsum"))
"""These hold other arrangements of what they were given, and of what they give."""
_MAX_POOL_GRAD = "MaxPoolGrad"
"""It computes the pooling again, and where each greatest value was, in 64 bits."""


class Size(NamedTuple):
    """Bytes of a tensor: ``fixed + each * examples``."""

    fixed: int
    each: int

    def plus(self, more: "Size") -> "Size":
        """Both together."""
        return Size(self.fixed + more.fixed, self.each + more.each)

    def minus(self, less: "Size") -> "Size":
        """The difference of two sizes."""
        return Size(self.fixed - less.fixed, self.each - less.each)

    def times(self, count: int) -> "Size":
        """The size multiplied by a count."""
        return Size(self.fixed * count, self.each * count)

    @property
    def as_peak(self) -> MemoryPeak:
        """The same for who knows no graphs; nothing less than nothing."""
        return MemoryPeak(fixed_bytes=max(0, self.fixed), bytes_per_example=max(0, self.each))


_NOTHING = Size(0, 0)


def needed_operations(outputs: Sequence[tf.Tensor]) -> list[tf.Operation]:
    """What has to be carried out for these tensors, in the order in which it was made."""
    needed: set[tf.Operation] = set()
    waiting = [output.op for output in outputs]
    while waiting:
        operation = waiting.pop()
        if operation not in needed:
            needed.add(operation)
            waiting += [each.op for each in operation.inputs]
            waiting += operation.control_inputs
    return [each for each in outputs[0].graph.get_operations() if each in needed]


def peaks(
    operations: Sequence[tf.Operation],
    outputs: Sequence[tf.Tensor],
    sizes: Mapping[tuple[int, int], Size],
) -> tuple[MemoryPeak, ...]:
    """The moments of which one is the greatest, for some number of examples from 1 on.

    Args:
        operations: In their order; placeholders and constants hold nothing that is counted.
        outputs: What is still there at the end.
        sizes: Of each tensor: by the place of its operation, and its own among what that gives.
    """
    buffers = _Buffers(operations, outputs, sizes)
    return _greatest({buffers.carry_out(each) for each in operations})


class PlacePeaks(NamedTuple):
    """What is held on one of several places.

    Attributes:
        kept: Before the first operation of the backward pass anywhere.
        again: Before the first one of it there.
        most: The moments of which one is the greatest.
    """

    kept: Size
    again: Size
    most: tuple[MemoryPeak, ...]


HOLDS_NOTHING = PlacePeaks(_NOTHING, _NOTHING, (_NOTHING.as_peak,))


def peaks_by_place(
    operations: Sequence[tf.Operation],
    outputs: Sequence[tf.Tensor],
    sizes: Mapping[tuple[int, int], Size],
    places: Sequence[int],
    backward: Sequence[bool],
) -> dict[int, PlacePeaks]:
    """What is held on each place that an operation is on.

    Args:
        operations: As in :func:`peaks`.
        outputs: As there.
        sizes: As there.
        places: Of each operation: what it makes is there.
        backward: Of each operation, whether it belongs to the backward pass.
    """
    buffers = _Buffers(operations, outputs, sizes)
    moments: dict[int, set[Size]] = {place: set() for place in places}
    kept: dict[int, Size] = {}
    again: dict[int, Size] = {}
    for operation, place, is_backward in zip(operations, places, backward, strict=True):
        if is_backward:
            kept = kept or buffers.held.copy()
            again.setdefault(place, buffers.held[place])
        moments[place].add(buffers.carry_out(operation, place))
    return {
        place: PlacePeaks(kept.get(place, _NOTHING), again.get(place, _NOTHING), _greatest(each))
        for place, each in moments.items()
    }


class _Buffers:
    """Counts references to buffers while operations are carried out one after the other.

    Attributes:
        held: By place, after the operations up to now.
    """

    def __init__(
        self,
        operations: Sequence[tf.Operation],
        outputs: Sequence[tf.Tensor],
        sizes: Mapping[tuple[int, int], Size],
    ) -> None:
        self._size = {
            tensor.ref(): sizes[place, number]
            for place, operation in enumerate(operations)
            for number, tensor in enumerate(operation.outputs)
        }
        self._reads = Counter(
            tensor.ref()
            for tensors in (*(each.inputs for each in operations), outputs)
            for tensor in tensors
        )
        # By tensor: the number of its buffer; None: it is not counted.
        self._buffer: dict[object, int | None] = {}
        self._references: list[int] = []
        self._sizes: list[Size] = []
        self._place_of: list[int] = []
        self.held: defaultdict[int, Size] = defaultdict(lambda: _NOTHING)

    def carry_out(self, operation: tf.Operation, place: int = 0) -> Size:
        """Go on to the next operation: what is held in its place while it is carried out."""
        made = [self._made(operation, each, place) for each in operation.outputs]
        held = self.held[place].plus(self._within(operation))
        self._drop([self._buffer[each.ref()] for each in operation.inputs])
        for buffer in dict.fromkeys(made):
            if buffer is not None and self._references[buffer] == 0:
                self._free(buffer)  # nobody reads it
        return held

    def _made(self, operation: tf.Operation, output: tf.Tensor, place: int) -> int | None:
        """The buffer of what an operation gives, a new one where it makes one."""
        buffer = None
        reads = self._reads[output.ref()]
        if operation.type in _SAME_BUFFER and operation.inputs:
            given = operation.inputs[min(output.value_index, len(operation.inputs) - 1)]
            buffer = self._buffer[given.ref()]
        elif operation.type not in ("Const", "Placeholder"):
            buffer = self._reused(operation, self._size[output.ref()])
            if buffer is None:
                buffer = len(self._sizes)
                self._sizes.append(self._size[output.ref()])
                self._references.append(0)
                self._place_of.append(place)
                self.held[place] = self.held[place].plus(self._sizes[buffer])
        if buffer is not None:
            self._references[buffer] += reads
        self._buffer[output.ref()] = buffer
        return buffer

    def _reused(self, operation: tf.Operation, size: Size) -> int | None:
        if operation.type not in _IN_PLACE:
            return None
        for given in operation.inputs:
            buffer = self._buffer[given.ref()]
            if buffer is None or self._references[buffer] > 1:
                continue
            if self._sizes[buffer] == size:
                return buffer
        return None

    def _within(self, operation: tf.Operation) -> Size:
        """What an operation holds for itself."""
        if operation.type == _MAX_POOL_GRAD:
            return self._size[operation.inputs[1].ref()].times(3)
        held = Size(0, 0)
        if operation.type in _TRANSPOSING:
            for tensor in (*operation.inputs, *operation.outputs):
                held = held.plus(self._size[tensor.ref()])
        return held

    def _drop(self, buffers: Sequence[int | None]) -> None:
        for buffer in buffers:
            if buffer is not None:
                self._references[buffer] -= 1
                if self._references[buffer] == 0:
                    self._free(buffer)

    def _free(self, buffer: int) -> None:
        place = self._place_of[buffer]
        self.held[place] = self.held[place].minus(self._sizes[buffer])


def _greatest(moments: set[Size]) -> tuple[MemoryPeak, ...]:
    """The upper envelope of these lines, by how much they grow with each example."""
    steepest: dict[int, int] = {}
    for fixed, each in moments:
        steepest[each] = max(steepest.get(each, 0), fixed)
    envelope: list[Size] = []
    for each, fixed in sorted(steepest.items()):
        line = Size(max(0, fixed), each)
        while envelope and _overtakes(envelope, line):
            envelope.pop()
        envelope.append(line)
    return tuple(each.as_peak for each in envelope)


def _overtakes(envelope: Sequence[Size], steeper: Size) -> bool:
    """Whether the last line is nowhere above the next and the one before, from 1 example on."""
    last = envelope[-1]
    if steeper.fixed + steeper.each >= last.fixed + last.each:
        return True
    if len(envelope) == 1:
        return False
    before = envelope[-2]
    # Where the steeper one meets the one before, the last one is not above them.
    return (before.fixed - steeper.fixed) * (last.each - before.each) <= (
        before.fixed - last.fixed
    ) * (steeper.each - before.each)
