"""What keeps the optimizer's state from being divided among the replicas."""

from collections.abc import Iterator

from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.strategy import OptimizerState
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.optimizer_quotas import divides_optimizer_state

_FIELD = "strategy.optimizer_state"
_BY_MEMORY = Fix.of("Divide it by free memory", _FIELD, OptimizerState.SHARDED.value)


def quotas_do_not_fit(context: PlanningContext) -> Iterator[Problem]:
    """Quotas that are not as many as replicas, or of which none is for a replica that works."""
    quotas, layout = context.profile.strategy.optimizer_state, context.layout
    # While shares do not fit nothing is planned, and they are named.
    if layout is None or context.plan is None:
        return
    if not isinstance(quotas, tuple) or not divides_optimizer_state(context.profile):
        return
    replicas = len(layout.spots)
    if len(quotas) != replicas:
        yield Problem(
            code="quotas_do_not_fit",
            field=_FIELD,
            message=f"{len(quotas)} quotas of the optimizer's state are given for {replicas} "
            f"{'replica' if replicas == 1 else 'replicas'}.",
            hint=f"Give {replicas} whole numbers, or have it divided by free memory.",
            fix=_BY_MEMORY,
        )
    elif context.working_replicas > 1 and context.plan.optimizer_quotas is None:
        yield Problem(
            code="quotas_of_nobody",
            field=_FIELD,
            message="The quotas leave no replica that works to keep the optimizer's state.",
            hint="Give one at least a quota above 0, or have it divided by free memory.",
            fix=_BY_MEMORY,
        )


def no_optimizer_state(context: PlanningContext) -> Iterator[Problem]:
    """An optimizer that keeps nothing: dividing that frees no memory, and costs copies."""
    training = context.profile.training
    if not divides_optimizer_state(context.profile) or training.optimizer_numbers:
        return
    yield Problem(
        code="no_optimizer_state",
        severity=Severity.HINT,
        field=_FIELD,
        message=f"{training.optimizer.label} without momentum keeps nothing beside the weights, so "
        "there is nothing to divide; updated weights are copied between the devices all the same.",
        hint="Keep it on every device.",
        fix=Fix.of("Keep it on every device", _FIELD, OptimizerState.REPLICATED.value),
    )
