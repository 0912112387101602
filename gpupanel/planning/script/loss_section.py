"""The script's measure and loss, as training has them."""

from string import Template

from gpupanel.domain.data import ClassWeights, DataSettings, Target
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.script.data_section import script_of
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import joined

_OF_CLASSES = """
MEASURE = "accuracy"
final = keras.layers.Softmax(name="probabilities", dtype="float32")
loss_and_measure = class_loss
"""
_OF_LABELS = """
MEASURE = "accuracy"
final = keras.layers.Activation("sigmoid", name="probabilities", dtype="float32")
loss_and_measure = labels_loss
"""
_OF_VALUE = """
MEASURE = "mean absolute error"
MEAN, UNIT = map(float, statistics(y))
final = keras.layers.Rescaling(UNIT, MEAN, name="values", dtype="float32")


def loss_and_measure(outputs, labels):
    return value_loss(outputs, labels, UNIT, MEAN)
"""
_OF_VALUES = """
MEASURE = "mean absolute error"
MEAN, UNIT = statistics(y.reshape(len(y), -1))
scale, offset = UNIT.tolist(), MEAN.tolist()
if len(scale) == 1:
    (scale,), (offset,) = scale, offset
final = keras.layers.Rescaling(scale, offset, name="values", dtype="float32")


def loss_and_measure(outputs, labels):
    labels = tf.reshape(labels, tf.shape(outputs))
    loss, *errors = values_loss(outputs, labels, UNIT, MEAN)
    return loss, tf.stack(errors)
"""
_BALANCED = "CLASS_WEIGHTS = balanced_weights(y, class_count)"
_CHOSEN = """
chosen = $class_weights
CLASS_WEIGHTS = np.float32([chosen.get(name, 1.0) for name in class_names])
"""
_CHANGED = '''
def training_loss(outputs, labels):
    """What is made small, summed over the examples; what is measured stays plain."""
    return $changed(outputs, labels, $gamma, $smoothing$weights)
'''


def loss_section(data: DataSettings, training: TrainingSettings) -> str:
    """From labels ``y`` to ``MEASURE``, ``final`` and ``loss_and_measure(outputs, labels)``.

    With ``training_loss(outputs, labels)`` where another loss is made small than measured.
    """
    match data.target_kind:
        case Target.VALUES if data.may_predict_several:
            return joined(part("losses", "values_loss"), _OF_VALUES)
        case Target.VALUES:
            return joined(part("losses", "value_loss"), _OF_VALUE)
        case Target.LABELS:
            needed, section, changed = ["labels_loss"], _OF_LABELS, "changed_labels_loss"
        case _:
            needed, section, changed = ["class_loss"], _OF_CLASSES, "changed_class_loss"
    if training.changes_loss:
        needed.append(changed)
    weights = ""
    if weights_classes(data):
        is_chosen = isinstance(data.class_weights, dict)
        needed += [] if is_chosen else ["balanced_weights"]
        weights = _chosen_weights(data) if is_chosen else _BALANCED
        section = f"{section.rstrip()}\n{weights}"
    return joined(
        part("losses", *needed),
        section,
        Template(_CHANGED).substitute(
            changed=changed,
            gamma=training.focal_power,
            smoothing=training.label_smoothing,
            weights=", CLASS_WEIGHTS" if weights else "",
        )
        if training.changes_loss
        else "",
    )


def _chosen_weights(data: DataSettings) -> str:
    names = script_of(data).class_names(data)
    return names + Template(_CHOSEN).substitute(class_weights=data.class_weights)


def weights_classes(data: DataSettings) -> bool:
    """Whether some classes count more than others."""
    has_classes = data.target_kind in (Target.CLASSES, None)
    return has_classes and data.class_weights is not ClassWeights.NONE
