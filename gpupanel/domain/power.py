"""Power limits of GPUs against what a power supply gives."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.telemetry import TelemetrySample


@dataclass(frozen=True, slots=True)
class LimitedGpu:
    """A GPU with its power limits, in watts.

    Attributes:
        key: Its UUID.
        name: For people.
        limit_w: The limit in force.
        least_w: The least one that can be set; 0: not known.
    """

    key: str
    name: str
    limit_w: float
    least_w: float = 0.0


def limited_gpus(
    devices: Iterable[PhysicalDevice], sample: TelemetrySample | None
) -> tuple[LimitedGpu, ...]:
    """The whole GPUs among devices whose limit is known, as it is now.

    Args:
        devices: As they were listed; of MIG instances the board counts once, with its GPU.
        sample: What they reported last: a limit may have been set since they were listed.
    """
    found = []
    for device in devices:
        reading = None if sample is None else sample.reading(device.key)
        now_w = None if reading is None else reading.power_limit_w
        limit_w = device.power_limit_w if now_w is None else now_w
        if device.is_gpu and not device.is_mig_instance and limit_w is not None:
            least_w = device.power_limit_least_w or 0.0
            found.append(LimitedGpu(device.key, device.name, limit_w, least_w))
    return tuple(found)


def fitting_limits(gpus: Sequence[LimitedGpu], budget_w: float) -> tuple[int, ...] | None:
    """Limits in proportion to those in force that come to a budget at most, in whole watts.

    A GPU that cannot be limited so far gets its least one, and the others share the rest.

    Args:
        gpus: At least one.
        budget_w: What all of them may take together.

    Returns:
        In their order; ``None``: their least limits together pass it.
    """
    if sum(gpu.least_w for gpu in gpus) > budget_w:
        return None
    at_least: set[str] = set()
    while True:
        free = [gpu for gpu in gpus if gpu.key not in at_least]
        held_w = sum(gpu.least_w for gpu in gpus if gpu.key in at_least)
        whole_w = sum(gpu.limit_w for gpu in free)
        factor = (budget_w - held_w) / whole_w if whole_w else 0.0
        below = {gpu.key for gpu in free if gpu.limit_w * factor < gpu.least_w}
        if not below:
            break
        at_least |= below
    shared = {gpu.key: gpu.limit_w * factor for gpu in free}
    return tuple(max(int(shared.get(gpu.key, 0.0)), math.ceil(gpu.least_w)) for gpu in gpus)


def limit_command(key: str, limit_w: float) -> str:
    """What the administrator enters to set a limit."""
    return f"sudo nvidia-smi -i {key} -pl {limit_w:.0f}"
