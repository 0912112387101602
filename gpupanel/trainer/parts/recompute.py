"""Activations that are computed again where a gradient needs them, so that few are held at once.

A model is divided into segments between tensors of its graph through which everything passes. Of a
segment only what goes in is kept; its activations are computed once more, from the last segment to
the first, and each is let go when its gradients are there (Chen et al. 2016, arXiv:1604.06174).

``tf.recompute_grad`` takes gradients with a tape, which puts them on another device than their
operations, and does not know what normalises or draws. Here each segment draws the same numbers
again, and a batch normalisation over several replicas takes the statistics that it had.
"""

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

import keras
import tensorflow as tf

from gpupanel.trainer.parts.batch_norm import MeasuredCalls, measured_again
from gpupanel.trainer.parts.random_numbers import DRAWN_FOR

_MOST_WIDTHS = 200

Key: TypeAlias = tuple[int, int]
"""Of a tensor of a model: in which call of a model within the model, and its ``id``."""


class Step(NamedTuple):
    """One call of a layer.

    Attributes:
        operation: What is called.
        node: How: which tensors go where among its arguments.
        given: Where the node's inputs are found.
        found: Where its outputs are put.
    """

    operation: Any
    node: Any
    given: list[Key]
    found: list[Key]


class Segment(NamedTuple):
    """Steps between two tensors through which everything passes.

    Attributes:
        given: What goes in.
        steps: In an order in which they can be done.
        found: What comes out.
    """

    given: Key
    steps: list[Step]
    found: Key


def steps_of(model: keras.Model) -> tuple[list[Step], Key, Key]:
    """Every call of a layer, models within the model included; then where its input and output are.

    Raises:
        ValueError: It, or a model within it, is no functional one with one input and one output.
    """
    if not is_graph(model):
        raise ValueError("the model is no functional one")
    if len(model.inputs) != 1 or len(model.outputs) != 1:
        raise ValueError("the model has several inputs or outputs")
    calls: list[object] = []
    renamed: dict[Key, Key] = {}
    steps: list[Step] = []
    _add_steps(model, calls, renamed, steps)
    first, last = ((0, id(each)) for each in (model.inputs[0], model.outputs[0]))
    return steps, _place(first, renamed), _place(last, renamed)


def is_graph(layer: object) -> bool:
    """Whether what a layer does is the graph of its own layers, and nothing beside."""
    if isinstance(layer, keras.Sequential):
        return type(layer) is keras.Sequential and layer.built
    # The class of keras.Model(inputs, outputs); one that somebody derived may do anything.
    return type(layer).__name__ == "Functional" and type(layer).__module__.startswith("keras.")


def _add_steps(
    model: keras.Model, calls: list[object], renamed: dict[Key, Key], steps: list[Step]
) -> int:
    """Add those of one call of a model; gives the number of the call."""
    graph = model._functional if isinstance(model, keras.Sequential) else model  # noqa: SLF001
    number = len(calls)
    calls.append(graph)
    nodes = graph._nodes_by_depth  # noqa: SLF001 - Keras has no other way to the graph
    for depth in sorted(nodes, reverse=True):
        for node in nodes[depth]:
            if node.operation is None or node.is_input:
                continue
            given = [_place((number, id(each)), renamed) for each in node.input_tensors]
            found = [(number, id(each)) for each in node.outputs]
            inner = node.operation
            takes_one = is_graph(inner) and len(inner.inputs) == len(inner.outputs) == 1
            if not takes_one or len(given) != 1:
                if isinstance(inner, keras.Model):
                    raise ValueError(f"what {inner.name} does is no graph of layers that is known")
                steps.append(Step(inner, node, given, found))
                continue
            within = inner._functional if isinstance(inner, keras.Sequential) else inner  # noqa: SLF001
            renamed[len(calls), id(within.inputs[0])] = given[0]
            call = _add_steps(inner, calls, renamed, steps)
            renamed[found[0]] = _place((call, id(within.outputs[0])), renamed)
    return number


def _place(key: Key, renamed: Mapping[Key, Key]) -> Key:
    while key in renamed:
        key = renamed[key]
    return key


def segments_of(model: keras.Model, after: Sequence[str] | None = None) -> list[Segment]:
    """The segments that hold least at a time.

    Args:
        model: A functional one, with one input and one output.
        after: Names of layers after which one ends; ``None``: where it is best.

    Returns:
        From the first to the last; one alone where there is no place to divide.

    Raises:
        ValueError: See :func:`steps_of`; or nothing passes through after a named layer alone.
    """
    steps, given, found = steps_of(model)
    sizes = {given: _values_of_example(model.inputs[0])}
    for step in steps:
        for key, tensor in zip(step.found, step.node.outputs, strict=True):
            sizes[key] = _values_of_example(tensor)
    crossings = list(_crossings(steps, given, found))
    if after is None:
        ends = _best_ends(steps, crossings, sizes)
    else:
        ends = _ends_after(after, steps, {place for place, _ in crossings})
        ends = [*ends, len(steps) - 1] if len(steps) - 1 not in ends else ends
    passing = dict(crossings)
    segments, begin = [], 0
    for end in ends:
        segments.append(Segment(given, steps[begin : end + 1], passing[end]))
        begin, given = end + 1, passing[end]
    return segments


def _ends_after(after: Sequence[str], steps: Sequence[Step], places: Container[int]) -> list[int]:
    names = [step.operation.name for step in steps]
    possible = ", ".join(name for place, name in enumerate(names) if place in places)
    unknown = [name for name in after if name not in names]
    if unknown:
        raise ValueError(f"it has no layer {' and no '.join(unknown)}; it divides after {possible}")
    ends = [place for place, name in enumerate(names) if name in after]
    others = [names[place] for place in ends if place not in places]
    if others:
        wrong = ", ".join(others)
        raise ValueError(
            f"more than what {wrong} gives is needed later; it divides after {possible}"
        )
    return ends


def _values_of_example(tensor: keras.KerasTensor) -> int:
    """Of one example, in so many values."""
    return math.prod(size or 1 for size in tensor.shape[1:])


def _crossings(steps: Sequence[Step], given: Key, found: Key) -> Iterator[tuple[int, Key]]:
    """After which steps one tensor is needed later, and nothing else; the last one among them."""
    last_use = {found: len(steps)}
    for place, step in enumerate(steps):
        for key in step.given:
            last_use[key] = max(last_use.get(key, -1), place)
    alive = {given}
    for place, step in enumerate(steps):
        alive.update(key for key in step.found if key in last_use)
        alive = {key for key in alive if last_use[key] > place}
        if len(alive) == 1:
            (only,) = alive
            yield place, only


def _best_ends(
    steps: Sequence[Step], crossings: Sequence[tuple[int, Key]], sizes: Mapping[Key, int]
) -> list[int]:
    """After which steps segments end, so that what is held at most is least.

    That is what goes into each segment, and the activations of the largest one.
    """
    before, held = [0], 0
    for step in steps:
        held += sum(sizes[key] for key in step.found)
        before.append(held)
    places = [-1, *(place for place, _ in crossings)]
    kept = [0, *(sizes[key] for _, key in crossings)]
    best: tuple[float, list[int]] = (math.inf, [])
    # For each size that the largest segment may have: the fewest numbers that are kept.
    widths = sorted({before[two + 1] - before[one + 1] for one, two in _pairs(places)})
    # Of very deep models some of these: each costs as much as there are places.
    for width in widths[:: -(-len(widths) // _MOST_WIDTHS)]:
        least: list[tuple[float, int]] = [(0.0, -1)]
        for at in range(1, len(places)):
            options: list[tuple[float, int]] = []
            for one in range(at - 1, -1, -1):
                if before[places[at] + 1] - before[places[one] + 1] > width:
                    break
                options.append((least[one][0] + kept[one], one))
            least.append(min(options, default=(math.inf, -1)))
        if least[-1][0] + width < best[0]:
            chain, at = [], len(places) - 1
            while at > 0:
                chain.append(places[at])
                at = least[at][1]
            best = least[-1][0] + width, chain[::-1]
    return best[1]


def _pairs(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    for at, one in enumerate(places):
        for two in places[at + 1 :]:
            yield one, two


def call_segment(segment: Segment, given: tf.Tensor) -> tf.Tensor:
    """What a segment makes of its input, in training; as the model would."""
    values = {segment.given: given}
    for step in segment.steps:
        held = {
            id(tensor): values[key]
            for tensor, key in zip(step.node.input_tensors, step.given, strict=True)
        }
        arguments, named = step.node.arguments.fill_in(held)
        if "training" in getattr(step.operation, "_call_context_args", {}):
            named["training"] = True
        outputs = step.operation(*arguments, **named)
        values.update(zip(step.found, keras.tree.flatten(outputs), strict=True))
    return values[segment.found]


class Passed(NamedTuple):
    """A segment as it was passed.

    Attributes:
        given: What went in.
        found: What came out.
        draws: How often numbers were drawn before.
        exchanged: What replicas gave each other in it.
    """

    given: tf.Tensor
    found: tf.Tensor
    draws: int
    exchanged: Sequence[tf.Tensor]


def pass_segments(
    segments: Sequence[Segment], features: tf.Tensor, calls: MeasuredCalls
) -> list[Passed]:
    """Do all of them in training; the last one has the outputs of the model.

    Args:
        segments: Of the model, from the first to the last.
        features: As the model takes them.
        calls: Where its batch normalisations measure.
    """
    passed: list[Passed] = []
    given = features
    for segment in segments:
        part, begin = DRAWN_FOR.get(), len(calls.exchanged)
        draws = 0 if part is None else part.draws
        found = call_segment(segment, given)
        passed.append(Passed(given, found, draws, calls.exchanged[begin:]))
        given = found
    return passed


def gradients_of_segments(
    segments: Sequence[Segment],
    passed: Sequence[Passed],
    of_outputs: tf.Tensor,
    weights: Sequence[tf.Tensor],
    *,
    is_compiled: bool,
) -> list[tf.Tensor]:
    """The gradient of each weight; called in the same scope as :func:`pass_segments`.

    Args:
        segments: That were passed.
        passed: How.
        of_outputs: The gradient of the outputs.
        weights: As they were read for it.
        is_compiled: By XLA.
    """
    gradients: list[tf.Tensor | None] = [None] * len(weights)
    upstream: tf.Tensor | None = of_outputs
    last = len(passed) - 1
    for place, one in reversed(list(enumerate(passed))):
        # The activations of the last segment are still there.
        if place != last:
            one = _passed_again(segments[place], one, upstream, is_compiled=is_compiled)
        sources = [*weights, one.given] if place else list(weights)
        # Not through the input to what comes before.
        found = tf.gradients(one.found, sources, upstream, stop_gradients=[one.given])
        for number, gradient in enumerate(found[: len(weights)]):
            if gradient is not None:
                gradients[number] = _sum(gradients[number], tf.convert_to_tensor(gradient))
        upstream = found[-1]
        if upstream is None:
            break  # Nothing that learns comes before.
    return [
        tf.zeros_like(weight) if gradient is None else gradient
        for weight, gradient in zip(weights, gradients, strict=True)
    ]


def _sum(before: tf.Tensor | None, gradient: tf.Tensor) -> tf.Tensor:
    if before is None:
        return gradient
    with tf.device(before.device):
        return before + gradient


def _passed_again(
    segment: Segment, one: Passed, upstream: tf.Tensor, *, is_compiled: bool
) -> Passed:
    """The segment once more, now that the gradient of what it gave is there."""
    with (
        _drawing_from(one.draws),
        measured_again(one.exchanged),
        tf.control_dependencies([upstream]),
    ):
        # Operations that wait for what comes later are not taken for those of the first time.
        given = tf.identity(one.given)
        if is_compiled:
            # XLA does not heed what waits for what, but leaves the product of 0 and a number that
            # may be infinite.
            number = tf.reduce_max(tf.reshape(upstream, [-1])[:1])
            given += tf.cast(0.0 * tf.cast(number, tf.float32), given.dtype)
        # Which words count, where the model knows that.
        given._keras_mask = getattr(one.given, "_keras_mask", None)  # noqa: SLF001
        return one._replace(given=given, found=call_segment(segment, given))


@contextmanager
def _drawing_from(draws: int) -> Iterator[None]:
    part = DRAWN_FOR.get()
    if part is None:
        yield
        return
    before, part.draws = part.draws, draws
    try:
        yield
    finally:
        part.draws = before
