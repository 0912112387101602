"""What a sick GPU does to the window: its longest stall, and the time until a lost GPU is shown so.

``python tests/benchmarks/bench_slow_driver.py``. The real window reads eight GPUs of the stand-in
NVML through the real ``pynvml``. A timer that should fire every 5 ms tells how late the window's
thread ever was: first with eight quick GPUs, then with one that takes 500 ms for every call, then
with eight such. Then a GPU is lost and found again and again, alone and while another is slow: from
the moment when the driver knows it until the card of the device says it, and the other way round.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from PySide6.QtCore import QEventLoop, QObject, QSettings, Qt, QTimer, Slot
from PySide6.QtWidgets import QLabel

from gpupanel.ui.app import make_application, make_window
from gpupanel.ui.main_window import MainWindow
from tests.nvml.standin import (
    DRIVER_NOT_LOADED,
    EIGHT_GPUS,
    STATE_VARIABLE,
    Standin,
    StandinState,
    compile_library,
    compiler,
)

STALL_TARGET_MS = 100.0
LOST_TARGET_S = 2.0
SLOW_MS = 500
TICK_MS = 5
LIMIT_S = 60.0
SLOW_PLACE, LOST_PLACE = 2, 5
ONE_SLOW = EIGHT_GPUS.with_gpu(SLOW_PLACE, slow_ms=SLOW_MS)
ALL_SLOW = StandinState(gpus=tuple(replace(gpu, slow_ms=SLOW_MS) for gpu in EIGHT_GPUS.gpus))


class Watcher(QObject):
    """Looks at the window every few milliseconds, and notes how late it ever was."""

    def __init__(self, window: MainWindow, standin: Standin) -> None:
        super().__init__()
        self._window = window
        self._standin = standin
        self._last = time.perf_counter()
        self.late_ms: list[float] = []
        self._timer = QTimer(self, interval=TICK_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    @Slot()
    def _tick(self) -> None:
        now = time.perf_counter()
        self.late_ms.append((now - self._last) * 1e3 - TICK_MS)
        self._last = now

    def watch(self, seconds: float) -> float:
        """Let the window live for a while; how late it ever was, in milliseconds."""
        self.late_ms.clear()
        self._last = time.perf_counter()
        loop = QEventLoop()
        QTimer.singleShot(int(seconds * 1e3), loop.quit)
        loop.exec()
        return max(self.late_ms)

    def shown_after(self, state: StandinState, lost: range) -> float:
        """Seconds from the driver's new state until so many cards say that theirs is lost."""
        loop = QEventLoop()
        eye = QTimer(interval=TICK_MS, timerType=Qt.TimerType.PreciseTimer)
        self._standin.tell(state)
        begun = time.perf_counter()

        def look() -> None:
            if self._lost_cards() in lost or time.perf_counter() - begun > LIMIT_S:
                loop.quit()

        eye.timeout.connect(look)
        eye.start()
        loop.exec()
        return time.perf_counter() - begun

    def _lost_cards(self) -> int:
        labels = self._window.devices.findChildren(QLabel)
        return sum(label.isVisible() and label.text().startswith("Lost") for label in labels)


def print_stalls(watcher: Watcher, standin: Standin, seconds: float) -> bool:
    """Print how late the window's thread was with quick and with slow GPUs; whether it is well."""
    machines = {"eight quick GPUs": EIGHT_GPUS, "one of them slow": ONE_SLOW, "all slow": ALL_SLOW}
    print(f"longest stall of the window's thread, {SLOW_MS} ms a call when slow:")
    is_well = True
    for name, state in machines.items():
        standin.tell(state)
        worst = watcher.watch(seconds)
        usual = sorted(watcher.late_ms)[len(watcher.late_ms) * 99 // 100]
        print(f"  {name:<20}{worst:>8.0f} ms; 99 of 100 ticks late by less than {usual:.0f} ms")
        is_well &= worst < STALL_TARGET_MS
    print(f"  target below {STALL_TARGET_MS:.0f} ms: {'met' if is_well else 'MISSED'}")
    return is_well


@dataclass(frozen=True)
class Loss:
    """Something that goes and comes back.

    Attributes:
        lost: How many cards then say that their GPU is lost.
        found: How many still may when it is back: who is slow itself needs seconds to be known.
    """

    name: str
    before: StandinState
    after: StandinState
    lost: range
    found: range


def losses() -> list[Loss]:
    """One GPU, and the whole driver, each with all others quick and with one of them slow."""
    found = []
    for others, state, slow in (("quick", EIGHT_GPUS, 0), ("one slow", ONE_SLOW, 1)):
        gpu = state.with_gpu(LOST_PLACE, lost=True)
        driver = replace(state, init=DRIVER_NOT_LOADED)
        found += [
            Loss(f"a GPU, others {others}", state, gpu, range(1, 2), range(1)),
            Loss(f"the driver, GPUs {others}", state, driver, range(8, 9), range(slow + 1)),
        ]
    return found


def print_losses(watcher: Watcher, standin: Standin, repetitions: int) -> bool:
    """Print how long it took to show that a GPU was lost and found; whether it is well."""
    print(f"seconds until the card of each GPU says that it is lost, or back; of {repetitions}:")
    print(f"  {'':<26}{'lost: longest':>14}{'median':>8}{'back: longest':>16}{'median':>8}")
    worst = 0.0
    for loss in losses():
        standin.tell(loss.before)
        watcher.watch(4.0)
        lost, back = [], []
        for number in range(repetitions):
            # At another moment of the sampling each time.
            watcher.watch(0.1 + 0.6 * number / repetitions)
            lost.append(watcher.shown_after(loss.after, loss.lost))
            watcher.watch(0.6 - 0.5 * number / repetitions)
            back.append(watcher.shown_after(loss.before, loss.found))
        print(
            f"  {loss.name:<26}{max(lost):>14.2f}{statistics.median(lost):>8.2f}"
            f"{max(back):>16.2f}{statistics.median(back):>8.2f}"
        )
        worst = max(worst, *lost, *back)
    verdict = "met" if worst < LOST_TARGET_S else "MISSED"
    print(f"  target below {LOST_TARGET_S:.0f} s: {verdict}")
    return worst < LOST_TARGET_S


def measure(arguments: argparse.Namespace) -> int:
    """In the child: print the figures; 1 when one misses its target."""
    application = make_application()
    with tempfile.TemporaryDirectory() as folder:
        standin = Standin(Path("libnvidia-ml.so.1"), Path(os.environ[STATE_VARIABLE]), EIGHT_GPUS)
        settings = QSettings(f"{folder}/settings.ini", QSettings.Format.IniFormat)
        window = make_window(application, settings, Path(folder) / "runs")
        window.resize(1280, 800)
        window.show()
        window.begin()
        watcher = Watcher(window, standin)
        watcher.watch(4.0)
        is_well = print_stalls(watcher, standin, arguments.seconds)
        standin.tell(EIGHT_GPUS)
        watcher.watch(6.0)
        is_well &= print_losses(watcher, standin, arguments.repetitions)
        window.close()
        application.processEvents()
    return 0 if is_well else 1


def main() -> int:
    """Build the stand-in, and measure in a child: LD_LIBRARY_PATH is read when one starts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=15.0, help="of watching for stalls")
    parser.add_argument("--repetitions", type=int, default=25, help="of losing a GPU")
    arguments = parser.parse_args()
    if STATE_VARIABLE in os.environ:
        sys.stdout.reconfigure(line_buffering=True)
        status = measure(arguments)
        # Without Qt's own end, as a window that is closed for good.
        sys.stdout.flush()
        os._exit(status)
    if compiler() is None:
        print("no C compiler: the stand-in NVML cannot be built")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        library = compile_library(Path(folder) / "library")
        standin = Standin(library, Path(folder) / "state.txt", EIGHT_GPUS)
        child = subprocess.run(
            [sys.executable, __file__, *sys.argv[1:]],
            env=os.environ | standin.environment,
            check=False,
        )
    return child.returncode


if __name__ == "__main__":
    sys.exit(main())
