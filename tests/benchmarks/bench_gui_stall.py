"""How long the window's thread is ever kept from answering while a real run goes on.

Run with ``python tests/benchmarks/bench_gui_stall.py``. A timer that should fire every 5 ms tells
how late it was; the longest delay from the click on Start until after Stop is what a person feels.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from PySide6.QtCore import QObject, QSettings, Qt, QTimer, Slot

from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.ui.app import make_application, make_window
from gpupanel.ui.garbage_collection import GarbageCollection
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.run_state import RunState

TARGET_MS = 100.0
TICK_MS = 5
PROFILE = Profile(
    name="stall",
    devices=DeviceSettings(visible=("cpu",), cpu_replicas=2),
    strategy=StrategySettings(kind=StrategyKind.MIRRORED),
    training=TrainingSettings(epochs=100_000, tensorboard=False),
)


class StallMeter(QObject):
    """Starts a run, stops it after a while, and notes how late its timer ever was."""

    def __init__(self, window: MainWindow, seconds: float) -> None:
        super().__init__()
        self._window = window
        self._seconds = seconds
        self._began: float | None = None
        self._last = time.perf_counter()
        self.stalls_ms: list[float] = []
        self._timer = QTimer(self, interval=TICK_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        window.session.runChanged.connect(self._on_run_changed)

    @Slot()
    def start(self) -> None:
        """Click Start, so to speak."""
        self._window.session.open_profile(PROFILE, None)
        self._window.control.start_known()
        self._last = time.perf_counter()
        self._timer.start()

    @Slot()
    def _tick(self) -> None:
        now = time.perf_counter()
        self.stalls_ms.append((now - self._last) * 1000.0 - TICK_MS)
        self._last = now
        if self._began is not None and now - self._began > self._seconds:
            self._began = None
            self._window.control.stop()

    @Slot()
    def _on_run_changed(self) -> None:
        state = self._window.session.run_state
        if state is RunState.RUNNING and self._began is None and self._seconds:
            self._began = time.perf_counter()
            return
        if state is RunState.STOPPING:
            self._seconds = 0.0
        if state is RunState.ENDED:
            self._timer.stop()
            self._window.close()


def main() -> int:
    """Print the figures; 1 when the longest stall misses the target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    arguments = parser.parse_args()
    application = make_application()
    GarbageCollection(application).install()  # as the application does
    with tempfile.TemporaryDirectory() as folder:
        settings = QSettings(f"{folder}/settings.ini", QSettings.Format.IniFormat)
        window = make_window(application, settings, Path(folder) / "runs")
        window.resize(1920, 1080)
        window.show()
        window.begin()
        meter = StallMeter(window, arguments.seconds)
        QTimer.singleShot(3000, meter.start)
        application.exec()
        time.sleep(1.0)  # the supervisor's last word is written before its folder goes
    late = sorted(meter.stalls_ms)
    worst, typical = late[-1], late[len(late) * 99 // 100]
    print(f"longest stall of the window's thread: {worst:.0f} ms (target below {TARGET_MS:.0f} ms)")
    print(f"99 of 100 ticks were late by less than {typical:.0f} ms ({len(late):,} ticks)")
    return 0 if worst < TARGET_MS else 1


if __name__ == "__main__":
    sys.exit(main())
