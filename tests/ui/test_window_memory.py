"""What the window keeps of a run that it follows: what its buffers hold, and nothing else."""

import gc
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QSettings
from PySide6.QtWidgets import QLabel, QTableView
from pytestqt.qtbot import QtBot

from gpupanel.devices.doctor import gpu_support
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.runs.directory.run_lock import hold_run_lock
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.workers import run_reader
from gpupanel.ui.workers.this_machine import ThisMachine
from tests.fakes.growing_run import EightDevices, GrowingRun
from tests.fakes.person import Person
from tests.ui.new_window import new_window

PORTIONS, REPORTS = 9, 800
"""Each portion is forty seconds of a run."""

MOST_KEPT = 300_000
"""Bytes: curves that are drawn with more points than before, and caches of pyqtgraph. What is
reported meanwhile takes 0.54 MB as columns of its steps alone, and 3.6 as events."""

LOOKS, MOST_KEPT_OF_LOOKS = 120, 150_000
"""Caches take 55,000 bytes, however many looks there are. Where the run stands, which is reported
with each, is two kilobytes: 240,000 bytes, were it kept."""

_MORE_MOMENTS = 40

# Notes of the tests' own about who starts which timer.
_OF_TESTS = [
    tracemalloc.Filter(inclusive=False, filename_pattern=f"*{name}")
    for name in ("tests/ui/conftest.py", "traceback.py", "linecache.py", "tracemalloc.py")
]


class _Followed:
    """A window on a run that grows."""

    def __init__(self, qtbot: QtBot, window: MainWindow, run: GrowingRun) -> None:
        self._qtbot, self.window, self.run = qtbot, window, run

    def grow(self, portions: int, reports: int) -> None:
        for _ in range(portions):
            self.run.grow(reports)
            self._qtbot.waitUntil(self._has_caught_up, timeout=20_000)

    def wait_for_plots(self) -> None:
        """Until all plots are made, which takes a while beside the first portions."""
        # So does the preview of the data, of which the plan says something then.
        said = self.window.findChild(QLabel, "plan_epochs")
        self._qtbot.waitUntil(lambda: bool(said.text()), timeout=60_000)
        self._qtbot.waitUntil(self.window.live_page.live.plot_wall.isVisible, timeout=60_000)
        # The first list of runs is read beside all that, too.
        table = self.window.runs.findChild(QTableView, "runs_table")
        self._qtbot.waitUntil(lambda: table.model().rowCount() > 0, timeout=60_000)

    def _has_caught_up(self) -> bool:
        status = self.window.control.shown_status
        return status is not None and status.step == self.run.step

    def kept(self, most_bytes: int = 0) -> tracemalloc.Snapshot:
        """What Python holds of all that was allocated since tracing began.

        The least of several moments: a thread may just read the end of a file, which takes long on
        a busy machine.

        Args:
            most_bytes: Where no moment has less than that there are more of them.
        """
        least = min((self._held() for _ in range(3)), key=held_bytes)
        for _ in range(_MORE_MOMENTS if most_bytes else 0):
            if held_bytes(least) < most_bytes:
                break
            least = min(least, self._held(), key=held_bytes)
        return least

    def _held(self) -> tracemalloc.Snapshot:
        self._qtbot.wait(50)
        gc.collect()
        return tracemalloc.take_snapshot().filter_traces(_OF_TESTS)

    def things(self) -> dict[str, int]:
        """How many there are of what Qt keeps itself."""
        return {
            "objects": len(self.window.findChildren(QObject)),
            "items": sum(
                len(plot.canvas.scene().items())
                for plot in self.window.live_page.live.plot_wall.plots
            ),
            "threads": threading.active_count(),
        }


@pytest.fixture
def followed(
    qtbot: QtBot, tmp_path: Path, runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[_Followed]:
    monkeypatch.setattr(ThisMachine, "device_source", lambda _machine, _folder: EightDevices())
    # Else a child is asked about the GPUs, and what it says appears some seconds later.
    monkeypatch.setattr(gpu_support, "remembered_support", lambda *_: GpuSupport())
    monkeypatch.setattr(run_reader, "COALESCE_MS", 0)
    monkeypatch.setattr(run_reader, "STEADY_MS", 0)
    monkeypatch.setattr(run_reader, "POLL_MS", 20)
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    run = GrowingRun(runs_dir, window.core.device_watch.sampled.emit)
    lock = hold_run_lock(run.layout)
    with qtbot.waitExposed(window):
        window.show()
    window.begin()
    yield _Followed(qtbot, window, run)
    window.close()
    window.deleteLater()
    lock.release()


def held_bytes(snapshot: tracemalloc.Snapshot) -> int:
    """Of all that is in it."""
    return sum(each.size for each in snapshot.statistics("filename"))


def check_kept_over(followed: _Followed, portions: int, reports: int, most_bytes: int) -> None:
    """No more is held after those portions that was not there after a few like them."""
    tracemalloc.start(1)
    try:
        followed.grow(portions=3, reports=reports)
        before = followed.kept()
        followed.grow(portions, reports)
        after = followed.kept(held_bytes(before) + most_bytes)
    finally:
        tracemalloc.stop()
    kept = held_bytes(after) - held_bytes(before)
    if kept >= most_bytes:
        grown = after.compare_to(before, "traceback")[:6]
        places = [f"{each}\n" + "\n".join(each.traceback.format()) for each in grown]
        pytest.fail("\n\n".join([f"{kept:,} bytes are kept", *places]))


@pytest.mark.slow
def test_that_the_window_keeps_nothing_of_a_run_but_what_its_buffers_hold(
    followed: _Followed,
) -> None:
    followed.grow(portions=3, reports=REPORTS)
    followed.wait_for_plots()
    things = followed.things()
    check_kept_over(followed, PORTIONS, REPORTS, MOST_KEPT)
    # One or two come and go.
    more = {name: count - things[name] for name, count in followed.things().items()}
    assert all(count <= 2 for count in more.values()), more
    curves = followed.window.live_page.live.curves
    assert len(curves.loss) == followed.run.reports, "nothing was followed"


@pytest.mark.slow
def test_that_no_check_of_the_files_leaves_anything_behind(followed: _Followed) -> None:
    followed.grow(portions=3, reports=REPORTS)
    followed.wait_for_plots()
    # Nothing is drawn: more looks in less time.
    followed.window.hide()
    check_kept_over(followed, LOOKS, 1, MOST_KEPT_OF_LOOKS)
