"""Validation that takes much of a training's time."""

from collections.abc import Iterator
from typing import Final

from gpupanel.domain.finding import Finding
from gpupanel.domain.problem import Fix
from gpupanel.planning.findings.context import WINDOW_S, FindingContext, hint

_MOST: Final = 0.25
"""Of the time: below, a person gains little by waiting longer for how good the model is."""
_AIM: Final = 0.1
_FEWEST_VALIDATIONS: Final = 2
"""Of a training that is offered fewer of them: one alone says nothing about which epoch is best."""


def validation_takes_long(context: FindingContext) -> Iterator[Finding]:
    """More than a quarter of the time since the start, once that is half a minute."""
    spent, training = context.total, context.profile.training
    if spent.seconds < WINDOW_S or not context.reports:
        return
    part = min(1.0, spent.validating_s / spent.seconds)
    if part <= _MOST:
        return
    every = training.validate_every
    after = "each epoch" if every == 1 else f"every {every:,} epochs"
    on = "" if context.data is None else f" on {context.data.validation_examples:,} examples"
    seldom = _seldom(every, part)
    fix = Fix.of(f"Validate every {seldom:,} epochs", "training.validate_every", seldom)
    yield Finding(
        problem=hint(
            "validation_takes_long",
            f"Validation takes {part * 100:.0f} % of the time: after {after} the model is "
            f"measured{on}.",
            "Validate less often, or hold out fewer examples. The best epoch, and early stopping, "
            "are decided by the epochs that are validated.",
            (context.fix(fix) if _FEWEST_VALIDATIONS * seldom <= training.epochs else None,),
            "training.validate_every",
        ),
        since_s=context.reports[0].begun_s,
        cost_fraction=part,
    )


def _seldom(every: int, part: float) -> int:
    """After how many epochs to validate, so that it takes a tenth of the time: 2, 5, 10, 20.

    Args:
        every: After how many it is validated now.
        part: Of the time that this takes, 0 to 1.
    """
    # An epoch without validation counts as 1.
    a_validation = every * part / max(1e-6, 1.0 - part)
    wanted = a_validation * (1.0 - _AIM) / _AIM
    power = 1
    while True:
        for number in (power, 2 * power, 5 * power):
            if number >= max(wanted, every + 1):
                return number
        power *= 10
