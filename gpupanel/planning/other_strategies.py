"""Other ways to divide a run's work whose devices each hold less of it."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from gpupanel.domain.device import DeviceInventory, PhysicalDevice
from gpupanel.domain.memory import LimitedMemory, SplitMemory
from gpupanel.domain.problem import Change, Fix
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import (
    GANG_KINDS,
    StrategyKind,
    StrategySettings,
)
from gpupanel.domain.telemetry import TelemetrySample

_MIRRORING: Final = (StrategyKind.MIRRORED, StrategyKind.MULTI_WORKER)


def other_strategies(
    profile: Profile,
    inventory: DeviceInventory,
    chosen: Sequence[PhysicalDevice],
    too_small: PhysicalDevice | None,
    sample: TelemetrySample | None = None,
) -> Iterator[Fix]:
    """Other strategies and devices for a run whose device has not enough memory.

    Args:
        profile: Of the run.
        inventory: The devices of this machine.
        chosen: Those that the profile means.
        too_small: The one of them that ran out of memory; ``None``: not known.
        sample: Readings of them: what others hold of a GPU cannot be had.
    """
    if not any(device.is_gpu for device in chosen):
        yield from _one_copy(profile)
        return
    yield from _larger_gpu(profile, inventory, too_small, sample)
    gpus = [device for device in chosen if device.is_gpu]
    if len(gpus) == 1:
        gpus = list(inventory.gpus)
    if len(gpus) > 1:
        also = [Change(path=("devices", "visible"), value=[gpu.key for gpu in gpus])]
        yield from _divided(profile, len(gpus), also if len(gpus) != len(chosen) else [])


def _one_copy(profile: Profile) -> Iterator[Fix]:
    """On the CPU every replica has a copy of the weights in the same memory."""
    if profile.strategy.divides_batches or profile.strategy.kind in GANG_KINDS:
        changes = [*_to_strategy(profile, StrategyKind.ONE_DEVICE)]
        if profile.devices.cpu_replicas > 1:
            changes.append(Change(path=("devices", "cpu_replicas"), value=1))
        yield Fix(label="Use one copy of the model", changes=tuple(changes))


def _larger_gpu(
    profile: Profile,
    inventory: DeviceInventory,
    too_small: PhysicalDevice | None,
    sample: TelemetrySample | None,
) -> Iterator[Fix]:
    if too_small is None or too_small.memory_total_mib is None:
        return
    given = partial(_given_mib, profile, sample)
    largest = max(inventory.gpus, key=given, default=too_small)
    if given(largest) > given(too_small):
        yield Fix(
            label=f"Use {inventory.name_of(largest.key)} alone",
            changes=(
                Change(path=("devices", "visible"), value=[largest.key]),
                *_to_strategy(profile, StrategyKind.ONE_DEVICE),
            ),
        )


def _given_mib(profile: Profile, sample: TelemetrySample | None, gpu: PhysicalDevice) -> int:
    """The most that the profile gives one logical device of a GPU, of what others leave."""
    policy, most_mib = profile.memory_policy(gpu.key), gpu.memory_total_mib or 0
    reading = None if sample is None else sample.reading(gpu.key)
    if reading is not None and reading.memory_free_mib is not None:
        most_mib = reading.memory_free_mib
    if isinstance(policy, SplitMemory):
        return min(most_mib, max(policy.split_mib))
    return min(most_mib, policy.limit_mib) if isinstance(policy, LimitedMemory) else most_mib


def _divided(profile: Profile, count: int, devices: list[Change]) -> Iterator[Fix]:
    """The examples, or the layers, on so many GPUs; or one copy of the weights for all of them."""
    kind = profile.strategy.kind
    if kind is StrategyKind.ONE_DEVICE:
        yield Fix(
            label=f"Divide the examples over {count} GPUs",
            changes=(*devices, *_to_strategy(profile, StrategyKind.MIRRORED)),
        )
    if profile.task != "train":
        return
    if kind in _MIRRORING:
        yield Fix(
            label="Keep the weights on the host",
            changes=(*devices, *_to_strategy(profile, StrategyKind.CENTRAL_STORAGE)),
        )
    divisors = [each for each in range(2, count) if count % each == 0]
    for each in (None, *divisors):
        if kind is StrategyKind.MODEL_PARALLEL and each == profile.strategy.devices_per_replica:
            continue
        changes = [*devices, *_to_strategy(profile, StrategyKind.MODEL_PARALLEL, each)]
        if profile.training.jit_compile:
            # XLA compiles a step for one device.
            changes.append(Change(path=("training", "jit_compile"), value=False))
        label = f"Divide the layers over {each or count} GPUs"
        if each is not None:
            label += f", in {count // each} replicas"
        yield Fix(label=label, changes=tuple(changes))


def _to_strategy(
    profile: Profile, kind: StrategyKind, devices_per_replica: int | None = None
) -> Iterator[Change]:
    """The strategy's kind, and the keys of the former one that would mean nothing to it."""
    placement = "auto" if kind is StrategyKind.MODEL_PARALLEL else None
    strategy = StrategySettings(
        kind=kind, placement=placement, devices_per_replica=devices_per_replica
    )
    wanted = strategy.model_dump(mode="json")
    before = profile.strategy.model_dump(mode="json")
    for key, value in wanted.items():
        if value != before[key]:
            yield Change(path=("strategy", key), value=value)
