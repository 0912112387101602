"""Ends a training that gets no better."""

from gpupanel.domain.outcome import Metrics
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.training import LEAST_PROGRESS, TrainingSettings
from gpupanel.trainer.saving.position import Position


def after_epoch(position: Position, metrics: Metrics) -> Position:
    """The start of the next epoch, with what early stopping remembers of this one.

    The validation loss is watched; where nothing is validated, the training loss.
    """
    watched = metrics.loss if metrics.val_loss is None else metrics.val_loss
    best = position.best_loss
    better = watched is not None and (
        best is None or best - watched > LEAST_PROGRESS * abs(watched)
    )
    return Position(
        step=position.step,
        epoch=position.epoch + 1,
        metrics=metrics,
        best_loss=watched if better else best,
        epochs_without_progress=0 if better else position.epochs_without_progress + 1,
    )


def reason_to_stop(position: Position, training: TrainingSettings) -> Problem | None:
    """Why training ends here, before its last epoch; ``None`` to go on.

    Args:
        position: At the start of an epoch.
        training: Holds the patience.
    """
    patience, done = training.early_stopping_patience, position.epoch - 1
    waited = position.epochs_without_progress
    if patience is None or waited < patience or done == training.epochs:
        return None
    name = "training" if position.metrics.val_loss is None else "validation"
    return Problem(
        code="stopped_early",
        severity=Severity.HINT,
        field="training.early_stopping_patience",
        message=f"The {name} loss has not fallen since epoch {done - waited}, so training ended "
        f"after epoch {done} of {training.epochs}.",
        hint="Raise training.early_stopping_patience to wait longer.",
    )
