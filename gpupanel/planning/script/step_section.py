"""The script's steps: ``trainer/steps``, cut down to what a profile needs.

Each replica finds the gradient of its part of a batch; they are summed, clipped and applied once.
"""

from string import Template

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.loss_section import loss_conditions
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import joined, lines_for

# In the margin: S several replicas, A accumulation, D dropout or other random numbers, R others,
# too, N batch normalisation, L one of A and N, O code of one's own, a saved model or an embedding,
# C clipping, W weight decay, X XLA, B weighted classes, G examples are changed, M something is
# measured beside training, E averages of the weights are kept, F another loss is made small than
# measured.
_TEXT = '''
  |SUM = tf.distribute.ReduceOp.SUM
  |EPOCHS, BATCH = $epochs, $batch
S |SHARES = $shares$measured
A |PARTS = $parts  # micro-batches of each replica's part
D |STEP = tf.Variable(0, dtype=tf.int64)  # updates of all epochs
N |NORMS = [norm for norm in batch_norms(model) if norm.trainable]
S |
S |
S |def division(count):
S |    """The part of each replica of so many examples, and how many replicas take each of them."""
S |    if count < len(SHARES):
S |        return [(0, count)] * len(SHARES), len(SHARES)  # too few: each replica takes all of them
S |    borders = np.concatenate([[0], np.cumsum(SHARES)]) * count // BATCH
Sa|    least = np.arange(len(borders))  # each replica has at least one
SA|    least = min(count // len(SHARES), PARTS) * np.arange(len(borders))
S |    borders = np.maximum.accumulate(borders - least) + least
S |    borders = np.minimum(borders, count - least[::-1]).tolist()
S |    return list(zip(borders, borders[1:])), 1
S |
S |
S |def this_replica():
S |    context = tf.distribute.get_replica_context()
S |    return int(tf.get_static_value(context.replica_id_in_sync_group))
  |
  |
X |@tf.function(jit_compile=True, autograph=False)
  |def contribution($state, features, labels, examples$at):
  |    """Loss, measure and gradients of some examples; gradients of the mean over the batch."""
  |    known = list(zip(model.trainable_variables, weights))
RS|    # A size that is known is not that of a batch: as in a run, this is not.
RS|    features = tf.compat.v1.placeholder_with_default(features, [None, *features.shape[1:]])
n |    with keras.StatelessScope(state_mapping=known):
N |    with measured_calls() as calls, keras.StatelessScope(state_mapping=known):
d |        outputs = model(features, training=True)
D |        with drawn_by_example(SEED, step, first, features):
D |            outputs = model(features, training=True)
b |    loss, measure = loss_and_measure(outputs, labels)
B |    loss, measure = loss_and_measure(outputs, labels, CLASS_WEIGHTS)
F |    loss = training_loss(outputs, labels)
  |    gradients = tf.gradients(loss / examples, weights, unconnected_gradients="zero")
O |    gradients = [tf.convert_to_tensor(gradient) for gradient in gradients]
N |    share = tf.cast(tf.shape(labels)[0], tf.float32) / examples
N |    moments = [
N |        contributed_moments(calls.of(norm), centre, share)
N |        for norm, centre in zip(NORMS, centres)
N |    ]
  |    return $sums
A |
A |
A |def micro_batches_of(sizes, shares):
A |    """As in a full batch, or as few as keep each micro-batch no larger than there."""
A |    if min(sizes) >= PARTS:
A |        return PARTS
A |    usual = [max(-(-share // PARTS), 1) for share in shares]
A |    return min(min(sizes), max(-(-size // most) for size, most in zip(sizes, usual)))
A |
A |
A |def add(one, other):
A |    with tf.device(one.device):
A |        return one + other
  |
  |
L |def learn_from(features, labels, examples$micro_batches$at):
LA|    """The contribution of one replica's part, one micro-batch after the other."""
La|    """The contribution of one replica's part."""
L |    weights = [tf.convert_to_tensor(weight.value) for weight in model.trainable_variables]
N |    centres = [tf.convert_to_tensor(norm.moving_mean.value) for norm in NORMS]
La|    $sums = contribution($state, features, labels, examples$at)
AS|    total, count = None, labels.shape[0]
As|    total, count = None, tf.shape(labels)[0]
A |    for part in range(micro_batches):
A |        begin, end = (count * border // micro_batches for border in (part, part + 1))
A |        with tf.control_dependencies(total[2] if total else []):  # wait: it saves memory
A |            micro = tf.identity(features[begin:end]), tf.identity(labels[begin:end])
AD|        found = contribution($state, *micro, examples, first + begin, step)
Ad|        found = contribution($state, *micro, examples)
A |        total = found if total is None else tf.nest.map_structure(add, total, found)
A |    $sums = total
L |    return $sums
L |
L |
C |def clipping_scale(_, gradients):
C |    """Brings the norm of the whole batch's gradient down to the greatest that is wanted."""
C |    norm = tf.sqrt(tf.add_n([tf.reduce_sum(tf.square(gradient)) for gradient in gradients]))
C |    return $clip / tf.maximum(norm, $clip)
C |
C |
c |def learn(weight, gradient):
C |def learn(weight, gradient, scale):
  |    with tf.device(weight.device):
  |        rate = optimizer.learning_rate
W |        weight.assign_sub(weight * optimizer.weight_decay * rate)
c |        optimizer.update_step(gradient, weight, rate)
C |        optimizer.update_step(gradient * scale, weight, rate)
  |
  |
E |def follow(weight, average):
E |    """Moves the average towards the weight; the first is taken whole."""
E |    with tf.device(weight.device):
E |        kept = tf.where($counted.iterations.value == 0, 0.0, tf.cast($ema, weight.dtype))
E |        average.assign(kept * average + (1.0 - kept) * weight)
E |
E |
  |@tf.function(autograph=False)
g |def train_step(features, labels):
G |def train_step(features, labels, drawn):
sA|    micro_batches = micro_batches_of([labels.shape[0]], [BATCH])
s |    # TensorFlow's graph optimizer reorders sums where it knows sizes, which a run does not say.
s |    size = tf.compat.v1.placeholder_with_default(labels.shape[0], [])
s |    features, labels = features[:size], labels[:size]
G |    features, labels = augmented(features, labels, drawn)
S |    parts, copies = division(labels.shape[0])
SA|    sizes = [end - first for first, end in parts]
SA|    micro_batches = micro_batches_of(sizes, SHARES)
D |    step = tf.identity(STEP)
  |
  |    def in_replica():
S |        first, end = parts[this_replica()]
S |        mine = features[first:end], labels[first:end]
LS|        return learn_from(*mine, float(labels.shape[0] * copies)$micro_batches$of)
Ls|        return learn_from(features, labels, tf.cast(size, tf.float32)$micro_batches$of)
l |        weights = [tf.convert_to_tensor(weight.value) for weight in model.trainable_variables]
lS|        return contribution(weights, *mine, float(labels.shape[0] * copies)$of)
ls|        return contribution(weights, features, labels, tf.cast(size, tf.float32)$of)
  |
  |    $sums = strategy.run(in_replica)
  |    weights = [weight.value for weight in model.trainable_variables]
  |    gradients = strategy.extended.batch_reduce_to(SUM, list(zip(gradients, weights)))
C |    scale = strategy.extended.update(weights[0], clipping_scale, args=(gradients,))
  |    for weight, gradient in zip(weights, gradients):
c |        strategy.extended.update(weight, learn, args=(gradient,))
C |        strategy.extended.update(weight, learn, args=(gradient, scale))
E |    for weight, average in zip(weights, averages):
E |        strategy.extended.update(weight, follow, args=(average.value,))
  |    optimizer.iterations.assign_add(1)
N |    for norm, contributed in zip(NORMS, moments):
N |        whole = strategy.reduce(SUM, contributed, axis=None)
N |        norm.moving_mean.assign_add(change_of_mean(whole, norm.momentum))
N |        now = tf.convert_to_tensor(norm.moving_variance)
N |        norm.moving_variance.assign(next_variance(now, whole, norm.momentum))
D |    STEP.assign_add(1)
S |    return [strategy.reduce(SUM, each, axis=None) / copies for each in (loss, measure)]
s |    return loss, measure
M |
M |
M |@tf.function(autograph=False)
M |def evaluation_step(features, labels):
MS|    parts, copies = division(labels.shape[0])
MS|
M |    def in_replica():
MS|        first, end = parts[this_replica()]
MSe|        return loss_and_measure(model(features[first:end], training=False), labels[first:end])
Mse|        return loss_and_measure(model(features, training=False), labels)
ME|        now = [tf.convert_to_tensor(average.value) for average in averages]
ME|        known = list(zip(model.trainable_variables, now))
ME|        with keras.StatelessScope(state_mapping=known):
MES|            outputs = model(features[first:end], training=False)
MEs|            outputs = model(features, training=False)
MES|        return loss_and_measure(outputs, labels[first:end])
MEs|        return loss_and_measure(outputs, labels)
M |
MS|    sums = strategy.run(in_replica)
MS|    return [strategy.reduce(SUM, each, axis=None) / copies for each in sums]
Ms|    return strategy.run(in_replica)
'''


def step_section(profile: Profile, plan: LaunchPlan) -> str:
    """From ``loss_and_measure`` to ``train_step``, and ``evaluation_step`` where it is needed."""
    training = profile.training
    holds = _conditions(profile, plan)
    state = [
        "weights",
        *(["centres"] if "N" in holds else []),
    ]
    sums = ["loss", "measure", "gradients", *(["moments"] if "N" in holds else [])]
    draws = "D" in holds
    functions = part("random_numbers") if draws else ""
    first = "first" if "S" in holds else "0"
    steps = Template(lines_for(_TEXT, holds)).substitute(
        epochs=training.epochs,
        batch=plan.global_batch_size,
        shares=list(plan.shares),
        measured="  # a run measures the replicas and adjusts these" if plan.balanced else "",
        parts=plan.accumulation_steps,
        state=", ".join(state),
        sums=", ".join(sums),
        at=", first, step" if draws else "",
        of=f", tf.constant({first}), step" if draws else "",
        micro_batches=", micro_batches" if "A" in holds else "",
        clip=training.clip_norm,
        ema=training.ema,
        counted="optimizer" if profile.fine_tuning is None else "head_optimizer",
    )
    return joined(functions, steps)


def _conditions(profile: Profile, plan: LaunchPlan) -> set[str]:
    training, data = profile.training, profile.data
    norms = profile.model.normalises_batches is not False
    # Where that is not known, nothing is known of what is drawn either.
    draws = profile.model.normalises_batches is None
    drops = draws or getattr(profile.model, "dropout", 0.0) > 0.0
    conditions = {
        "S": len(plan.replicas) > 1,
        "A": plan.accumulation_steps > 1,
        "D": drops,
        "R": draws,
        "N": norms,
        "O": profile.model.is_code or profile.model.is_saved or data.token_count > 0,
        "C": training.clip_norm is not None,
        "W": training.decays_weights,
        "E": training.ema is not None,
        "F": training.changes_loss,
        "X": training.jit_compile,
        "B": "B" in loss_conditions(data),
        "G": data.chosen_augmentation.changes_anything,
        "M": data.may_validate or data.may_test,
    }
    found = {letter for letter, holds in conditions.items() if holds}
    return found | {"L"} if found & {"A", "N"} else found
