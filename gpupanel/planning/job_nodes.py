"""A run whose processes are on several nodes of a job, each with devices of its node.

The plan is made as for the nodes of a Ray cluster; what differs is that the batch system has said
which GPUs may be used, and that a node without a process would be held in vain.
"""

from collections.abc import Iterable, Sequence

from gpupanel.domain.cluster import joined_devices, joined_samples
from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.job_node import JobNode
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Fix, Problem, ProblemError, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.planning.allocated_devices import allocated_gpus, on_allocated
from gpupanel.planning.rules.cluster_rules import kinds_on_nodes


def on_nodes(
    profile: Profile, nodes: Sequence[JobNode]
) -> tuple[Profile, DeviceInventory, tuple[Problem, ...]]:
    """The profile with the GPUs of all nodes in the places of those that it names.

    Args:
        profile: What the person chose, on whatever machine.
        nodes: Of the job, the first one first.

    Returns:
        The profile, the devices of all nodes that the job may use, and hints about what is other
        than the profile says.

    Raises:
        ProblemError: Its strategy has one process, or it names GPUs and none was given.
    """
    check_for_nodes(profile, len(nodes))
    inventory = joined_devices((node.name, given) for node, given in _given_devices(nodes))
    # Why there are no GPUs is the same on every node, as far as is known.
    inventory = inventory.model_copy(update={"problem": nodes[0].inventory.problem})
    moved, hints = on_allocated(profile, inventory, None)
    ports = (_open_ports(len(nodes)),) if profile.task == "train" else ()
    return moved, inventory, (*ports, *hints)


def sample_of_nodes(nodes: Sequence[JobNode]) -> TelemetrySample:
    """What the devices of all nodes report, by the keys of :func:`on_nodes`."""
    return joined_samples((node.name, node.inventory, node.sample) for node in nodes)


def _given_devices(nodes: Sequence[JobNode]) -> Iterable[tuple[JobNode, DeviceInventory]]:
    """Each node, and those of its devices that the job may use.

    One machine that stands for two nodes, as in tests of a batch system, has its GPUs once.
    """
    taken: set[str] = set()
    for node in nodes:
        given = allocated_gpus(node.inventory, node.visible_devices)
        gpus = [gpu for gpu in given if gpu.key not in taken]
        taken |= {gpu.key for gpu in gpus}
        rest = [device for device in node.inventory.devices if device.key == CPU_KEY]
        yield node, node.inventory.model_copy(update={"devices": (*gpus, *rest)})


def check_for_nodes(profile: Profile, nodes: int) -> None:
    """See that a profile can have processes on so many nodes.

    Raises:
        ProblemError: It cannot.
    """
    if nodes > 1 and profile.strategy.kind not in kinds_on_nodes(profile):
        raise ProblemError(_needs_workers(profile, nodes))


def with_addresses(plan: LaunchPlan, nodes: Sequence[JobNode]) -> LaunchPlan:
    """The plan with the address of each process, by which the others reach it.

    Raises:
        ProblemError: A node has no process.
    """
    used = {process.node for process in plan.processes}
    if any(node.name not in used for node in nodes):
        raise ProblemError(_idle_nodes(len(plan.processes), len(nodes)))
    addresses: dict[str | None, str] = {node.name: node.address for node in nodes}
    processes = tuple(
        process.model_copy(update={"address": addresses[process.node]})
        for process in plan.processes
    )
    return plan.model_copy(update={"processes": processes})


def _open_ports(nodes: int) -> Problem:
    return Problem(
        code="ports_open_between_nodes",
        severity=Severity.WARNING,
        field="strategy.kind",
        message=f"The processes of this run communicate over ports of {nodes} nodes without "
        "authentication: who else reaches these nodes can end the run, or read and write files "
        "as you.",
        hint="Use it on a cluster whose users you trust, or on one node.",
    )


def _needs_workers(profile: Profile, nodes: int) -> Problem:
    return Problem(
        code="nodes_need_workers",
        field="strategy.kind",
        message=f"{nodes} nodes are asked for, and {profile.task} with {profile.strategy.kind} is "
        "on one: it has one process there, or is for training only.",
        hint=f"Set strategy.kind to {' or '.join(kinds_on_nodes(profile))}, or ask for one node.",
        fix=Fix.of("Use multi_worker", "strategy.kind", StrategyKind.MULTI_WORKER.value),
    )


def _idle_nodes(processes: int, nodes: int) -> Problem:
    return Problem(
        code="nodes_idle",
        field="strategy.workers",
        message=f"The run has {processes} {'process' if processes == 1 else 'processes'}, and the "
        f"job {nodes} nodes: some would idle.",
        hint="Leave strategy.workers out, which gives each GPU a process, or ask for fewer nodes.",
    )
