"""What each replica of a script finds of its part of a batch: ``trainer/steps/contribution``."""

from collections.abc import Iterator
from string import Template

from gpupanel.planning.script.sections import joined, lines_of
from gpupanel.planning.script.step_needs import StepNeeds

WEIGHTS_NOW = (
    "weights = [tf.convert_to_tensor(weight.value) for weight in model.trainable_variables]"
)
"""What a replica's gradients are those of."""
SCALE_NOW = "loss_scale = tf.convert_to_tensor(LOSS_SCALE.scale.value)"
"""What its loss is multiplied by in float16."""
_CONTRIBUTION = '''
    """Loss, measure and gradients of some examples; gradients of the mean over the batch."""
    known = list(zip(model.trainable_variables, weights))
'''
_OF_ANY_SIZE = """
    # A size that is known is not that of a batch: as in a run, this is not.
    features = tf.compat.v1.placeholder_with_default(features, [None, *features.shape[1:]])
"""
_GRADIENTS = """
    gradients = tf.gradients($loss, weights, unconnected_gradients="zero")
"""
_MOMENTS = """
    share = tf.cast(tf.shape(labels)[0], tf.float32) / examples
    moments = [
        contributed_moments(calls.of(norm), centre, share)
        for norm, centre in zip(NORMS, centres)
    ]
"""
_ADD = """
def add(one, other):
    with tf.device(one.device):
        return one + other
"""
_CENTRES_NOW = "    centres = [tf.convert_to_tensor(norm.moving_mean.value) for norm in NORMS]"
_MICRO_BATCH = """
    for part in range(micro_batches):
        begin, end = (count * border // micro_batches for border in (part, part + 1))
        with tf.control_dependencies(total[2] if total else []):  # wait: it saves memory
            micro = tf.identity(features[begin:end]), tf.identity(labels[begin:end])
"""
_TOTAL = "        total = found if total is None else tf.nest.map_structure(add, total, found)"
_IN_A_PIPELINE = """
    for part in range(micro_batches):
        begin, end = (count * border // micro_batches for border in (part, part + 1))
        micro = tf.identity(features[begin:end]), tf.identity(labels[begin:end])
        with taken_in_turn([total[2] for total in totals]):
"""
_TOTALS = """
        totals.append(tf.nest.map_structure(add, totals[-1], found) if totals else found)
"""


def contribution_section(needs: StepNeeds) -> str:
    """Python that defines ``contribution``, and ``learn_from`` where there is more to it."""
    return joined(
        lines_of(_contribution(needs)),
        _ADD if needs.accumulates else "",
        lines_of(_learn_from(needs)) if needs.learns_in_parts else "",
    )


def _contribution(needs: StepNeeds) -> Iterator[str]:
    if needs.is_compiled:
        yield "@tf.function(jit_compile=True, autograph=False)"
    yield f"def contribution({needs.state}, features, labels, examples{needs.place}):"
    yield _CONTRIBUTION
    if needs.draws_anything and needs.on_replicas:
        yield _OF_ANY_SIZE
    contexts = ["keras.StatelessScope(state_mapping=known)"]
    if needs.draws:
        contexts.append("drawn_by_example(SEED, step, first, features)")
    scope = ", ".join(contexts)
    measured = "measured_calls() as calls, " if needs.normalises or needs.recomputes else ""
    yield f"    with {measured}{scope}:"
    if needs.recomputes:
        yield "        given = tf.cast(features, model.inputs[0].dtype)"
        yield "        passed = pass_segments(SEGMENTS, given, calls)"
        yield "        outputs = passed[-1].found"
    else:
        yield "        outputs = model(features, training=True)"
    weights = ", CLASS_WEIGHTS" if needs.weights_classes else ""
    yield f"    loss, measure = loss_and_measure(outputs, labels{weights})"
    if needs.changes_loss:
        yield "    loss = training_loss(outputs, labels)"
    learned = "loss / examples * loss_scale" if needs.scales_loss else "loss / examples"
    if needs.recomputes:
        yield f"    (upstream,) = tf.gradients({learned}, [outputs])"
        yield f"    with {scope}:"
        yield "        gradients = gradients_of_segments("
        given = "SEGMENTS, passed, upstream, weights"
        yield f"            {given}, is_compiled={needs.is_compiled}"
        yield "        )"
    else:
        yield Template(_GRADIENTS).substitute(loss=learned)
    if needs.has_sparse_gradients:
        yield "    gradients = [tf.convert_to_tensor(gradient) for gradient in gradients]"
    if needs.normalises:
        yield _MOMENTS
    yield f"    return {needs.sums}"


def _learn_from(needs: StepNeeds) -> Iterator[str]:
    arguments = f"features, labels, examples{needs.micro_batches}{needs.place}"
    yield f"def learn_from({arguments}):"
    in_turn = ", one micro-batch after the other" if needs.accumulates else ""
    yield f'    """The contribution of one replica\'s part{in_turn}."""'
    yield f"    {WEIGHTS_NOW}"
    if needs.normalises:
        yield _CENTRES_NOW
    if needs.scales_loss:
        yield f"    {SCALE_NOW}"
    if not needs.accumulates:
        given = f"{needs.state}, features, labels, examples{needs.place}"
        yield f"    {needs.sums} = contribution({given})"
    else:
        count = "labels.shape[0]" if needs.on_replicas else "tf.shape(labels)[0]"
        place = ", first + begin, step" if needs.draws else ""
        call = f"contribution({needs.state}, *micro, examples{place})"
        if needs.pipelines:
            yield f"    totals, count = [], {count}"
            yield _IN_A_PIPELINE
            yield f"            found = {call}"
            yield _TOTALS
            yield f"    {needs.sums} = totals[-1]"
        else:
            yield f"    total, count = None, {count}"
            yield _MICRO_BATCH
            yield f"        found = {call}"
            yield _TOTAL
            yield f"    {needs.sums} = total"
    yield f"    return {needs.sums}"
