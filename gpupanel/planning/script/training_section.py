"""The script's training: ``trainer/steps`` and ``loop``, cut down to what a profile needs.

Each replica finds the gradient of its part of a batch; they are summed, clipped and applied once.
"""

from string import Template

from gpupanel.domain.data import ClassWeights, DataSettings, Target
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import LEAST_PROGRESS
from gpupanel.planning.script.data_section import script_of
from gpupanel.planning.script.sections import lines_for

# In the margin: S several replicas, A accumulation, D dropout or other random numbers, N batch
# normalisation, Q in layers that are known when code of one's own runs, L one of A, D and N,
# O such code or an embedding, C clipping, W weight decay,
# X XLA, V values to be predicted, P perhaps several of them, K several labels at once, H examples
# held back, T by a test set that may be missing, F a test set for the end, U that may be missing,
# M something to be measured: H or F, E early stopping, B weighted classes, Z by their names,
# G examples are changed, Y and blended, so that labels are shares of the classes, R rare classes
# are repeated.
_TEXT = '''
v |MEASURE = "accuracy"
vk|final = keras.layers.Softmax(name="probabilities", dtype="float32")
K |final = keras.layers.Activation("sigmoid", name="probabilities", dtype="float32")
V |MEASURE = "mean absolute error"
Vp|MEAN, UNIT = map(float, statistics(y))
Vp|final = keras.layers.Rescaling(UNIT, MEAN, name="values", dtype="float32")
P |MEAN, UNIT = statistics(y.reshape(len(y), -1))
P |scale, offset = UNIT.tolist(), MEAN.tolist()
P |if len(scale) == 1:
P |    (scale,), (offset,) = scale, offset
P |final = keras.layers.Rescaling(scale, offset, name="values", dtype="float32")
  |
  |
Bz|counts = np.bincount(y, minlength=class_count)
Bz|CLASS_WEIGHTS = np.float32(len(y) / (np.count_nonzero(counts) * np.maximum(counts, 1)))
BZ|$class_names
BZ|chosen = $class_weights
BZ|CLASS_WEIGHTS = np.float32([chosen.get(name, 1.0) for name in class_names])
B |
B |
b |def loss_and_measure(outputs, labels):
B |def loss_and_measure(outputs, labels, class_weights=None):
vk|    """Cross-entropy, and how many are right; summed over the examples."""
Y |    if len(labels.shape) == 2:  # shares of each class
YB|        weighted = labels if class_weights is None else labels * class_weights
Yb|        weighted = labels
Y |        loss = -weighted * tf.cast(tf.nn.log_softmax(outputs), tf.float32)
Y |        right = tf.gather(labels, tf.argmax(outputs, axis=1), batch_dims=1)
Y |        return tf.reduce_sum(loss), tf.reduce_sum(right)
vk|    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, outputs)
B |    if class_weights is not None:
B |        loss *= tf.cast(tf.gather(class_weights, labels), loss.dtype)
vk|    right = tf.equal(tf.argmax(outputs, axis=1, output_type=tf.int32), labels)
vk|    return tf.reduce_sum(loss), tf.reduce_sum(tf.cast(right, tf.float32))
K |    """Cross-entropy, and how many are right; means over the labels, summed over the examples."""
K |    loss = tf.nn.sigmoid_cross_entropy_with_logits(labels, outputs)
K |    right = tf.cast(tf.equal(outputs > 0, labels > 0.5), tf.float32)
K |    return [tf.reduce_sum(tf.reduce_mean(each, axis=1)) for each in (loss, right)]
Vp|    """Squared and absolute error in standard deviations; summed over the examples."""
Vp|    error = outputs[:, 0] - (labels - MEAN) / UNIT
Vp|    return tf.reduce_sum(error**2), tf.reduce_sum(tf.abs(error))
P |    """Squared error in standard deviations; squared and absolute error as they are.
P |
P |    Means over the values, summed over the examples.
P |    """
P |    error = outputs - (tf.reshape(labels, tf.shape(outputs)) - MEAN) / UNIT
P |    each = tf.stack([error**2, (error * UNIT) ** 2, tf.abs(error * UNIT)])
P |    loss, *errors = tf.unstack(tf.reduce_sum(tf.reduce_mean(each, axis=2), axis=1))
P |    return loss, tf.stack(errors)
  |
  |
  |SUM = tf.distribute.ReduceOp.SUM
  |EPOCHS, BATCH = $epochs, $batch
S |SHARES = $shares$measured
A |PARTS = $parts  # micro-batches of each replica's part
D |weights = {id(weight) for weight in model.weights}
D |SEEDS = [variable for variable in model.variables if id(variable) not in weights]
N |NORMS = [
N |    layer
NQ|    for layer in model._flatten_layers()  # those within other layers, too
Nq|    for layer in model.layers
N |    if isinstance(layer, keras.layers.BatchNormalization) and layer.trainable
N |]
NQ|TRACED = threading.local()  # what each of them measured, call by call, while it is traced
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
  |def contribution($state, features, labels, examples):
  |    """Loss, measure and gradients of some examples; gradients of the mean over the batch."""
  |    known = list(zip(model.trainable_variables, weights))
D |    known += zip(SEEDS, seeds)
Nq|    for norm in NORMS:  # from zero, a moving average becomes the new value times 1 - momentum
Nq|        known += [(norm.moving_mean, tf.zeros(norm.moving_mean.shape))]
Nq|        known += [(norm.moving_variance, tf.zeros(norm.moving_variance.shape))]
NQ|    TRACED.calls = {norm: [] for norm in NORMS}
dn|    with keras.StatelessScope(state_mapping=known):
dN|    with keras.StatelessScope(state_mapping=known) as scope:
D |    with keras.StatelessScope(state_mapping=known) as scope:
  |        outputs = model(features, training=True)
b |    loss, measure = loss_and_measure(outputs, labels)
B |    loss, measure = loss_and_measure(outputs, labels, CLASS_WEIGHTS)
  |    gradients = tf.gradients(loss / examples, weights, unconnected_gradients="zero")
O |    gradients = [tf.convert_to_tensor(gradient) for gradient in gradients]
N |    moments, part = [], tf.cast(tf.shape(labels)[0], tf.float32) / examples
NQ|    for norm, centre in zip(NORMS, centres):
NQ|        calls = [(mean - centre, variance) for mean, variance in TRACED.calls[norm]]
NQ|        moments.append([part * tf.stack([mean, variance + mean**2]) for mean, variance in calls])
Nq|    for norm, centre in zip(NORMS, centres):
Nq|        mean = scope.get_current_value(norm.moving_mean) / (1 - norm.momentum) - centre
Nq|        variance = scope.get_current_value(norm.moving_variance) / (1 - norm.momentum)
Nq|        moments.append(part * tf.stack([mean, variance + mean**2]))
D |    seeds = [scope.get_current_value(seed) for seed in SEEDS]
  |    return $found
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
L |def learn_from(features, labels, examples$micro_batches):
LA|    """The contribution of one replica's part, one micro-batch after the other."""
La|    """The contribution of one replica's part."""
L |    weights = [tf.convert_to_tensor(weight.value) for weight in model.trainable_variables]
N |    centres = [tf.convert_to_tensor(norm.moving_mean.value) for norm in NORMS]
DS|    # Each replica draws random numbers of its own.
DS|    seeds = [seed.value + [this_replica() * 0x9E3779B1, 0] for seed in SEEDS]
Ds|    seeds = [tf.convert_to_tensor(seed.value) for seed in SEEDS]
D |    begun = seeds
La|    $found = contribution($state, features, labels, examples)
A |    total, count = None, labels.shape[0]
A |    for part in range(micro_batches):
A |        first, end = (count * border // micro_batches for border in (part, part + 1))
A |        with tf.control_dependencies(total[2] if total else []):  # wait: it saves memory
A |            micro = tf.identity(features[first:end]), tf.identity(labels[first:end])
AD|        *found, seeds = contribution($state, *micro, examples)
Ad|        found = contribution($state, *micro, examples)
A |        total = found if total is None else tf.nest.map_structure(add, total, found)
A |    $sums = total
D |    drawn = [after - before for before, after in zip(begun, seeds)]
L |    return $answer
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
  |@tf.function(autograph=False)
g |def train_step(features, labels):
G |def train_step(features, labels, drawn):
G |    features, labels = augmented(features, labels, drawn)
S |    parts, copies = division(labels.shape[0])
SA|    sizes = [end - first for first, end in parts]
SA|    micro_batches = micro_batches_of(sizes, SHARES)
sA|    micro_batches = micro_batches_of([labels.shape[0]], [BATCH])
  |
  |    def in_replica():
S |        first, end = parts[this_replica()]
S |        mine = features[first:end], labels[first:end]
LS|        return learn_from(*mine, float(labels.shape[0] * copies)$micro_batches)
Ls|        return learn_from(features, labels, float(labels.shape[0])$micro_batches)
l |        weights = [tf.convert_to_tensor(weight.value) for weight in model.trainable_variables]
lS|        return contribution(weights, *mine, float(labels.shape[0] * copies))
ls|        return contribution(weights, features, labels, float(labels.shape[0]))
  |
  |    $answer = strategy.run(in_replica)
  |    weights = [weight.value for weight in model.trainable_variables]
  |    gradients = strategy.extended.batch_reduce_to(SUM, list(zip(gradients, weights)))
C |    scale = strategy.extended.update(weights[0], clipping_scale, args=(gradients,))
  |    for weight, gradient in zip(weights, gradients):
c |        strategy.extended.update(weight, learn, args=(gradient,))
C |        strategy.extended.update(weight, learn, args=(gradient, scale))
  |    optimizer.iterations.assign_add(1)
Nq|    for norm, moment in zip(NORMS, moments):
Nq|        mean, square = tf.unstack(strategy.reduce(SUM, moment, axis=None))
Nq|        variance = tf.maximum(square - mean**2, 0.0) - norm.moving_variance
Nq|        norm.moving_mean.assign_add((1 - norm.momentum) * mean)
Nq|        norm.moving_variance.assign_add((1 - norm.momentum) * variance)
NQ|    for norm, calls in zip(NORMS, moments):
NQ|        moved, now = 0.0, tf.convert_to_tensor(norm.moving_variance)
NQ|        for moment in calls:
NQ|            mean, square = tf.unstack(strategy.reduce(SUM, moment, axis=None))
NQ|            moved += (1 - norm.momentum) * (mean - moved)
NQ|            now += (1 - norm.momentum) * (tf.maximum(square - mean**2, 0.0) - now)
NQ|        norm.moving_mean.assign_add(moved * tf.ones_like(now))
NQ|        norm.moving_variance.assign(now)
D |    for seed, numbers in zip(SEEDS, drawn):
D |        seed.assign_add(strategy.experimental_local_results(numbers)[0])
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
MS|        return loss_and_measure(model(features[first:end], training=False), labels[first:end])
Ms|        return loss_and_measure(model(features, training=False), labels)
M |
MS|    sums = strategy.run(in_replica)
MS|    return [strategy.reduce(SUM, each, axis=None) / copies for each in sums]
Ms|    return strategy.run(in_replica)
  |
  |
g |def mean_over(step, x, y, order):
G |def mean_over(step, x, y, order, *drawn):
p |    sums = np.zeros(2)
P |    sums = np.zeros(3)
  |    for first in range(0, len(order), BATCH):
  |        batch = order[first : first + BATCH]
g |        found = step(x[batch], y[batch])
G |        of_batch = [each[first : first + BATCH] for each in drawn]
G |        found = step(x[batch], y[batch], *of_batch)
p |        sums += [float(each) for each in found]
P |        sums += np.concatenate([np.ravel(each) for each in found])
  |        if not np.isfinite(sums[0]):
  |            raise SystemExit("The loss is not finite any more.")
v |    return sums / len(order)
Vp|    return sums * [UNIT**2, UNIT] / len(order)
P |    return sums[1:] / len(order)
  |
  |
R |def epoch_order(epoch):
R |    """The examples of an epoch: each class as often as the most frequent one."""
R |    random = np.random.default_rng([SEED, epoch, 2])
R |    by_class = np.argsort(y, kind="stable")
R |    members = np.split(by_class, np.flatnonzero(np.diff(y[by_class])) + 1)
R |    most, taken = max(map(len, members)), []
R |    for each in members:
R |        taken += [each] * (most // len(each)) + [random.permutation(each)[: most % len(each)]]
R |    taken = np.concatenate(taken)
R |    $repeated
R |
R |
E |best, waited = np.inf, 0
  |for epoch in range(1, EPOCHS + 1):
  |    order = $order
g |    loss, measure = mean_over(train_step, x, y, order)
G |    loss, measure = mean_over(train_step, x, y, order, drawn_in(epoch, len(order)))
  |    line = f"epoch {epoch}  loss {loss:.6f}  {MEASURE} {measure:.6f}"
E |    watched = loss
Ht|    val_loss, measure = mean_over(evaluation_step, x_val, y_val, np.arange(len(x_val)))
Ht|    line += f"  val_loss {val_loss:.6f}  val {MEASURE} {measure:.6f}"
HtE|    watched = val_loss
HT|    if len(x_val):
HT|        val_loss, measure = mean_over(evaluation_step, x_val, y_val, np.arange(len(x_val)))
HT|        line += f"  val_loss {val_loss:.6f}  val {MEASURE} {measure:.6f}"
HTE|        watched = val_loss
  |    print(line, flush=True)
E |    better = best - watched > $least * abs(watched)
E |    best, waited = (watched, 0) if better else (best, waited + 1)
E |    if waited >= $patience:
E |        break
  |
  |keras.Model(model.input, final(model.output), name="model").save("model.keras")
Fu|
Fu|loss, measure = mean_over(evaluation_step, x_test, y_test, np.arange(len(x_test)))
Fu|print(f"test_loss {loss:.6f}  test {MEASURE} {measure:.6f}")
FU|
FU|if len(x_test):
FU|    loss, measure = mean_over(evaluation_step, x_test, y_test, np.arange(len(x_test)))
FU|    print(f"test_loss {loss:.6f}  test {MEASURE} {measure:.6f}")
'''


def training_section(profile: Profile, plan: LaunchPlan) -> str:
    """Python that trains, validates after each epoch, saves ``model.keras`` and tests it."""
    training, data = profile.training, profile.data
    holds = _holds(profile, plan)
    state = [
        "weights",
        *(["seeds"] if "D" in holds else []),
        *(["centres"] if "N" in holds else []),
    ]
    sums = ["loss", "measure", "gradients", *(["moments"] if "N" in holds else [])]
    random = "D" in holds
    return Template(lines_for(_TEXT, holds)).substitute(
        epochs=training.epochs,
        batch=plan.global_batch_size,
        shares=list(plan.shares),
        measured="  # a run measures the replicas and adjusts these" if plan.balanced else "",
        parts=plan.accumulation_steps,
        state=", ".join(state),
        sums=", ".join(sums),
        found=", ".join([*sums, *(["seeds"] if random else [])]),
        answer=", ".join([*sums, *(["drawn"] if random else [])]),
        micro_batches=", micro_batches" if "A" in holds else "",
        clip=training.clip_norm,
        order=_order(data),
        repeated=_REPEATED[data.shuffle],
        class_names=script_of(data).class_names(data) if "Z" in holds else "",
        class_weights=data.class_weights,
        patience=training.early_stopping_patience,
        least=LEAST_PROGRESS,
    )


_REPEATED = {
    True: "return taken[np.random.default_rng([SEED, epoch]).permutation(len(taken))]",
    False: "return np.sort(taken)",
}


def _order(data: DataSettings) -> str:
    """The examples of an epoch, as an expression."""
    if data.oversample:
        return "epoch_order(epoch)"
    shuffled = "np.random.default_rng([SEED, epoch]).permutation(len(x))"
    return shuffled if data.shuffle else "np.arange(len(x))"


def _holds(profile: Profile, plan: LaunchPlan) -> set[str]:
    training, data = profile.training, profile.data
    # What code of the person's own builds is known when it runs.
    stack = profile.model.stack
    drops, norms = (True, True) if stack is None else (stack.dropout > 0, stack.batch_norm)
    conditions = {
        "S": len(plan.replicas) > 1,
        "A": plan.accumulation_steps > 1,
        "D": drops,
        "N": norms,
        "Q": stack is None,
        "O": profile.model.is_code or data.token_count > 0,
        "C": training.clip_norm is not None,
        "W": training.optimizer.traits.decays_weights,
        "X": training.jit_compile,
        "V": data.target_kind is Target.VALUES,
        "P": data.target_kind is Target.VALUES and data.may_predict_several,
        "K": data.target_kind is Target.LABELS,
        "H": data.may_validate,
        "F": data.may_test,
        "T": data.may_validate_on_test_set and data.has_test_set is None,
        "U": data.may_test and data.has_test_set is None,
        "E": training.early_stopping_patience is not None,
        "Z": isinstance(data.class_weights, dict) and data.target_kind in (Target.CLASSES, None),
        "B": data.class_weights is not ClassWeights.NONE
        and data.target_kind in (Target.CLASSES, None),
        "R": data.oversample,
        "G": data.chosen_augmentation.changes_anything,
        "Y": data.chosen_augmentation.mixup > 0 and data.target_kind in (Target.CLASSES, None),
    }
    found = {letter for letter, holds in conditions.items() if holds}
    found |= {"L"} if found & {"A", "D", "N"} else set()
    return found | {"M"} if found & {"F", "H"} else found
