"""Searching a run's folder for what is no plain file or folder of the run's own.

Each file is guarded again where it is opened (:mod:`gpupanel.files.guarded_files`): what is found
here is reported before anything begins, and in full.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.unsafe_files import unsafe_file
from gpupanel.files.guarded_files import UnsafeFileError
from gpupanel.files.regular_files import kind_of

_FOLDERS: Final = re.compile(r"requests|heartbeats|checkpoints|tensorboard|code|decoded-data-\d+")
_FILES: Final = re.compile(
    r"(profile(-\d+)?|label)\.toml|(plan(-\d+)?|amendment|data)\.json|(events|telemetry)\.jsonl"
    r"|trainer(-\d+)?\.log|(run|resume|label|download)\.lock|reserve|predictions\.\w+"
    r"|(model(-best|-last)?|start)\.keras|evaluation\.npz|accept-changed-data"
)
"""What people keep beside them is theirs."""
_MOST_TOLD: Final = 8


def check_run_folder(layout: RunLayout) -> None:
    """Refuse a run that cannot be written to without reaching elsewhere.

    Raises:
        ProblemError: A link, a second name of a file, a FIFO, a device, or a file of another user
            stands where the run writes.
        OSError: The folder cannot be read.
    """
    folder = layout.root.stat()
    found: list[UnsafeFileError] = []
    for entry in _entries(layout.root):
        error = _flaw(entry, folder)
        if error is not None:
            found.append(error)
        if len(found) == _MOST_TOLD:
            break
    if found:
        raise ProblemError(*(unsafe_file(str(each.path), each.found) for each in found))


def first_unsafe_entry(root: Path) -> UnsafeFileError | None:
    """The first file or folder of a run that is none, seen by the folder alone; fast."""
    with os.scandir(root) as entries:
        for entry in entries:
            is_folder = _FOLDERS.fullmatch(entry.name) is not None
            if not is_folder and not _FILES.fullmatch(entry.name):
                continue
            is_right = entry.is_dir if is_folder else entry.is_file
            if not is_right(follow_symlinks=False):
                mode = entry.stat(follow_symlinks=False).st_mode
                found = kind_of(mode) or "a file, not a folder"
                return UnsafeFileError(Path(entry.path), found)
    return None


def _entries(root: Path) -> Iterator["os.DirEntry[str]"]:
    """What the run writes: its own files, and all that is in its folders.

    A run that goes on removes what it has replaced, such as a checkpoint, meanwhile.
    """
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda each: each.name)
        except FileNotFoundError:
            if folder == root:
                raise
            continue
        for entry in entries:
            is_own = _FOLDERS.fullmatch(entry.name) or _FILES.fullmatch(entry.name)
            if folder != root or is_own:
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))


def _flaw(entry: "os.DirEntry[str]", folder: os.stat_result) -> UnsafeFileError | None:
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None  # removed meanwhile
    path = Path(entry.path)
    if entry.is_dir(follow_symlinks=False):
        found = "a folder" if _FILES.fullmatch(entry.name) else None
    elif _FOLDERS.fullmatch(entry.name):
        found = kind_of(status.st_mode) or "a file, not a folder"
    else:
        found = kind_of(status.st_mode)
        if found is None and status.st_nlink > 1:
            found = "a file that has another name, too (a hard link)"
    if found is None and status.st_uid not in (folder.st_uid, os.geteuid()):
        found = "a file of another user"
    return None if found is None else UnsafeFileError(path, found)
