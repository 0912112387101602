"""A run whose processes are on several nodes of a cluster, each with devices of its node."""

from collections.abc import Sequence

from gpupanel.domain.device import CPU_KEY, DeviceInventory, PhysicalDevice
from gpupanel.domain.job_node import JobNode
from gpupanel.domain.plan import LaunchPlan, PlannedProcess
from gpupanel.domain.problem import Fix, Problem, ProblemError, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind
from gpupanel.planning.allocated_devices import allocated_gpus, on_allocated


def on_nodes(
    profile: Profile, nodes: Sequence[JobNode]
) -> tuple[Profile, DeviceInventory, tuple[Problem, ...]]:
    """The profile with the GPUs of all nodes in the places of those that it names.

    On the CPU each node has a worker where the profile does not say how many there are.

    Args:
        profile: What the person chose, on whatever machine.
        nodes: Of the job, the first one first.

    Returns:
        The profile, the devices of all nodes as those of one machine, and hints about what is
        other than the profile says.

    Raises:
        ProblemError: Its strategy has one process, or it names GPUs and none was given.
    """
    check_for_nodes(profile, len(nodes))
    gpus: dict[str, PhysicalDevice] = {}
    for node in nodes:
        for gpu in allocated_gpus(node.inventory, node.visible_devices):
            gpus.setdefault(gpu.key, gpu)
    first = nodes[0].inventory
    rest = tuple(device for device in first.devices if device.key == CPU_KEY)
    inventory = DeviceInventory(
        driver=first.driver, devices=(*gpus.values(), *rest), problem=first.problem
    )
    moved, hints = on_allocated(profile, inventory, None)
    if moved.devices.visible in ((), (CPU_KEY,)) and moved.strategy.workers is None:
        strategy = moved.strategy.model_copy(update={"workers": len(nodes)})
        moved = moved.model_copy(update={"strategy": strategy})
    return moved, inventory, (_open_ports(len(nodes)), *hints)


def check_for_nodes(profile: Profile, nodes: int) -> None:
    """See that a profile can have processes on so many nodes.

    Raises:
        ProblemError: It cannot.
    """
    trains = profile.task == "train"
    if nodes > 1 and not (trains and profile.strategy.kind is StrategyKind.MULTI_WORKER):
        raise ProblemError(_needs_workers(profile, nodes))


def placed_on_nodes(plan: LaunchPlan, nodes: Sequence[JobNode]) -> LaunchPlan:
    """The plan with each process on the node that has its devices.

    Those on the CPU are divided over the nodes in their order, as evenly as they can be.

    Raises:
        ProblemError: There are fewer processes than nodes, or one would need GPUs of two nodes.
    """
    count = len(plan.processes)
    if count < len(nodes):
        raise ProblemError(_idle_nodes(count, len(nodes)))
    places = {
        gpu.key: node
        for node in reversed(nodes)
        for gpu in allocated_gpus(node.inventory, node.visible_devices)
    }
    processes = []
    for index, process in enumerate(plan.processes):
        on_cpu = nodes[index * len(nodes) // count]
        wanted = {places.get(device.key, on_cpu).name for device in process.devices}
        if len(wanted) > 1:
            raise ProblemError(_across_nodes(process))
        node = next(node for node in nodes if node.name in wanted)
        processes.append(process.model_copy(update={"node": node.name, "address": node.address}))
    return plan.model_copy(update={"processes": tuple(processes)})


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
        message=f"{nodes} nodes are asked for, and only a training with the strategy multi_worker "
        f"has processes on several; this is {profile.task} with {profile.strategy.kind}.",
        hint="Set strategy.kind to multi_worker, or ask for one node.",
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


def _across_nodes(process: PlannedProcess) -> Problem:
    return Problem(
        code="worker_across_nodes",
        field="strategy.workers",
        message=f"{process.name.capitalize()} would need GPUs of two nodes.",
        hint="Leave strategy.workers out, which gives each GPU a process, or ask for equally many "
        "GPUs on every node.",
    )
