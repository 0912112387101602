"""What the losses of a training say about what it learns, epoch by epoch."""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Final

from gpupanel.domain.events import EpochDone
from gpupanel.domain.finding import Finding
from gpupanel.domain.number_text import number
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.problem import Fix
from gpupanel.planning.findings.context import FindingContext, hint
from gpupanel.planning.findings.learning_fixes import augmented, narrower, other_rate, pretrained

_FEWEST_EPOCHS: Final = 6
_NEAR: Final = 1
"""Epochs on either side that a loss is averaged with: a small validation set varies by chance."""
_RISEN: Final = 1.05
_FALLEN: Final = 0.85
_STANDS: Final = 0.97
"""A loss that has fallen by less stands still."""
_ACCURACY_GAP: Final = 0.05
"""Of training over validation accuracy; dropout and augmentation make it smaller than it is."""
_BY_CHANCE: Final = 2.0
"""Standard errors of a validation accuracy, beyond which chance alone leads one time in forty."""
_LOSS_RATIO: Final = 1.5
"""Of validation to training loss, where no accuracy is measured."""
_FEWEST_STEPS: Final = 100
_LIKE_CHANCE: Final = 0.98
_BEYOND_CHANCE: Final = 3.0
"""Times the loss of a guess: only a rate that is far too high leads there, though it may fall."""
_LEAST_R2: Final = 0.02
_LEAST_F1: Final = 0.02
_FEWEST_VALIDATED: Final = 10
_LONG_AGO: Final = 1 / 3
_PATIENCE: Final = 10


_BY_HEART: Final = (
    "More examples help most; else change them at random (augmentation), train a smaller or a "
    "pretrained network, or stop earlier."
)
_LABELS: Final = (
    "In validation it is no better than a guess: see with Scan data… whether the labels belong to "
    "their examples."
)


def overfitting(context: FindingContext) -> Iterator[Finding]:
    """Validation goes another way than training, and the model is right on its own examples only.

    Either the validation loss has turned and rises while the training loss falls, or it has stood
    still for a third of the epochs in which the training loss fell by a fifth.
    """
    begun = _parted_from(context)
    if begun is None:
        return
    last = next(each for each in reversed(context.epochs) if _is_known(each.metrics.val_loss))
    settings = context.profile.training
    guess = _guess(last.metrics, _guessed_among(context, last.metrics))
    stopping = Fix.of("Stop early", "training.early_stopping_patience", _PATIENCE)
    yield Finding(
        problem=hint(
            "overfitting",
            "The model learns its training examples by heart: "
            f"since epoch {begun.epoch:,} the training loss fell from "
            f"{number(begun.metrics.loss)} to {number(last.metrics.loss)}, the validation loss "
            f"went from {number(begun.metrics.val_loss)} to {number(last.metrics.val_loss)}"
            f"{_right_on(last.metrics)}.",
            _LABELS if guess else _BY_HEART,
            (
                augmented(context),
                pretrained(context),
                narrower(context),
                None if settings.early_stopping_patience else context.fix(stopping),
            ),
        ),
        since_s=begun.time_s,
    )


def does_not_learn(context: FindingContext) -> Iterator[Finding]:
    """The training loss has stood for half of the epochs at what a constant guess comes to.

    At a rate that is far too high the loss of the first epoch may be any number. A model that is
    clearly better on its training examples has learned them, whatever it comes to in validation.
    """
    epochs = [each for each in context.epochs if _is_known(each.metrics.loss)]
    if len(epochs) < _FEWEST_EPOCHS or epochs[-1].step < _FEWEST_STEPS:
        return
    now = len(epochs) - 1
    half = now - max(4, now // 2)
    before, last = epochs[half], epochs[now]
    losses = _smoothed([each.metrics.loss or 0.0 for each in epochs])
    measured = _last_measured(epochs)
    classes = _guessed_among(context, measured)
    guess = _guess(measured, classes)
    is_beyond = classes > 1 and losses[now] > _BEYOND_CHANCE * math.log(classes)
    goes_on = losses[now] < _STANDS * losses[half]
    has_learned = _are_apart([each.metrics for each in epochs[-3:]])
    if not guess or ((goes_on or has_learned) and not is_beyond):
        return
    rate = other_rate(context)
    yield Finding(
        problem=hint(
            "does_not_learn",
            f"The model does not learn: the training loss was {number(before.metrics.loss)} in "
            f"epoch {before.epoch:,} and is {number(last.metrics.loss)} in epoch {last.epoch:,}, "
            f"and {guess}.",
            "Look for a learning rate with Find learning rate…, and see with Scan data… whether "
            "the labels belong to their examples.",
            (context.fix(Fix.of(f"Use a rate of {rate:g}", "training.learning_rate", rate)),),
            "training.learning_rate",
        ),
        since_s=epochs[0].time_s,
    )


def best_epoch_long_ago(context: FindingContext) -> Iterator[Finding]:
    """A third of the epochs, and ten at least, have brought nothing better, and none ends it."""
    settings, metric = context.profile.training, context.profile.training.best_metric
    epochs = [each for each in context.epochs if _is_known(metric.of(each.metrics))]
    if settings.early_stopping_patience or len(epochs) < _FEWEST_VALIDATED:
        return
    best, place = None, 0
    for found, each in enumerate(epochs):
        value = metric.of(each.metrics)
        if metric.is_better(value, best):
            best, place = value, found
    then, last, first = epochs[place], epochs[-1], context.epochs[0]
    # Of all epochs, where not each one is validated.
    since, done = last.epoch - then.epoch, last.epoch - first.epoch + 1
    if since < max(_PATIENCE, _LONG_AGO * done) or _parted_from(context) is not None:
        return
    name = metric.label[0].lower() + metric.label[1:]
    yield Finding(
        problem=hint(
            "best_epoch_long_ago",
            f"Nothing has become better since epoch {then.epoch:,}: its {name} was "
            f"{number(best)}, that of epoch {last.epoch:,} is {number(metric.of(last.metrics))}.",
            "A run that is stopped then keeps the weights of its best epoch; early stopping stops "
            "it by itself."
            if settings.stores_best
            else "Early stopping stops a run then by itself; have the best epoch's weights kept, "
            "too.",
            (
                context.fix(
                    Fix.of("Stop early", "training.early_stopping_patience", _PATIENCE),
                ),
            ),
            "training.early_stopping_patience",
        ),
        since_s=then.time_s,
        cost_fraction=since / done,
    )


def _parted_from(context: FindingContext) -> EpochDone | None:
    """From which epoch on the model learns by heart; ``None``: it does not, as far as is known."""
    epochs = [
        each
        for each in context.epochs
        if _is_known(each.metrics.loss) and _is_known(each.metrics.val_loss)
    ]
    if len(epochs) < _FEWEST_EPOCHS:
        return None
    trained = _smoothed([each.metrics.loss or 0.0 for each in epochs])
    validated = _smoothed([each.metrics.val_loss or 0.0 for each in epochs])
    now = len(epochs) - 1
    if min(*trained, *validated) < 0.0:
        return None  # a loss of the person's own, of which no part can be told
    validated_on = 0 if context.data is None else context.data.validation_examples
    if not _are_apart([each.metrics for each in epochs[-3:]], validated_on):
        return None
    best = min(range(now + 1), key=validated.__getitem__)
    has_risen = validated[now] >= _RISEN * validated[best]
    if now - best >= max(3, now // 5) and has_risen and trained[now] <= _FALLEN * trained[best]:
        begun = epochs[best]
    else:
        before = now - max(4, now // 3)
        if before < 0 or trained[now] > (_FALLEN - 0.05) * trained[before]:
            return None
        if validated[now] < _STANDS * validated[before]:
            return None
        begun = epochs[before]
    has_fallen = (epochs[now].metrics.loss or 0.0) < (begun.metrics.loss or 0.0)
    return begun if has_fallen and not _is_as_good_again(begun, epochs[-3:]) else None


def _is_as_good_again(begun: EpochDone, latest: Sequence[EpochDone]) -> bool:
    """Whether single epochs alone were worse: among few examples their mean says little."""
    then = begun.metrics.val_loss or 0.0
    return any(
        (each.metrics.val_loss or 0.0) < _FALLEN * then
        or (each.metrics.val_accuracy or 0.0) > (each.metrics.accuracy or 0.0)
        for each in latest
    )


def _are_apart(metrics: Sequence[Metrics], validated_on: int = 0) -> bool:
    """Whether a model is clearly better on what it was trained on.

    Args:
        metrics: Of the latest epochs.
        validated_on: Validation examples, of whose number it depends how much an accuracy varies by
            chance; 0: any clear difference counts.
    """
    accuracies = [
        (each.accuracy, each.val_accuracy)
        for each in metrics
        if each.accuracy is not None and each.val_accuracy is not None
    ]
    if accuracies:
        gap = fmean(trained - validated for trained, validated in accuracies)
        right = fmean(validated for _, validated in accuracies)
        # A rounded accuracy may be beyond 1.
        variance = max(0.0, right * (1.0 - right))
        by_chance = math.sqrt(variance / validated_on) if validated_on else 0.0
        return gap >= max(_ACCURACY_GAP, _BY_CHANCE * by_chance)
    trained = fmean(each.loss or 0.0 for each in metrics)
    return fmean(each.val_loss or 0.0 for each in metrics) > _LOSS_RATIO * trained


def _right_on(metrics: Metrics) -> str:
    if metrics.accuracy is None or metrics.val_accuracy is None:
        return ""
    trained, validated = 100.0 * metrics.accuracy, 100.0 * metrics.val_accuracy
    return f", and its accuracy is {trained:.1f} % in training and {validated:.1f} % in validation"


def _guessed_among(context: FindingContext, metrics: Metrics) -> int:
    """Among how many classes a guess is made; 0: none are predicted, or nobody knows its loss.

    Beside a loss of the person's own no accuracy is measured.
    """
    is_known = metrics.accuracy is not None or metrics.val_accuracy is not None
    return context.data.class_count if context.data is not None and is_known else 0


def _guess(metrics: Metrics, classes: int) -> str:
    """Which constant guess the model is as good as, in words; empty: it is better than that."""
    validated = metrics.of_part("val")
    if validated.r2 is not None:
        return "it predicts no better than the mean" if validated.r2 <= _LEAST_R2 else ""
    accuracy, f1 = validated.accuracy, validated.f1
    if accuracy is not None and accuracy > 0.5 and f1 is not None and f1 <= _LEAST_F1:
        return "it gives no example any label"
    if classes < 2:
        return ""
    # Macro F1 of the same class for every example: that class has 2p / (1 + p), all others 0.
    if accuracy and f1 is not None and f1 <= 1.05 * 2.0 * accuracy / (1.0 + accuracy) / classes:
        return f"it takes nearly every example for the same class ({100.0 * accuracy:.1f} % right)"
    loss = metrics.loss if validated.loss is None else validated.loss
    if loss is not None and loss >= _LIKE_CHANCE * math.log(classes):
        return f"guessing among {classes:,} classes is as good"
    return ""


def _last_measured(epochs: Sequence[EpochDone]) -> Metrics:
    """Metrics of the last epoch, with those of the last validation."""
    validated = next((each for each in reversed(epochs) if _is_known(each.metrics.val_loss)), None)
    last = epochs[-1].metrics
    return last if validated is None else last.with_validation_of(validated.metrics)


def _smoothed(losses: Sequence[float]) -> list[float]:
    return [
        fmean(losses[max(0, place - _NEAR) : place + _NEAR + 1]) for place in range(len(losses))
    ]


def _is_known(value: float | None) -> bool:
    return value is not None and math.isfinite(value)
