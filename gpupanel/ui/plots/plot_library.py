"""Loading what draws curves, a little at a time, in the window's thread alone."""

import sys
import time
from collections.abc import Iterator

from PySide6 import QtCore, QtGui, QtWidgets

_TURN_S = 0.01
_CANVAS = "gpupanel.ui.plots.plot_canvas"


class PlotLibrary:
    """Loads pyqtgraph in parts, so that the window answers in between.

    Never in another thread: pyqtgraph takes every name of PySide, which makes a class at the first
    use of its name, and two threads that do so at once end the process (a window that painted its
    first frames while another thread loaded pyqtgraph was ended by SIGSEGV in 1 of 25 starts,
    PySide 6.11.3).
    """

    def __init__(self) -> None:
        self._names = self._qt_names()

    @property
    def is_loaded(self) -> bool:
        """Whether a canvas can be made without waiting for more than itself."""
        return _CANVAS in sys.modules

    def load_some(self) -> None:
        """Go on with loading for some milliseconds; the last part takes a few hundred."""
        end = time.monotonic() + _TURN_S
        for module, name in self._names:
            getattr(module, name)
            if time.monotonic() > end:
                return
        import gpupanel.ui.plots.plot_canvas  # noqa: F401

    def _qt_names(self) -> Iterator[tuple[object, str]]:
        for module in (QtCore, QtGui, QtWidgets):
            for name in dir(module):
                yield module, name
