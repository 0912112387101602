"""What the tasks ``evaluate`` and ``predict`` need."""

from collections.abc import Iterator

from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind
from gpupanel.planning.context import PlanningContext

INFERENCE_KINDS = (StrategyKind.ONE_DEVICE, StrategyKind.MIRRORED)
"""The strategies that hold a whole model on each device of one process."""
NODE_INFERENCE_KINDS = (StrategyKind.MULTI_WORKER,)
"""Strategies whose processes run on the nodes of a cluster."""


def inference_kinds(profile: Profile, *, on_nodes: bool = False) -> tuple[StrategyKind, ...]:
    """The strategies by which a profile can evaluate or predict where it is to.

    Args:
        profile: Of that task.
        on_nodes: Whether it is on several nodes of a batch system's job.
    """
    is_spread = on_nodes or profile.cluster is not None
    return NODE_INFERENCE_KINDS if is_spread else INFERENCE_KINDS


_GERUNDS = {"evaluate": "Evaluating", "predict": "Predicting"}


def no_saved_model(context: PlanningContext) -> Iterator[Problem]:
    """A model that is not saved yet, for a task that uses one."""
    if not context.trains and not context.profile.model.is_saved:
        yield Problem(
            code="inference_needs_saved_model",
            field="model.source",
            message=f"{_GERUNDS[context.profile.task]} takes a model that was trained and saved "
            "before.",
            hint="Choose a saved model: a .keras file, such as model.keras of a run.",
            fix=Fix.of("Use a saved model", "model", {"source": "saved"}),
        )


def strategy_for_training_only(context: PlanningContext) -> Iterator[Problem]:
    """A strategy that does not put the whole model on each device."""
    profile = context.profile
    kind = profile.strategy.kind
    # Of a cluster cluster_needs_workers says it, of the nodes of a job who plans for them.
    is_spread = profile.cluster is not None or context.is_on_nodes
    if not context.trains and not is_spread and kind not in INFERENCE_KINDS:
        yield Problem(
            code="strategy_not_for_inference",
            field="strategy.kind",
            message=f"{_GERUNDS[context.profile.task]} puts the whole model on each device, in one "
            f"process; the strategy {kind} is for training.",
            hint="Use mirrored for several devices, one_device for one.",
            fix=Fix.of("Use mirrored", "strategy.kind", StrategyKind.MIRRORED.value),
        )


def balanced_for_training_only(context: PlanningContext) -> Iterator[Problem]:
    """Measured shares, where nothing is trained that they could be measured by."""
    strategy = context.profile.strategy
    if context.trains or strategy.shares != "balanced":
        return
    if strategy.kind not in inference_kinds(context.profile, on_nodes=context.is_on_nodes):
        return
    yield Problem(
        code="balanced_is_for_training",
        severity=Severity.HINT,
        field="strategy.shares",
        message="Shares are measured in training only; here every device takes an equal one.",
        hint="Set shares by hand if one device is faster.",
        fix=Fix.of("Use equal shares", "strategy.shares", "equal"),
    )


def measures_not_used(context: PlanningContext) -> Iterator[Problem]:
    """Code of the person's own that measures an evaluation, of what is none."""
    profile = context.profile
    if profile.model.measures_path and profile.task != "evaluate":
        yield Problem(
            code="measures_not_used",
            severity=Severity.HINT,
            field="model.measures",
            message="The code for loss and metrics of the saved model is not used: only an "
            "evaluation measures by it.",
            hint="Leave it out.",
            fix=Fix.of("Leave it out", "model.measures"),
        )


def no_validation_examples(context: PlanningContext) -> Iterator[Problem]:
    """Validation examples of data that holds none out, and has no test set either.

    Sources with a test set of their own validate on it when no fraction is given. Whether arrays
    or Python code bring one is known when they are read.
    """
    examples, preview = context.profile.inference.examples, context.known.preview
    if context.trains or examples != "validation" or context.may_validate:
        return
    has_test_set = preview is not None and preview.test_example_count > 0
    if has_test_set or context.profile.data.chosen_test_path:
        return
    yield Problem(
        code="inference_no_validation_examples",
        field="inference.examples",
        message="There are no validation examples: the data holds none out.",
        hint="Take all examples, or hold out the fraction that training did.",
        fix=Fix.of("Take all examples", "inference.examples", "all"),
    )
