"""What the parts measure with: a window's heart beat, processor seconds and peak memory."""

import math
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QEventLoop, QObject, QSettings, Qt, QTimer, Slot
from PySide6.QtWidgets import QApplication

from gpupanel.ui import theme
from gpupanel.ui.app import dispose, make_application
from gpupanel.ui.garbage_collection import GarbageCollection
from gpupanel.ui.main_window import MainWindow
from tests.fakes.person import Person

_TICK_MS = 5
GIVE_UP_S = 300.0
_SETTLED_S = 3.0


class HeartBeat(QObject):
    """How long the window's thread ever worked without a pause, and stood still.

    A stall is, of each beat that was late, the shorter of how late it was and of the processor time
    that the process used meanwhile: what other programs take from a busy machine is not counted.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._longest_turn_s = self._longest_stall_s = 0.0
        self._before = (time.thread_time(), time.perf_counter(), time.process_time())
        self._timer = QTimer(self, interval=_TICK_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)
        self._timer.start()

    @Slot()
    def _beat(self) -> None:
        now = (time.thread_time(), time.perf_counter(), time.process_time())
        worked_s, *passed_s = (now - before for before, now in zip(self._before, now, strict=True))
        self._longest_turn_s = max(self._longest_turn_s, worked_s)
        self._longest_stall_s = max(self._longest_stall_s, min(passed_s) - _TICK_MS / 1e3)
        self._before = now

    def figures(self) -> dict[str, float]:
        """Both, in milliseconds."""
        return {"turn_ms": 1e3 * self._longest_turn_s, "stall_ms": 1e3 * self._longest_stall_s}


def wait_until(is_done: Callable[[], bool], seconds: float = GIVE_UP_S) -> None:
    """Let the window work until that is so.

    Raises:
        TimeoutError: It never was.
    """
    until_s = time.monotonic() + seconds
    while not is_done():
        if time.monotonic() > until_s:
            raise TimeoutError("what is measured did not come about")
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)


@contextmanager
def application() -> Iterator[QApplication]:
    """Qt and garbage collection as the application has them."""
    made = make_application()
    garbage = GarbageCollection(made)
    garbage.install()
    theme.follow_system(made)
    yield made
    garbage.uninstall()


@contextmanager
def window_on(folder: Path) -> Iterator[MainWindow]:
    """The window on the runs of a folder: made, shown and begun."""
    settings = QSettings(f"{folder}/settings.ini", QSettings.Format.IniFormat)
    window = MainWindow(settings, folder / "runs", Person())
    window.show()
    window.begin()
    # Its first frame is that of every window.
    QApplication.processEvents()
    yield window
    window.close()
    dispose(window)


def settle() -> None:
    """Let a window load what it loads in short turns after it was shown, as nobody waits for it."""
    settled_s = time.monotonic() + _SETTLED_S
    wait_until(lambda: time.monotonic() > settled_s)


def cpu_s(work: Callable[[], object]) -> float:
    """Seconds of this thread's processor that something takes."""
    begun_s = time.thread_time()
    work()
    return time.thread_time() - begun_s


def process_cpu_s(work: Callable[[], object]) -> float:
    """Seconds of processor that something takes with all threads that it starts."""
    begun_s = time.process_time()
    work()
    return time.process_time() - begun_s


def peak_mib() -> float:
    """The most memory that this process ever had, resident."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """How a value grows with a size: the slope of its logarithm; 1 is in proportion.

    From the middle size to the greatest: what is there anyway hides the growth of small ones.
    """
    (before, after), (low, high) = sizes[-2:], values[-2:]
    if low <= 0.0 or high <= 0.0:
        return 0.0
    return math.log(high / low) / math.log(after / before)
