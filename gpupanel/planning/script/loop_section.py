"""The script's loop: each replica takes its share, gradients are summed over the global batch."""

from gpupanel.domain.data import Target
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile

_CLASSES = """
MEASURE = "accuracy"
final = keras.layers.Softmax()


def loss_and_measure(outputs, labels):
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, outputs)
    right = tf.equal(tf.argmax(outputs, axis=1, output_type=tf.int32), labels)
    return tf.reduce_sum(loss), tf.reduce_sum(tf.cast(right, tf.float32))
"""

_VALUES = """
MEASURE = "mean absolute error"
UNIT, MEAN = float(y.std()) or 1.0, float(y.mean())
final = keras.layers.Rescaling(UNIT, MEAN)
y, y_val = (y - MEAN) / UNIT, (y_val - MEAN) / UNIT


def loss_and_measure(outputs, labels):
    error = outputs[:, 0] - labels
    return tf.reduce_sum(error**2) * UNIT**2, tf.reduce_sum(tf.abs(error)) * UNIT
"""

_LOOP = """
EPOCHS, BATCH, SHARES, PARTS = {epochs}, {batch}, {shares}, {parts}
BORDERS = np.concatenate([[0], np.cumsum(SHARES)])
x_all, y_all, x_held, y_held = map(tf.constant, (x, y, x_val, y_val))


def my_part(indices):
    # A smaller last batch is divided as nearly as the shares are.
    replica = tf.distribute.get_replica_context().replica_id_in_sync_group
    count = tf.shape(indices)[0]
    borders = tf.constant(BORDERS, tf.int32) * count // BATCH
    return indices[borders[replica] : borders[replica + 1]]


def train_replica(indices):
    mine, batch = my_part(indices), tf.cast(tf.shape(indices)[0], tf.float32)
    count, gradients = tf.shape(mine)[0], None
    loss_sum = measure_sum = 0.0
    for part in range(PARTS):  # gradient accumulation: micro-batches, applied once
        micro = mine[count * part // PARTS : count * (part + 1) // PARTS]
        with tf.GradientTape() as tape:
            outputs = model(tf.gather(x_all, micro), training=True)
            loss, measure = loss_and_measure(outputs, tf.gather(y_all, micro))
            scaled = loss / ({unit_squared} * batch)
        found = tape.gradient(scaled, [variable.value for variable in model.trainable_variables])
        gradients = found if gradients is None else [a + b for a, b in zip(gradients, found)]
        loss_sum, measure_sum = loss_sum + loss, measure_sum + measure
{clip}    optimizer.apply(gradients, model.trainable_variables)  # sums over replicas
    return loss_sum, measure_sum


def validate_replica(indices):
    mine = my_part(indices)
    outputs = model(tf.gather(x_held, mine), training=False)
    return loss_and_measure(outputs, tf.gather(y_held, mine))


def on_all_replicas(function):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)]{jit})
    def step(indices):
        sums = strategy.run(function, args=(indices,))
        return [strategy.reduce(tf.distribute.ReduceOp.SUM, each, axis=None) for each in sums]

    return step


def mean_over(step, order):
    sums = np.zeros(2)
    for first in range(0, len(order), BATCH):
        sums += [float(each) for each in step(tf.constant(order[first : first + BATCH]))]
    return sums / max(1, len(order))


with strategy.scope():
    optimizer.build(model.trainable_variables)
train_step, validate_step = on_all_replicas(train_replica), on_all_replicas(validate_replica)
best, waited = np.inf, 0
for epoch in range(1, EPOCHS + 1):
    order = {order}
    loss, measure = mean_over(train_step, order.astype(np.int32))
    line = f"epoch {{epoch}}  loss {{loss:.6f}}  {{MEASURE}} {{measure:.6f}}"
    watched = loss
    if len(x_val):
        watched, measure = mean_over(validate_step, np.arange(len(x_val), dtype=np.int32))
        line += f"  val_loss {{watched:.6f}}  val {{MEASURE}} {{measure:.6f}}"
    print(line, flush=True)
    best, waited = (watched, 0) if watched < best else (best, waited + 1)
    if waited >= {patience}:
        break

keras.Model(model.input, final(model.output)).save("model.keras")
"""


_CLIP = """    # The gradient of the whole batch is clipped: summed first; apply sums once more.
    context = tf.distribute.get_replica_context()
    whole = context.all_reduce(tf.distribute.ReduceOp.SUM, gradients)
    clipped, _ = tf.clip_by_global_norm(whole, {norm!r})
    gradients = [each / context.num_replicas_in_sync for each in clipped]
"""


def loop_section(profile: Profile, plan: LaunchPlan) -> str:
    """Python that trains, validates after each epoch and saves ``model.keras``."""
    training = profile.training
    shuffled = "np.random.default_rng([SEED, epoch]).permutation(len(x))"
    values = profile.data.target is Target.VALUES
    loop = _LOOP.format(
        epochs=training.epochs,
        batch=plan.global_batch_size,
        shares=list(plan.shares),
        parts=plan.accumulation_steps,
        clip="" if training.clip_norm is None else _CLIP.format(norm=training.clip_norm),
        jit=", jit_compile=True" if training.jit_compile and len(plan.replicas) == 1 else "",
        unit_squared="UNIT**2" if values else "1.0",
        order=shuffled if profile.data.shuffle else "np.arange(len(x))",
        patience=training.early_stopping_patience or "np.inf",
    )
    return (_VALUES if values else _CLASSES) + "\n\n" + loop.strip("\n")
