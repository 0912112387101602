"""The folder of what can be made again at any time: removing it costs nothing but time."""

import contextlib
import os
import time
from pathlib import Path
from typing import Final

from gpupanel.files.guarded_files import make_folder, remove
from gpupanel.files.user_folders import user_folder

_UNUSED_S = 30 * 24 * 3600.0
_UNFINISHED_S = 24 * 3600.0
"""Whoever writes a file writes more often."""

CACHE_DIR_VARIABLE: Final = "GPUPANEL_CACHE_DIR"
"""Names another folder than the user's."""


def cache_root() -> Path:
    """Where it is; it may not be there yet.

    Raises:
        HomeUnknownError: Nobody knows where the user's home folder is.
    """
    named = os.environ.get(CACHE_DIR_VARIABLE)
    return Path(named) if named else user_folder("cache")


def cache_folder(name: str) -> Path:
    """A folder within it, which is made where it is missing, for its owner only.

    Raises:
        OSError: It cannot be made, or something else stands there.
    """
    root = cache_root()
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = root / name
    make_folder(folder)
    return folder


def remove_unused(folder: Path) -> None:
    """Remove what nobody asked for in a month; a file that is open stays readable.

    What a writer left that was killed may be as large as all else, and goes after a day.

    Args:
        folder: What is used in it is touched by whoever uses it.
    """
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            # As files are called until they are whole.
            most_s = _UNFINISHED_S if entry.name.startswith(".") else _UNUSED_S
            if entry.stat(follow_symlinks=False).st_mtime < time.time() - most_s:
                remove(Path(entry.path))
