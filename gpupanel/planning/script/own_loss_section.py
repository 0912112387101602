"""The script's loss and measures, where data and model are code of the person's own.

Labels may be arrays or of several outputs, and a loss and metrics may stand beside ``build_model``:
each is summed over the examples, as ``trainer/models/own_objective`` does it.
"""

from string import Template
from typing import Final

from gpupanel.domain.data import Target
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import joined

_OF_CLASSES = """
MEASURES = ["accuracy"]
final = keras.layers.Softmax(name="probabilities", dtype="float32")
loss_of_labels = places_class_loss if ARE_ARRAYS else class_loss
"""
_OF_LABELS = """
MEASURES = ["accuracy"]
final = keras.layers.Activation("sigmoid", name="probabilities", dtype="float32")
loss_of_labels = labels_loss
"""
_OF_VALUES = """
MEASURES = ["mean absolute error"]
if ARE_ARRAYS:  # in their own unit
    final = keras.layers.Activation("linear", name="values", dtype="float32")

    def loss_of_labels(outputs, labels):
        return places_value_loss(outputs, labels, UNIT)

elif not own_loss:  # in standard deviations; then in their own units
    MEAN, DEVIATION = statistics(y.reshape(len(y), -1))
    scale, offset = DEVIATION.tolist(), MEAN.tolist()
    if len(scale) == 1:
        (scale,), (offset,) = scale, offset
    final = keras.layers.Rescaling(scale, offset, name="values", dtype="float32")

    def loss_of_labels(outputs, labels):
        labels = tf.reshape(labels, tf.shape(outputs))
        return values_loss(outputs, labels, DEVIATION, MEAN)
"""
_OF_OUTPUTS = '''
def labels_apart(rows):
    """The labels of each output by its name."""
    found, start = {}, 0
    for name, (predicts, shape, _) in OUTPUTS.items():
        end = start + int(np.prod(shape))
        labels = tf.reshape(rows[:, start:end], [-1, *shape])
        found[name] = tf.cast(labels, tf.int64) if predicts == "classes" else labels
        start = end
    return found


def outputs_apart(rows):
    """What the model gives for each output, by its name."""
    found, start = {}, 0
    for name in OUTPUTS:
        end = start + int(np.prod(output_shape(name)))
        shaped = keras.layers.Reshape(output_shape(name), dtype="float32")
        found[name] = shaped(rows[:, start:end])
        start = end
    return found


def loss_of_outputs(outputs, labels):
    """The sum of the losses of all outputs by their weights; then loss and measure of each."""
    outputs, labels = outputs_apart(outputs), labels_apart(labels)
    found = [
        LOSSES[predicts](outputs[name], labels[name]) for name, (predicts, *_) in OUTPUTS.items()
    ]
    whole = tf.add_n([WEIGHTS[name] * loss for name, (loss, _) in zip(OUTPUTS, found)])
    return whole, *(number for numbers in found for number in numbers)


if OUTPUTS:
    LOSSES = {
        "classes": places_class_loss,
        "labels": labels_loss,
        "values": lambda outputs, labels: places_value_loss(outputs, labels, 1.0),
    }
    WEIGHTS = dict.fromkeys(OUTPUTS, 1.0) | (own_function("loss_weights") or {})
    loss_of_labels, MEASURES = loss_of_outputs, []
    for name, (predicts, *_) in OUTPUTS.items():
        MEASURES += [f"{name}_loss", f"{name}_{'error' if predicts == 'values' else 'accuracy'}"]
'''
_SUMS = '''
if own_loss:  # it alone knows what outputs mean
    MEASURES = []
    final = keras.layers.Activation("linear", name="given", dtype="float32")
MEASURES += own_metrics


def final_of(name):
    """What makes probabilities of one of several outputs."""
    how = {"classes": "softmax", "labels": "sigmoid"}.get(OUTPUTS[name][0], "linear")
    how = "linear" if own_loss else how
    if how == "softmax":
        return keras.layers.Softmax(name=f"probabilities_of_{name}", dtype="float32")
    what = "given" if own_loss else "values" if how == "linear" else "probabilities"
    return keras.layers.Activation(how, name=f"{what}_of_{name}", dtype="float32")


def as_saved(outputs):
    """What model.keras gives, of what is trained; several outputs by their names."""
    if not OUTPUTS:
        return final(outputs)
    return {name: final_of(name)(each) for name, each in outputs_apart(outputs).items()}


def loss_and_measure(outputs, labels):
    """Sums over the examples: what is made small; then the loss that is shown, and MEASURES."""
    given = labels_apart(labels) if OUTPUTS else $given
    own = {"loss": own_loss, **own_metrics} if own_loss else own_metrics
    numbers = {name: each(given, as_saved(outputs)) for name, each in own.items()}
    for name, each in numbers.items():
        if each.shape.rank not in (1, None):
            raise SystemExit(f"{name} does not give one number for each example.")
    rows = [tf.ensure_shape(each, [None]) for each in numbers.values()]  # if it is not known yet
    sums = [tf.reduce_sum(tf.cast(each, tf.float32)) for each in rows]
    if not own_loss:
        sums = [*loss_of_labels(outputs, labels), *sums]
    seen = sums if len(sums) == 1 + len(MEASURES) else sums[1:]
    return sums[0], tf.stack(seen)


def shown(measures, of=""):
    """The measures by their names."""
    return "".join(f"  {of}{name} {each:.6f}" for name, each in zip(MEASURES, measures))
'''
_GIVEN: Final = {
    Target.CLASSES: "tf.cast(labels, tf.int64)",
    Target.LABELS: "labels",
    Target.VALUES: "tf.cast(labels, tf.float32) * UNIT",
}
"""Labels as functions of the person's own are given them."""
_OF_LABEL: Final = {
    Target.CLASSES: _OF_CLASSES,
    Target.LABELS: _OF_LABELS,
    Target.VALUES: _OF_VALUES,
}
_LOSSES: Final = ("places_class_loss", "labels_loss", "places_value_loss")
_OF_ROW: Final = {
    Target.CLASSES: ("class_loss",),
    Target.LABELS: (),
    Target.VALUES: ("values_loss",),
}


def own_loss_section(profile: Profile) -> str:
    """From labels ``y`` to ``MEASURES``, ``as_saved`` and ``loss_and_measure(outputs, labels)``."""
    target, refused = profile.data.target_kind or Target.CLASSES, ""
    metric = profile.training.best_metric
    if profile.data.may_validate:
        for found, misfit in (
            ("own_loss", metric.misfit_of_own_loss()),
            ("OUTPUTS", metric.misfit_of_arrays(None)),
        ):
            if misfit is not None:
                refused += f"if {found}:\n    raise SystemExit({misfit.message!r})\n"
    return joined(
        part("losses", *_LOSSES, *_OF_ROW[target]),
        refused,
        _OF_LABEL[target],
        _OF_OUTPUTS,
        Template(_SUMS).substitute(given=_GIVEN[target]),
    )
