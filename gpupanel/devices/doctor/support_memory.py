"""Remembers which GPUs TensorFlow can use, since asking it takes seconds.

An answer holds for the Python, the packages, the loader's settings, the driver and the GPUs that
it was given for; anything else is another question.
"""

import hashlib
import logging
import os
import sys
import sysconfig
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from gpupanel.devices.packages import tensorflow_package
from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.inherited_variables import deciding_variables
from gpupanel.domain.value import Value
from gpupanel.domain.visible_text import as_utf8
from gpupanel.files.cache_folder import cache_root
from gpupanel.files.regular_files import open_regular
from gpupanel.files.whole_files import whole_file

_MOST_ANSWERS: Final = 8
"""A machine may have a GPU that comes and goes, and terminals with other variables."""
_LOADER_CACHE: Final = Path("/etc/ld.so.cache")

_LOG = logging.getLogger(__name__)


class SupportBasis(Value):
    """What an answer depends on.

    Attributes:
        python: The interpreter; ``package`` and ``version`` are those of its TensorFlow.
        changed_ns: When packages were last installed or removed, and shared libraries made known
            to the loader, or put into a folder of LD_LIBRARY_PATH.
        environment: The variables that a process obeys which asks TensorFlow, as far as a run does
            not set them itself.
        gpus: The keys of the GPUs that were asked about.
        answered: What an answer says. One that an older gpupanel has noted may say less, and would
            be read as if nothing were missing.
    """

    python: str
    package: str
    version: str
    changed_ns: tuple[int, ...]
    environment: tuple[tuple[str, str], ...]
    driver: str | None
    gpus: tuple[str, ...]
    answered: tuple[str, ...]


class _Answer(Value):
    basis: SupportBasis
    support: GpuSupport


class _Answers(Value):
    answers: tuple[_Answer, ...] = ()


def support_basis(
    gpus: tuple[PhysicalDevice, ...],
    driver: str | None,
    environment: Mapping[str, str] = os.environ,
) -> SupportBasis:
    """What an answer about these GPUs depends on now; reads some times of files."""
    name, version = tensorflow_package() or ("", "")
    folders = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    if name:
        folders.add(str(metadata.distribution(name).locate_file("")))
    loaded_from = filter(None, environment.get("LD_LIBRARY_PATH", "").split(os.pathsep))
    return SupportBasis(
        python=sys.executable,
        package=name,
        version=version,
        # pip adds or removes an entry of the folder with every package and version.
        changed_ns=tuple(
            _changed_ns(each) for each in (*sorted(folders), str(_LOADER_CACHE), *loaded_from)
        ),
        # A folder's name need not be text, and an answer is kept as text.
        environment=tuple(
            (as_utf8(variable), as_utf8(value))
            for variable, value in deciding_variables(environment)
        ),
        driver=driver,
        gpus=tuple(sorted(gpu.key for gpu in gpus)),
        answered=tuple(sorted(GpuSupport.model_fields)),
    )


def recall_support(basis: SupportBasis) -> GpuSupport | None:
    """The answer that was given on that basis, if it is remembered."""
    return next((each.support for each in _read() if each.basis == basis), None)


def remember_support(basis: SupportBasis, support: GpuSupport) -> None:
    """Note an answer; written beside and renamed: another process may read it at this moment."""
    others = tuple(each for each in _read() if each.basis != basis)
    answers = (_Answer(basis=basis, support=support), *others)[:_MOST_ANSWERS]
    try:
        file = _file()
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with whole_file(file, private=True) as beside:
            beside.write(_Answers(answers=answers).model_dump_json().encode())
    except OSError as error:
        _LOG.debug("What TensorFlow can use is not remembered: %s", error)


def forget_support() -> None:
    """Let TensorFlow be asked anew, whatever it answered before."""
    try:
        _file().unlink(missing_ok=True)
    except OSError as error:
        _LOG.debug("What TensorFlow can use is not forgotten: %s", error)


def _read() -> tuple[_Answer, ...]:
    try:
        with open_regular(_file()) as file:
            return _Answers.model_validate_json(file.read()).answers
    except (OSError, ValidationError):
        return ()


def _changed_ns(path: str) -> int:
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 0


def _file() -> Path:
    python = hashlib.sha256(sys.prefix.encode()).hexdigest()[:12]
    return cache_root() / f"tensorflow-gpus-{python}.json"
