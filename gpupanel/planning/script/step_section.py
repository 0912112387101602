"""The script's steps: ``trainer/steps``, cut down to what a profile needs.

Each replica finds the gradient of its part of a batch; they are summed, clipped and applied once.
"""

from collections.abc import Iterator
from string import Template

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.contribution_section import WEIGHTS_NOW, contribution_section
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import joined, lines_of
from gpupanel.planning.script.step_needs import StepNeeds, step_needs

_DIVISION = '''
def division(count):
    """The part of each replica of so many examples, and how many replicas take each of them."""
    if count < len(SHARES):
        return [(0, count)] * len(SHARES), len(SHARES)  # too few: each replica takes all of them
    borders = np.concatenate([[0], np.cumsum(SHARES)]) * count // BATCH
'''
_BORDERS = """
    borders = np.maximum.accumulate(borders - least) + least
    borders = np.minimum(borders, count - least[::-1]).tolist()
    return list(zip(borders, borders[1:])), 1


def this_replica():
    context = tf.distribute.get_replica_context()
    return int(tf.get_static_value(context.replica_id_in_sync_group))
"""
_CLIPPING_SCALE = '''
def clipping_scale(_, gradients):
    """Brings the norm of the whole batch's gradient down to the greatest that is wanted."""
    norm = tf.sqrt(tf.add_n([tf.reduce_sum(tf.square(gradient)) for gradient in gradients]))
    return $clip / tf.maximum(norm, $clip)
'''
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
_SCALE = """
    scale = strategy.extended.update(weights[0], clipping_scale, args=(gradients,))
"""
_STATISTICS = """
    for norm, contributed in zip(NORMS, moments):
        whole = strategy.reduce(SUM, contributed, axis=None)
        norm.moving_mean.assign_add(change_of_mean(whole, norm.momentum))
        now = tf.convert_to_tensor(norm.moving_variance)
        norm.moving_variance.assign(next_variance(now, whole, norm.momentum))
"""
_MEANS = "    return [strategy.reduce(SUM, each, axis=None) / copies for each in {}]"
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
        part("random_numbers") if needs.draws else "",
        lines_of(_settings(needs, profile, plan)),
        lines_of(_division(needs)) if needs.on_replicas else "",
        contribution_section(needs),
        Template(_CLIPPING_SCALE).substitute(clip=clip) if needs.clips else "",
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


def _division(needs: StepNeeds) -> Iterator[str]:
    yield _DIVISION
    if needs.accumulates:
        yield "    least = min(count // len(SHARES), PARTS) * np.arange(len(borders))"
    else:
        yield "    least = np.arange(len(borders))  # each replica has at least one"
    yield _BORDERS


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
            yield "    micro_batches = micro_batches_of([labels.shape[0]], [BATCH])"
        yield _UNKNOWN_SIZE
    if needs.augments:
        yield "    features, labels = augmented(features, labels, drawn)"
    if needs.on_replicas:
        yield "    parts, copies = division(labels.shape[0])"
        if needs.accumulates:
            yield "    sizes = [end - first for first, end in parts]"
            yield "    micro_batches = micro_batches_of(sizes, SHARES)"
    if needs.draws:
        yield "    step = tf.identity(STEP)"
    yield ""
    yield "    def in_replica():"
    if needs.on_replicas:
        yield "        first, end = parts[this_replica()]"
        yield "        mine = features[first:end], labels[first:end]"
        given, examples = "*mine", "float(labels.shape[0] * copies)"
    else:
        given, examples = "features, labels", "tf.cast(size, tf.float32)"
    if needs.accumulates or needs.normalises:
        more = f"{needs.micro_batches}{needs.place_of_replica}"
        yield f"        return learn_from({given}, {examples}{more})"
    else:
        yield f"        {WEIGHTS_NOW}"
        yield f"        return contribution(weights, {given}, {examples}{needs.place_of_replica})"
    yield ""
    yield f"    {needs.sums} = strategy.run(in_replica)"
    yield _SUMMED_GRADIENTS
    if needs.clips:
        yield _SCALE
    yield "    for weight, gradient in zip(weights, gradients):"
    learned = "gradient, scale" if needs.clips else "gradient,"
    yield f"        strategy.extended.update(weight, learn, args=({learned}))"
    if needs.keeps_averages:
        yield "    for weight, average in zip(weights, averages):"
        yield "        strategy.extended.update(weight, follow, args=(average.value,))"
    yield "    optimizer.iterations.assign_add(1)"
    if needs.normalises:
        yield _STATISTICS
    if needs.draws:
        yield "    STEP.assign_add(1)"
    if needs.on_replicas:
        yield _MEANS.format("(loss, measure)")
    else:
        yield "    return loss, measure"


def _evaluation_step(needs: StepNeeds) -> Iterator[str]:
    yield "@tf.function(autograph=False)"
    yield "def evaluation_step(features, labels):"
    features, labels = "features", "labels"
    if needs.on_replicas:
        yield "    parts, copies = division(labels.shape[0])"
        yield ""
        features, labels = "features[first:end]", "labels[first:end]"
    yield "    def in_replica():"
    if needs.on_replicas:
        yield "        first, end = parts[this_replica()]"
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
