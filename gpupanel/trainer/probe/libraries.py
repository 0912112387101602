"""The libraries that TensorFlow loads to use GPUs, and where they are.

Which ones: ``TryDlopenCUDALibraries`` in TensorFlow's ``dlopen_checker.cc`` wants cudart, cublas,
cublasLt, cufft, cusolver, cusparse and cudnn, or it uses no GPU; NCCL and CUPTI it opens when they
are first needed. Their names and folders of CUDA 12 and 13 are those of NVIDIA's own
``cuda.pathfinder``: the wheels of CUDA 12 have a folder each (``nvidia/cublas/lib``) and end with
``-cu12``; those of CUDA 13 share ``nvidia/cu13/lib`` and have no ending, except cuDNN and NCCL.
"""

import ctypes
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpupanel.domain.tensorflow_facts import SharedLibrary

DRIVER_LIBRARY: Final = "libcuda.so.1"


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A library with the package that brings it."""

    soname: str
    package: str
    is_required: bool = True


# Each behind those that it loads itself.
_CUDA: Final = {
    "12": (
        _Wanted("libcudart.so.12", "nvidia-cuda-runtime-cu12"),
        _Wanted("libnvJitLink.so.12", "nvidia-nvjitlink-cu12"),
        _Wanted("libcublasLt.so.12", "nvidia-cublas-cu12"),
        _Wanted("libcublas.so.12", "nvidia-cublas-cu12"),
        _Wanted("libcufft.so.11", "nvidia-cufft-cu12"),
        _Wanted("libcusparse.so.12", "nvidia-cusparse-cu12"),
        _Wanted("libcusolver.so.11", "nvidia-cusolver-cu12"),
        _Wanted("libnccl.so.2", "nvidia-nccl-cu12", is_required=False),
        _Wanted("libcupti.so.12", "nvidia-cuda-cupti-cu12", is_required=False),
    ),
    "13": (
        _Wanted("libcudart.so.13", "nvidia-cuda-runtime"),
        _Wanted("libnvJitLink.so.13", "nvidia-nvjitlink"),
        _Wanted("libcublasLt.so.13", "nvidia-cublas"),
        _Wanted("libcublas.so.13", "nvidia-cublas"),
        _Wanted("libcufft.so.12", "nvidia-cufft"),
        _Wanted("libcusparse.so.12", "nvidia-cusparse"),
        _Wanted("libcusolver.so.12", "nvidia-cusolver"),
        _Wanted("libnccl.so.2", "nvidia-nccl-cu13", is_required=False),
        _Wanted("libcupti.so.13", "nvidia-cuda-cupti", is_required=False),
    ),
}


def find_libraries(cuda: str, cudnn: str, wheels: Path) -> tuple[SharedLibrary, ...]:
    """Each library that a build for that CUDA wants, found or not; the driver's first.

    Args:
        cuda: The version that the build was made for ("12.5.1").
        cudnn: The version of cuDNN that it was made for ("9"); empty when it does not say.
        wheels: The folder ``nvidia`` beside TensorFlow's package.
    """
    major = cuda.partition(".")[0]
    wanted = [_Wanted(DRIVER_LIBRARY, ""), *_CUDA.get(major, ())]
    if cudnn and major in _CUDA:
        soname = f"libcudnn.so.{cudnn.partition('.')[0]}"
        wanted.append(_Wanted(soname, f"nvidia-cudnn-cu{major}"))
    return tuple(_find(each, major, wheels) for each in wanted)


def find_cupti(cuda: str, wheels: Path) -> SharedLibrary | None:
    """The library by which the profiler traces GPUs; ``None`` for a CUDA that is not known.

    Args:
        cuda: As of :func:`find_libraries`.
        wheels: As there.
    """
    major = cuda.partition(".")[0]
    return next(
        (_find(each, major, wheels) for each in _CUDA.get(major, ()) if "cupti" in each.soname),
        None,
    )


def _find(wanted: _Wanted, major: str, wheels: Path) -> SharedLibrary:
    """Where TensorFlow found the library, or would find it.

    What it loaded itself when it listed the GPUs is the truth. Else its own runtime path is
    followed: the packages' folders beside it, then what the loader finds by name.
    """
    path, errors = _loaded_path(wanted.soname), []
    beside = _beside(wanted.soname, major, wheels)
    for name in (wanted.soname,) if beside is None else (str(beside), wanted.soname):
        if path is not None:
            break
        try:
            ctypes.CDLL(name)
        except OSError as failure:
            errors.append(str(failure))
        else:
            path = _loaded_path(wanted.soname) or wanted.soname
    return SharedLibrary(
        soname=wanted.soname,
        package=wanted.package,
        path=path,
        error="" if path is not None else errors[0],
        is_required=wanted.is_required,
    )


def _beside(soname: str, major: str, wheels: Path) -> Path | None:
    """The file in NVIDIA's packages; not that of another CUDA where several have it."""

    def is_of_another(file: Path) -> bool:
        folder = file.parent.parent.name
        return folder.removeprefix("cu").isdecimal() and folder != f"cu{major}"

    files = sorted(wheels.glob(f"*/lib/{soname}"))
    return min(files, key=is_of_another, default=None)


def _loaded_path(soname: str) -> str | None:
    """The file that this process has mapped for the library."""
    # The driver's is mapped by its real name, libcuda.so.570.86.15.
    prefix = "libcuda.so." if soname == DRIVER_LIBRARY else soname
    maps = Path("/proc/self/maps")
    if not maps.exists():
        return None
    for line in maps.read_text(encoding="utf-8", errors="replace").splitlines():
        file = Path(line[line.find("/") :]) if "/" in line else None
        if file is not None and file.name.startswith(prefix):
            return str(file)
    return None
