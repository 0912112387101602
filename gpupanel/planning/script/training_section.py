"""The script's training, and what is saved and measured at its end."""

from collections.abc import Iterator
from string import Template

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.epoch_needs import EpochNeeds, epoch_needs
from gpupanel.planning.script.epoch_section import epoch_section
from gpupanel.planning.script.figure_section import figure_section
from gpupanel.planning.script.loss_section import loss_section
from gpupanel.planning.script.own_loss_section import own_loss_section
from gpupanel.planning.script.own_model_section import SAVED as SAVED_OWN
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import indented, joined, lines_of
from gpupanel.planning.script.step_needs import step_needs
from gpupanel.planning.script.step_section import step_section

_NOT_FINITE = """
        if not np.isfinite(sums[0]):
            raise SystemExit("The loss is not finite any more.")
"""
_SCALE_SPENT = """
        if LOSS_SCALE.is_spent:
            raise SystemExit("The gradients are not finite any more.")
"""
_WEIGHTS = '''
import sys


def measured_weights():
    """What the model is validated with now."""
    return [np.asarray(weight.value) for weight in model.weights]
'''
_AVERAGED_WEIGHTS = '''
import sys


def measured_weights():
    """What the model is validated with now: averages, where there are any of a weight."""
    average_of = dict(zip(map(id, model.trainable_variables), averages))
    return [np.asarray(average_of.get(id(weight), weight).value) for weight in model.weights]
'''
_BEST_WEIGHTS = """
if kept is None:  # nothing was validated
    best_epoch, kept = epoch, measured_weights()
for weight, array in zip(model.weights, kept):
    weight.assign(array)
"""
_AVERAGES_OF_BEST = """
for weight, average in zip(model.trainable_variables, averages):
    average.assign(weight.value)  # these are measured on a test set
"""
_SAID_BEST = """
print(f"model.keras has the weights of epoch {best_epoch}", file=sys.stderr)
"""
_AVERAGES = """
for weight, average in zip(model.trainable_variables, averages):
    weight.assign(average.value)  # what was validated is saved
"""
_SAVED = """
keras.Model(model.input, final(model.output), name="model").save("model.keras")
"""
_TESTED = """
loss, measure = mean_over(evaluation_step, x_test, y_test, np.arange(len(x_test))$size)
print(f"test_loss {loss:.6f}  test {MEASURE} {measure:.6f}")
"""
_TESTED_BY_NAME = """
loss, *measures = mean_over(evaluation_step, x_test, y_test, np.arange(len(x_test))$size)
print(f"test_loss {loss:.6f}{shown(measures, 'test ')}")
"""


def training_section(profile: Profile, plan: LaunchPlan) -> str:
    """Python that trains, validates after epochs, saves ``model.keras`` and tests it."""
    data, training = profile.data, profile.training
    needs = epoch_needs(profile)
    # What accumulates is measured in parts, too.
    in_parts = needs.measures and plan.measured_at_a_time < plan.global_batch_size
    measured = str(plan.measured_at_a_time) if in_parts else "BATCH"
    size = f", size={measured}" if in_parts else ""
    weights = _AVERAGED_WEIGHTS if needs.keeps_averages else _WEIGHTS
    averages, metric = needs.keeps_averages, training.best_metric
    return joined(
        own_loss_section(profile) if needs.names_measures else loss_section(data, training),
        step_section(profile, plan),
        figure_section(metric, data.target_kind, measured, averages=averages)
        if needs.compares_set_metrics
        else "",
        part("epoch_order") if needs.oversamples else "",
        lines_of(
            _mean_over(needs, in_parts=in_parts, scales=step_needs(profile, plan).scales_loss)
        ),
        f"ORDER = EpochOrder(len(x), SEED, shuffle={data.shuffle}, classes=y)"
        if needs.oversamples
        else "",
        weights if needs.keeps_best else "",
        lines_of([epoch_section(needs, profile, size), "", *_ending(needs, size)]),
    )


def _mean_over(needs: EpochNeeds, *, in_parts: bool, scales: bool) -> Iterator[str]:
    """The mean of what a step finds.

    Args:
        needs: Of the profile.
        in_parts: Not as many examples are measured at a time as are trained on.
        scales: The loss is scaled.
    """
    drawn = ", *drawn" if needs.augments else ""
    size, examples = (", size=BATCH", "size") if in_parts else ("", "BATCH")
    yield f"def mean_over(step, x, y, order{drawn}{size}):"
    many = needs.names_measures or needs.predicts_several
    count = "2 + len(MEASURES)" if needs.names_measures else 3 if many else 2
    yield f"    sums = np.zeros({count})"
    yield f"    for first in range(0, len(order), {examples}):"
    yield f"        batch = order[first : first + {examples}]"
    if needs.augments:
        yield f"        of_batch = [each[first : first + {examples}] for each in drawn]"
        yield "        found = step(x[batch], y[batch], *of_batch)"
    else:
        yield "        found = step(x[batch], y[batch])"
    if many:
        yield "        sums += np.concatenate([np.ravel(each) for each in found])"
    else:
        yield "        sums += [float(each) for each in found]"
    yield _NOT_FINITE
    if scales:
        yield _SCALE_SPENT
    if many:
        yield "    return sums[1:] / len(order)"
    elif needs.predicts_values:
        yield "    return sums * [UNIT**2, UNIT] / len(order)"
    else:
        yield "    return sums / len(order)"


def _ending(needs: EpochNeeds, size: str) -> Iterator[str]:
    """From what was trained to what is saved, and measured on a test set."""
    if needs.keeps_best:
        yield _BEST_WEIGHTS
        if needs.keeps_averages:
            yield _AVERAGES_OF_BEST
        yield _SAID_BEST
    elif needs.keeps_averages:
        yield _AVERAGES
    yield SAVED_OWN if needs.names_measures else _SAVED
    if needs.tests:
        tested = _TESTED_BY_NAME if needs.names_measures else _TESTED
        tested = Template(tested).substitute(size=size).strip("\n")
        yield ""
        if needs.may_lack_test:
            yield "if len(x_test):"
            tested = indented(tested)
        yield tested
