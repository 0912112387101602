"""Layers that are to learn from a later epoch on: whether they will, and from what."""

from collections.abc import Iterator

from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.planning.context import PlanningContext

_EPOCH, _RATE = "fine_tune_from_epoch", "fine_tune_learning_rate"


def fine_tuning_unused(context: PlanningContext) -> Iterator[Problem]:
    """An epoch with which nothing begins to learn, or a learning rate without an epoch."""
    model = context.profile.model
    epoch, rate = getattr(model, _EPOCH, None), getattr(model, _RATE, None)
    if not context.trains:
        return
    if epoch is not None and model.fine_tuning is None:
        why = "no epoch comes before it" if epoch == 1 else "the whole base is frozen"
        yield Problem(
            code="fine_tuning_unused",
            severity=Severity.HINT,
            field=f"model.{_EPOCH}",
            message=f"Nothing changes with epoch {epoch:,}: {why}.",
            hint="Begin with a later epoch, or leave fine-tuning out."
            if epoch == 1
            else "Let layers of the base learn, or leave fine-tuning out.",
            fix=_without_fine_tuning("Leave it out")
            if epoch == 1
            else Fix.of("Fine-tune all layers", "model.frozen_layers", "none"),
        )
    if epoch is None and rate is not None:
        yield Problem(
            code="fine_tune_learning_rate_unused",
            severity=Severity.HINT,
            field=f"model.{_RATE}",
            message="A learning rate for fine-tuning has no effect without the epoch in which "
            "fine-tuning begins.",
            hint=f"Leave it out, or set model.{_EPOCH}.",
            fix=Fix.of("Leave it out", f"model.{_RATE}"),
        )


def fine_tuning_beyond_training(context: PlanningContext) -> Iterator[Problem]:
    """Fine-tuning that would begin when the training is over, or may be."""
    tuning, training = context.profile.model.fine_tuning, context.profile.training
    if not context.trains or tuning is None:
        return
    first, epochs = tuning.from_epoch, training.epochs
    if first > epochs:
        yield Problem(
            code="fine_tuning_beyond_training",
            severity=Severity.WARNING,
            field=f"model.{_EPOCH}",
            message=f"Fine-tuning would begin with epoch {first:,}, and the training has "
            f"{epochs:,}: only the head learns.",
            hint="Begin earlier, or train longer.",
            fix=_without_fine_tuning("Learn all along")
            if epochs == 1
            else Fix.of(
                f"Begin with epoch {epochs // 2 + 1:,}", f"model.{_EPOCH}", epochs // 2 + 1
            ),
        )
        return
    patience = training.early_stopping_patience
    if patience is not None and patience + 1 < first:
        yield Problem(
            code="early_stopping_before_fine_tuning",
            severity=Severity.HINT,
            field="training.early_stopping_patience",
            message=f"Early stopping may end the training after epoch {patience + 1:,}, before "
            f"fine-tuning begins with epoch {first:,}.",
            hint="Wait for more epochs, or begin to fine-tune earlier.",
            fix=Fix.of(f"Wait for {first:,} epochs", "training.early_stopping_patience", first),
        )


def head_learns_from_drawn_base(context: PlanningContext) -> Iterator[Problem]:
    """A head that learns first, from a base whose weights are drawn at random."""
    model = context.profile.model
    if context.trains and model.begins_with == "none" and model.fine_tuning is not None:
        yield Problem(
            code="head_learns_from_drawn_base",
            severity=Severity.WARNING,
            field=f"model.{_EPOCH}",
            message=f"Until epoch {model.fine_tuning.from_epoch:,} the head learns from a base "
            "with random weights, which it cannot learn much from.",
            hint="Begin with pretrained weights, or let all layers learn from the first epoch on.",
            fix=_without_fine_tuning("Learn all along"),
        )


def _without_fine_tuning(label: str) -> Fix:
    changes = tuple(Change(path=("model", key)) for key in (_EPOCH, _RATE))
    return Fix(label=label, changes=changes)
