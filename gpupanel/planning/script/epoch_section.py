"""The script's epochs: ``trainer/loop``, cut down to what a profile needs."""

from collections.abc import Iterator
from string import Template

from gpupanel.domain.best_epoch import LEAST_PROGRESS, BestMetric
from gpupanel.domain.data import DataSettings
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.epoch_needs import EpochNeeds
from gpupanel.planning.script.model_section import later_optimizer, later_rate
from gpupanel.planning.script.sections import indented, lines_of

_LATER_LAYERS = """
        for layer in later_layers:
            layer.trainable = True
        NORMS = [norm for norm in batch_norms(model) if norm.trainable]
"""
_LATER_OPTIMIZER = """
        with strategy.scope():
            # Anew: it would take slots that are zero for the means of all gradients until now.
            optimizer = $optimizer
            optimizer.build(model.trainable_variables)
"""
_LATER_AVERAGES = """
            for weight in model.trainable_variables:
                if id(weight) not in average_of:
                    average = optimizer.add_variable_from_reference(weight, "average")
                    average.assign(weight.value)
                    average_of[id(weight)] = average
            averages = [average_of[id(weight)] for weight in model.trainable_variables]
"""
_TRACED_ANEW = """
        # The same steps, traced with what learns now.
        train_step = tf.function(train_step.python_function, autograph=False)
"""
_EVALUATED_ANEW = """
        evaluation_step = tf.function(evaluation_step.python_function, autograph=False)
"""
_FIGURES_ANEW = """
        outputs_of_batch = tf.function(outputs_of_batch.python_function, autograph=False)
"""
_VALIDATED = """
val_loss, measure = mean_over(evaluation_step, x_val, y_val, np.arange(len(x_val))$size)
line += f"  val_loss {val_loss:.6f}  val {MEASURE} {measure:.6f}"
"""
_VALIDATED_BY_NAME = """
val_loss, *measured = mean_over(evaluation_step, x_val, y_val, np.arange(len(x_val))$size)
line += f"  val_loss {val_loss:.6f}{shown(measured, 'val ')}"
"""
_PLATEAU = """
    if ${seen}plateau_loss - watched > $least * abs(watched):
        plateau_loss, plateau_epochs = watched, 0
    else:
        plateau_epochs += 1
    if ${seen}plateau_epochs >= $epochs:
        plateau_epochs, factor = 0, max(factor * $factor, $least_rate)
        optimizer.learning_rate = $greatest * factor
"""
_STOP = """
    waited = 0 if better else waited + 1
    if ${seen}waited >= $patience:
        break
"""
_VALUES = {BestMetric.LOSS: "val_loss", BestMetric.ACCURACY: "measure", BestMetric.ERROR: "measure"}
"""What decides which epoch is the best, where less of it, or of its negative, is better."""
_FIGURE = "figure(outputs_of(x_val), y_val)"


def epoch_section(needs: EpochNeeds, profile: Profile, size: str) -> str:
    """Python that trains epoch by epoch, and validates after each that is due.

    Args:
        needs: Of the profile.
        profile: Which.
        size: One more argument of ``mean_over`` for what is measured: how many at a time.
    """
    return lines_of([*_before(needs, profile), *_epoch(needs, profile, size)])


def _before(needs: EpochNeeds, profile: Profile) -> Iterator[str]:
    if needs.keeps_best:
        yield "best_epoch, kept = 0, None"
    if needs.stops_early:
        yield "waited = 0"
    if needs.compares:
        yield "best_value = np.inf"
    if needs.follows_loss:
        yield "plateau_loss, plateau_epochs, factor = np.inf, 0, 1.0"
        if needs.learns_later:
            yield f"greatest = {profile.training.learning_rate}"
    if needs.learns_later and needs.keeps_averages:
        yield "head_optimizer = optimizer"


def _epoch(needs: EpochNeeds, profile: Profile, size: str) -> Iterator[str]:
    yield "for epoch in range(1, EPOCHS + 1):"
    if needs.learns_later:
        yield from _later_layers(needs, profile)
    yield f"    order = {_order(profile.data)}"
    drawn = ", drawn_in(epoch, len(order))" if needs.augments else ""
    if needs.names_measures:
        yield f"    loss, *measures = mean_over(train_step, x, y, order{drawn})"
        yield '    line = f"epoch {epoch}  loss {loss:.6f}{shown(measures)}"'
    else:
        yield f"    loss, measure = mean_over(train_step, x, y, order{drawn})"
        yield '    line = f"epoch {epoch}  loss {loss:.6f}  {MEASURE} {measure:.6f}"'
    if needs.follows_loss:
        yield "    watched = loss"
    if needs.compares:
        yield "    value = loss"
    if needs.skips_validations:
        lacks = "len(x_val) == 0 or " if needs.may_lack_validation else ""
        every = profile.training.validate_every
        yield f"    is_due = {lacks}epoch % {every} == 0 or epoch == EPOCHS"
    conditions = [
        *(["is_due"] if needs.skips_validations else []),
        *(["len(x_val)"] if needs.may_lack_validation else []),
    ]
    if conditions:
        yield f"    if {' and '.join(conditions)}:"
    if needs.validates:
        validated = lines_of(_validated(needs, profile, size))
        yield indented(validated, 8 if conditions else 4)
    yield "    print(line, flush=True)"
    seen = "is_due and " if needs.skips_validations else ""
    if needs.compares:
        yield f"    better = {seen}best_value - value > {LEAST_PROGRESS} * abs(value)"
        yield "    best_value = value if better else best_value"
    if needs.keeps_best:
        is_known = " and len(x_val)" if needs.may_lack_validation else ""
        yield f"    if better{is_known}:"
        yield "        best_epoch, kept = epoch, measured_weights()"
    if needs.follows_loss:
        yield _plateau(needs, profile, seen)
    if needs.stops_early:
        patience = profile.training.early_stopping_patience
        yield Template(_STOP).substitute(patience=patience, seen=seen)


def _later_layers(needs: EpochNeeds, profile: Profile) -> Iterator[str]:
    from_epoch = 0 if profile.fine_tuning is None else profile.fine_tuning.from_epoch
    yield f"    if epoch == {from_epoch}:  # more layers begin to learn"
    if needs.keeps_averages:
        yield "        average_of = dict(zip(map(id, model.trainable_variables), averages))"
    yield _LATER_LAYERS
    if needs.follows_loss:
        yield f"        greatest = {later_rate(profile)}"
    yield Template(_LATER_OPTIMIZER).substitute(optimizer=later_optimizer(profile))
    if needs.keeps_averages:
        yield _LATER_AVERAGES
    yield _TRACED_ANEW
    if needs.keeps_averages and needs.measures:
        yield _EVALUATED_ANEW
    if needs.keeps_averages and needs.compares_set_metrics:
        yield _FIGURES_ANEW


def _validated(needs: EpochNeeds, profile: Profile, size: str) -> Iterator[str]:
    by_name = needs.names_measures
    yield Template(_VALIDATED_BY_NAME if by_name else _VALIDATED).substitute(size=size)
    if needs.follows_loss:
        yield "watched = val_loss"
    if needs.compares:
        metric = profile.training.best_metric
        sign = "-" if metric.more_is_better else ""
        value = _VALUES.get(metric, _FIGURE)
        yield f"value = {sign}{'measured[0]' if by_name and value == 'measure' else value}"


def _plateau(needs: EpochNeeds, profile: Profile, seen: str) -> str:
    training = profile.training
    return Template(_PLATEAU).substitute(
        least=LEAST_PROGRESS,
        epochs=training.schedule.patience_epochs,
        factor=training.schedule.factor,
        least_rate=training.schedule.least,
        seen=seen,
        greatest="greatest" if needs.learns_later else training.learning_rate,
    )


def _order(data: DataSettings) -> str:
    """The examples of an epoch, as an expression."""
    if data.oversample:
        return "ORDER.of(epoch)"
    shuffled = "np.random.default_rng([SEED, epoch]).permutation(len(x))"
    return shuffled if data.shuffle else "np.arange(len(x))"
