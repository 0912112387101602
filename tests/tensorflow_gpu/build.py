"""Builds the stand-in for NVIDIA's driver on which TensorFlow's own GPU code runs.

The TensorFlow that PyPI has for Linux is the CUDA build: what it lacks on a machine without a GPU
is the driver and the libraries beside it. Here they are made from C++ (``libraries``): the cards
are those of the stand-in NVML's state file, their memory is the host's, and CPU kernels compute
in it. So devices, allocators, memory growth, limits, splits, copies and NCCL's calls are those of
TensorFlow, and weights and memory can be looked at; speed, real kernels, cuDNN and XLA cannot.

The kernels are built against the headers of one TensorFlow, and are for that one alone.
"""

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

SOURCES = Path(__file__).with_name("libraries")
TENSORFLOW = "2.21"
"""Of which these sources are known to work."""

EMPTY_LIBRARIES = (
    "libcublas.so.12",
    "libcublasLt.so.12",
    "libcufft.so.11",
    "libcusolver.so.11",
    "libcusparse.so.12",
    "libcudnn.so.9",
    "libnvJitLink.so.12",
)
"""TensorFlow looks whether they are there before it makes a GPU usable."""


def why_not() -> str | None:
    """Why the stand-in cannot be built on this machine; ``None``: it can."""
    version = importlib.metadata.version("tensorflow")
    if not version.startswith(f"{TENSORFLOW}."):
        return f"the stand-in CUDA is for TensorFlow {TENSORFLOW}, and this is {version}"
    if shutil.which("g++") is None:
        return "no C++ compiler (g++) to build the stand-in CUDA with"
    return None


def build_all(folder: Path) -> None:
    """Build all libraries.

    Args:
        folder: Gets ``cuda``, ``nccl`` and ``site-packages`` with ``tensorflow-plugins`` and the
            module ``forked_kernels``.
    """
    cuda, nccl = folder / "cuda", folder / "nccl"
    plugins = folder / "site-packages" / "tensorflow-plugins"
    for each in (cuda, nccl, plugins):
        each.mkdir(parents=True, exist_ok=True)
    _build(cuda / "libcuda.so.1", "driver.cpp", "cards.cpp")
    driver = (str(cuda / "libcuda.so.1"), "-Wl,-rpath,$ORIGIN")
    _build(cuda / "libcudart.so.12", "runtime.cpp", more=driver)
    first, *others = (cuda / name for name in EMPTY_LIBRARIES)
    _build(first, "empty.cpp")
    for other in others:
        # TensorFlow opens each by its own name and looks at no other name within.
        shutil.copyfile(first, other)
    _build(nccl / "libnccl.so.2", "nccl.cpp")
    _build_kernels(plugins / "libgpupanel_kernels.so")
    shutil.copy(SOURCES / "forked_kernels.py", plugins.parent)


def _build(library: Path, *sources: str, more: tuple[str, ...] = ()) -> None:
    subprocess.run(
        [
            *("g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"),
            *("-fvisibility=hidden", f"-Wl,-soname,{library.name}", "-o", str(library)),
            *(*(str(SOURCES / source) for source in sources), *more, "-pthread"),
        ],
        check=True,
        timeout=300,
    )


def _build_kernels(library: Path) -> None:
    found = importlib.util.find_spec("tensorflow")
    assert found is not None
    assert found.submodule_search_locations
    tensorflow = found.submodule_search_locations[0]
    subprocess.run(
        [
            # TensorFlow's headers are not without warnings.
            *("g++", "-std=c++17", "-w", "-O1", "-shared", "-fPIC"),
            # As TensorFlow itself was built; Eigen's objects have another layout otherwise.
            *("-DEIGEN_MAX_ALIGN_BYTES=64", "-D_GLIBCXX_USE_CXX11_ABI=1"),
            *(f"-I{tensorflow}/include", "-o", str(library), str(SOURCES / "kernels.cpp")),
            *(f"-L{tensorflow}", "-l:libtensorflow_framework.so.2", f"-Wl,-rpath,{tensorflow}"),
        ],
        check=True,
        timeout=600,
    )


def environment(folder: Path, held: Path, *, has_nccl: bool = True) -> dict[str, str]:
    """What a child needs besides the stand-in NVML's environment for TensorFlow to see its cards.

    Args:
        folder: Where :func:`build_all` has put the libraries.
        held: A folder in which processes say what they hold of the cards.
        has_nccl: Without it this is a machine without NCCL.
    """
    libraries = [folder / "cuda", *([folder / "nccl"] if has_nccl else [])]
    path = [*map(str, libraries), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    return {
        "LD_LIBRARY_PATH": ":".join(path),
        "GPUPANEL_TEST_CUDA_FOLDER": str(held),
        "PYTHONPATH": str(folder / "site-packages"),
    }
