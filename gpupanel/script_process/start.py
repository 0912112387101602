"""``python start.py SETTINGS PROGRAM ARGUMENT...``: runs a program as ``python PROGRAM`` does.

Before its first line the hooks are set that configure TensorFlow's devices when it is imported and
report what Keras's ``fit`` does. The program finds itself in ``sys.argv``, ``sys.path`` and
``__main__``, and its tracebacks begin with its own line.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import sys
import types
from importlib.machinery import SourceFileLoader
from typing import Any

_PACKAGE = "_gpupanel_program"
"""No program has a module of that name, as it might have a ``hooks.py`` beside it."""


def _load_package() -> Any:
    """This folder as a package of that name; a module of it is then imported as usual."""
    folder = os.path.dirname(os.path.abspath(__file__))
    spec = importlib.util.spec_from_file_location(
        _PACKAGE, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[_PACKAGE] = package
    spec.loader.exec_module(package)
    return importlib.import_module(_PACKAGE + ".hooks")


def _main_module(path: str) -> types.ModuleType:
    """The ``__main__`` of the program, as Python makes it for a file."""
    module = types.ModuleType("__main__")
    module.__file__ = path
    module.__loader__ = SourceFileLoader("__main__", path)
    module.__dict__["__builtins__"] = sys.modules["builtins"]
    sys.modules["__main__"] = module
    return module


def main() -> None:
    """Run the program; what it raises ends this process as it would end its own."""
    settings, path = json.loads(sys.argv[1]), sys.argv[2]
    del sys.argv[:2]
    hooks = _load_package()
    # In the place of this file's folder, as for every file that Python runs.
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    reports = hooks.begin(settings)
    with open(path, "rb") as file:
        source = file.read()
    try:
        module = _main_module(path)
        exec(compile(source, path, "exec", dont_inherit=True), module.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        reports.failed(error)
        own = error.__traceback__
        error.__traceback__ = None if own is None else own.tb_next
        sys.excepthook(type(error), error, error.__traceback__)
        if isinstance(error, KeyboardInterrupt):
            # Python ends by the signal, so that a shell sees that it was interrupted.
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        sys.exit(1)


if __name__ == "__main__":
    main()
