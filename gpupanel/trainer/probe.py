"""``python -m gpupanel.trainer.probe``: what TensorFlow is and finds here, as JSON on stdout.

A process of its own, since importing TensorFlow takes seconds and memory, and may crash.
"""

import ctypes
import os
import traceback
from pathlib import Path
from typing import Final

from gpupanel.domain.tensorflow_facts import SharedLibrary, TensorFlowFacts, TensorFlowGpu

DRIVER_LIBRARY: Final = "libcuda.so.1"

# What TensorFlow's loader opens by name, with the package of `tensorflow[and-cuda]` that brings
# it; from the runtime paths in libtensorflow_framework.so.2 and NVIDIA's sonames of CUDA 12.
_CUDA_12_LIBRARIES: Final = (
    ("libcudart.so.12", "nvidia-cuda-runtime-cu12"),
    ("libcublas.so.12", "nvidia-cublas-cu12"),
    ("libcublasLt.so.12", "nvidia-cublas-cu12"),
    ("libcufft.so.11", "nvidia-cufft-cu12"),
    ("libcusolver.so.11", "nvidia-cusolver-cu12"),
    ("libcusparse.so.12", "nvidia-cusparse-cu12"),
    ("libnvJitLink.so.12", "nvidia-nvjitlink-cu12"),
    ("libcupti.so.12", "nvidia-cuda-cupti-cu12"),
    ("libnccl.so.2", "nvidia-nccl-cu12"),
)


def main() -> None:
    """Write the facts to stdout; everything that TensorFlow prints goes to stderr."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answer:
        os.dup2(2, 1)
        answer.write(tensorflow_facts().model_dump_json())


def tensorflow_facts() -> TensorFlowFacts:
    """Import TensorFlow and ask it."""
    try:
        import tensorflow as tf
    except Exception:  # noqa: BLE001 - whatever keeps it from being imported is the answer
        return TensorFlowFacts(import_error=traceback.format_exc())
    build = tf.sysconfig.get_build_info()
    is_cuda_build = bool(build.get("is_cuda_build"))
    gpus = tuple(_gpu(tf.config.experimental.get_device_details(gpu)) for gpu in _gpus())
    return TensorFlowFacts(
        version=tf.__version__,
        is_cuda_build=is_cuda_build,
        cuda_version=build.get("cuda_version"),
        cudnn_version=build.get("cudnn_version"),
        compute_capabilities=tuple(build.get("cuda_compute_capabilities", ())),
        gpus=gpus,
        libraries=_libraries(
            str(build.get("cuda_version", "")),
            str(build.get("cudnn_version", "")),
            Path(tf.__file__).parent.parent / "nvidia",
        )
        if is_cuda_build
        else (),
    )


def _gpus() -> list[object]:
    import tensorflow as tf

    found: list[object] = tf.config.list_physical_devices("GPU")
    return found


def _gpu(details: dict[str, object]) -> TensorFlowGpu:
    capability = details.get("compute_capability")
    return TensorFlowGpu(
        name=str(details.get("device_name", "GPU")),
        compute_capability=capability if isinstance(capability, tuple) else None,
    )


def _libraries(cuda: str, cudnn: str, wheels: Path) -> tuple[SharedLibrary, ...]:
    driver = _library(DRIVER_LIBRARY, "", wheels)
    if cuda.split(".")[0] != "12":
        return (driver,)
    wanted = [*_CUDA_12_LIBRARIES]
    if cudnn:
        major = cudnn.split(".")[0]
        wanted.append((f"libcudnn.so.{major}", "nvidia-cudnn-cu12"))
    return (driver, *(_library(soname, package, wheels) for soname, package in wanted))


def _library(soname: str, package: str, wheels: Path) -> SharedLibrary:
    """Where TensorFlow found the library, or would find it.

    What it loaded itself when it listed the GPUs is the truth. Else its own runtime path is
    followed: the packages' folders beside it, then what the loader finds by name.
    """
    loaded = _loaded_path(soname)
    if loaded is not None:
        return SharedLibrary(soname=soname, package=package, path=loaded)
    beside = next(iter(sorted(wheels.glob(f"*/lib/{soname}"))), None)
    try:
        ctypes.CDLL(soname if beside is None else str(beside))
    except OSError as error:
        return SharedLibrary(soname=soname, package=package, error=str(error))
    return SharedLibrary(soname=soname, package=package, path=_loaded_path(soname) or soname)


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


if __name__ == "__main__":
    main()
