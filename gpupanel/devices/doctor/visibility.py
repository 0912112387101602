"""Which GPUs of the driver TensorFlow sees, and why it does not see the others.

The driver's library NVML lists every GPU. CUDA shows a process those that
``CUDA_VISIBLE_DEVICES`` leaves, of MIG instances one. Of these TensorFlow takes those that are new
and large enough for it (``GetValidDeviceIds`` in its ``gpu_device.cc``).
"""

from enum import StrEnum

from gpupanel.devices.doctor.examined import Examined
from gpupanel.devices.probes.tensorflow_refusals import Refusal, RefusalKind
from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.pci import is_same_pci_device
from gpupanel.domain.tensorflow_facts import CUDA_NO_DEVICE, CudaDevice
from gpupanel.domain.value import Value
from gpupanel.planning.tensorflow_build import compiles_kernels, has_kernels

DEFAULT_LEAST_MULTIPROCESSORS = 8
"""TensorFlow's ``kDefaultMinGPUMultiprocessorCount``."""


class Unseen(StrEnum):
    """Why TensorFlow does not see a GPU."""

    PARTITIONED = "partitioned"
    """It is in MIG mode: only its instances can compute."""
    HIDDEN = "hidden"
    TOO_FEW_MULTIPROCESSORS = "too_few_multiprocessors"
    TOO_OLD = "too_old"
    REFUSED = "refused"
    """TensorFlow says why in words of its own."""
    ANOTHER_INSTANCE = "another_instance"
    """CUDA shows a process one MIG instance, and that is another one."""
    UNKNOWN = "unknown"


class Kernels(StrEnum):
    """How TensorFlow's kernels come to run on a GPU."""

    MACHINE_CODE = "machine_code"
    COMPILED_AT_START = "compiled_at_start"
    NONE = "none"


class GpuVisibility(Value):
    """How TensorFlow stands to one GPU of the driver.

    Attributes:
        is_seen: ``None`` when TensorFlow did not get to answer.
        why_not: ``None`` for one that it sees.
        kernels: ``None`` when the build or the GPU does not say.
        multiprocessor_count: As CUDA reports it.
        refusal: TensorFlow's own word, where it gave one.
    """

    key: str
    is_seen: bool | None = None
    why_not: Unseen | None = None
    kernels: Kernels | None = None
    multiprocessor_count: int | None = None
    refusal: Refusal | None = None


def visibilities(examined: Examined) -> tuple[GpuVisibility, ...]:
    """How TensorFlow stands to each GPU, in the driver's order."""
    shown = {gpu.key: _shown_by_cuda(gpu, examined) for gpu in examined.driver.gpus}
    seen = _seen_keys(examined, shown)
    return tuple(_visibility(gpu, examined, shown, seen) for gpu in examined.driver.gpus)


def asked_multiprocessors(examined: Examined) -> int:
    """What TensorFlow asks of a GPU, as ``GetMinGPUMultiprocessorCount`` reckons it."""
    setting = examined.least_multiprocessors or ""
    if setting.strip().isdecimal():
        return int(setting)
    devices = () if examined.cuda is None else examined.cuda.devices
    most = max((each.multiprocessor_count or 0 for each in devices), default=0)
    return min(DEFAULT_LEAST_MULTIPROCESSORS, most) if most else DEFAULT_LEAST_MULTIPROCESSORS


def _visibility(
    gpu: PhysicalDevice,
    examined: Examined,
    shown: dict[str, CudaDevice | None],
    seen: frozenset[str] | None,
) -> GpuVisibility:
    device = shown[gpu.key]
    is_seen = None if seen is None else gpu.key in seen
    refusal = _refusal(gpu, examined)
    return GpuVisibility(
        key=gpu.key,
        is_seen=is_seen,
        why_not=_why_not(gpu, examined, shown, refusal) if is_seen is False else None,
        kernels=_kernels(gpu, examined),
        multiprocessor_count=None if device is None else device.multiprocessor_count,
        refusal=None if is_seen else refusal,
    )


def _why_not(
    gpu: PhysicalDevice,
    examined: Examined,
    shown: dict[str, CudaDevice | None],
    refusal: Refusal | None,
) -> Unseen:
    if gpu.is_partitioned:
        return Unseen.PARTITIONED
    if refusal is not None:
        return _OF_REFUSALS[refusal.kind]
    device = shown[gpu.key]
    if device is not None:
        return Unseen.TOO_FEW_MULTIPROCESSORS if _is_small(device, examined) else Unseen.UNKNOWN
    # A CUDA that was not asked, or does not start, shows nobody any GPU.
    has_answered = examined.cuda is not None and examined.cuda.error_code in (0, CUDA_NO_DEVICE)
    visible = examined.visible_devices
    if has_answered and visible is not None and not _is_named(gpu.key, visible):
        return Unseen.HIDDEN
    shows_instance = any(
        each.is_mig_instance and shown[each.key] is not None for each in examined.gpus
    )
    return Unseen.ANOTHER_INSTANCE if shows_instance else Unseen.UNKNOWN


_OF_REFUSALS = {
    RefusalKind.TOO_FEW_MULTIPROCESSORS: Unseen.TOO_FEW_MULTIPROCESSORS,
    RefusalKind.TOO_OLD: Unseen.TOO_OLD,
    RefusalKind.OTHER: Unseen.REFUSED,
}


def _is_small(device: CudaDevice, examined: Examined) -> bool:
    count = device.multiprocessor_count
    return count is not None and count < asked_multiprocessors(examined)


def _is_named(key: str, visible_devices: str) -> bool:
    """Whether the variable names the GPU by its UUID, whole or its beginning."""
    names = (name.strip() for name in visible_devices.split(","))
    return any(name.startswith(("GPU-", "MIG-")) and key.startswith(name) for name in names)


def _shown_by_cuda(gpu: PhysicalDevice, examined: Examined) -> CudaDevice | None:
    devices = () if examined.cuda is None else examined.cuda.devices
    digits = _digits(gpu.key)
    for device in devices:
        if device.uuid is not None and _digits(device.uuid) == digits:
            return device
    if gpu.is_mig_instance or gpu.is_partitioned:
        return None
    nameless = (device for device in devices if device.uuid is None)
    return next(
        (each for each in nameless if is_same_pci_device(each.pci_bus_id, gpu.pci_bus_id)), None
    )


def _digits(uuid: str) -> str:
    return uuid.removeprefix("GPU-").removeprefix("MIG-").lower()


def _seen_keys(examined: Examined, shown: dict[str, CudaDevice | None]) -> frozenset[str] | None:
    """The GPUs that TensorFlow lists, as far as what it reports of them goes: name and order.

    It lists GPUs in CUDA's order, those left out that it passes over.
    """
    facts = examined.working_tensorflow
    if facts is None:
        return None
    order = () if examined.cuda is None else examined.cuda.devices
    candidates = [gpu for gpu in examined.gpus if _refusal(gpu, examined) is None]
    candidates.sort(key=lambda gpu: _rank(shown[gpu.key], order))
    seen = []
    for listed in facts.gpus:
        match = next((gpu for gpu in candidates if gpu.name == listed.name), None)
        match = match or next(iter(candidates), None)
        if match is not None:
            candidates.remove(match)
            seen.append(match.key)
    return frozenset(seen)


def _rank(device: CudaDevice | None, order: tuple[CudaDevice, ...]) -> int:
    return len(order) if device is None else order.index(device)


def _refusal(gpu: PhysicalDevice, examined: Examined) -> Refusal | None:
    here = (r for r in examined.refusals if is_same_pci_device(r.pci_bus_id, gpu.pci_bus_id))
    return next(here, None)


def _kernels(gpu: PhysicalDevice, examined: Examined) -> Kernels | None:
    build, capability = examined.cuda_build, gpu.compute_capability
    if build is None or not build.compute_capabilities or capability is None:
        return None
    if has_kernels(build, capability):
        return Kernels.MACHINE_CODE
    return Kernels.COMPILED_AT_START if compiles_kernels(build, capability) else Kernels.NONE
