"""The script's training: ``trainer/loop``, cut down to what a profile needs."""

from string import Template

from gpupanel.domain.best_epoch import LEAST_PROGRESS, BestMetric, Keep
from gpupanel.domain.data import DataSettings
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.figure_section import figure_section
from gpupanel.planning.script.loss_section import loss_conditions, loss_section
from gpupanel.planning.script.model_section import later_optimizer, later_rate
from gpupanel.planning.script.sections import joined, lines_for
from gpupanel.planning.script.step_section import step_section

# In the margin: V values to be predicted, P perhaps several of them, H examples held back, T by a
# test set that may be missing, F a test set for the end, U that may be missing, E early stopping,
# G examples are changed, R rare classes are repeated, A averages of the weights are kept,
# L the loss decides about the learning rate, J one of K and E, B layers of a base learn later,
# M something is measured beside training, K the weights of the best epoch are kept, Z a figure of
# the whole set decides about it.
_TEXT = '''
g |def mean_over(step, x, y, order$size):
G |def mean_over(step, x, y, order, *drawn$size):
p |    sums = np.zeros(2)
P |    sums = np.zeros(3)
  |    for first in range(0, len(order), $examples):
  |        batch = order[first : first + $examples]
g |        found = step(x[batch], y[batch])
G |        of_batch = [each[first : first + $examples] for each in drawn]
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
K |import sys
K |
K |
K |def measured_weights():
Ka|    """What the model is validated with now."""
Ka|    return [np.asarray(weight.value) for weight in model.weights]
KA|    """What the model is validated with now: averages, where there are any of a weight."""
KA|    average_of = dict(zip(map(id, model.trainable_variables), averages))
KA|    return [np.asarray(average_of.get(id(weight), weight).value) for weight in model.weights]
K |
K |
K |best_epoch, kept = 0, None
E |waited = 0
J |best_value = np.inf
L |plateau_loss, plateau_epochs, factor = np.inf, 0, 1.0
BL|greatest = $rate
BA|head_optimizer = optimizer
  |for epoch in range(1, EPOCHS + 1):
B |    if epoch == $from_epoch:  # more layers begin to learn
BA|        average_of = dict(zip(map(id, model.trainable_variables), averages))
B |        for layer in later_layers:
B |            layer.trainable = True
B |        NORMS = [norm for norm in batch_norms(model) if norm.trainable]
BL|        greatest = $later_rate
B |        with strategy.scope():
B |            # Anew: it would take slots that are zero for the means of all gradients until now.
B |            optimizer = $later_optimizer
B |            optimizer.build(model.trainable_variables)
BA|            for weight in model.trainable_variables:
BA|                if id(weight) not in average_of:
BA|                    average = optimizer.add_variable_from_reference(weight, "average")
BA|                    average.assign(weight.value)
BA|                    average_of[id(weight)] = average
BA|            averages = [average_of[id(weight)] for weight in model.trainable_variables]
B |        # The same steps, traced with what learns now.
B |        train_step = tf.function(train_step.python_function, autograph=False)
BAM|        evaluation_step = tf.function(evaluation_step.python_function, autograph=False)
BAZ|        outputs_of_batch = tf.function(outputs_of_batch.python_function, autograph=False)
  |    order = $order
g |    loss, measure = mean_over(train_step, x, y, order)
G |    loss, measure = mean_over(train_step, x, y, order, drawn_in(epoch, len(order)))
  |    line = f"epoch {epoch}  loss {loss:.6f}  {MEASURE} {measure:.6f}"
L |    watched = loss
J |    value = loss
Ht|    val_loss, measure = mean_over(evaluation_step, x_val, y_val, np.arange(len(x_val))$parts)
Ht|    line += f"  val_loss {val_loss:.6f}  val {MEASURE} {measure:.6f}"
HtL|    watched = val_loss
HtJ|    value = $value
HT|    if len(x_val):
HT|        val_loss, measure = mean_over(evaluation_step, x_val, y_val, np.arange(len(x_val))$parts)
HT|        line += f"  val_loss {val_loss:.6f}  val {MEASURE} {measure:.6f}"
HTL|        watched = val_loss
HTJ|        value = $value
  |    print(line, flush=True)
J |    better = best_value - value > $least * abs(value)
J |    best_value = value if better else best_value
Kt|    if better:
KT|    if better and len(x_val):
K |        best_epoch, kept = epoch, measured_weights()
L |    if plateau_loss - watched > $least * abs(watched):
L |        plateau_loss, plateau_epochs = watched, 0
L |    else:
L |        plateau_epochs += 1
L |    if plateau_epochs >= $plateau:
L |        plateau_epochs, factor = 0, max(factor * $factor, $least_rate)
Lb|        optimizer.learning_rate = $rate * factor
LB|        optimizer.learning_rate = greatest * factor
E |    waited = 0 if better else waited + 1
E |    if waited >= $patience:
E |        break
  |
K |if kept is None:  # nothing was validated
K |    best_epoch, kept = epoch, measured_weights()
K |for weight, array in zip(model.weights, kept):
K |    weight.assign(array)
KA|for weight, average in zip(model.trainable_variables, averages):
KA|    average.assign(weight.value)  # these are measured on a test set
K |print(f"model.keras has the weights of epoch {best_epoch}", file=sys.stderr)
kA|for weight, average in zip(model.trainable_variables, averages):
kA|    weight.assign(average.value)  # what was validated is saved
  |keras.Model(model.input, final(model.output), name="model").save("model.keras")
Fu|
Fu|loss, measure = mean_over(evaluation_step, x_test, y_test, np.arange(len(x_test))$parts)
Fu|print(f"test_loss {loss:.6f}  test {MEASURE} {measure:.6f}")
FU|
FU|if len(x_test):
FU|    loss, measure = mean_over(evaluation_step, x_test, y_test, np.arange(len(x_test))$parts)
FU|    print(f"test_loss {loss:.6f}  test {MEASURE} {measure:.6f}")
'''


def training_section(profile: Profile, plan: LaunchPlan) -> str:
    """Python that trains, validates after each epoch, saves ``model.keras`` and tests it."""
    data, training = profile.data, profile.training
    metric = training.best_metric
    # What accumulates is measured in parts, too.
    in_parts = plan.measured_at_a_time < plan.global_batch_size and "M" in _conditions(profile)
    measured = str(plan.measured_at_a_time) if in_parts else "BATCH"
    epochs = Template(lines_for(_TEXT, _conditions(profile))).substitute(
        size=", size=BATCH" if in_parts else "",
        examples="size" if in_parts else "BATCH",
        parts=f", size={measured}" if in_parts else "",
        order=_order(data),
        repeated=_REPEATED[data.shuffle],
        patience=training.early_stopping_patience,
        least=LEAST_PROGRESS,
        value=("-" if metric.more_is_better else "") + _VALUES.get(metric, _FIGURE),
        rate=training.learning_rate,
        from_epoch=0 if profile.fine_tuning is None else profile.fine_tuning.from_epoch,
        later_rate=later_rate(profile),
        later_optimizer=later_optimizer(profile),
        factor=training.schedule.factor,
        least_rate=training.schedule.least,
        plateau=training.schedule.patience_epochs,
    )
    figure = ""
    if "Z" in _conditions(profile):
        averages = training.ema is not None
        figure = figure_section(metric, data.target_kind, measured, averages=averages)
    return joined(loss_section(data, training), step_section(profile, plan), figure, epochs)


_VALUES = {BestMetric.LOSS: "val_loss", BestMetric.ACCURACY: "measure", BestMetric.ERROR: "measure"}
"""What decides which epoch is the best, where less of it, or of its negative, is better."""
_FIGURE = "figure(outputs_of(x_val), y_val)"


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


def _conditions(profile: Profile) -> set[str]:
    data = profile.data
    conditions = {
        "H": data.may_validate,
        "F": data.may_test,
        "T": data.may_validate_on_test_set and data.has_test_set is None,
        "U": data.may_test and data.has_test_set is None,
        "E": profile.training.early_stopping_patience is not None,
        "R": data.oversample,
        "A": profile.training.ema is not None,
        "L": profile.training.schedule.follows_loss,
        "G": data.chosen_augmentation.changes_anything,
        "B": profile.fine_tuning is not None,
        "M": data.may_validate or data.may_test,
        "K": data.may_validate and profile.training.keep is not Keep.LAST,
    }
    found = {letter for letter, holds in conditions.items() if holds}
    predicted = loss_conditions(data) & {"V", "P"}
    found |= {"J"} if found & {"E", "K"} else set()
    is_figure = data.may_validate and profile.training.best_metric.is_figure
    return predicted | found | ({"Z"} if "J" in found and is_figure else set())
