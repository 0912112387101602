"""Files and folders that only their owner can read, whatever the process's umask is."""

import os
from pathlib import Path

PRIVATE_UMASK = 0o077
"""For processes that write nothing but what is the owner's: nobody else gets at new files."""

PRIVATE_FILE = 0o600
_FOLDER = 0o700


def make_private_folder(path: Path, *, parents: bool = False) -> None:
    """Make a folder; one that is there stays as it is.

    Args:
        path: The folder.
        parents: Also make those above it that are missing.

    Raises:
        OSError: It cannot be made.
    """
    if path.is_dir():
        return
    if parents:
        path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.mkdir(mode=_FOLDER)
    except FileExistsError:
        return
    path.chmod(_FOLDER)  # a umask may have taken the owner's own rights


def touch_private(path: Path) -> None:
    """Make an empty file; one that is there stays as it is.

    Raises:
        OSError: It cannot be made.
    """
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE_FILE))
