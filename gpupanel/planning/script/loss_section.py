"""The script's measure and loss: ``trainer/models``, cut down to what a profile needs."""

from string import Template

from gpupanel.domain.data import ClassWeights, DataSettings, Target
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.script.data_section import script_of
from gpupanel.planning.script.sections import lines_for

# In the margin: V values to be predicted, P perhaps several of them, K several labels at once,
# B weighted classes, Z by their names, Y examples are blended, so that labels are shares of the
# classes, T what is made small is another loss, F focal, S smoothed.
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
Vp|    return tf.reduce_sum(tf.square(error)), tf.reduce_sum(tf.abs(error))
P |    """Squared error in standard deviations; squared and absolute error as they are.
P |
P |    Means over the values, summed over the examples.
P |    """
P |    error = outputs - (tf.reshape(labels, tf.shape(outputs)) - MEAN) / UNIT
P |    each = tf.stack([tf.square(error), tf.square(error * UNIT), tf.abs(error * UNIT)])
P |    loss, *errors = tf.unstack(tf.reduce_sum(tf.reduce_mean(each, axis=2), axis=1))
P |    return loss, tf.stack(errors)
T |
T |
T |def training_loss(outputs, labels):
T |    """What is made small, summed over the examples; what is measured stays plain."""
T |    outputs = tf.cast(outputs, tf.float32)
TvkY|    shares = labels if len(labels.shape) == 2 else tf.one_hot(labels, outputs.shape[1])
Tvky|    shares = tf.one_hot(labels, outputs.shape[1])
TvkB|    shares *= CLASS_WEIGHTS
Tvk|    logarithms = tf.nn.log_softmax(outputs)
TvkF|    wrong = tf.maximum(1.0 - tf.exp(logarithms), 1e-7)
TvkF|    logarithms *= tf.pow(wrong, $gamma)
TvkS|    mean = tf.reduce_mean(logarithms, axis=1, keepdims=True)
TvkS|    logarithms += $smoothing * (mean - logarithms)
Tvk|    return -tf.reduce_sum(shares * logarithms)
TKS|    labels += $smoothing * (0.5 - labels)
TK |    losses = tf.nn.sigmoid_cross_entropy_with_logits(labels, outputs)
TKF|    said = tf.sigmoid(outputs)
TKF|    right = labels * said + (1.0 - labels) * (1.0 - said)
TKF|    losses *= tf.pow(tf.maximum(1.0 - right, 1e-7), $gamma)
TK |    return tf.reduce_sum(tf.reduce_mean(losses, axis=1))
'''


def loss_section(data: DataSettings, training: TrainingSettings) -> str:
    """From labels ``y`` to ``MEASURE``, ``final`` and ``loss_and_measure(outputs, labels)``.

    With ``training_loss(outputs, labels)`` where another loss is made small than measured.
    """
    holds = loss_conditions(data)
    if training.changes_loss:
        changed = {"F": training.focal_power > 0.0, "S": training.label_smoothing > 0.0}
        holds |= {"T", *(letter for letter, is_so in changed.items() if is_so)}
    return Template(lines_for(_TEXT, holds)).substitute(
        class_names=script_of(data).class_names(data) if "Z" in holds else "",
        class_weights=data.class_weights,
        gamma=training.focal_power,
        smoothing=training.label_smoothing,
    )


def loss_conditions(data: DataSettings) -> set[str]:
    """The capital letters that hold, as they stand above."""
    has_classes = data.target_kind in (Target.CLASSES, None)
    conditions = {
        "V": data.target_kind is Target.VALUES,
        "P": data.target_kind is Target.VALUES and data.may_predict_several,
        "K": data.target_kind is Target.LABELS,
        "B": has_classes and data.class_weights is not ClassWeights.NONE,
        "Z": has_classes and isinstance(data.class_weights, dict),
        "Y": has_classes and data.chosen_augmentation.mixup > 0,
    }
    return {letter for letter, holds in conditions.items() if holds}
