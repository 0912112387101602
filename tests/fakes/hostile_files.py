"""What a stranger puts in the place of a file."""

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

Plant = Callable[[Path, Path], None]
"""Puts something at the first path that leads to, or is, no file of the run; the second path is a
file of the person's."""


def link(path: Path, victim: Path) -> None:
    path.symlink_to(victim)


def dangling_link(path: Path, victim: Path) -> None:
    path.symlink_to(victim.with_name("made-by-a-link"))


def hard_link(path: Path, victim: Path) -> None:
    path.hardlink_to(victim)


def fifo(path: Path, _victim: Path) -> None:
    os.mkfifo(path)


def unix_socket(path: Path, _victim: Path) -> None:
    # Relative, since the name of a socket may have 107 bytes only.
    folder = os.open(path.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"/proc/self/fd/{folder}/{path.name}")
    os.close(folder)


def endless(path: Path, _victim: Path) -> None:
    path.symlink_to("/dev/zero")


def folder(path: Path, _victim: Path) -> None:
    path.mkdir()


def folder_link(path: Path, victim: Path) -> None:
    path.symlink_to(victim.parent)


IN_PLACE_OF_A_FILE: dict[str, Plant] = {
    plant.__name__: plant for plant in (link, dangling_link, fifo, unix_socket, endless, folder)
}
IN_PLACE_OF_A_FOLDER: dict[str, Plant] = {
    plant.__name__: plant for plant in (folder_link, dangling_link, fifo)
}


def put_in_place(plant: Plant, path: Path, victim: Path) -> None:
    """Put it there instead of what stands there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    plant(path, victim)


def as_it_stands(path: Path) -> tuple[int, ...]:
    """All that a file is but when it was looked at last, which looking changes."""
    found = path.lstat()
    return (found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
