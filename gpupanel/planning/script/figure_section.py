"""The script's figure of a whole set that decides which epoch is the best: F1, AUC or R²."""

from string import Template
from typing import Final

from gpupanel.domain.best_epoch import BestMetric
from gpupanel.domain.data import Target
from gpupanel.planning.script.sections import lines_for

# In the margin: A the AUC, R the R², K several labels at once, E averages of the weights are kept.
_TEXT: Final = '''
  |@tf.function(autograph=False)
  |def outputs_of_batch(features):
e |    return model(features, training=False)
E |    now = [tf.convert_to_tensor(average.value) for average in averages]
E |    with keras.StatelessScope(state_mapping=list(zip(model.trainable_variables, now))):
E |        return model(features, training=False)
  |
  |
  |def outputs_of(features):
  |    starts = range(0, len(features), $examples)
  |    batches = [features[first : first + $examples] for first in starts]
  |    return np.concatenate([outputs_of_batch(batch).numpy() for batch in batches])
  |
  |
F |def figure(outputs, labels):
F |    """The mean F1 of those that occur, in labels or predictions."""
Fk|    every = np.arange(outputs.shape[1])
Fk|    said, has = np.argmax(outputs, axis=1)[:, None] == every, labels[:, None] == every
FK|    said, has = outputs > 0, labels > 0.5
F |    right, both = (said & has).sum(axis=0), said.sum(axis=0) + has.sum(axis=0)
F |    return np.mean(2.0 * right[both > 0] / both[both > 0])
A |def figure(outputs, labels):
A |    """The mean area under the ROC curve of those that some examples have, and some have not."""
Ak|    scores, has = (outputs[:, 1] - outputs[:, 0])[:, None], labels[:, None] > 0
AK|    scores, has = outputs, labels > 0.5
A |    areas = []
A |    for score, which in zip(np.float32(scores).T, has.T):
A |        if which.any() and not which.all():
A |            different, places = np.unique(score, return_inverse=True)
A |            with_it = np.bincount(places[which], None, len(different))
A |            without = np.bincount(places[~which], None, len(different))
A |            pairs = with_it * (np.cumsum(without) - 0.5 * without)
A |            areas.append(pairs.sum() / (which.sum() * (~which).sum()))
A |    return np.mean(areas)
R |def figure(outputs, labels):
R |    """The mean coefficient of determination of the values that differ between examples."""
R |    labels = np.float64((labels.reshape(outputs.shape) - MEAN) / UNIT)
R |    errors = np.square(outputs - labels).sum(axis=0)
R |    squares = np.square(labels).sum(axis=0)
R |    variances = squares - labels.sum(axis=0) ** 2 / len(labels)
R |    known = variances > 1e-9 * np.maximum(squares, 1e-30)
R |    return np.mean(1.0 - errors[known] / variances[known])
'''


def figure_section(
    metric: BestMetric, target: Target | None, examples: str, *, averages: bool
) -> str:
    """Python that defines ``figure(outputs, labels)`` and ``outputs_of(features)``.

    Args:
        metric: One that is calculated of a whole set.
        target: What the labels are; ``None``: classes, as far as anybody knows.
        examples: How many of them are measured at a time, in Python.
        averages: The model is validated with averages of its weights.
    """
    conditions = {
        "F": metric is BestMetric.F1,
        "A": metric is BestMetric.AUC,
        "R": metric is BestMetric.R2,
        "K": target is Target.LABELS,
        "E": averages,
    }
    lines = lines_for(_TEXT, {letter for letter, holds in conditions.items() if holds})
    return Template(lines).substitute(examples=examples)
