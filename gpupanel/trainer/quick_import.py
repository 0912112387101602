"""TensorFlow and Keras imported in two thirds of the time: without what no training uses.

Keras has wrappers for scikit-learn, so it imports that, and SciPy's statistics with it, wherever it
is installed: a quarter of the import's time, and 60 MB.
"""

import gc
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from typing_extensions import override


class _WithoutScikitLearn(MetaPathFinder):
    """To the thread that makes it, scikit-learn is not installed."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    @override
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        # Data that comes with scikit-learn is found meanwhile, by the thread that reads it.
        if fullname == "sklearn" and threading.get_ident() == self._thread:
            raise ModuleNotFoundError("scikit-learn is not used", name=fullname)
        return None


@contextmanager
def quick_import() -> Iterator[None]:
    """For an import of TensorFlow and Keras; afterwards everybody finds scikit-learn again."""
    finder = _WithoutScikitLearn()
    sys.meta_path.insert(0, finder)
    # A million objects are made that all stay: nothing of them is worth searching for.
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
        sys.meta_path.remove(finder)
