"""What was dropped: files and folders of this machine, and which data they are."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote_to_bytes

from PySide6.QtCore import QFileInfo, QMimeData, QSysInfo, QUrl

from gpupanel.domain.data import DataSettings
from gpupanel.domain.kind import Kind, kinds_of
from gpupanel.domain.script import PROGRAM_SUFFIXES
from gpupanel.domain.setting import SettingType, settings_of
from gpupanel.ui.workers.workplace import workplace

_KINDS = {
    suffix: kind
    for kind in reversed(kinds_of(DataSettings))  # of several the first
    for each in [path for path in settings_of(kind.values) if path.type is SettingType.PATH][:1]
    if each.path is not None
    for suffix in each.path.suffixes or ("",)
}
"""The kinds that have a path, by how what the first of it leads to ends; empty: a folder."""
_FILES = {
    suffix: kind
    for kind in reversed(kinds_of(DataSettings))
    for each in settings_of(kind.values)
    if each.type is SettingType.FILES and each.path is not None
    for suffix in each.path.suffixes
}
"""The kinds that take single files, by how these end."""
IMAGE_FILES = tuple(sorted(_FILES))
"""How the names of single files end that can be predicted on: images."""


def has_local_paths(dropped: QMimeData) -> bool:
    """Whether :func:`local_paths` has any, without asking the others of a hundred thousand."""
    return next(_local_paths(dropped), None) is not None


def local_paths(dropped: QMimeData) -> tuple[str, ...]:
    """The paths of what was dropped; also of names that are no UTF-8, as Python holds them.

    Left out is what is on another machine, whose file of that path is not meant, and what no file
    can be called.
    """
    return tuple(_local_paths(dropped))


def _local_paths(dropped: QMimeData) -> Iterator[str]:
    here = ("", "localhost", QSysInfo.machineHostName().lower())
    urls = (url for url in dropped.urls() if url.isLocalFile() and url.host() in here)
    return (path for path in map(_path, urls) if "\0" not in path)


def is_program(paths: Sequence[str]) -> bool:
    """Whether that is one file whose name ends as that of a program to run."""
    return len(paths) == 1 and _suffix(paths[0]) in PROGRAM_SUFFIXES


def kind_of_path(paths: Sequence[str]) -> Kind | None:
    """The kind of data that a single file or folder is: a file by how its name ends."""
    if len(paths) != 1:
        return None
    suffix = _suffix(paths[0])
    if suffix and suffix in _KINDS:
        return _KINDS[suffix]
    return _KINDS[""] if is_folder(paths[0]) else None


def kind_of_files(paths: Sequence[str]) -> Kind | None:
    """The kind of data that takes these as single files, at least one of them."""
    if len(paths) == 1 and is_folder(paths[0]):
        return None
    return next((_FILES[suffix] for suffix in map(_suffix, paths) if suffix in _FILES), None)


def kind_to_predict_on(paths: Sequence[str]) -> Kind | None:
    """The kind of data that these are, a folder or single files, where it takes either."""
    single = kind_of_files(paths)
    if single is not None:
        return single
    kind = kind_of_path(paths)
    return kind if kind in _FILES.values() else None


def is_file_of_data(path: str) -> bool:
    """Whether data of any kind is read from a file that is called so."""
    return _suffix(path) in (_KINDS.keys() - {""}) | _FILES.keys()


def is_folder(path: str) -> bool:
    """Whether that is a folder of the machine that is worked on.

    What is on a host cannot be asked here: what is called as no file of data is, is a folder.
    """
    if workplace().host:
        return not is_file_of_data(path)
    return QFileInfo(path).isDir()


def _suffix(path: str) -> str:
    return Path(path).suffix.lower()


def _path(url: QUrl) -> str:
    # toLocalFile() would put a mark in the place of each byte that is no UTF-8.
    encoded = url.path(QUrl.ComponentFormattingOption.FullyEncoded)
    return os.fsdecode(unquote_to_bytes(encoded))
