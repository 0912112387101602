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
    """Where everything of a run stands.

    Attributes:
        environment: Of every process.
        devices: Of all processes.
        processes: Empty where there is one.
        spots: Process and logical device of each replica; ``model_parallel`` has one only.
        places: Where layers can be placed.
    """

    environment: dict[str, str]
    devices: tuple[PlannedDevice, ...]
    processes: tuple[PlannedProcess, ...]
    spots: tuple[tuple[int, LogicalPlace], ...]
    places: tuple[LogicalPlace, ...] = ()

    def replicas(self, shares: tuple[int, ...]) -> tuple[PlannedReplica, ...]:
        """The replicas with their shares, one for each spot."""
        return tuple(
            PlannedReplica(
                index=index,
                device_key=place.device_key,
                logical_device=place.logical_device,
                share=share,
                process=process,
            )
            for index, ((process, place), share) in enumerate(zip(self.spots, shares, strict=True))
        )


def lay_out(profile: Profile, devices: tuple[PhysicalDevice, ...]) -> Layout:
    """Lay a run out on the chosen devices, of which there is one at least."""
    kind = profile.strategy.kind
    if kind in GANG_KINDS:
        return _of_gang(profile, devices)
    if kind is StrategyKind.ONE_DEVICE:
        # The others stay hidden: TensorFlow would make a context on each that it sees.
        devices = devices[:1]
    planned = planned_devices(profile, devices)
    places = _places(planned)
    if kind is StrategyKind.ONE_DEVICE:
        places = places[:1]
    parallel = kind is StrategyKind.MODEL_PARALLEL
    return Layout(
        environment=environment(profile, devices),
        devices=planned,
        processes=(),
        spots=tuple((0, place) for place in (places[:1] if parallel else places)),
        places=places if parallel else (),
    )


def _of_gang(profile: Profile, devices: tuple[PhysicalDevice, ...]) -> Layout:
    groups = device_groups(profile, devices)
    workers = tuple(
        PlannedProcess(
            role=ProcessRole.WORKER,
            index=index,
            environment=environment(profile, group),
            devices=planned_devices(profile, group),
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
    coordinator = PlannedProcess(role=ProcessRole.COORDINATOR, environment=cpu_environment())
    servers = tuple(
        PlannedProcess(
            role=ProcessRole.PARAMETER_SERVER, index=index, environment=cpu_environment()
        )
        for index in range(_parameter_server_count(profile))
    )
    # The coordinator stands first in the gang: it leads.
    spots = tuple((1 + index, _places(worker.devices)[0]) for index, worker in enumerate(workers))
    return Layout({}, tuple(seen.values()), (coordinator, *workers, *servers), spots)


def _places(devices: tuple[PlannedDevice, ...]) -> tuple[LogicalPlace, ...]:
    return tuple(
        LogicalPlace(device_key=key, logical_device=name) for key, name in logical_devices(devices)
    )


def worker_count(profile: Profile, devices: tuple[PhysicalDevice, ...]) -> int:
    """Worker processes: as many as the profile says, else one a GPU, else two on the CPU."""
    if profile.strategy.workers is not None:
        return profile.strategy.workers
    gpus = sum(device.is_gpu for device in devices)
    return gpus or max(_CPU_WORKERS, profile.devices.cpu_replicas)


def _parameter_server_count(profile: Profile) -> int:
    """Parameter-server processes."""
    return profile.strategy.parameter_servers or 1


def device_groups(
    profile: Profile, devices: tuple[PhysicalDevice, ...]
) -> tuple[tuple[PhysicalDevice, ...], ...]:
    """The devices that each worker sees: equally many GPUs, or the CPU for each.

    Where they cannot be divided so, the groups are as even as they can be;
    ``rules/worker_rules.py`` says why.
    """
    count = worker_count(profile, devices)
    gpus = tuple(device for device in devices if device.is_gpu)
    if not gpus:
        return (devices,) * count
    count = min(count, len(gpus))
    each = 1 if profile.strategy.kind is StrategyKind.PARAMETER_SERVER else len(gpus) // count
    return tuple(gpus[each * index : each * (index + 1)] for index in range(count))
