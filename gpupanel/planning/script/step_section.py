"""The script's steps: ``trainer/steps``, cut down to what a profile needs.

Each replica finds the gradient of its part of a batch; they are summed, clipped and applied once.
"""

import json
from collections.abc import Iterator
from string import Template

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import Recompute
from gpupanel.planning.script.contribution_section import (
    SCALE_NOW,
    WEIGHTS_NOW,
    contribution_section,
)
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import indented, joined, lines_of
from gpupanel.planning.script.step_needs import StepNeeds, step_needs

_THIS_REPLICA = """
def this_replica():
    context = tf.distribute.get_replica_context()
    return int(tf.get_static_value(context.replica_id_in_sync_group))
"""
_FOLLOW = '''
def follow(weight, average):
    """Moves the average towards the weight; the first is taken whole."""
    with tf.device(weight.device):
        kept = tf.where($counted.iterations.value == 0, 0.0, tf.cast($ema, weight.dtype))
        average.assign(kept * average + (1.0 - kept) * weight)
'''
_UNKNOWN_SIZE = """
    # TensorFlow's graph optimizer reorders sums where it knows sizes, which a run does not say.
    size = tf.compat.v1.placeholder_with_default(labels.shape[0], [])
    features, labels = features[:size], labels[:size]
"""
_SUMMED_GRADIENTS = """
    weights = [weight.value for weight in model.trainable_variables]
    gradients = strategy.extended.batch_reduce_to(SUM, list(zip(gradients, weights)))
"""
_SCALED = """
def clipping_scale_of(_, gradients):
    return clipping_scale(global_norm(gradients), $clip)
"""
_STATISTICS = """
    for norm, contributed in zip(NORMS, moments):
        whole = strategy.reduce(SUM, contributed, axis=None)
        norm.moving_mean.assign_add(change_of_mean(whole, norm.momentum))
        now = tf.convert_to_tensor(norm.moving_variance)
        norm.moving_variance.assign(next_variance(now, whole, norm.momentum))
"""
_MEANS = "    return [strategy.reduce(SUM, each, axis=None) / parts.copies for each in {}]"
_WITH_AVERAGES = """
        now = [tf.convert_to_tensor(average.value) for average in averages]
        known = list(zip(model.trainable_variables, now))
        with keras.StatelessScope(state_mapping=known):
"""


def step_section(profile: Profile, plan: LaunchPlan) -> str:
    """From ``loss_and_measure`` to ``train_step``, and ``evaluation_step`` where it is needed."""
    needs = step_needs(profile, plan)
    clip = profile.training.clip_norm
    return joined(
        part("random_numbers") if needs.draws or needs.recomputes else "",
        part("recompute") if needs.recomputes else "",
        part("loss_scale") if needs.scales_loss else "",
        lines_of(_settings(needs, profile, plan)),
        part("batch_division") if needs.on_replicas or needs.accumulates else "",
        _THIS_REPLICA if needs.on_replicas else "",
        contribution_section(needs),
        part("whole_gradient") if needs.clips else "",
        Template(_SCALED).substitute(clip=clip) if needs.clips else "",
        lines_of(_learn(needs)),
        _follow(profile) if needs.keeps_averages else "",
        lines_of(_train_step(needs)),
        lines_of(_evaluation_step(needs)) if needs.measures else "",
    )


def _settings(needs: StepNeeds, profile: Profile, plan: LaunchPlan) -> Iterator[str]:
    yield "SUM = tf.distribute.ReduceOp.SUM"
    yield f"EPOCHS, BATCH = {profile.training.epochs}, {plan.global_batch_size}"
    if needs.on_replicas:
        note = "  # a run measures the replicas and adjusts these" if plan.balanced else ""
        yield f"SHARES = {list(plan.shares)}{note}"
    if needs.accumulates:
        yield f"PARTS = {plan.accumulation_steps}  # micro-batches of each replica's part"
    if needs.draws:
        yield "STEP = tf.Variable(0, dtype=tf.int64)  # updates of all epochs"
    if needs.normalises:
        yield "NORMS = [norm for norm in batch_norms(model) if norm.trainable]"
    if needs.recomputes:
        named = profile.training.recompute
        after = "" if isinstance(named, Recompute) else f", {json.dumps(named)}"
        yield f"SEGMENTS = segments_of(model{after})  # their activations are computed twice"
    if needs.scales_loss:
        yield "with strategy.scope():"
        yield "    LOSS_SCALE = LossScale()"


def _learn(needs: StepNeeds) -> Iterator[str]:
    scale = ", scale" if needs.clips else ""
    yield f"def learn(weight, gradient{scale}):"
    yield "    with tf.device(weight.device):"
    yield "        rate = optimizer.learning_rate"
    if needs.decays:
        yield "        weight.assign_sub(weight * optimizer.weight_decay * rate)"
    gradient = "gradient * scale" if needs.clips else "gradient"
    yield f"        optimizer.update_step({gradient}, weight, rate)"


def _follow(profile: Profile) -> str:
    counted = "optimizer" if profile.fine_tuning is None else "head_optimizer"
    return Template(_FOLLOW).substitute(counted=counted, ema=profile.training.ema)


def _train_step(needs: StepNeeds) -> Iterator[str]:
    drawn = ", drawn" if needs.augments else ""
    yield "@tf.function(autograph=False)"
    yield f"def train_step(features, labels{drawn}):"
    if not needs.on_replicas:
        if needs.accumulates:
            yield "    micro_batches = divide_batch([BATCH], labels.shape[0], PARTS).micro_batches"
        yield _UNKNOWN_SIZE
    if needs.augments:
        yield "    features, labels = augmented(features, labels, drawn)"
    if needs.on_replicas:
        steps = ", PARTS" if needs.accumulates else ""
        yield f"    parts = divide_batch(SHARES, labels.shape[0]{steps})"
        if needs.accumulates:
            yield "    micro_batches = parts.micro_batches"
    if needs.draws:
        yield "    step = tf.identity(STEP)"
    yield ""
    yield "    def in_replica():"
    if needs.on_replicas:
        yield "        first, end = parts.bounds[this_replica()].tolist()"
        yield "        mine = features[first:end], labels[first:end]"
        given, examples = "*mine", "float(labels.shape[0] * parts.copies)"
    else:
        given, examples = "features, labels", "tf.cast(size, tf.float32)"
    if needs.learns_in_parts:
        more = f"{needs.micro_batches}{needs.place_of_replica}"
        yield f"        return learn_from({given}, {examples}{more})"
    else:
        yield f"        {WEIGHTS_NOW}"
        if needs.scales_loss:
            yield f"        {SCALE_NOW}"
        more = f"{given}, {examples}{needs.place_of_replica}"
        yield f"        return contribution({needs.state}, {more})"
    yield ""
    yield f"    {needs.sums} = strategy.run(in_replica)"
    yield _SUMMED_GRADIENTS
    update = lines_of(_update(needs))
    if needs.scales_loss:
        yield ""
        yield "    def update(gradients):"
        yield indented(update)
        yield "        return tf.zeros([])"
        yield ""
        yield "    LOSS_SCALE.applied(strategy, weights[0], gradients, update)"
    else:
        yield update
    if needs.draws:
        yield "    STEP.assign_add(1)"
    if needs.on_replicas:
        yield _MEANS.format("(loss, measure)")
    else:
        yield "    return loss, measure"


def _update(needs: StepNeeds) -> Iterator[str]:
    if needs.clips:
        scale = "strategy.extended.update(weights[0], clipping_scale_of, args=(gradients,))"
        yield f"    scale = {scale}"
    yield "    for weight, gradient in zip(weights, gradients):"
    learned = "gradient, scale" if needs.clips else "gradient,"
    yield f"        strategy.extended.update(weight, learn, args=({learned}))"
    if needs.keeps_averages:
        yield "    for weight, average in zip(weights, averages):"
        yield "        strategy.extended.update(weight, follow, args=(average.value,))"
    yield "    optimizer.iterations.assign_add(1)"
    if needs.normalises:
        yield _STATISTICS


def _evaluation_step(needs: StepNeeds) -> Iterator[str]:
    yield "@tf.function(autograph=False)"
    yield "def evaluation_step(features, labels):"
    features, labels = "features", "labels"
    if needs.on_replicas:
        steps = ", PARTS" if needs.accumulates else ""
        yield f"    parts = divide_batch(SHARES, labels.shape[0]{steps})"
        yield ""
        features, labels = "features[first:end]", "labels[first:end]"
    yield "    def in_replica():"
    if needs.on_replicas:
        yield "        first, end = parts.bounds[this_replica()].tolist()"
    outputs = f"model({features}, training=False)"
    if needs.keeps_averages:
        yield _WITH_AVERAGES
        yield f"            outputs = {outputs}"
        outputs = "outputs"
    yield f"        return loss_and_measure({outputs}, {labels})"
    yield ""
    if needs.on_replicas:
        yield "    sums = strategy.run(in_replica)"
        yield _MEANS.format("sums")
    else:
        yield "    return strategy.run(in_replica)"
