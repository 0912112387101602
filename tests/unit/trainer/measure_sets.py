"""Figures of sets that are divided at random, beside those of scikit-learn: JSON on stdout."""

import json

import numpy as np
import tensorflow as tf
from sklearn import metrics as sklearn_metrics

from gpupanel.domain.data import Target
from gpupanel.trainer.inference.evaluation import Evaluation
from gpupanel.trainer.inference.meaning import OutputMeaning
from gpupanel.trainer.metrics.evaluation_objective import EvaluationObjective
from gpupanel.trainer.models.objectives import make_objective
from gpupanel.trainer.parts.output_meaning import Meaning

COUNT = 700
random = np.random.default_rng(8)
nothing = np.empty(0, np.float32)


def found(target, outputs, labels, meaning, units=nothing, means=nothing, *, is_exact=False):
    """As validation measures it in parts, as an evaluation does, and with which sums."""
    plain = make_objective(target, units, means)
    given = (plain, target, outputs.shape[1], units, means)
    objective = EvaluationObjective(*given, exact_area=is_exact)
    compiled = tf.function(objective.sums)
    objective.begin()
    more, passes = True, 0
    while more:
        totals, first = np.zeros(objective.size), 0
        for end in (1, 64, 640, len(labels)):
            given = tf.constant(outputs[first:end]), tf.constant(labels[first:end])
            sums = compiled(*given)
            totals += np.concatenate([np.atleast_1d(each.numpy()) for each in sums])
            first = end
        more = objective.wants_more(totals.tolist())
        passes += 1
    measured = objective.metrics(totals.tolist(), len(labels))
    is_class = target is Target.CLASSES
    label_count = outputs.shape[1] if target is Target.LABELS else 0
    reading = OutputMeaning(meaning, outputs.shape[1] if is_class else 0, None, label_count)
    own = outputs * units + means if len(units) else outputs
    evaluation = Evaluation(labels, reading)
    for first, end in ((0, 300), (300, len(labels))):
        evaluation.add(end - first, [evaluation.digest(own[first:end].astype(np.float32), first)])
    both = [each.model_dump(exclude_none=True) for each in (measured, evaluation.metrics)]
    return [*both, passes]


def classes(count):
    labels = random.integers(0, count - 1, COUNT).astype(np.int32)  # the last one never occurs
    outputs = random.normal(size=(COUNT, count)).astype(np.float32)
    outputs[np.arange(COUNT), labels] += 1.0
    wanted = {
        "f1": sklearn_metrics.f1_score(labels, outputs.argmax(axis=1), average="macro"),
        "accuracy": float((outputs.argmax(axis=1) == labels).mean()),
    }
    if count > 5:
        wanted["top_5_accuracy"] = sklearn_metrics.top_k_accuracy_score(
            labels, outputs, k=5, labels=range(count)
        )
    return found(Target.CLASSES, outputs, labels, Meaning.LOGITS), wanted


def two_classes():
    labels = random.integers(0, 2, COUNT).astype(np.int32)
    outputs = (3.0 * random.normal(size=(COUNT, 2))).astype(np.float32)
    outputs[:, 1] += labels
    wanted = {
        "auc": sklearn_metrics.roc_auc_score(labels, outputs[:, 1] - outputs[:, 0]),
        "f1": sklearn_metrics.f1_score(labels, outputs.argmax(axis=1), average="macro"),
    }
    return found(Target.CLASSES, outputs, labels, Meaning.LOGITS), wanted


def scores(logits, labels, *, is_exact=False):
    """Of two classes, one score an example; with what scikit-learn makes of them."""
    outputs = np.stack([np.zeros_like(logits), logits], axis=1).astype(np.float32)
    wanted = {"auc": sklearn_metrics.roc_auc_score(labels, outputs[:, 1])}
    labels = labels.astype(np.int32)
    return found(Target.CLASSES, outputs, labels, Meaning.LOGITS, is_exact=is_exact), wanted


def rare(spread, *, is_exact=False):
    """One in 500, near a logit of -6, as an early epoch of a rare class."""
    labels = random.random(20_000) < 0.002
    logits = -6.0 + spread * (random.normal(size=20_000) + 2.0 * labels)
    return scores(logits, labels, is_exact=is_exact)


def far_out():
    labels = random.random(2_000) < 0.3
    return scores(300.0 + 40.0 * (random.normal(size=2_000) + labels), labels)


def equal_scores():
    """Half of them 0, as behind a ReLU, on both sides of it some that are close to it."""
    labels = random.random(2_000) < 0.5
    some = random.choice([0.0, 1e-7, -1e-7, 1.0], 2_000, p=[0.5, 0.2, 0.2, 0.1])
    return scores(some * (1.0 + labels), labels)


def several_labels():
    labels = (random.random((COUNT, 4)) < (0.1, 0.5, 0.9, 0.3)).astype(np.float32)
    outputs = (2.0 * random.normal(size=labels.shape) + labels).astype(np.float32)
    wanted = {
        "auc": sklearn_metrics.roc_auc_score(labels, outputs, average="macro"),
        "f1": sklearn_metrics.f1_score(labels, outputs > 0, average="macro"),
    }
    return found(Target.LABELS, outputs, labels, Meaning.LABEL_LOGITS), wanted


def values(columns):
    """Far from 0, so that digits could be lost."""
    means = np.linspace(2000.0, 90_000.0, columns).astype(np.float32)
    units = np.linspace(0.5, 20.0, columns).astype(np.float32)
    standard = random.normal(size=(COUNT, columns))
    labels = (standard * units + means).astype(np.float32)
    outputs = (standard + random.normal(size=standard.shape) * 0.4).astype(np.float32)
    own = outputs * units + means
    wanted = {
        "r2": sklearn_metrics.r2_score(labels, own),
        "root_mean_squared_error": float(np.sqrt(((labels - own) ** 2).mean())),
    }
    given = labels[:, 0] if columns == 1 else labels
    return found(Target.VALUES, outputs, given, Meaning.VALUES, units, means), wanted


def main():
    cases = {
        "ten classes": classes(10),
        "three classes": classes(3),
        "two classes": two_classes(),
        "several labels": several_labels(),
        "rare": rare(1.0),
        "rare and close": rare(0.1),
        "rare and closer": rare(0.01),
        "rare and as close as can be": rare(1e-6),
        "rare, exactly": rare(1.0, is_exact=True),
        "rare and closer, exactly": rare(0.01, is_exact=True),
        "far out": far_out(),
        "equal scores": equal_scores(),
        "one value": values(1),
        "three values": values(3),
    }
    print(json.dumps({name: [*both, wanted] for name, (both, wanted) in cases.items()}))


main()
