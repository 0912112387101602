"""Commands that mend an installation, as they work for the Python that runs gpupanel."""

import shlex
import shutil
import sys
from importlib.util import find_spec


def install(*requirements: str, anew: bool = False, upgrade: bool = False) -> str:
    """The command that installs packages into this Python.

    Args:
        requirements: What to install ("tensorflow[and-cuda]==2.21.0").
        anew: Also what is there already.
        upgrade: To the newest version.
    """
    python = shlex.quote(sys.executable)
    options = ["--upgrade"] if upgrade else []
    what = shlex.join(requirements)
    if find_spec("pip") is None and shutil.which("uv") is not None:
        options += ["--reinstall"] if anew else []
        return " ".join(["uv pip install --python", python, *options, what])
    options += ["--force-reinstall"] if anew else []
    pip = " ".join([f"{python} -m pip install", *options, what])
    return pip if find_spec("pip") is not None else f"{python} -m ensurepip && {pip}"


def uninstall(package: str) -> str:
    """The command that removes a package from this Python."""
    python = shlex.quote(sys.executable)
    if find_spec("pip") is None and shutil.which("uv") is not None:
        return f"uv pip uninstall --python {python} {package}"
    return f"{python} -m pip uninstall -y {package}"
