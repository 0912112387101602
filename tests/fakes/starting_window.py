"""The window as a process of its own, in which Start is clicked as soon as it can be.

``python tests/fakes/starting_window.py PROFILE [MODE]``: with a mode, that of
``tests/fakes/trainer.py``, the run's trainer is that one.
"""

import sys
from pathlib import Path

from PySide6.QtCore import QTimer, Slot
from PySide6.QtWidgets import QPushButton
from typing_extensions import override

from gpupanel.domain.checked_files import CheckedFiles
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs import launcher
from gpupanel.runs.detached import start_detached
from gpupanel.ui import app
from gpupanel.ui.main_window import MainWindow

SUPERVISE = Path(__file__).with_name("supervise.py")


class StartingWindow(MainWindow):
    """Clicks its own button once."""

    @override
    def begin(self) -> None:
        super().begin()
        self._looking = QTimer(self, interval=20)
        self._looking.timeout.connect(self._click)
        self._looking.start()

    @Slot()
    def _click(self) -> None:
        start = self.findChild(QPushButton, "start_button")
        if start.isEnabled():
            self._looking.stop()
            start.click()


def start_supervisor_of_fake(layout: RunLayout, _: CheckedFiles) -> None:
    """What the launcher does, with a trainer without TensorFlow."""
    command = (sys.executable, str(SUPERVISE), sys.argv[2], str(layout.root))
    start_detached(command, layout.trainer_log, f"supervisor of {layout.name}")


if __name__ == "__main__":
    app.MainWindow = StartingWindow
    if len(sys.argv) > 2:
        launcher.start_supervisor = start_supervisor_of_fake
    sys.exit(app.open_window(Path(sys.argv[1])))
