"""Windows that are killed, opened again and opened twice: the run does not mind, nobody misses."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import psutil
import pyqtgraph as pg
import pytest
from PySide6.QtCore import QObject, QSettings
from PySide6.QtWidgets import QLabel

from gpupanel.domain.events import EpochDone, Event, StepsDone
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.prepare import prepare
from gpupanel.runs.detached import start_detached
from gpupanel.runs.directory.profile_file import write_profile
from gpupanel.runs.following.follower import FollowedRun, RunFollower
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.runs.launcher import create_run
from gpupanel.ui.run_state import RunState
from tests.fakes.devices import CPU_ONLY
from tests.fakes.person import Person
from tests.fakes.trainer import ENOUGH
from tests.ui.new_window import new_window

FAKES = Path(__file__).parents[1] / "fakes"
FAKE = Profile(name="watched", training=TrainingSettings(epochs=1_000))
"""Of which the fake trainer does as many epochs as it has time for."""
REAL = Profile(
    name="watched",
    devices=DeviceSettings(visible=("cpu",), cpu_replicas=2),
    strategy=StrategySettings(kind=StrategyKind.MIRRORED),
    # Each epoch is saved, which takes longer than training it: the run outlives its windows.
    training=TrainingSettings(epochs=800, checkpoint_every_epochs=1, tensorboard=False),
)

START_UP_S = 60.0
"""What a window may take to appear where much else is going on."""


def until(seen: Callable[[], bool], what: str, longest_s: float = START_UP_S) -> None:
    """Wait for something that happens in other processes."""
    end_s = time.monotonic() + longest_s
    while not seen():
        assert time.monotonic() < end_s, f"{what}: not within {longest_s:.0f} s"
        time.sleep(0.01)


def events_of(layout: RunLayout) -> list[Event]:
    return list(RunFollower(layout).poll().events)


def steps_of(layout: RunLayout) -> list[StepsDone]:
    return [event for event in events_of(layout) if isinstance(event, StepsDone)]


@dataclass(frozen=True)
class Terminal:
    """A terminal in which a run is followed."""

    process: subprocess.Popen[bytes]
    path: Path

    @property
    def told(self) -> str:
        """What it has said of the run until now."""
        return self.path.read_text()

    @property
    def summed_up(self) -> int:
        """Epochs that were over when it began, and that it has told in one line."""
        found = re.search(r"(\d+) of 1,000 epochs done", self.told)
        return 0 if found is None else int(found[1])

    @property
    def epochs(self) -> list[int]:
        """The epochs that it has told in a line of their own."""
        return [int(number) for number in re.findall(r"^epoch (\d+)/1,000  loss", self.told, re.M)]


class Windows:
    """Windows that are processes of their own, as a person's are.

    Args:
        home: Where they remember things.
        runs_dir: Where they look for runs.
    """

    def __init__(self, home: Path, runs_dir: Path) -> None:
        home.mkdir()
        self._home, self._runs_dir = home, runs_dir
        self._open: list[subprocess.Popen[bytes]] = []
        folders = {f"XDG_{name}_HOME": str(home / name) for name in ("CONFIG", "DATA", "STATE")}
        self._environment = {**os.environ, "HOME": str(home), **folders}

    def open(self) -> subprocess.Popen[bytes]:
        """As a click on its icon does: nobody tells it of the run."""
        return self._start("-m", "gpupanel", "open")

    def open_and_start(
        self, profile: Path, *mode: str
    ) -> tuple[subprocess.Popen[bytes], RunLayout]:
        """Open a profile and click on Start; gives the run, once its supervisor is there."""
        window = self._start(str(FAKES / "starting_window.py"), str(profile), *mode)
        until(lambda: any(self._runs_dir.glob("*/events.jsonl")), "the run that a click starts")
        (events,) = self._runs_dir.glob("*/events.jsonl")
        return window, RunLayout(events.parent)

    def watch(self, run: RunLayout) -> Terminal:
        """Follow the run in a terminal."""
        told = self._home / f"terminal-{len(self._open)}"
        with told.open("wb") as output:
            return Terminal(self._start("-m", "gpupanel", "watch", run.name, output=output), told)

    def see_it_end(self, terminal: Terminal) -> None:
        """A terminal ends with the run, which has completed."""
        assert terminal.process.wait(START_UP_S) == 0
        self._open.remove(terminal.process)
        assert "completed" in terminal.told

    def kill(self, window: subprocess.Popen[bytes]) -> None:
        """Kill it, and whatever a terminal or a desktop would take along with it."""
        os.killpg(window.pid, signal.SIGKILL)
        window.wait()
        self._open.remove(window)

    def close(self) -> None:
        for window in tuple(self._open):
            self.kill(window)

    def _start(self, *command: str, output: IO[bytes] | None = None) -> subprocess.Popen[bytes]:
        window = subprocess.Popen(
            [sys.executable, *command],
            env=self._environment,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        self._open.append(window)
        return window


def follows_a_run(window: subprocess.Popen[bytes]) -> bool:
    """Whether that process has the thread in which a run is followed; Qt names it."""
    for path in Path(f"/proc/{window.pid}/task").glob("*/comm"):
        with suppress(OSError):  # the thread has ended meanwhile
            if path.read_text().startswith("run 2"):
                return True
    return False


def processes_about(runs_dir: Path) -> list[psutil.Process]:
    """All that was told of that folder of runs, but for this process: no parent is asked."""
    found = []
    for process in psutil.process_iter():
        try:
            told = process.environ().get("GPUPANEL_RUNS_DIR") == str(runs_dir)
            if told and process.pid != os.getpid() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.fixture
def windows(tmp_path: Path, runs_dir: Path) -> Iterator[Windows]:
    windows = Windows(tmp_path / "home", runs_dir)
    yield windows
    windows.close()
    left = psutil.wait_procs(processes_about(runs_dir), timeout=10.0)[1]
    for process in left:
        process.kill()
    assert not left, left


class SeenWindow:
    """A window in this process, into which a test can look."""

    def __init__(self, qtbot, folder: Path, runs_dir: Path) -> None:
        settings = QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat)
        self._qtbot = qtbot
        self.heard: list[Event] = []
        self.window = new_window(settings, runs_dir, Person())
        self.window.control.followed.connect(self._hear)
        self.window.resize(1280, 800)
        with qtbot.waitExposed(self.window):
            self.window.show()
        self.window.begin()

    def _hear(self, followed: FollowedRun) -> None:
        self.heard += followed.events

    @property
    def step(self) -> int:
        status = self.window.control.shown_status
        return 0 if status is None else status.step

    def wait_for_step(self, step: int) -> None:
        self._qtbot.waitUntil(lambda: self.step >= step, timeout=30_000)

    def wait_for_state(self, words: str) -> None:
        state = self.window.findChild(QLabel, "run_state")
        self._qtbot.waitUntil(lambda: state.text() == words, timeout=30_000)

    def wait_for_end(self) -> None:
        self._qtbot.waitUntil(
            lambda: self.window.session.run_state is RunState.ENDED, timeout=60_000
        )

    def drawn_losses(self) -> tuple[np.ndarray, np.ndarray]:
        """Times and values of the line that the loss plot draws."""
        plot = self.window.findChild(QObject, "loss_plot")
        lines = [item for item in plot.canvas.plotItem.items if isinstance(item, pg.PlotCurveItem)]
        times, values = lines[0].getData()
        return (np.empty(0), np.empty(0)) if times is None else (times, values)

    def see_whole_history(self, layout: RunLayout) -> None:
        """See that it shows all that the run's directory has, and says what it is doing."""
        history = events_of(layout)
        steps = [event for event in history if isinstance(event, StepsDone)]
        self._qtbot.waitUntil(lambda: len(self.heard) >= len(history), timeout=30_000)
        assert self.heard[: len(history)] == history
        # A plot draws four times a second.
        self._qtbot.waitUntil(
            lambda: 0.0 < self.drawn_losses()[1][-1:].sum() <= steps[-1].loss, timeout=10_000
        )
        times, values = self.drawn_losses()
        # Of very many steps the least and the greatest loss of each column are drawn.
        assert max(values[:2]) == steps[0].loss
        assert times[-1] - times[0] >= steps[-1].time_s - steps[0].time_s - 0.001
        assert self.window.control.shown == layout
        assert self.window.tabs.currentWidget() is self.window.live_page

    def close(self) -> None:
        self.window.close()
        self.window.deleteLater()


@pytest.fixture
def open_seen(qtbot, tmp_path: Path, runs_dir: Path) -> Iterator[Callable[[], SeenWindow]]:
    opened: list[SeenWindow] = []

    def open_one() -> SeenWindow:
        opened.append(SeenWindow(qtbot, tmp_path / f"window-{len(opened)}", runs_dir))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


@pytest.fixture
def fake_run(runs_dir: Path) -> RunLayout:
    """A run without TensorFlow that goes on until it is told that it is enough."""
    plan = prepare(FAKE, CPU_ONLY).plan
    assert plan is not None
    layout = create_run(FAKE, plan, runs_dir)
    command = (sys.executable, str(FAKES / "supervise.py"), "train_on", str(layout.root))
    start_detached(command, layout.trainer_log, f"supervisor of {layout.name}")
    return layout


def kill_some(windows: Windows, dice: random.Random, count: int) -> None:
    """Open windows and kill each: by turns at a random moment of its life, and while it follows."""
    for number in range(count):
        window = windows.open()
        if number % 2:
            time.sleep(dice.uniform(0.0, 2.5))
        else:
            until(lambda opened=window: follows_a_run(opened), "a window that finds the run")
            time.sleep(dice.uniform(0.0, 1.0))
        assert window.poll() is None, "it ended by itself"
        windows.kill(window)


def see_that_none_missed_any(run: RunLayout, *windows: SeenWindow) -> None:
    """Each event once, in its order, in each window, and on its plots."""
    history = events_of(run)
    steps = [event.step for event in history if isinstance(event, StepsDone)]
    assert steps == list(range(10, 10 + len(steps)))
    for each in windows:
        assert each.heard == history
        assert len(each.window.live_page.live.curves.loss) == len(steps)


def see_it_end(run: RunLayout, seen: SeenWindow) -> None:
    """The run comes to its end, in time with what the window shows."""
    (run.root / ENOUGH).touch()
    seen.wait_for_end()
    assert seen.window.session.run_status.outcome is Outcome.COMPLETED
    # What comes next is shown first: a window that was just opened still reads its data.
    seen.wait_for_state("● Completed")
    summary = summarize_run(run)
    assert (summary.outcome, summary.problem) == (Outcome.COMPLETED, None)
    see_that_none_missed_any(run, seen)
    epochs = [event.epoch for event in seen.heard if isinstance(event, EpochDone)]
    log = seen.window.live_page.log.text().splitlines()
    assert log[0] == "the fake trainer says train_on"
    assert log[-1] == f"the fake trainer has done epoch {epochs[-1]}"


def go_through_deaths(
    windows: Windows, open_seen: Callable[[], SeenWindow], profile: Path, kills: int, seed: int
) -> None:
    dice = random.Random(seed)
    write_profile(profile, FAKE)
    window, run = windows.open_and_start(profile, "train_on")
    time.sleep(dice.uniform(0.0, 1.5))
    windows.kill(window)
    kill_some(windows, dice, kills)
    seen = open_seen()
    seen.see_whole_history(run)
    seen.wait_for_step(steps_of(run)[-1].step + 25)
    see_it_end(run, seen)


@pytest.mark.slow
def test_that_a_run_goes_on_whenever_its_windows_are_killed_and_the_next_one_shows_all_of_it(
    windows: Windows, open_seen: Callable[[], SeenWindow], tmp_path: Path
) -> None:
    go_through_deaths(windows, open_seen, tmp_path / "watched.toml", kills=1, seed=0)


@pytest.mark.slow
def test_that_windows_and_terminals_that_watch_one_run_miss_nothing(
    windows: Windows, open_seen: Callable[[], SeenWindow], fake_run: RunLayout
) -> None:
    first, second = open_seen(), open_seen()
    another, early = windows.open(), windows.watch(fake_run)
    first.wait_for_step(60)
    late = windows.watch(fake_run)
    until(lambda: follows_a_run(another), "a window that finds the run")
    windows.kill(another)
    for each in (first, second):
        each.wait_for_step(each.step + 25)
        assert each.window.session.run_state is RunState.RUNNING
    until(lambda: late.summed_up > 0, "a terminal that follows")
    (fake_run.root / ENOUGH).touch()
    first.wait_for_end()
    second.wait_for_end()
    see_that_none_missed_any(fake_run, first, second)
    epochs = [event.epoch for event in events_of(fake_run) if isinstance(event, EpochDone)]
    for terminal in (early, late):
        windows.see_it_end(terminal)
        assert terminal.epochs == list(range(max(1, terminal.summed_up) + 1, epochs[-1] + 1))
    assert late.summed_up >= 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 12))
def test_that_a_run_goes_on_however_many_windows_are_killed(
    windows: Windows, open_seen: Callable[[], SeenWindow], tmp_path: Path, seed: int
) -> None:
    go_through_deaths(windows, open_seen, tmp_path / "watched.toml", kills=8, seed=seed)


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.parametrize("seed", range(3))
def test_that_a_real_training_trains_each_epoch_once_while_its_windows_are_killed(
    windows: Windows, open_seen: Callable[[], SeenWindow], tmp_path: Path, seed: int
) -> None:
    dice = random.Random(seed)
    write_profile(tmp_path / "real.toml", REAL)
    window, run = windows.open_and_start(tmp_path / "real.toml")
    time.sleep(dice.uniform(0.0, 10.0))
    windows.kill(window)
    kill_some(windows, dice, 4)
    seen = open_seen()
    seen.wait_for_end()
    assert seen.window.session.run_status.outcome is Outcome.COMPLETED
    assert seen.heard == events_of(run)
    epochs = [event.epoch for event in seen.heard if isinstance(event, EpochDone)]
    assert epochs == list(range(1, REAL.training.epochs + 1))
    assert run.model.is_file()
