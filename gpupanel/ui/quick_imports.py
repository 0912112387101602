"""Imports of the window's code that take a fifth less time."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

_USERS = ("gpupanel.ui", "pyqtgraph")
"""The packages that use PySide6."""

_ASKS = "_mod_uses_pyside"
"""The function of PySide6 that searches a module's source."""


@contextmanager
def quick_imports() -> Iterator[None]:
    """Import the window's code in here.

    Once PySide6 is loaded, it reads the source of each module that anybody imports and searches it
    for its own name, so that ``from __feature__ import snake_case`` is without effect elsewhere
    (PYSIDE-2029): for 700 modules a seventh of the start, and ``linecache`` keeps their text. Who
    uses PySide6 is known here, so that is answered by name. A PySide6 that does not ask that way
    is left as it is.

    Python's garbage collection pauses: it would search what imports leave dozens of times, and
    that stays.
    """
    import PySide6.QtCore  # noqa: F401 - makes the module that is looked up below

    feature = sys.modules.get("shibokensupport.feature")
    if hasattr(feature, _ASKS):
        setattr(feature, _ASKS, _uses_pyside)
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _uses_pyside(module: ModuleType) -> bool:
    name = module.__name__
    return any(name == user or name.startswith(f"{user}.") for user in _USERS)
