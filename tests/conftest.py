"""What every test gets: folders of its own, no unexpected log, no process left behind."""

import gc
import logging
import os
import sys
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from hypothesis import HealthCheck, settings

from gpupanel.files.cache_folder import CACHE_DIR_VARIABLE
from gpupanel.files.gpu_claims import FOLDER_VARIABLE
from tests.forked.processes import end_fork_servers, fork_server_pids

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import Scheduling

# GPUs for tests on machines that have none: those of a driver, and those that TensorFlow uses.
pytest_plugins = ("tests.nvml.fixtures", "tests.tensorflow_gpu.fixtures")

# How long an example takes says more about what else this machine does than about the code.
settings.register_profile("gpupanel", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gpupanel")


_ON_CARDS = "tests/tensorflow_gpu/"
_FIRST = (
    _ON_CARDS,
    "tests/sessions/test_exported_scripts.py",
    "tests/unit/trainer/test_parameter_server.py",
    "tests/deaths",
    "tests/e2e",
    "tests/sessions",
    "tests/unit/trainer",
    "tests/unit/planning/script",
    "tests/ui",
    "tests/fuzz",
)
"""The longest begin first: what is left over at the end is waited for by itself."""

_WITH_EXPORTS = "tests/unit/trainer/exports/"
_PARSING_THE_PACKAGE = (
    "tests/guide/test_names_of_the_window.py",
    "tests/unit/references/test_problems.py",
    "tests/unit/test_child_processes.py",
    "tests/unit/test_class_names.py",
    "tests/unit/test_doubled_statements.py",
    "tests/unit/test_kinds.py",
)
_WAITING = ("tests/unit/runs", "tests/slurm")
"""They start processes and mostly wait for them: beside each other they leave cores idle."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """No garbage collection searches what stays: the modules and tests, in every process of these.

    While they are found it took a fifth of the time, and in tests of the window, which collect
    after each, a seventh.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests first, those that wait spread among them; otherwise in the order of the files."""
    items.sort(key=lambda item: (_rank(item), item.path))
    waiting = dict.fromkeys(item.path for item in items if item.nodeid.startswith(_WAITING))
    computing = dict.fromkeys(item.path for item in items if item.path not in waiting)
    # A file stays together: each has one place between 0, the first, and 1.
    places = {
        path: (place + 0.5) / len(files)
        for files in (waiting, computing)
        for place, path in enumerate(files)
    }
    items.sort(key=lambda item: places[item.path])


def _rank(item: pytest.Item) -> int:
    begins = (place for place, start in enumerate(_FIRST) if item.nodeid.startswith(start))
    return next(begins, len(_FIRST))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: "Producer") -> "Scheduling | None":
    """Files that share what takes seconds of a core stay with one process, others go one by one."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling  # not there where tests run one by one

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _shared_by(super()._split_scope(nodeid))

    return Together(config, log)


def _shared_by(file: str) -> str:
    """What a file of tests shares with others, or the file itself.

    The package is parsed, exports are made, and what forks processes that find cards is started,
    once.
    """
    if file.startswith(_WITH_EXPORTS):
        return _WITH_EXPORTS
    if file in _PARSING_THE_PACKAGE:
        return "the parsed package"
    if file.startswith(_ON_CARDS):
        return _ON_CARDS
    return file


@pytest.fixture(scope="session", autouse=True)
def cache_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache that is not the user's."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv(CACHE_DIR_VARIABLE, str(folder))
        yield folder


@pytest.fixture(scope="session", autouse=True)
def _fork_server() -> Iterator[None]:
    """Is started by the first test that needs it."""
    yield
    end_fork_servers()


@pytest.fixture(scope="module", autouse=True)
def _tensorflow_stays_out() -> Iterator[None]:
    """Fails a module that imports TensorFlow here: processes that are forked would have it, too."""
    was_there = "tensorflow" in sys.modules
    yield
    assert was_there or "tensorflow" not in sys.modules, "import TensorFlow in a child process"


@pytest.fixture(autouse=True)
def runs_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of runs, so that no test touches the user's."""
    folder = tmp_path / "runs"
    monkeypatch.setenv("GPUPANEL_RUNS_DIR", str(folder))
    return folder


@pytest.fixture(scope="session", autouse=True)
def _no_cuda_variables() -> Iterator[None]:
    """What the shell of these tests says of its GPUs is nothing to those of a test."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        for name in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"):
            monkeypatch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_claims(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What users of this machine hold is nothing to tests, nor the other way round."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path_factory.getbasetemp() / "no-claims"))
        yield


@pytest.fixture(autouse=True)
def config_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where trust is remembered: nothing is trusted at first, and the user's own is not touched."""
    folder = tmp_path / "config"
    monkeypatch.setenv("GPUPANEL_CONFIG_DIR", str(folder))
    return folder


@pytest.fixture(autouse=True)
def state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder for what is remembered, so that no test touches the user's queue.

    Fails a test that leaves the scheduler of its queue running: it is detached, and no child.
    """
    folder = tmp_path / "state"
    monkeypatch.setenv("GPUPANEL_STATE_DIR", str(folder))
    yield folder
    if not folder.exists():
        return  # No queue, no scheduler: the process table need not be read.
    found = [process for process in psutil.process_iter() if works_on(process, folder)]
    # One that has let go of the queue may need an instant to go.
    _, left = psutil.wait_procs(found, timeout=5.0)
    for process in left:
        process.kill()
    assert not left, f"schedulers still running: {left}"


def works_on(process: psutil.Process, folder: Path) -> bool:
    """Whether a process was started for something in that folder."""
    try:
        return any(each.startswith(str(folder)) for each in process.cmdline())
    except psutil.Error:
        return False


@pytest.fixture(autouse=True)
def _no_unexpected_log(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    yield
    loud = [
        record.getMessage()
        for phase in ("setup", "call")
        for record in caplog.get_records(phase)
        if record.levelno >= logging.WARNING
    ]
    assert not loud, f"unexpected log: {loud}"


@pytest.fixture(autouse=True)
def _no_process_left_behind() -> Iterator[None]:
    before = {child.pid for child in _descendants()}
    yield
    # What forks processes for several tests stays; what it has forked does not.
    before |= fork_server_pids()
    left = [child for child in _descendants() if child.pid not in before]
    # A detached supervisor that was waited for through its files may need an instant to go.
    _, alive = psutil.wait_procs(left, timeout=5.0)
    running = [child for child in alive if child.status() != psutil.STATUS_ZOMBIE]
    assert not running, f"still running: {[child.cmdline() for child in running]}"


def _descendants() -> list[psutil.Process]:
    """All processes below this one; that most tests have none is known without reading all."""
    with suppress(OSError):  # a thread that has just ended, or a kernel that lists no children
        own = _children(os.getpid())
        if own <= fork_server_pids() and not any(map(_children, own)):
            return [psutil.Process(pid) for pid in own]
    return psutil.Process().children(recursive=True)


def _children(pid: int) -> set[int]:
    found = set()
    for thread in Path(f"/proc/{pid}/task").iterdir():
        found |= {int(child) for child in (thread / "children").read_text().split()}
    return found
