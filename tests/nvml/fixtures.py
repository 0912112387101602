"""Fixtures of the stand-in NVML, for every test that wants GPUs where there are none.

``nvml_environment`` is for children (a window, a terminal command, a supervisor);
``nvml_in_process`` makes the real ``pynvml`` of this process use the stand-in until the test ends.
Both start with two unequal GPUs; ``.tell(state)`` changes what is answered, at once.
"""

import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.nvml.remembered import remember_as_usable
from tests.nvml.standin import (
    EIGHT_GPUS,
    STATE_VARIABLE,
    TWO_UNEQUAL_GPUS,
    Standin,
    compile_library,
    compiler,
)


def _compiled(folder: Path, *, age: str | None = None) -> Path:
    if compiler() is None:
        pytest.skip("no C compiler (cc, gcc or clang) to build the stand-in NVML with")
    return compile_library(folder, age=age)


@pytest.fixture(scope="session")
def nvml_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled stand-in."""
    return _compiled(tmp_path_factory.mktemp("nvml"))


@pytest.fixture(scope="session")
def old_nvml_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled stand-in of a driver before 510."""
    return _compiled(tmp_path_factory.mktemp("old_nvml"), age="OLD_DRIVER")


@pytest.fixture(scope="session")
def new_nvml_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled stand-in of a driver that lacks what NVIDIA announced to take out."""
    return _compiled(tmp_path_factory.mktemp("new_nvml"), age="NEW_DRIVER")


@pytest.fixture
def nvml_standin(nvml_library: Path, tmp_path: Path) -> Standin:
    """Two unequal GPUs, for children: start them with ``.environment`` added to theirs."""
    standin = Standin(nvml_library, tmp_path / "nvml-state.txt", TWO_UNEQUAL_GPUS)
    remember_as_usable(standin)
    return standin


@pytest.fixture
def nvml_environment(nvml_standin: Standin) -> dict[str, str]:
    """What a child needs besides its parent's environment to find two unequal GPUs."""
    return nvml_standin.environment


@pytest.fixture
def eight_gpu_environment(nvml_standin: Standin) -> dict[str, str]:
    """What a child needs besides its parent's environment to find eight equal GPUs."""
    nvml_standin.tell(EIGHT_GPUS)
    remember_as_usable(nvml_standin)
    return nvml_standin.environment


@pytest.fixture
def nvml_in_process(
    nvml_standin: Standin, use_in_process: Callable[[Standin], ctypes.CDLL]
) -> Standin:
    """Two unequal GPUs for this process."""
    use_in_process(nvml_standin)
    return nvml_standin


@pytest.fixture
def use_in_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Standin], ctypes.CDLL]]:
    """Hands a stand-in to the ``pynvml`` of this process until the test ends.

    ``LD_LIBRARY_PATH`` is read when a process starts, and a real driver may be loaded already, so
    ``pynvml`` is given the library it would otherwise have loaded by name; all else is its own.
    """
    import pynvml

    def use(standin: Standin) -> ctypes.CDLL:
        library = ctypes.CDLL(str(standin.library))
        monkeypatch.setenv(STATE_VARIABLE, str(standin.state_file))
        monkeypatch.setattr(pynvml, "nvmlLib", library)
        monkeypatch.setattr(pynvml, "_nvmlGetFunctionPointer_cache", {})
        monkeypatch.setattr(pynvml, "_nvmlLib_refcount", 0)
        return library

    yield use
    if pynvml._nvmlLib_refcount:
        # The library stays loaded for the next test: what a test opened, it closes.
        while pynvml._nvmlLib_refcount:
            pynvml.nvmlShutdown()
        pytest.fail("the test left NVML initialised: close what it opened")
