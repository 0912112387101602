"""Which GPUs a build of TensorFlow was made for."""

import re

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.tensorflow_facts import TensorFlowBuild

_REAL, _VIRTUAL = "sm_", "compute_"


def refused_by_build(
    gpus: tuple[PhysicalDevice, ...], build: TensorFlowBuild | None
) -> frozenset[str]:
    """The keys of those GPUs that the build cannot use; none while the build is not known."""
    if build is None:
        return frozenset()
    if not build.is_cuda_build:
        return frozenset(gpu.key for gpu in gpus)
    return frozenset(
        gpu.key
        for gpu in without_machine_code(gpus, build)
        if not compiles_kernels(build, gpu.compute_capability or (0, 0))
    )


def without_machine_code(
    gpus: tuple[PhysicalDevice, ...], build: TensorFlowBuild
) -> tuple[PhysicalDevice, ...]:
    """The GPUs whose compute capability is known and that the build has no machine code for."""
    return tuple(
        gpu
        for gpu in gpus
        if gpu.compute_capability is not None
        and build.compute_capabilities
        and not has_kernels(build, gpu.compute_capability)
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
