"""Which epoch is the best; ends a training that gets no better, or lowers its learning rate."""

from gpupanel.domain.best_epoch import LEAST_PROGRESS, BestMetric
from gpupanel.domain.outcome import Metrics, ValidatedEpoch
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.schedule import NO_SCHEDULE, ScheduleSettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.trainer.saving.position import Position


def after_epoch(
    position: Position,
    metrics: Metrics,
    schedule: ScheduleSettings = NO_SCHEDULE,
    best_metric: BestMetric = BestMetric.LOSS,
    *,
    validates: bool = False,
) -> Position:
    """The start of the next epoch, with what is remembered of the losses until this one.

    Early stopping watches what decides which epoch is the best, where that is measured; else the
    validation loss, or where nothing is validated, the training loss. A schedule watches the loss.
    An epoch that is not validated only counts among those without progress.

    Args:
        position: At the end of an epoch.
        metrics: Of that epoch.
        schedule: Of the learning rate, which may be lowered now.
        best_metric: Decides which epoch is the best.
        validates: There are validation examples, though perhaps not measured after this epoch.
    """
    watched = metrics.val_loss if validates or metrics.val_loss is not None else metrics.loss
    least, best = position.best_loss, _best_after(position, metrics, best_metric)
    is_less = _is_progress(least, watched)
    better = is_less if best_metric.of(metrics) is None else best is not position.best
    after = Position(
        step=position.step,
        epoch=position.epoch + 1,
        metrics=metrics,
        best=best,
        best_loss=watched if is_less else least,
        epochs_without_progress=0 if better else position.epochs_without_progress + 1,
        rate_factor=position.rate_factor,
        plateau_loss=position.plateau_loss,
        plateau_epochs=position.plateau_epochs,
        trained_s=position.trained_s,
        measured_epochs=position.measured_epochs,
        measured_s=position.measured_s,
        fitted_epochs=position.fitted_epochs,
        fitted_into_s=position.fitted_into_s,
    )
    return _after_plateau(after, watched, schedule) if schedule.follows_loss else after


def _best_after(
    position: Position, metrics: Metrics, best_metric: BestMetric
) -> ValidatedEpoch | None:
    before = position.best
    best = None if before is None else best_metric.of(before.metrics)
    if best_metric.is_better(best_metric.of(metrics), best):
        return ValidatedEpoch(epoch=position.epoch, step=position.step, metrics=metrics)
    return before


def _after_plateau(
    position: Position, watched: float | None, schedule: ScheduleSettings
) -> Position:
    """The position after an epoch: Keras's ``ReduceLROnPlateau`` without a cooldown.

    Args:
        position: With what is remembered of the epochs before.
        watched: ``None``: it was not measured, so that the rate stays.
        schedule: Of the learning rate.
    """
    best, waited, factor = position.plateau_loss, position.plateau_epochs + 1, position.rate_factor
    if _is_progress(best, watched):
        best, waited = watched, 0
    elif watched is not None and waited >= schedule.patience_epochs:
        waited, factor = 0, max(factor * schedule.factor, schedule.least)
    changes = {"plateau_loss": best, "plateau_epochs": waited, "rate_factor": factor}
    return position.model_copy(update=changes)


def _is_progress(best: float | None, watched: float | None) -> bool:
    return watched is not None and (best is None or best - watched > LEAST_PROGRESS * abs(watched))


def reason_to_stop(
    position: Position, training: TrainingSettings, *, validates: bool = False
) -> Problem | None:
    """Why training ends here, before its last epoch; ``None`` to go on.

    Args:
        position: At the start of an epoch.
        training: Holds the patience.
        validates: There are validation examples: it ends after an epoch that was validated.
    """
    patience, done = training.early_stopping_patience, position.epoch - 1
    waited, metrics = position.epochs_without_progress, position.metrics
    if patience is None or waited < patience or done == training.epochs:
        return None
    if validates and metrics.val_loss is None:
        return None
    metric = training.best_metric
    name = "training loss" if metrics.val_loss is None else "validation loss"
    if metric.of(metrics) is not None:
        name = f"validation {metric.label.partition(' ')[2]}"
    moved = "risen" if metric.of(metrics) is not None and metric.more_is_better else "fallen"
    return Problem(
        code="stopped_early",
        severity=Severity.HINT,
        field="training.early_stopping_patience",
        message=f"The {name} has not {moved} since epoch {done - waited:,}, so training ended "
        f"after epoch {done:,} of {training.epochs:,}.",
        hint="Raise training.early_stopping_patience to wait longer.",
    )
