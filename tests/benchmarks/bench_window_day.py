"""How much memory the window takes over a day of a run that it follows.

Run with ``python -m tests.benchmarks.bench_window_day``. A run on eight devices that reports
twenty times a second grows in fast motion, half a minute of it at a time; a real window follows its
files, draws each time, and gets every sample of the devices. When the curves of the steps and the
log have all that they hold, after three hours of the run in which it prints much, the window's
memory may grow by the points that the curves of the devices still take in, and by nothing else.

A day has more looks at the files than such a portion each, since a window looks four times a second
while lines come. So many small ones follow, and what they cost is told for a day of them.
"""

import argparse
import gc
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import psutil
from PySide6.QtCore import QObject, QSettings, QTimer, Slot

from gpupanel.runs.directory.run_lock import hold_run_lock
from gpupanel.ui.app import make_application, make_window
from gpupanel.ui.bindings.window_closing import KEEPS_RUNNING_KEY
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.workers import run_reader
from gpupanel.ui.workers.this_machine import ThisMachine
from tests.fakes.growing_run import EightDevices, GrowingRun
from tests.fakes.long_run import STEPS_INTERVAL_S

MOST_GROWTH_MIB = 4.0
"""Beyond the points: what an allocator loses to gaps. A day's steps would be 120 MiB in columns,
its samples 25 as they are read, its epochs 6 as events."""
FULL_AFTER_H = 3.0
"""A curve's 131,072 reports come within 1.8 hours. The log's 5,000 lines come soon, but what Qt
takes to draw them settles only when each has been replaced three times."""
FILLING_PORTION_S = 3.0
"""Six lines, so that all of them are drawn."""
MOST_BYTES_A_LOOK = 100.0
"""Gaps again: some 50 where nothing is kept. Where the run stands, told with each look, would be
2,000."""
SMALL_REPORTS = 5
LOOKS_A_DAY = 4 * 24 * 3600
GIVE_UP_S = 60.0
MIB, HOUR_S = 2**20, 3600.0
POINT_BYTES = 16
FOLDERS = ("GPUPANEL_STATE_DIR", "GPUPANEL_CONFIG_DIR")
"""What is remembered there is the person's own, and none of the benchmark's."""


@dataclass(frozen=True, slots=True)
class Look:
    """What the window took at a moment of the run.

    Attributes:
        age_h: Of the run.
        rss_mib: Resident memory of the process.
        points_mib: Of that, the points of the devices' curves, which are not full in a day.
    """

    age_h: float
    rss_mib: float
    points_mib: float


class Day(QObject):
    """Lets the run grow whenever the window has caught up, and looks now and then."""

    def __init__(self, window: MainWindow, run: GrowingRun, plan: Iterator[int]) -> None:
        super().__init__()
        self._window, self._run, self._plan = window, run, plan
        self._waits_since = time.monotonic()
        self.looks: list[Look] = []
        self.has_come_through = False
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    @Slot()
    def _tick(self) -> None:
        if self._run.reports and not self._has_caught_up():
            if time.monotonic() - self._waits_since > GIVE_UP_S:
                self._end()
            return
        self._waits_since = time.monotonic()
        for portion in self._plan:
            if portion:
                self._run.grow(portion)
                return
            self.looks.append(look(self._window, self._run))
        self.has_come_through = True
        self._end()

    def _has_caught_up(self) -> bool:
        status = self._window.control.shown_status
        return status is not None and status.step == self._run.step

    def _end(self) -> None:
        self._timer.stop()
        self._window.close()


def portions(run: GrowingRun, hours: float, portion_s: float, small: int) -> Iterator[int]:
    """How many reports come next; 0: look how much the window takes."""
    run.samples_a_line = 1
    count = round(FULL_AFTER_H * HOUR_S / FILLING_PORTION_S)
    yield from (round(FILLING_PORTION_S / STEPS_INTERVAL_S),) * count
    yield 0
    run.samples_a_line = 12
    count = round((hours - FULL_AFTER_H) * HOUR_S / portion_s)
    yield from (round(portion_s / STEPS_INTERVAL_S),) * count
    yield 0
    yield from (SMALL_REPORTS,) * small
    yield 0


def look(window: MainWindow, run: GrowingRun) -> Look:
    """What the window takes now."""
    gc.collect()
    curves = window.live_page.live.curves
    samples = [
        len(buffer)
        for device in curves.devices.values()
        for buffer in (device.utilization, device.memory)
    ]
    rss = psutil.Process().memory_info().rss
    return Look(run.age_s / HOUR_S, rss / MIB, sum(samples) * POINT_BYTES / MIB)


def follow_day(folder: Path, hours: float, portion_s: float, small: int) -> list[Look]:
    """A window's looks over the day of a run."""
    application = make_application()
    settings = QSettings(f"{folder}/settings.ini", QSettings.Format.IniFormat)
    # At its end the run goes on, and nobody is there to be asked what is to become of it.
    settings.setValue(KEEPS_RUNNING_KEY, 1)
    window = make_window(application, settings, folder / "runs")
    run = GrowingRun(folder / "runs", window.core.device_watch.sampled.emit)
    release = hold_run_lock(run.layout).release
    window.resize(1280, 800)
    window.show()
    window.begin()
    day = Day(window, run, portions(run, hours, portion_s, small))
    application.exec()
    release()
    assert day.has_come_through, "the window did not follow"
    return day.looks


def main() -> int:
    """Print the figures; 1 when the window grew by more than it may."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--portion", type=float, default=30.0, metavar="SECONDS")
    parser.add_argument("--small", type=int, default=5_000, metavar="PORTIONS")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.dict(os.environ, dict.fromkeys(FOLDERS, folder)),
        mock.patch.object(ThisMachine, "device_source", return_value=EightDevices()),
        mock.patch.object(run_reader, "COALESCE_MS", 0),
        mock.patch.object(run_reader, "STEADY_MS", 0),
        mock.patch.object(run_reader, "POLL_MS", 20),
    ):
        full, day, after = follow_day(
            Path(folder), arguments.hours, arguments.portion, arguments.small
        )
    growth = day.rss_mib - full.rss_mib
    beyond = growth - (day.points_mib - full.points_mib)
    points = after.points_mib - day.points_mib
    a_look = (after.rss_mib - day.rss_mib - points) * MIB / max(1, arguments.small)
    figures = {
        "full_after_h": round(full.age_h, 1),
        "rss_full_mib": round(full.rss_mib, 1),
        "rss_day_mib": round(day.rss_mib, 1),
        "growth_mib": round(growth, 1),
        "growth_beyond_buffers_mib": round(beyond, 1),
        "bytes_a_look": round(a_look, 1),
    }
    if arguments.json:
        print(json.dumps(figures))
    else:
        print(
            f"window after {full.age_h:.1f} h of a run on eight devices, its buffers full: "
            f"{full.rss_mib:.1f} MiB"
        )
        print(
            f"after {day.age_h:.1f} h: {day.rss_mib:.1f} MiB, {growth:.1f} MiB more, of which "
            f"{growth - beyond:.1f} MiB are points of the devices' curves (beyond these: target "
            f"below {MOST_GROWTH_MIB:.0f} MiB)"
        )
        print(
            f"{arguments.small:,} small looks more: {a_look:.0f} bytes each (target below "
            f"{MOST_BYTES_A_LOOK:.0f}), {a_look * LOOKS_A_DAY / MIB:.1f} MiB for a day of them"
        )
    return 0 if beyond < MOST_GROWTH_MIB and a_look < MOST_BYTES_A_LOOK else 1


if __name__ == "__main__":
    sys.exit(main())
