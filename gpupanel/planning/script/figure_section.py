"""The script's figure of a whole set that decides which epoch is the best: F1, AUC or R²."""

from collections.abc import Iterator
from string import Template
from typing import Final

from gpupanel.domain.best_epoch import BestMetric
from gpupanel.domain.data import Target
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import joined, lines_of

_WITH_AVERAGES = """
    now = [tf.convert_to_tensor(average.value) for average in averages]
    with keras.StatelessScope(state_mapping=list(zip(model.trainable_variables, now))):
        return model(features, training=False)
"""
_OUTPUTS = """
def outputs_of(features):
    starts = range(0, len(features), $examples)
    batches = [features[first : first + $examples] for first in starts]
    return np.concatenate([outputs_of_batch(batch).numpy() for batch in batches])
"""
_F1_OF_CLASSES = """
    every = np.arange(outputs.shape[1])
    said, has = np.argmax(outputs, axis=1)[:, None] == every, labels[:, None] == every
"""
_F1 = """
    found = macro_f1((said & has).sum(axis=0), said.sum(axis=0), has.sum(axis=0))
"""
_AUC_OF_CLASSES = """
    scores, has = (outputs[:, 1] - outputs[:, 0])[:, None], labels[:, None] > 0
"""
_AUC = """
    found = area_of(np.float32(scores), has)
"""
_R2 = """
    labels = np.float64((labels.reshape(outputs.shape) - MEAN) / UNIT)
    sums = np.stack([np.square(outputs - labels), labels, np.square(labels)]).sum(axis=1)
    found = mean_r2(sums, len(labels))
"""
_FIGURES: Final = {
    BestMetric.F1: "macro_f1",
    BestMetric.AUC: "area_of",
    BestMetric.R2: "mean_r2",
}


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
    return joined(
        part("scores", _FIGURES[metric]),
        lines_of(_outputs_of_batch(averages=averages)),
        Template(_OUTPUTS).substitute(examples=examples),
        lines_of(_figure(metric, are_labels=target is Target.LABELS)),
    )


def _outputs_of_batch(*, averages: bool) -> Iterator[str]:
    yield "@tf.function(autograph=False)"
    yield "def outputs_of_batch(features):"
    yield _WITH_AVERAGES if averages else "    return model(features, training=False)"


def _figure(metric: BestMetric, *, are_labels: bool) -> Iterator[str]:
    yield "def figure(outputs, labels):"
    match metric:
        case BestMetric.F1:
            yield "    said, has = outputs > 0, labels > 0.5" if are_labels else _F1_OF_CLASSES
            yield _F1
        case BestMetric.AUC:
            yield "    scores, has = outputs, labels > 0.5" if are_labels else _AUC_OF_CLASSES
            yield _AUC
        case _:
            yield _R2
    yield "    return np.nan if found is None else found"
