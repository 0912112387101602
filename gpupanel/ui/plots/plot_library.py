"""Loading what draws curves, a little at a time, in the window's thread alone."""

import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module

from PySide6 import QtCore, QtGui, QtWidgets

_TURN_S = 0.01
_CANVAS = "gpupanel.ui.plots.plot_canvas"
_TAKEN_ALONG = (
    *("numpy", "numpy.typing", "colorama", "cProfile", "pydoc", "xml.etree.ElementTree"),
    *("multiprocessing.util", "multiprocessing.connection"),
    *(f"PySide6.{name}" for name in ("QtSvg", "QtOpenGL", "QtOpenGLWidgets", "QtTest")),
)
"""What pyqtgraph imports besides: half of the time that it takes at once without these."""


class PlotLibrary:
    """Loads pyqtgraph in parts, so that the window answers in between.

    Never in another thread: pyqtgraph takes every name of PySide, which makes a class at the first
    use of its name, and two threads that do so at once end the process (a window that painted its
    first frames while another thread loaded pyqtgraph was ended by SIGSEGV in 1 of 25 starts,
    PySide 6.11.3).
    """

    def __init__(self) -> None:
        self._parts = self._loaded_parts()

    @property
    def is_loaded(self) -> bool:
        """Whether a canvas can be made without waiting for more than itself."""
        return _CANVAS in sys.modules

    def load_some(self) -> None:
        """Go on with loading for some milliseconds; numpy, and the last part, take a hundred."""
        end, has_worked = time.monotonic() + _TURN_S, False
        for _ in self._parts:
            has_worked = True
            if time.monotonic() > end:
                return
        if has_worked:
            return  # what takes longest has a turn of its own
        import gpupanel.ui.plots.plot_canvas  # noqa: F401

    def _loaded_parts(self) -> Iterator[None]:
        """Loads one of them at each step."""
        for module in (QtCore, QtGui, QtWidgets):
            for name in dir(module):
                getattr(module, name)
                yield
        for name in _TAKEN_ALONG:
            with suppress(ImportError):  # another version of pyqtgraph may do without it
                import_module(name)
            yield
