"""Files and folders that only their owner can read, whatever the process's umask is."""

from pathlib import Path

PRIVATE_UMASK = 0o077
"""The umask that makes new files accessible to their owner only."""

_FOLDER = 0o700


def make_private_folder(path: Path, *, parents: bool = False) -> None:
    """Make a folder of the person's own, such as that of all runs; one that is there stays.

    Folders of a run are made by :func:`gpupanel.files.guarded_files.make_folder`.

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
