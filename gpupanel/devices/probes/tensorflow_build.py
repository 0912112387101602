"""What the installed TensorFlow was built for, asked once and remembered.

Importing TensorFlow takes seconds, and its answer changes only when another TensorFlow is
installed.
"""

import hashlib
import logging
import os
import sys
import tempfile
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from threading import Event
from typing import Final

import platformdirs
from pydantic import ValidationError

from gpupanel.devices.probes.tensorflow_probe import ProbeAnswer, ask_tensorflow
from gpupanel.domain.tensorflow_facts import TensorFlowBuild
from gpupanel.domain.value import Value

CACHE_DIR_VARIABLE: Final = "GPUPANEL_CACHE_DIR"
TENSORFLOW_PACKAGES: Final = ("tensorflow", "tensorflow-cpu", "tf-nightly", "tf-nightly-cpu")
"""The packages that bring a module of the name tensorflow; the first one installed counts."""

_LOG = logging.getLogger(__name__)


class _Installed(Value):
    """Which TensorFlow an answer is about; ``python`` is the folder of its environment."""

    python: str
    package: str
    version: str
    installed_ns: int


class _Remembered(Value):
    installed: _Installed
    build: TensorFlowBuild


def tensorflow_build(
    ask: Callable[[Event | None], ProbeAnswer] | None = None,
    cancelled: Event | None = None,
) -> TensorFlowBuild | None:
    """What the installed TensorFlow was built for; ``None`` when it cannot be known.

    At once when it was asked before, else as long as a process needs to import TensorFlow.

    Args:
        ask: Asks TensorFlow itself; :func:`ask_tensorflow` when left out.
        cancelled: Set, by any thread, when the answer is not wanted any more.
    """
    installed = _installed()
    if installed is None:
        return None
    known = _recall(installed)
    if known is not None:
        return known
    answer = ask_tensorflow(cancelled=cancelled) if ask is None else ask(cancelled)
    facts = answer.facts
    build = None if facts is None else facts.build
    if build is not None:
        _remember(_Remembered(installed=installed, build=build))
    return build


def remember_build(build: TensorFlowBuild) -> None:
    """Note what the installed TensorFlow, asked by other means, was built for."""
    installed = _installed()
    if installed is not None:
        _remember(_Remembered(installed=installed, build=build))


def tensorflow_package() -> tuple[str, str] | None:
    """Name and version of the package that TensorFlow is installed from; ``None`` without."""
    for name in TENSORFLOW_PACKAGES:
        try:
            return name, metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return None


def _installed() -> _Installed | None:
    package = tensorflow_package()
    if package is None:
        return None
    name, version = package
    folder = metadata.distribution(name).locate_file(
        f"{name.replace('-', '_')}-{version}.dist-info"
    )
    try:
        installed_ns = Path(str(folder)).stat().st_mtime_ns
    except OSError:
        # Installed by other means than a wheel: its version has to do.
        installed_ns = 0
    return _Installed(python=sys.prefix, package=name, version=version, installed_ns=installed_ns)


def _recall(installed: _Installed) -> TensorFlowBuild | None:
    try:
        remembered = _Remembered.model_validate_json(_file().read_bytes())
    except (OSError, ValidationError):
        return None
    return remembered.build if remembered.installed == installed else None


def _remember(remembered: _Remembered) -> None:
    """Write it beside and rename it: another process may read it at this moment."""
    file = _file()
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=file.parent, prefix=f".{file.name}.", delete=False
        ) as beside:
            beside.write(remembered.model_dump_json())
        Path(beside.name).replace(file)
    except OSError as error:
        _LOG.debug("TensorFlow's build is not remembered: %s", error)


def _file() -> Path:
    folder = os.environ.get(CACHE_DIR_VARIABLE) or platformdirs.user_cache_dir("gpupanel")
    python = hashlib.sha256(sys.prefix.encode()).hexdigest()[:12]
    return Path(folder) / f"tensorflow-build-{python}.json"
