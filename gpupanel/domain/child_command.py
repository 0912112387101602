"""How every child of this program is started, so that none runs a file of where it works.

Python looks for modules in the working directory of ``python -m``, and so do an empty or a relative
entry of ``PYTHONPATH``: a file named ``base64.py`` beside a profile, or in a run folder that came
from somebody else, would be run instead of Python's own. Other libraries look there for programs
and libraries of their own. So a child works where no stranger puts anything, and is given absolute
paths.
"""

import os
import sys
from collections.abc import Mapping, Sequence

_PYTHON_PATH = "PYTHONPATH"
_SEARCH_PATHS = ("PATH", "LD_LIBRARY_PATH")
_FOLDERS = (
    *("GPUPANEL_CACHE_DIR", "GPUPANEL_CONFIG_DIR", "GPUPANEL_RUNS_DIR", "GPUPANEL_STATE_DIR"),
    "GPUPANEL_CLAIMS_DIR",
    *("KERAS_HOME", "TFDS_DATA_DIR", "TMPDIR"),
)
"""Variables that name a folder, which is one and the same to this process and its children."""

WORKING_DIRECTORY = "/"
"""Where every child works: nobody but root puts a file there.

``-P`` is Python's alone. TensorFlow loads every ``tensorflow/core/kernels/libtfkernel*.so`` below
the folder of the working directory that has the name of the module behind ``-m``
(``GetRunfilesDir`` in xla/tsl/platform/env.cc, ``LoadDynamicKernels`` in
tensorflow/core/framework/op_kernel.cc), and XLA looks in it for CUDA's programs, and runs them
(``CandidateCudaRoots`` in xla/tsl/platform/default/cuda_root_path.cc)."""


def python_module_command(module: str, *arguments: str) -> tuple[str, ...]:
    """The command that runs a module as ``python -m`` does, with the Python of this process.

    ``-P``: the working directory is not searched for modules
    (https://docs.python.org/3/using/cmdline.html#cmdoption-P).

    Args:
        module: Its full name.
        arguments: Of the module.
    """
    return (sys.executable, "-P", "-m", module, *arguments)


def bundled_command() -> str | None:
    """The command of the bundle that this process runs from; ``None``: a Python runs it.

    A bundle's ``sys.executable`` is no Python. It does what :func:`python_module_command` says all
    the same (packaging/bundle_entry.py), with modules of this program alone.
    """
    # Set by PyInstaller (https://pyinstaller.org/en/stable/runtime-information.html).
    return sys.executable if getattr(sys, "frozen", False) else None


def child_environment(
    environment: Mapping[str, str], additions: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The variables of a child: those of this process that it may inherit, with additions.

    What would change what a person has chosen is left out, or set
    (:mod:`~gpupanel.domain.inherited_variables`). ``PYTHONPATH``, ``PATH`` and ``LD_LIBRARY_PATH``
    keep their absolute entries only. The others, and empty ones, would have a child search in its
    own working directory: for modules, whatever ``-P`` says, for programs, and for libraries.
    Relative names of folders become absolute.

    Args:
        environment: The variables of this process.
        additions: What the child gets besides, or instead.
    """
    # Not imported before the folders of modules are right.
    from gpupanel.domain.inherited_variables import inherited

    variables = {**inherited(environment), **(additions or {})}
    for name in (_PYTHON_PATH, *_SEARCH_PATHS):
        kept = [entry for entry in _entries(variables, name) if _is_absolute(entry)]
        if kept:
            variables[name] = os.pathsep.join(kept)
        else:
            variables.pop(name, None)
    for name in _FOLDERS:
        folder = variables.get(name, "")
        if folder and not folder.startswith("~") and not _is_absolute(folder):
            variables[name] = os.path.abspath(folder)  # noqa: PTH100 - as below
    return variables


def searched_folders(
    search_path: Sequence[str], environment: Mapping[str, str], working_directory: str
) -> list[str]:
    """Where a process that was started without ``-P`` is to look for modules from now on.

    Args:
        search_path: ``sys.path`` as Python made it.
        environment: The variables of the process.
        working_directory: Absolute.

    Returns:
        Without the working directory that ``python -m`` puts first, and without what relative
        entries of ``PYTHONPATH`` were taken for.
    """
    entries = _entries(environment)
    named = {os.path.normpath(entry) for entry in entries if _is_absolute(entry)}
    taken_for = {
        os.path.normpath(f"{working_directory}/{entry}")
        for entry in entries
        if not _is_absolute(entry)
    }
    left_out = taken_for - named
    is_first = search_path[:1] == [working_directory] and working_directory not in named
    return [
        folder
        for folder in search_path[1 if is_first else 0 :]
        if _is_absolute(folder) and os.path.normpath(folder) not in left_out
    ]


def _entries(environment: Mapping[str, str], name: str = _PYTHON_PATH) -> list[str]:
    """Of such a variable; an empty one is none, while an empty entry is the working directory."""
    text = environment.get(name, "")
    if name == "LD_LIBRARY_PATH":
        text = text.replace(";", os.pathsep)  # which ld.so(8) takes, too
    return text.split(os.pathsep) if text else []


def _is_absolute(folder: str) -> bool:
    # Not by pathlib: nothing more is imported before the folders of modules are right.
    return os.path.isabs(folder)  # noqa: PTH117
