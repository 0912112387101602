"""What is true of GPUs that cannot be used because they do not answer, and what to do.

One that stopped answering was seen; one that never answered is only counted by the driver; what
neither holds for is not in this machine.
"""

from collections.abc import Iterable, Sequence

from gpupanel.domain.device import DeviceInventory, UnresponsiveGpu
from gpupanel.domain.gpu_failure import GpuFailure
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.planning.chosen_devices import lost_readings

_GONE = GpuFailure(said="it fell off the bus or its driver went away")


def stopped_answering(
    keys: Sequence[str], inventory: DeviceInventory, sample: TelemetrySample | None
) -> tuple[str, str]:
    """What happened to GPUs that were there, without a full stop, and what to do about it."""
    known = {each.key: each.failure for each in lost_readings(sample)}
    failures = [known.get(key) or _GONE for key in keys]
    names = ", ".join(inventory.name_of(key) for key in keys)
    words = "; ".join(dict.fromkeys(failure.words for failure in failures))
    return f"{names} stopped answering: {words}", _advice(failures)


def never_answered(gpus: Iterable[UnresponsiveGpu]) -> tuple[str, str]:
    """What came back from GPUs that are only counted, without a full stop, and what to do."""
    found = tuple(gpus)
    said = "; ".join(gpu.sentence for gpu in found)
    return said, _advice([gpu.failure for gpu in found])


def unresponsive_among(
    keys: Iterable[str], inventory: DeviceInventory
) -> dict[str, UnresponsiveGpu]:
    """The keys that mean a GPU that is counted and does not answer, by the kernel's word."""
    return {key: gpu for key in keys for gpu in inventory.unresponsive if gpu.is_meant_by(key)}


def nameless(inventory: DeviceInventory) -> tuple[UnresponsiveGpu, ...]:
    """GPUs without a known UUID: each may be one that a profile names."""
    return tuple(gpu for gpu in inventory.unresponsive if gpu.key is None)


def _advice(failures: Sequence[GpuFailure]) -> str:
    return " ".join(dict.fromkeys(failure.advice for failure in failures))
