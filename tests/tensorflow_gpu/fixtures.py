"""Fixtures of the stand-in CUDA: cards on which TensorFlow's own GPU code runs."""

import ctypes
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from filelock import FileLock

from gpupanel.domain.run_layout import RunLayout
from tests.forked import terminal
from tests.forked.answers import forked_answers
from tests.forked.processes import ForkServer, fork_server
from tests.nvml.remembered import remember_as_usable
from tests.nvml.standin import LIBRARY_NAME, RTX_3060, RTX_4090, Standin, StandinState
from tests.tensorflow_gpu.build import build_all, environment, why_not

TWO_CARDS = (
    StandinState(gpus=(RTX_4090, RTX_3060))
    .with_gpu(0, memory_used_mib=0)
    .with_gpu(1, memory_used_mib=0)
)
"""24 and 12 GiB, and nobody uses them."""


@pytest.fixture(scope="session")
def cuda_libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built stand-in CUDA, once for all processes of these tests."""
    if reason := why_not():
        pytest.skip(reason)
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "tensorflow_gpu"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            beside = folder.with_suffix(".new")
            build_all(beside)
            beside.rename(folder)
    return folder


class Cards:
    """The cards of a machine, as NVML and CUDA tell of them, for the length of a test."""

    def __init__(self, standin: Standin, libraries: Path, held: Path) -> None:
        self._standin = standin
        self._libraries = libraries
        self._held = held
        held.mkdir()

    def tell(self, state: StandinState) -> None:
        """From now on these are the cards; a process that has begun keeps those that it saw."""
        self._standin.tell(state)

    def environment(self, *, has_nccl: bool = True) -> Mapping[str, str]:
        """What a child needs besides its parent's environment to find the cards."""
        cuda = environment(self._libraries, self._held, has_nccl=has_nccl)
        nvml = self._standin.environment
        path = f"{self._standin.library.parent}:{cuda['LD_LIBRARY_PATH']}"
        return {**nvml, **cuda, "LD_LIBRARY_PATH": path}

    def held_mib(self, *, of_process: int | None = None) -> dict[str, int]:
        """What is held of each card, in MiB by UUID, the contexts of CUDA included.

        Args:
            of_process: Of that one alone, also after its end.
        """
        held: dict[str, int] = {}
        for file in self._held.iterdir():
            uuid, pid, _ = file.name.split(".")
            if of_process not in (None, int(pid)):
                continue
            held[uuid] = held.get(uuid, 0) + int.from_bytes(file.read_bytes(), "little") // 2**20
        return held


@pytest.fixture
def cards(cuda_libraries: Path, nvml_library: Path, tmp_path: Path) -> Cards:
    """Two unequal cards that nobody uses."""
    assert nvml_library.name == LIBRARY_NAME
    standin = Standin(nvml_library, tmp_path / "cards.txt", TWO_CARDS)
    return Cards(standin, cuda_libraries, tmp_path / "held")


class CardsOfThisProcess(Cards):
    """Those that NVML shows to this process, and CUDA to the processes that it has forked."""

    server: ForkServer
    """Forks processes in which TensorFlow finds the cards."""

    def tell(self, state: StandinState) -> None:
        super().tell(state)
        # As it is: that TensorFlow is asked for it takes a process of its own each time.
        remember_as_usable(self._standin)

    def gpupanel(
        self, *arguments: str | Path, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """What the command does and prints, followed to the end of its run."""
        with forked_answers(server=self.server):
            return terminal.gpupanel(*arguments, server=self.server, **environment)

    def run(self, profile: str, folder: Path) -> RunLayout:
        """A run of the profile, ended.

        Args:
            profile: As TOML.
            folder: Is made, and gets the run.
        """
        folder.mkdir()
        file = folder / "profile.toml"
        file.write_text(profile)
        self.gpupanel("run", file, GPUPANEL_RUNS_DIR=str(folder / "runs"))
        (root,) = (folder / "runs").iterdir()
        return RunLayout(root)


@pytest.fixture
def cards_in_process(
    cuda_libraries: Path,
    nvml_library: Path,
    tmp_path: Path,
    use_in_process: Callable[[Standin], ctypes.CDLL],
    monkeypatch: pytest.MonkeyPatch,
) -> CardsOfThisProcess:
    """Two unequal cards that nobody uses, for this process and what it forks."""
    standin = Standin(nvml_library, tmp_path / "cards.txt", TWO_CARDS)
    use_in_process(standin)
    cards = CardsOfThisProcess(standin, cuda_libraries, tmp_path / "held")
    variables = dict(cards.environment())
    # With the whole log: what the allocators say of themselves is read in it.
    read_at_import = {"TF_CPP_MIN_LOG_LEVEL": "0"}
    read_at_import |= {name: variables[name] for name in ("LD_LIBRARY_PATH", "PYTHONPATH")}
    cards.server = fork_server(read_at_import, before=("forked_kernels",))
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    cards.tell(TWO_CARDS)
    return cards
