"""Which files a path of records means: a file, those of a folder, or those of a pattern of names.

Nothing else in a path is expanded: neither a pattern of folders, nor ``~``, nor a variable.
"""

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

SHARD = re.compile(r"-(\d{5,})-of-(\d{5,})")
"""The number of a shard and the count of shards, as TensorFlow's tools write them."""


def record_files(chosen: str, suffixes: tuple[str, ...]) -> list[Path]:
    """The files that a path means, in their order.

    Args:
        chosen: The path.
        suffixes: Of names of such files.

    Raises:
        OSError: A folder cannot be read.
    """
    path = Path(chosen)
    if path.is_dir():
        entries = entries_in_folder(path, suffixes)
        files = (Path(each.path) for each in entries if not each.is_symlink())
        return sorted(files, key=lambda each: each.parts)
    if is_pattern(path):
        return sorted(Path(each.path) for each in entries_of_pattern(path))
    return [path]


def is_pattern(path: Path) -> bool:
    """Whether a path that is no folder means the files of one whose names fit it."""
    return re.search(r"[*?\[]", path.name) is not None and not os.path.lexists(path)


def entries_in_folder(root: Path, suffixes: tuple[str, ...]) -> Iterator["os.DirEntry[str]"]:
    """The files, and links, in a folder and the folders in it that are called as records are.

    Args:
        root: The folder.
        suffixes: Of names of such files.

    Raises:
        OSError: One of the folders cannot be read.
    """
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    # One level: folders of sets.
                    waiting += [Path(entry.path)] if folder == root else []
                elif _is_record_name(entry.name, suffixes):
                    yield entry


def entries_of_pattern(path: Path) -> Iterator["os.DirEntry[str]"]:
    """The files, and links, whose names fit the path's.

    Raises:
        OSError: The folder cannot be read.
    """
    with os.scandir(path.parent) as entries:
        for entry in entries:
            is_hidden = entry.name.startswith(".") and not path.name.startswith(".")
            if not is_hidden and fnmatchcase(entry.name, path.name) and not entry.is_dir():
                yield entry


def _is_record_name(name: str, suffixes: tuple[str, ...]) -> bool:
    lower = name.lower().removesuffix(".gz")
    return lower.endswith(suffixes) or ".tfrecord" in lower or bool(SHARD.search(lower))
