"""A plan as one process can carry it out, with the same mathematics."""

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.plan import LaunchPlan, PlannedDevice, PlannedProcess, ProcessRole
from gpupanel.domain.strategy import AllReduce, StrategyKind
from gpupanel.planning.all_reduce import without_nccl

_VISIBLE, _GROWTH = "CUDA_VISIBLE_DEVICES", "TF_FORCE_GPU_ALLOW_GROWTH"


def in_one_process(plan: LaunchPlan) -> LaunchPlan:
    """The plan of a run whose processes are gathered in one.

    Workers become replicas of a mirrored strategy, and where they sum over a ring their GPUs need
    no NCCL in one process either. Of a parameter-server run one worker is left:
    its workers take the steps by turns, so that one takes them in their order. Memory growth is
    the same for all GPUs of a process.
    """
    if not plan.processes:
        return plan.without_idle_replicas()
    workers = [process for process in plan.processes if process.role is ProcessRole.WORKER]
    asynchronous = plan.strategy is StrategyKind.PARAMETER_SERVER
    if asynchronous:
        workers = workers[:1]
    first_place = {}
    places = 0
    for worker in workers:
        first_place[plan.processes.index(worker)] = places
        places += sum(len(device.logical_limits_mib) or 1 for device in worker.devices)
    replicas = tuple(
        replica.model_copy(
            update={
                "process": 0,
                "logical_device": _moved(replica.logical_device, first_place[replica.process]),
            }
        )
        for replica in plan.replicas[: len(workers) if asynchronous else None]
    )
    all_reduce, devices = plan.all_reduce, _devices(workers)
    on_gpus = devices[0].kind is DeviceKind.GPU
    if all_reduce is AllReduce.AUTO and on_gpus and not asynchronous and len(replicas) > 1:
        all_reduce = without_nccl(len(replicas))
    return plan.model_copy(
        update={
            "strategy": StrategyKind.ONE_DEVICE if asynchronous else StrategyKind.MIRRORED,
            "environment": _environment(workers),
            "devices": devices,
            "all_reduce": all_reduce,
            "replicas": replicas,
            "processes": (),
        }
    )


def _moved(logical_device: str, by: int) -> str:
    name, _, number = logical_device.rpartition(":")
    return f"{name}:{int(number) + by}"


def _environment(workers: list[PlannedProcess]) -> dict[str, str]:
    together = dict(workers[0].environment)
    together[_VISIBLE] = ",".join(dict.fromkeys(worker.environment[_VISIBLE] for worker in workers))
    if any(worker.environment.get(_GROWTH) == "true" for worker in workers):
        together[_GROWTH] = "true"
    return together


def _devices(workers: list[PlannedProcess]) -> tuple[PlannedDevice, ...]:
    devices = [device for worker in workers for device in worker.devices]
    if devices[0].kind is DeviceKind.CPU:
        # Each worker has the whole CPU: here it has a logical device of it.
        limits = (None,) * len(workers) if len(workers) > 1 else ()
        return (devices[0].model_copy(update={"logical_limits_mib": limits}),)
    divided = any(device.logical_limits_mib for device in devices)
    grows = not divided and any(device.memory_growth for device in devices)
    return tuple(
        device.model_copy(update={"index": index, "memory_growth": grows})
        for index, device in enumerate(devices)
    )
