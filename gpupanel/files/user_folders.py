"""Where a user's own files are kept, by the rules of each system."""

import errno
import os
from pathlib import Path
from typing import Final, Literal

import platformdirs

Kind = Literal["cache", "config", "data", "state"]

CONFIG_DIR_VARIABLE: Final = "GPUPANEL_CONFIG_DIR"
"""Environment variable that names another folder for what a person set or trusted."""
HOME_UNKNOWN: Final = (
    "Nobody knows where the home folder of this user is: HOME is not set, and the system knows no "
    "user of the number {number}, as in a container that was started for one."
)
HOME_ADVICE: Final = (
    "Set HOME to a folder that this user may write (export HOME=/some/folder), or name folders by "
    "GPUPANEL_RUNS_DIR, GPUPANEL_STATE_DIR, GPUPANEL_CACHE_DIR and GPUPANEL_CONFIG_DIR."
)


class HomeUnknownError(FileNotFoundError):
    """Nobody knows where the user's home folder is."""

    def __init__(self) -> None:
        super().__init__(errno.ENOENT, HOME_UNKNOWN.format(number=os.getuid()))


def user_folder(kind: Kind) -> Path:
    """The folder of gpupanel among a user's data, settings, states or caches.

    Raises:
        HomeUnknownError: Nobody knows where the user's home folder is.
    """
    try:
        named = getattr(platformdirs, f"user_{kind}_path")("gpupanel", appauthor=False)
    except RuntimeError as error:  # of platformdirs 4.10 and newer
        raise HomeUnknownError from error
    path = Path(named)
    # Of an older one: "~" stays, and would be made in the working directory.
    if not path.is_absolute():
        raise HomeUnknownError
    return path


def config_folder() -> Path:
    """The folder of what a person set or trusted: ``$GPUPANEL_CONFIG_DIR``, else the user's own.

    Raises:
        HomeUnknownError: Nobody knows where the user's home folder is.
    """
    named = os.environ.get(CONFIG_DIR_VARIABLE)
    return Path(named) if named else user_folder("config")
