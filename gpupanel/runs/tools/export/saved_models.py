"""Which file of a run has the weights of its best epoch, and which those of its last step."""

import os
from pathlib import Path

from gpupanel.domain.best_epoch import Keep
from gpupanel.domain.events import ModelSaved
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.history.event_ends import EventEnds


def model_with(layout: RunLayout, weights: Keep | None) -> Path:
    """The model of a run that has trained.

    Args:
        layout: The run.
        weights: Which; ``None``: those that it kept.

    Raises:
        ProblemError: It has no model, or none with these weights.
    """
    if not os.path.lexists(layout.model):
        raise ProblemError(
            Problem(
                code="run_without_model",
                message=f"{layout.name} has saved no model yet: a run saves it at its end.",
                hint="Let the run complete, or stop it; then export its model.",
            )
        )
    if weights is None:
        return layout.model
    other = layout.other_model(is_best=weights is Keep.BEST)
    if os.path.lexists(other):
        return other
    saved = _last_saved(layout)
    if saved is not None and (saved.is_best if weights is Keep.BEST else saved.is_last):
        return layout.model
    raise ProblemError(_without(layout, weights))


def other_weights(layout: RunLayout) -> Keep:
    """Which weights stand beside the model of a run; the last ones where none do."""
    is_there = os.path.lexists(layout.other_model(is_best=True))
    return Keep.BEST if is_there else Keep.LAST


def _last_saved(layout: RunLayout) -> ModelSaved | None:
    try:
        found = EventEnds(layout.events).last_of(ModelSaved)
    except OSError:
        return None
    return None if found is None else found[1]


def _without(layout: RunLayout, weights: Keep) -> Problem:
    is_best = weights is Keep.BEST
    which = "best epoch" if is_best else "last step"
    why = "nothing was validated, or they were not kept" if is_best else "they were not saved"
    return Problem(
        code="weights_not_saved",
        message=f"{layout.name} has no model with the weights of its {which}: {why}.",
        hint="Leave --weights out to have the weights that it kept.",
    )
