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

    Where there is neither, since the program runs from its source code, its name alone.
    """
    found = command_of_this_installation()
    return COMMAND if found is None else str(found)


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
