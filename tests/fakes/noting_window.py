"""The window as a process of its own, which notes in which thread each module was loaded.

``python tests/fakes/noting_window.py RUN_DIR`` shows the run until its plots stand, and prints the
modules that use Qt, each with whether the window's thread loaded it.
"""

import json
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QTimer, Slot
from typing_extensions import override

from gpupanel.ui import app
from gpupanel.ui.main_window import MainWindow

WITH_QT = ("PySide6", "pyqtgraph", "gpupanel.ui")


class NotingFinder:
    """Finds nothing, and notes what is looked for."""

    def __init__(self) -> None:
        self.is_in_main_thread: dict[str, bool] = {}

    def find_spec(self, name: str, path: Sequence[str] | None, target: object = None) -> None:
        """Note it; the next one finds it."""
        if name.startswith(WITH_QT):
            is_main = threading.current_thread() is threading.main_thread()
            self.is_in_main_thread[name] = is_main


class NotingWindow(MainWindow):
    """Closes itself when the run's plots stand."""

    @override
    def begin(self) -> None:
        super().begin()
        self._looking = QTimer(self, interval=50)
        self._looking.timeout.connect(self._look)
        self._looking.start()

    @Slot()
    def _look(self) -> None:
        if self.live_page.live.plot_wall.isVisible():
            self._looking.stop()
            self.close()


if __name__ == "__main__":
    finder = NotingFinder()
    sys.meta_path.insert(0, finder)  # type: ignore[arg-type]  # older finders need no more
    app.MainWindow = NotingWindow
    status = app.open_window(Path(sys.argv[1]))
    print(json.dumps(finder.is_in_main_thread))
    sys.exit(status)
