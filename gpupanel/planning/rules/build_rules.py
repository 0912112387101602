"""Whether the TensorFlow that is installed was built for the chosen GPUs."""

import re

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.tensorflow_facts import TensorFlowBuild
from gpupanel.planning.on_the_cpu import on_the_cpu

_REAL, _VIRTUAL = "sm_", "compute_"


def build_problems(
    profile: Profile, devices: tuple[PhysicalDevice, ...], support: GpuSupport | None
) -> list[Problem]:
    """GPUs that this build cannot use, or only after compiling its kernels anew."""
    gpus = tuple(device for device in devices if device.is_gpu)
    build = None if support is None else support.build
    if support is None or build is None or not gpus:
        return []
    if not build.is_cuda_build:
        return [_without_cuda(profile, support, build, gpus)]
    refused = refused_by_build(gpus, build)
    slow = [gpu for gpu in _without_machine_code(gpus, build) if gpu.key not in refused]
    unusable = [gpu for gpu in gpus if gpu.key in refused]
    return [
        *([_compiles_first(build, slow)] if slow else []),
        *([_not_built_for(profile, build, unusable, gpus)] if unusable else []),
    ]


def refused_by_build(
    devices: tuple[PhysicalDevice, ...], build: TensorFlowBuild | None
) -> frozenset[str]:
    """The keys of GPUs of which :func:`build_problems` tells that they cannot be used."""
    if build is None:
        return frozenset()
    if not build.is_cuda_build:
        return frozenset(device.key for device in devices if device.is_gpu)
    return frozenset(
        gpu.key
        for gpu in _without_machine_code(devices, build)
        if not compiles_kernels(build, gpu.compute_capability or (0, 0))
    )


def _without_machine_code(
    devices: tuple[PhysicalDevice, ...], build: TensorFlowBuild
) -> tuple[PhysicalDevice, ...]:
    return tuple(
        device
        for device in devices
        if device.compute_capability is not None
        and build.compute_capabilities
        and not has_kernels(build, device.compute_capability)
    )


def has_kernels(build: TensorFlowBuild, capability: tuple[int, int]) -> bool:
    """Whether the build has machine code for such a GPU.

    Machine code for one compute capability runs on the same and on later ones of its generation
    (CUDA C++ Programming Guide, "Binary Compatibility").
    """
    return any(
        version[0] == capability[0] and version <= capability for version in _versions(build, _REAL)
    )


def compiles_kernels(build: TensorFlowBuild, capability: tuple[int, int]) -> bool:
    """Whether the driver can compile the build's kernels for such a GPU, from its PTX."""
    return any(version <= capability for version in _versions(build, _VIRTUAL))


def oldest_capability(build: TensorFlowBuild) -> tuple[int, int] | None:
    """The least compute capability that the build was made for; ``None`` when it does not say."""
    return min((*_versions(build, _REAL), *_versions(build, _VIRTUAL)), default=None)


def _versions(build: TensorFlowBuild, prefix: str) -> tuple[tuple[int, int], ...]:
    """The versions behind a prefix: ``sm_89`` and ``compute_120`` end with the minor digit.

    A letter behind it (``sm_90a``) means features of one architecture only.
    """
    found = (re.fullmatch(rf"{prefix}(\d+)(\d)[a-f]?", name) for name in build.compute_capabilities)
    return tuple((int(match[1]), int(match[2])) for match in found if match is not None)


def _without_cuda(
    profile: Profile, support: GpuSupport, build: TensorFlowBuild, gpus: tuple[PhysicalDevice, ...]
) -> Problem:
    fault = support.fault_of(gpus[0].key)
    return Problem(
        code="tensorflow_without_cuda",
        field="devices.visible",
        message=f"TensorFlow {build.version} was built without CUDA and cannot use {gpus[0].name}.",
        hint="Install the build with CUDA (pip install 'gpupanel[cuda]', on Windows inside WSL), "
        "or train on the CPU.",
        command="" if fault is None else fault.problem.command,
        fix=_use_cpu(profile, gpus),
    )


def _compiles_first(build: TensorFlowBuild, gpus: list[PhysicalDevice]) -> Problem:
    return Problem(
        code="kernels_compiled_at_start",
        severity=Severity.HINT,
        field="devices.visible",
        message=f"TensorFlow {build.version} has no machine code for {_names(gpus)}: the driver "
        "compiles its kernels when they are first used.",
        hint="The first start may take up to half an hour; the next ones use what was compiled "
        "(CUDA_CACHE_MAXSIZE must be large enough for it).",
    )


def _not_built_for(
    profile: Profile,
    build: TensorFlowBuild,
    unusable: list[PhysicalDevice],
    gpus: tuple[PhysicalDevice, ...],
) -> Problem:
    others = [gpu.key for gpu in gpus if gpu not in unusable]
    what = unusable[0].name if len(unusable) == 1 else "them"
    leave = Fix(
        label=f"Leave {what} out",
        changes=(Change(path=("devices", "visible"), value=others),),
    )
    return Problem(
        code="gpu_not_in_tensorflow_build",
        field="devices.visible",
        message=f"TensorFlow {build.version} was not made for {_names(unusable)}: the build needs "
        f"{_needs(build)}.",
        hint="Switch it off, or install a TensorFlow that was built for it.",
        fix=leave if others else _use_cpu(profile, gpus),
    )


def _names(gpus: list[PhysicalDevice]) -> str:
    """Each name once, with what the GPU can compute."""
    names = []
    for gpu in gpus:
        major, minor = gpu.compute_capability or (0, 0)
        names.append(f"{gpu.name} (compute capability {major}.{minor})")
    return ", ".join(dict.fromkeys(names))


def _needs(build: TensorFlowBuild) -> str:
    oldest = oldest_capability(build)
    return "another one" if oldest is None else f"{oldest[0]}.{oldest[1]} at least"


def _use_cpu(profile: Profile, gpus: tuple[PhysicalDevice, ...]) -> Fix:
    return on_the_cpu(profile, tuple(gpu.key for gpu in gpus))
