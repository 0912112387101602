"""Why it is not known which batches fit, in words that a person can act on."""

from typing import Final

from gpupanel.domain.last_lines import last_lines
from gpupanel.domain.number_text import count
from gpupanel.domain.problem import Problem, Severity
from gpupanel.planning.batch_targets import BatchTarget

LAYERS_PLACED: Final = Problem(
    code="fit_batch_layers_placed",
    field="strategy.kind",
    message="The layers of this model are placed on several devices, so that no device can be "
    "tried by itself.",
    hint="Start with a small batch, and double it while a run fits.",
)
NO_PLAN: Final = Problem(
    code="fit_batch_without_plan",
    field="devices.visible",
    message="No batch can be tried, because the profile cannot be planned on this machine.",
    hint="Solve the problems that `gpupanel check` reports first.",
)
TRIED_WITH_ALL_WEIGHTS: Final = Problem(
    code="fit_batch_with_all_weights",
    severity=Severity.HINT,
    field="strategy.kind",
    message="Each device was tried with all that the optimizer keeps, which this strategy keeps "
    "in the host's memory: somewhat more may fit.",
)


def no_room(target: BatchTarget) -> Problem:
    """Nothing is tried where less than the least is free."""
    return Problem(
        code="fit_batch_no_room",
        field="devices.visible",
        message=f"Too little memory of {target.device} is free to try anything there.",
        hint="End what else uses it, or raise its memory limit.",
    )


def disturbed(target: BatchTarget) -> Problem:
    """Another process took memory before anything was tried."""
    return Problem(
        code="fit_batch_disturbed",
        field="devices.visible",
        message=f"Another process uses memory of {target.device} that was free, so that nothing "
        "could be tried there.",
        hint="Try again when it has ended; a run that continues is such a process, too.",
    )


def nothing_fits(target: BatchTarget, log: str) -> Problem:
    """A single example is too much; ``log`` is that of the process that tried it."""
    return Problem(
        code="fit_batch_nothing_fits",
        field="training.global_batch_size",
        message=f"Not even one example at a time fits into {count(target.room_mib)} MiB of "
        f"{target.device}.",
        hint="Use a smaller model, smaller examples or mixed precision, or end what else uses "
        "the memory.",
        detail=last_lines(log),
    )


def too_slow(seconds: float, begun: int | None) -> Problem:
    """Nothing was known after so many seconds, in which so many examples were begun."""
    what = "Nothing could be tried" if begun is None else f"The steps with {count(begun)} took"
    more = f" within {seconds:g} s." if begun is None else f" more than {seconds:g} s."
    return Problem(
        code="fit_batch_too_slow",
        field="training.global_batch_size",
        message=f"{what}{more}",
        hint="Give it more time: `gpupanel fit-batch PROFILE --seconds 600`.",
    )
