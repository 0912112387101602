"""What a program of the person's own can be given, and what it cannot."""

from collections.abc import Iterator

from gpupanel.domain.memory import LimitedMemory, SplitMemory
from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.strategy import PROGRAM_KINDS, StrategyKind
from gpupanel.planning.context import PlanningContext


def path_missing(context: PlanningContext) -> Iterator[Problem]:
    """A program that was not chosen."""
    script = context.profile.script
    if script is not None and not script.path:
        yield Problem(
            code="script_missing",
            field="script.path",
            message="No program was chosen.",
            hint="Choose a Python file, such as train.py, or another program that can be executed.",
        )


def strategy_of_own_loop(context: PlanningContext) -> Iterator[Problem]:
    """A strategy that only the loop of gpupanel has."""
    profile = context.profile
    kind = profile.strategy.kind
    if kind in PROGRAM_KINDS and profile.cluster is None:
        return
    yield Problem(
        code="script_strategy",
        field="strategy.kind" if profile.cluster is None else "cluster",
        message="A program of your own runs in one process on this machine: as it is, or with a "
        "copy of the model on each device where it calls Keras's fit.",
        hint="Use one_device or mirrored. For other strategies let gpupanel train: a function of "
        'yours builds the model (model.source = "python").',
        fix=Fix.of("Use mirrored", "strategy.kind", StrategyKind.MIRRORED.value)
        if profile.cluster is None
        else Fix.of("Use this machine", "cluster", None),
    )


def mirrored_without_python(context: PlanningContext) -> Iterator[Problem]:
    """A strategy of TensorFlow for a program that is no Python file."""
    script = context.profile.script
    is_mirrored = context.profile.strategy.kind is StrategyKind.MIRRORED
    if script is None or not script.path or script.is_python or not is_mirrored:
        return
    yield Problem(
        code="script_strategy",
        field="strategy.kind",
        message=f"{script.name} is no Python file, so nothing can give its models a strategy.",
        hint="Use one_device: the program sees every chosen device.",
        fix=Fix.of("Use one device", "strategy.kind", StrategyKind.ONE_DEVICE.value),
    )


def shares_of_fit(context: PlanningContext) -> Iterator[Problem]:
    """Uneven shares, which Keras's fit cannot take."""
    if context.profile.strategy.shares == "equal":
        return
    yield Problem(
        code="script_shares",
        field="strategy.shares",
        message="Keras's fit divides each batch evenly: it takes no shares.",
        hint="Use equal shares, or let gpupanel train: its loop takes any shares.",
        fix=Fix.of("Use equal shares", "strategy.shares", "equal"),
    )


def limits_of_other_processes(context: PlanningContext) -> Iterator[Problem]:
    """Limits and splits, which only the TensorFlow of the program's own process obeys."""
    script, profile = context.profile.script, context.profile
    policies = (profile.memory_policy(gpu.key) for gpu in context.gpus)
    bounded = any(isinstance(each, LimitedMemory | SplitMemory) for each in policies)
    if script is None or not script.path or not bounded:
        return
    if script.is_python:
        message = (
            f"Limits and splits hold for the TensorFlow that {script.name} imports. Processes that "
            "it starts, and other frameworks, get the chosen devices only."
        )
    else:
        message = (
            f"{script.name} is no Python file: it gets the chosen devices, and TensorFlow in it "
            "grows or not as chosen, but limits and splits reach nothing that it starts."
        )
    yield Problem(
        code="script_memory_limit",
        severity=Severity.HINT if script.is_python else Severity.WARNING,
        field="memory",
        message=message,
        hint="Watch what its processes hold at the devices, or use growth.",
    )
