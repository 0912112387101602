"""A Python file beside a profile or in a run folder is never run by looking at it, or by training.

Files named as every module of the standard library and of what is installed stand in the working
directory, beside the profile, in the run's folder and in the queue's; each leaves a mark when run.
"""

import json
import os
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from gpupanel.domain.events import StepsDone
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.following import event_tail
from gpupanel.runs.following.event_tail import HistoryReader
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.following.gathered_lines import Portion
from gpupanel.runs.history.summaries import list_runs, summarize_run
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.queue.waking import scheduler_lives
from gpupanel.ui.bindings.doctor_binding import DoctorBinding
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.run_state import RunState
from tests.fakes.planted_libraries import PlantedLibrary
from tests.fakes.planted_modules import PlantedModules, every_name
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.tensorflow, pytest.mark.timeout(600)]

COMMAND = Path(sysconfig.get_path("scripts")) / "gpupanel"
PROFILE = """
schema_version = 1
name = "beside planted files"
[devices]
visible = ["cpu"]
[data]
source = "digits"
validation_fraction = 0.3
[training]
tensorboard = false
epochs = """

NOT_OF_PYTHONS_START = (
    *("base64", "json", "random", "typing", "tomllib", "subprocess", "platform", "hashlib"),
    *("numpy", "pydantic", "typer", "rich", "psutil", "msgspec", "keras", "tensorflow", "PIL"),
)
"""``python -m`` itself imports others from the working directory before anything of ours."""


@pytest.fixture
def planted(tmp_path: Path) -> Iterator[PlantedModules]:
    """Looks, after the test, whether a planted file was run."""
    modules = PlantedModules(tmp_path / "marks")
    yield modules
    assert modules.run == []


@pytest.fixture
def downloads(tmp_path: Path, planted: PlantedModules) -> Path:
    """The working directory: a profile among planted files."""
    folder = planted.plant(tmp_path / "downloads")
    (folder / "short.toml").write_text(f"{PROFILE}1\n")
    (folder / "long.toml").write_text(f"{PROFILE}100000\n")
    return folder


@pytest.fixture
def quiet(runs_dir: Path, state_dir: Path) -> Iterator[None]:
    """Ends what a failed test left going."""
    del state_dir
    yield
    for run in list_runs(runs_dir):
        if run.is_running:
            ask(RunLayout(run.path), Request.END)
    end_s = time.monotonic() + 10.0
    while scheduler_lives(queue_dir()) and time.monotonic() < end_s:
        time.sleep(0.05)


class Terminal:
    """Carries out verbs in a folder, each as a person does: ``gpupanel VERB``."""

    def __init__(self, folder: Path, *command: str, **environment: str) -> None:
        self._folder, self._command = folder, command or (str(COMMAND),)
        self._environment = {**os.environ, **environment}

    def do(self, *arguments: str, status: int | None = 0) -> dict[str, Any]:
        done = subprocess.run(
            [*self._command, *arguments, "--json"],
            cwd=self._folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert status in (None, done.returncode), (arguments, done.stdout, done.stderr)
        document: dict[str, Any] = json.loads(done.stdout)
        return document


def wait_for_steps(layout: RunLayout) -> None:
    follower, end_s = RunFollower(layout), time.monotonic() + PATIENCE_S
    while not any(isinstance(event, StepsDone) for event in follower.poll().events):
        assert time.monotonic() < end_s, layout.trainer_log.read_text()
        time.sleep(0.05)


def wait_for_end(layout: RunLayout) -> Outcome | None:
    end_s = time.monotonic() + PATIENCE_S
    while summarize_run(layout).is_running:
        assert time.monotonic() < end_s, layout.trainer_log.read_text()
        time.sleep(0.1)
    return summarize_run(layout).outcome


def test_that_a_planted_file_leaves_a_mark_where_python_finds_it(tmp_path: Path) -> None:
    modules = PlantedModules(tmp_path / "marks")
    folder = modules.plant(tmp_path / "downloads", ("base64", "gpupanel"))
    command = [sys.executable, "-c", "import base64, gpupanel"]

    subprocess.run(command, cwd=folder, check=True)

    assert modules.run == [str(folder / "base64.py"), str(folder / "gpupanel" / "__init__.py")]
    assert {"json", "numpy", "tensorflow", "PySide6", "sitecustomize"} < every_name()


@pytest.mark.slow  # tests/unit/test_child_processes.py looks at where every child works
def test_that_no_child_loads_a_library_that_tensorflow_would_take_for_its_own(
    tmp_path: Path, runs_dir: Path
) -> None:
    library, folder = PlantedLibrary(tmp_path / "library"), tmp_path / "downloads"
    folder.mkdir()
    library.plant(folder)
    (folder / "short.toml").write_text(f"{PROFILE}1\n")
    terminal = Terminal(folder, LD_LIBRARY_PATH=":", PATH=f":{os.environ['PATH']}")
    assert terminal.do("check", "short.toml")["ok"]
    layout = RunLayout(Path(terminal.do("run", "short.toml")["run"]))
    library.plant(layout.root)
    (folder / "longer.toml").write_text(f"{PROFILE}2\n")
    resumed = terminal.do("resume", layout.name, "--with", "longer.toml")
    assert resumed["outcome"] == "completed"
    assert not library.mark.exists()

    # It is one that is loaded where a process does work beside it.
    command = [sys.executable, "-P", "-m", "gpupanel.trainer", layout.root]
    subprocess.run(command, cwd=layout.root, check=False, timeout=PATIENCE_S)
    assert library.mark.exists()


@pytest.mark.slow
@pytest.mark.usefixtures("quiet")
def test_that_no_verb_of_the_terminal_runs_a_planted_file(
    planted: PlantedModules, downloads: Path, tmp_path: Path
) -> None:
    terminal = Terminal(downloads)
    terminal.do("devices")
    doctor = terminal.do("doctor", status=None)  # well or not, as the machine is
    assert doctor["tensorflow"]["version"]
    assert terminal.do("check", "short.toml")["ok"]
    assert terminal.do("schema")["properties"]
    terminal.do("export", "short.toml", "-o", str(tmp_path / "script.py"))
    suspended(terminal, planted)


def suspended(terminal: Terminal, planted: PlantedModules) -> RunLayout:
    layout = RunLayout(Path(terminal.do("run", "long.toml", "--detach")["run"]))
    planted.plant(layout.root)
    wait_for_steps(layout)
    assert terminal.do("checkpoint", layout.name)["asked"]
    assert terminal.do("suspend", layout.name)["asked"]
    assert terminal.do("watch", layout.name, status=130)["outcome"] == "suspended"
    return layout


@pytest.mark.slow
@pytest.mark.usefixtures("quiet")
def test_that_no_verb_of_a_careless_terminal_runs_a_planted_file(
    planted: PlantedModules, downloads: Path, runs_dir: Path, tmp_path: Path
) -> None:
    planted.plant(queue_dir())
    terminal = Terminal(downloads)
    layout = suspended(terminal, planted)
    # A way that many a shell's profile has, by mistake: an empty entry. It means the working
    # directory to this terminal, where nothing is planted, and the run's folder to its processes.
    (tmp_path / "clean").mkdir()
    careless = Terminal(tmp_path / "clean", PYTHONPATH=f":.:{tmp_path / 'nowhere'}")
    careless.do("resume", layout.name, "--detach")
    wait_for_steps(layout)
    assert careless.do("stop", layout.name)["asked"]
    assert careless.do("watch", layout.name, status=130)["outcome"] == "stopped"
    added = careless.do("queue", "add", str(downloads / "short.toml"))
    assert added["entry"]["state"] in ("waiting", "starting", "running")
    assert _ended_in_queue(added["entry"]["id"]) is Outcome.COMPLETED
    for order in ("pause", "resume", "clear"):
        assert terminal.do("queue", order)["paused"] is (order == "pause")
    assert {run["outcome"] for run in careless.do("runs")["runs"]} == {"stopped", "completed"}
    assert len(list(runs_dir.iterdir())) == 2


def _ended_in_queue(entry_id: str) -> Outcome:
    end_s = time.monotonic() + PATIENCE_S
    while (outcome := QueueFiles(queue_dir()).read().entry(entry_id).outcome) is None:
        assert time.monotonic() < end_s
        time.sleep(0.2)
    return outcome


@pytest.mark.parametrize(
    "python_path",
    [":", *(pytest.param(path, marks=pytest.mark.slow) for path in ("", "."))],
)
def test_that_python_m_runs_no_planted_file_after_its_own_start(
    planted: PlantedModules, tmp_path: Path, python_path: str
) -> None:
    folder = planted.plant(tmp_path / "downloads", NOT_OF_PYTHONS_START)
    (folder / "short.toml").write_text(f"{PROFILE}1\n")
    terminal = Terminal(folder, sys.executable, "-m", "gpupanel", PYTHONPATH=python_path)

    assert terminal.do("check", "short.toml")["ok"]


@pytest.mark.slow  # tests/unit/test_child_processes.py looks at how every child is started
@pytest.mark.usefixtures("quiet")
def test_that_no_worker_of_the_window_runs_a_planted_file(
    qtbot, window: MainWindow, downloads: Path, monkeypatch, planted: PlantedModules
) -> None:
    assert not {"", "."} & set(sys.path), "this process itself would take modules from there"
    monkeypatch.chdir(downloads)
    monkeypatch.setenv("PYTHONPATH", ":.")
    # So that the short history of this run is read by a process, too.
    monkeypatch.setattr(event_tail, "LONG_BYTES", 1)
    portions: list[Portion | None] = []

    class SeenReader(HistoryReader):
        def read(self) -> Portion | None:
            portions.append(super().read())
            return portions[-1]

    monkeypatch.setattr(event_tail, "HistoryReader", SeenReader)

    loader = window.core.preview_loader
    with qtbot.waitSignal(loader.answered, timeout=60_000) as looked:
        window.open_target(Path("long.toml"))
    assert looked.args[0].problems == ()
    examiner = window.parts[DoctorBinding]._examiner
    with qtbot.waitSignal(examiner.examined, timeout=120_000) as examined:
        window.parts[DoctorBinding].open_doctor()
    assert examined.args[0].tensorflow.build is not None
    start = window.findChild(QPushButton, "start_button")
    qtbot.waitUntil(start.isEnabled, timeout=10_000)
    qtbot.mouseClick(start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.control.shown is not None, timeout=10_000)
    layout = window.control.shown
    assert layout is not None
    planted.plant(layout.root)
    wait_for_steps(layout)
    # Opened anew, from the run's folder.
    monkeypatch.chdir(layout.root)
    window.open_target(layout.root)
    qtbot.waitUntil(lambda: len(portions) > 0, timeout=30_000)
    assert portions[0] is not None
    ask(layout, Request.STOP)
    qtbot.waitUntil(lambda: window.session.run_state is RunState.ENDED, timeout=60_000)
    assert wait_for_end(layout) is Outcome.STOPPED
