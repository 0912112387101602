"""Which TensorFlow is installed, read from what pip noted, and what a person types to install."""

import shlex
import shutil
import sys
from importlib import metadata
from importlib.util import find_spec
from typing import Final

from gpupanel.domain.child_command import bundled_command, python_module_command

_WITH_CUDA: Final = "[and-cuda]"
_COMPLETE: Final = "pipx install 'gpupanel[cuda]'"
"""Nothing can be installed into a bundle: it brings one beside it, with CUDA's libraries."""


def install(*requirements: str, anew: bool = False, upgrade: bool = False) -> str:
    """The command that installs packages into this Python; in a bundle empty where none can help.

    Args:
        requirements: What to install ("tensorflow[and-cuda]==2.21.0").
        anew: Also what is there already.
        upgrade: To the newest version.
    """
    if bundled_command() is not None:
        return _COMPLETE if any(_WITH_CUDA in each for each in requirements) else ""
    options = ["--upgrade"] if upgrade else []
    if find_spec("pip") is None and shutil.which("uv") is not None:
        options += ["--reinstall"] if anew else []
        uv = ("uv", "pip", "install", "--python", sys.executable)
        return shlex.join((*uv, *options, *requirements))
    options += ["--force-reinstall"] if anew else []
    pip = shlex.join(python_module_command("pip", "install", *options, *requirements))
    if find_spec("pip") is not None:
        return pip
    return f"{shlex.join(python_module_command('ensurepip'))} && {pip}"


def replace(package: str, *requirements: str) -> str:
    """The command that removes a package from this Python and installs others in its place."""
    installing = install(*requirements, anew=True)
    if bundled_command() is not None:
        return installing
    return f"{_uninstall(package)} && {installing}"


def _uninstall(package: str) -> str:
    if find_spec("pip") is None and shutil.which("uv") is not None:
        return shlex.join(("uv", "pip", "uninstall", "--python", sys.executable, package))
    return shlex.join(python_module_command("pip", "uninstall", "-y", package))


TENSORFLOW_PACKAGES: Final = ("tensorflow", "tensorflow-cpu", "tf-nightly", "tf-nightly-cpu")
"""The packages that bring a module of the name tensorflow; the first one installed counts."""


def tensorflow_package() -> tuple[str, str] | None:
    """Name and version of the package that TensorFlow is installed from; ``None`` without."""
    for name in TENSORFLOW_PACKAGES:
        try:
            return name, metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return None
