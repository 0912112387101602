"""A way of summing gradients that cannot be had here, or that is not used."""

from collections.abc import Iterator

from gpupanel.domain.memory import SplitMemory
from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.strategy import AllReduce, StrategyKind
from gpupanel.planning.all_reduce import hierarchical_copy_is_right
from gpupanel.planning.context import PlanningContext

_CHOOSE_AUTOMATICALLY = Fix.of("Choose automatically", "strategy.all_reduce", AllReduce.AUTO.value)


def all_reduce_unused(context: PlanningContext) -> Iterator[Problem]:
    """A choice that means nothing to the strategy or the task."""
    kind, chosen = context.profile.strategy.kind, context.profile.strategy.all_reduce
    if context.layout is None or chosen is AllReduce.AUTO:
        return
    if not context.sums_gradients:
        why = "nothing is summed over replicas"
    elif kind is StrategyKind.MULTI_WORKER and chosen is not AllReduce.NCCL:
        why = "workers sum over a ring, or by NCCL"
    else:
        return
    if not context.trains:
        message = f"{chosen} is not used where nothing is trained: {why}."
    elif kind is StrategyKind.CENTRAL_STORAGE:
        message = f"{chosen} is not used by the strategy {kind}: gradients are summed where the "
        message += "weights are."
    elif kind is StrategyKind.MODEL_PARALLEL and context.working_replicas > 1:
        message = f"{chosen} is not used by replicas of several devices: each layer's gradients "
        message += "are summed where it is."
    elif kind is StrategyKind.MIRRORED:
        message = f"{chosen} is not used by one replica alone: {why}."
    else:
        message = f"{chosen} is not used by the strategy {kind}: {why}."
    yield Problem(
        code="all_reduce_unused",
        severity=Severity.HINT,
        field="strategy.all_reduce",
        message=message,
        hint="Let the strategy choose.",
        fix=_CHOOSE_AUTOMATICALLY,
    )


def hierarchical_copy_of_odd_replicas(context: PlanningContext) -> Iterator[Problem]:
    """Gradients of a mirrored run that TensorFlow's hierarchical copy would leave out."""
    strategy, working = context.profile.strategy, context.working_replicas
    if (
        context.sums_gradients
        and strategy.kind is StrategyKind.MIRRORED
        and strategy.all_reduce is AllReduce.HIERARCHICAL_COPY
        and not hierarchical_copy_is_right(working)
    ):
        yield Problem(
            code="hierarchical_copy_of_odd_replicas",
            field="strategy.all_reduce",
            message="TensorFlow's hierarchical copy sums over an even number of replicas only: of "
            f"{working} it would leave the last one's gradients out.",
            hint="Let the strategy choose, or use another number of replicas.",
            fix=_CHOOSE_AUTOMATICALLY,
        )


def nccl_without_gpus(context: PlanningContext) -> Iterator[Problem]:
    """NCCL on the CPU."""
    if _sums_by_nccl(context) and not context.gpus:
        yield Problem(
            code="nccl_without_gpus",
            field="strategy.all_reduce",
            message="NCCL sums over NVIDIA GPUs only, and this run uses the CPU.",
            hint="Let the strategy choose.",
            fix=_CHOOSE_AUTOMATICALLY,
        )


def nccl_missing(context: PlanningContext) -> Iterator[Problem]:
    """NCCL, where TensorFlow does not find it: asked for by name, or what would be chosen."""
    why = None if context.known.support is None else context.known.support.without_nccl
    plan = context.plan
    if why is None or plan is None or not context.sums_gradients or not context.gpus:
        return
    if _sums_by_nccl(context):
        yield Problem(
            code="nccl_missing",
            field="strategy.all_reduce",
            message=f"NCCL cannot sum gradients here: {why.message}",
            hint="Install it, or let the strategy choose a way that works without.",
            command=why.command,
            detail=why.detail,
            fix=_CHOOSE_AUTOMATICALLY,
        )
    elif context.profile.strategy.all_reduce is not plan.all_reduce and not _split_gpus(context):
        yield Problem(
            code="summed_without_nccl",
            severity=Severity.HINT,
            field="strategy.all_reduce",
            message=f"{why.message} Gradients are summed by {plan.all_reduce.label.lower()} "
            "instead.",
            hint="The result is the same; NCCL is faster between whole GPUs.",
            command=why.command,
            detail=why.detail,
        )


def nccl_with_split(context: PlanningContext) -> Iterator[Problem]:
    """Several logical devices of one GPU turn NCCL off: it wants one rank a GPU."""
    split = _split_gpus(context)
    if _sums_by_nccl(context) and split:
        yield Problem(
            code="nccl_with_split",
            field="strategy.all_reduce",
            message=f"NCCL cannot sum over several logical devices of one GPU ({split[0]}).",
            hint="Let the strategy choose a way that works on split GPUs.",
            fix=_CHOOSE_AUTOMATICALLY,
        )


def nccl_with_instances(context: PlanningContext) -> Iterator[Problem]:
    """NCCL between MIG instances: it wants one rank a GPU, and they are parts of one."""
    instances = [gpu for gpu in context.gpus if gpu.is_mig_instance]
    several = len({instance.parent_key for instance in instances}) < len(instances)
    in_workers = context.profile.strategy.kind is StrategyKind.MULTI_WORKER
    if _sums_by_nccl(context) and in_workers and several:
        yield Problem(
            code="nccl_with_mig",
            field="strategy.all_reduce",
            message="NCCL cannot sum over several MIG instances of one GPU "
            f"({', '.join(instance.name for instance in instances)}).",
            hint="Let the strategy choose: workers sum over a ring then.",
            fix=_CHOOSE_AUTOMATICALLY,
        )


def _split_gpus(context: PlanningContext) -> list[str]:
    return [
        gpu.name
        for gpu in context.gpus
        if isinstance(context.profile.memory_policy(gpu.key), SplitMemory)
    ]


def _sums_by_nccl(context: PlanningContext) -> bool:
    chosen = context.profile.strategy.all_reduce
    return context.sums_gradients and chosen is AllReduce.NCCL
