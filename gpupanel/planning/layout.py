"""Which process sees which devices, and where replicas or layers stand, strategy by strategy."""

from dataclasses import dataclass

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.plan import (
    LogicalPlace,
    PlannedDevice,
    PlannedProcess,
    PlannedReplica,
    ProcessRole,
)
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import GANG_KINDS, StrategyKind
from gpupanel.planning.device_layout import (
    cpu_environment,
    environment,
    logical_devices,
    planned_devices,
)

_CPU_WORKERS = 2


@dataclass(frozen=True, slots=True)
class Layout:
    """The devices, processes and environment of a run.

    Attributes:
        environment: Of every process.
        devices: Of all processes.
        processes: Empty where there is one.
        spots: Process and logical device of each replica; of one whose layers are on several, the
            first of these.
        places: Where layers can be placed, as :class:`~gpupanel.domain.plan.LaunchPlan` has them.
    """

    environment: dict[str, str]
    devices: tuple[PlannedDevice, ...]
    processes: tuple[PlannedProcess, ...]
    spots: tuple[tuple[int, LogicalPlace], ...]
    places: tuple[LogicalPlace, ...] = ()

    def replicas(
        self, shares: tuple[int, ...], quotas: tuple[int, ...] | None = None
    ) -> tuple[PlannedReplica, ...]:
        """The replicas with their shares, and quotas of the optimizer's state, where it has any."""
        divided = quotas or (None,) * len(shares)
        return tuple(
            PlannedReplica(
                index=index,
                device_key=place.device_key,
                logical_device=place.logical_device,
                share=share,
                process=process,
                optimizer_quota=quota,
            )
            for index, ((process, place), share, quota) in enumerate(
                zip(self.spots, shares, divided, strict=True)
            )
        )


def lay_out(profile: Profile, devices: tuple[PhysicalDevice, ...]) -> Layout:
    """Lay a run out on the chosen devices, of which there is one at least."""
    kind = profile.strategy.kind
    if kind in GANG_KINDS:
        return _of_gang(profile, devices)
    # A program of the person's own uses of the devices what it wants.
    uses_one = kind is StrategyKind.ONE_DEVICE and profile.script is None
    if uses_one:
        # The others stay hidden: TensorFlow would make a context on each that it sees.
        devices = devices[:1]
    planned = planned_devices(profile, devices)
    places = _places(planned)
    if uses_one:
        places = places[:1]
    parallel = kind is StrategyKind.MODEL_PARALLEL
    each = devices_of_replica(profile, len(places)) if parallel else 1
    places = places[: len(places) // each * each]
    return Layout(
        environment=environment(profile, devices),
        devices=planned,
        processes=(),
        spots=tuple((0, place) for place in places[::each]),
        places=places if parallel else (),
    )


def devices_of_replica(profile: Profile, count: int) -> int:
    """Over how many of so many logical devices the layers of one replica are divided.

    Where there are fewer than the profile wants, all of them; ``rules/replica_rules.py`` says why
    some would be left over.
    """
    return min(profile.strategy.devices_per_replica or count, count)


def _of_gang(profile: Profile, devices: tuple[PhysicalDevice, ...]) -> Layout:
    groups = device_groups(profile, devices)
    workers = tuple(
        PlannedProcess(
            role=ProcessRole.WORKER,
            index=index,
            environment=environment(profile, group),
            devices=planned_devices(profile, group),
            node=group[0].node,
        )
        for index, group in enumerate(groups)
    )
    seen = {device.key: device for worker in workers for device in worker.devices}
    if profile.strategy.kind is StrategyKind.MULTI_WORKER:
        spots = tuple(
            (index, place)
            for index, worker in enumerate(workers)
            for place in _places(worker.devices)
        )
        return Layout({}, tuple(seen.values()), workers, spots)
    nodes = tuple(dict.fromkeys(worker.node for worker in workers))
    coordinator = PlannedProcess(
        role=ProcessRole.COORDINATOR, environment=cpu_environment(profile), node=nodes[0]
    )
    servers = tuple(
        PlannedProcess(
            role=ProcessRole.PARAMETER_SERVER,
            index=index,
            environment=cpu_environment(profile),
            node=nodes[index % len(nodes)],
        )
        for index in range(parameter_server_count(profile))
    )
    # The coordinator stands first in the gang: it leads.
    spots = tuple((1 + index, _places(worker.devices)[0]) for index, worker in enumerate(workers))
    return Layout({}, tuple(seen.values()), (coordinator, *workers, *servers), spots)


def _places(devices: tuple[PlannedDevice, ...]) -> tuple[LogicalPlace, ...]:
    return tuple(
        LogicalPlace(device_key=key, logical_device=name)
        for key, name, _ in logical_devices(devices)
    )


def worker_count(profile: Profile, devices: tuple[PhysicalDevice, ...]) -> int:
    """Worker processes: as many as the profile says, else one a GPU, else two on the CPU.

    Where the CPUs of several nodes train, each has one, or as many as it is to have replicas.
    """
    if profile.strategy.workers is not None:
        return profile.strategy.workers
    gpus = sum(device.is_gpu for device in devices)
    if gpus:
        return gpus
    nodes = len({device.node for device in devices if device.node})
    return nodes * profile.devices.cpu_replicas or max(_CPU_WORKERS, profile.devices.cpu_replicas)


def parameter_server_count(profile: Profile) -> int:
    """Parameter-server processes: as many as the profile says, else one."""
    return profile.strategy.parameter_servers or 1


def device_groups(
    profile: Profile, devices: tuple[PhysicalDevice, ...]
) -> tuple[tuple[PhysicalDevice, ...], ...]:
    """The devices that each worker sees: equally many GPUs, or a CPU for each.

    The CPUs of several nodes have as equally many workers as they can, in their order.

    Where they cannot be divided so, the groups are as even as they can be;
    ``rules/worker_rules.py`` says why.
    """
    count = worker_count(profile, devices)
    gpus = tuple(device for device in devices if device.is_gpu)
    if not gpus:
        firsts = (index * len(devices) // count for index in range(count))
        return tuple(devices[first : first + 1] for first in firsts)
    count = min(count, len(gpus))
    each = 1 if profile.strategy.kind is StrategyKind.PARAMETER_SERVER else len(gpus) // count
    return tuple(gpus[each * index : each * (index + 1)] for index in range(count))
