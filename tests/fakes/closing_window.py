"""The window as a process of its own, in which Resume is clicked and which is closed right then.

``python tests/fakes/closing_window.py RUN_DIR [LONGEST_WORK_MS]`` shows the run, clicks on Resume
as soon as it can be, closes the window a moment later, and prints how long that took. Without a
run it only opens and closes. A run that is resumed gets a file ``resumed`` instead of a supervisor.
"""

import faulthandler
import os
import signal
import sys
import time
from pathlib import Path

from PySide6.QtCore import QTimer, Slot
from PySide6.QtWidgets import QLabel, QPushButton
from typing_extensions import override

from gpupanel.domain.checked_files import CheckedFiles
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs import launcher
from gpupanel.ui import app
from gpupanel.ui.bindings.window_closing import KEEPS_RUNNING_KEY
from gpupanel.ui.dialogs.problem_dialog import ProblemDialog
from gpupanel.ui.main_window import MainWindow

LET_THE_WORK_BEGIN_MS = 300
PATIENCE_S = 240.0
"""A window that can do nothing by then says why: whoever waits for its line would wait for ever."""


class ClosingWindow(MainWindow):
    """Clicks its own button once, and goes."""

    @override
    def begin(self) -> None:
        super().begin()
        self.core.settings.setValue(KEEPS_RUNNING_KEY, 1)  # a question would keep it open
        self._begun_s = time.monotonic()
        self._looking = QTimer(self, interval=20)
        self._looking.timeout.connect(self._click)
        self._looking.start()

    @Slot()
    def _click(self) -> None:
        resume = self.findChild(QPushButton, "resume_button")
        if len(sys.argv) > 1:
            if not resume.isEnabled():
                if time.monotonic() - self._begun_s > PATIENCE_S:
                    self._give_up()
                return
            resume.click()
        self._looking.stop()
        QTimer.singleShot(LET_THE_WORK_BEGIN_MS, self, self._go)

    def _give_up(self) -> None:
        dialogs = [each.text() for each in self.findChildren(ProblemDialog) if each.isVisible()]
        labels = [each.text() for each in self.live_page.banner.findChildren(QLabel) if each.text()]
        print("Resume was never enabled:", self.control.shown_status, dialogs, labels, flush=True)
        faulthandler.dump_traceback(all_threads=True)
        os._exit(3)

    @Slot()
    def _go(self) -> None:
        begin = time.monotonic()
        self.close()
        assert not self.isVisible()
        print(f"hidden after {time.monotonic() - begin:.2f} s", flush=True)
        self._reading = QTimer(self, interval=20)
        self._reading.timeout.connect(self._read_problem)
        self._reading.start()

    @Slot()
    def _read_problem(self) -> None:
        dialog = next((each for each in self.findChildren(ProblemDialog) if each.isVisible()), None)
        if dialog is not None:
            print(dialog.text(), flush=True)
            dialog.close()


def note_resumed(layout: RunLayout, _: CheckedFiles) -> None:
    (layout.root / "resumed").touch()


if __name__ == "__main__":
    # Whoever starts the tests in the background has them ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    faulthandler.dump_traceback_later(PATIENCE_S + 60.0, exit=True)
    app.MainWindow = ClosingWindow
    launcher.start_supervisor = note_resumed
    if len(sys.argv) > 2:
        from gpupanel.ui import closing

        closing.LONGEST_WORK_MS = int(sys.argv[2])
    sys.exit(app.open_window(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
