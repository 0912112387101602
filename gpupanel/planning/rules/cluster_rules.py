"""What keeps a profile from training on the nodes of a cluster."""

from collections.abc import Iterator

from gpupanel.domain.problem import Change, Fix, Problem
from gpupanel.domain.strategy import GANG_KINDS, StrategyKind
from gpupanel.planning.context import PlanningContext


def cluster_not_asked(context: PlanningContext) -> Iterator[Problem]:
    """A profile of a cluster where only this machine is known."""
    if context.profile.cluster is None or any(each.node for each in context.inventory.devices):
        return
    yield not_asked()


def not_asked() -> Problem:
    """What is said of a profile of a cluster where clusters are not asked, as in the queue."""
    return Problem(
        code="cluster_not_asked",
        field="cluster",
        message="The profile trains on a Ray cluster, whose devices are not known here.",
        hint="Start it in the window, or with gpupanel run: the queue and sweeps do not ask "
        "clusters. Or remove [cluster], to train on this machine.",
        fix=Fix(label="Train on this machine", changes=(Change(path=("cluster",)),)),
    )


def cluster_needs_workers(context: PlanningContext) -> Iterator[Problem]:
    """A strategy of one process, which is on one machine."""
    profile = context.profile
    if profile.cluster is None or not context.trains or profile.strategy.kind in GANG_KINDS:
        return
    kind = StrategyKind.MULTI_WORKER.value
    yield Problem(
        code="cluster_needs_workers",
        field="strategy.kind",
        message=f"{profile.strategy.kind} is one process on one machine; a cluster needs workers.",
        hint="Use multi_worker or parameter_server, or remove [cluster].",
        fix=Fix.of("Use multi-worker", "strategy.kind", kind),
        alternatives=(Fix(label="Train on this machine", changes=(Change(path=("cluster",)),)),),
    )


def cluster_for_training_only(context: PlanningContext) -> Iterator[Problem]:
    """A task that is one process on one machine."""
    if context.profile.cluster is not None and not context.trains:
        yield Problem(
            code="cluster_for_training_only",
            field="task",
            message="Evaluating and predicting are one process on one machine; only a training "
            "is divided among the nodes of a cluster.",
            hint="Remove [cluster]: mirrored uses all GPUs of this machine.",
            fix=Fix(label="Use this machine", changes=(Change(path=("cluster",)),)),
        )


def worker_across_nodes(context: PlanningContext) -> Iterator[Problem]:
    """A worker whose GPUs are in several nodes."""
    for group in context.gpu_groups:
        nodes = tuple(dict.fromkeys(str(gpu.node) for gpu in group))
        if len(nodes) > 1 and context.profile.strategy.kind in GANG_KINDS:
            yield Problem(
                code="worker_across_nodes",
                field="strategy.workers",
                message=f"A worker would have GPUs of {' and '.join(nodes)}, but a process is on "
                "one node.",
                hint="Use a worker for each GPU.",
                fix=Fix.of("Use a worker for each GPU", "strategy.workers"),
            )
            return
