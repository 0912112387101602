"""The command of this installation, for files that start it later."""

import shutil
import sysconfig
from pathlib import Path
from typing import Final

from gpupanel.domain.child_command import bundled_command

COMMAND: Final = "gpupanel"
"""What the command is called on a ``PATH``."""


def installed_command() -> str:
    """The absolute path of this installation's command, else of that of the ``PATH``.

    Where there is neither, since the program runs from its source code, or where it cannot be
    written as text, its name alone.
    """
    found = command_of_this_installation()
    # A script is UTF-8: a path of other bytes cannot stand in it.
    return COMMAND if found is None or not _is_utf8(str(found)) else str(found)


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def command_of_this_installation() -> Path | None:
    """The same; ``None`` where there is neither."""
    bundled = bundled_command()
    if bundled is not None:
        return Path(bundled)
    beside = Path(sysconfig.get_path("scripts")) / COMMAND
    if beside.is_file():
        return beside
    found = shutil.which(COMMAND)
    return None if found is None else Path(found).absolute()
