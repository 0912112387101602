"""Acts right after the program's import of TensorFlow or Keras, before its next line."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from typing import Any

from . import keras_fit, tensorflow_devices
from .reports import Reports


def begin(settings: dict[str, Any]) -> Reports:
    """Set the hooks of a program.

    Args:
        settings: What the panel hands over: ``devices``, a list of ``{"kind", "index", "growth",
            "limits_mib"}`` as TensorFlow numbers them; ``mirrored``, the names of the logical
            devices that ``fit`` trains on, or none.

    Returns:
        Where the program's end is reported.
    """
    reports = Reports(os.environ.get("GPUPANEL_RUN", ""))
    actions = {
        "tensorflow": lambda module: tensorflow_devices.configure(module, settings, reports),
        "keras": lambda module: keras_fit.watch(module, settings, reports),
    }
    sys.meta_path.insert(0, _AfterImport(actions))
    return reports


class _AfterImport:
    """Finds the modules that something follows on as Python would, and adds that."""

    def __init__(self, actions: dict[str, Callable[[Any], None]]) -> None:
        self._actions = actions
        self._finding: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """As ``importlib.abc.MetaPathFinder``; ``None``: others find it."""
        if name not in self._actions or name in self._finding:
            return None
        self._finding.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._finding.discard(name)
        if spec is None or spec.loader is None:
            return None
        action, load = self._actions[name], spec.loader.exec_module

        def load_and_act(module: Any) -> None:
            load(module)
            # An import that fails may be tried again.
            if self._actions.pop(name, None) is not None:
                action(module)

        spec.loader.exec_module = load_and_act  # type: ignore[method-assign]
        return spec
