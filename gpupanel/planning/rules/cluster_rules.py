"""What keeps a profile from training on the nodes of a cluster."""

from collections.abc import Iterator

from gpupanel.domain.problem import Change, Fix, Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import GANG_KINDS, StrategyKind
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.rules.inference_rules import NODE_INFERENCE_KINDS


def cluster_not_asked(context: PlanningContext) -> Iterator[Problem]:
    """A profile of a cluster where only this machine is known."""
    if context.profile.cluster is None or context.is_on_nodes:
        return
    yield Problem(
        code="cluster_not_asked",
        field="cluster",
        message="The profile trains on a Ray cluster, whose devices are not known here.",
        hint="Start it in the window, with gpupanel run or by the queue, which ask clusters; or "
        "remove [cluster], to train on this machine.",
        fix=Fix(label="Train on this machine", changes=(Change(path=("cluster",)),)),
    )


def kinds_on_nodes(profile: Profile) -> tuple[StrategyKind, ...]:
    """The strategies by which the task of a profile can have processes on several nodes."""
    return GANG_KINDS if profile.task == "train" else NODE_INFERENCE_KINDS


def cluster_needs_workers(context: PlanningContext) -> Iterator[Problem]:
    """A strategy of one process, which is on one machine."""
    profile = context.profile
    kinds = kinds_on_nodes(profile)
    if profile.cluster is None or profile.strategy.kind in kinds:
        return
    kind, listed = StrategyKind.MULTI_WORKER.value, " or ".join(kinds)
    why = (
        f"{profile.strategy.kind} is one process on one machine; a cluster needs workers."
        if profile.strategy.kind not in GANG_KINDS
        else f"{profile.strategy.kind} is for training."
    )
    yield Problem(
        code="cluster_needs_workers",
        field="strategy.kind",
        message=why,
        hint=f"Use {listed}, or remove [cluster].",
        fix=Fix.of("Use multi-worker", "strategy.kind", kind),
        alternatives=(Fix(label="Use this machine", changes=(Change(path=("cluster",)),)),),
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
