"""Real file systems, small enough to be filled, where the machine lets a test mount them."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_STANDARD_ERROR = 2
PAGE_BYTES = 4096
"""File systems in memory give out space by the page."""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB of its own, kept in memory."""
    yield from _mounted(tmp_path / "disk", size_mib=1)


@pytest.fixture
def disk_for_a_run(tmp_path: Path) -> Iterator[Path]:
    """A file system of 96 MiB of its own, kept in memory: enough for a run to be started."""
    yield from _mounted(tmp_path / "disk", size_mib=96)


def fill(folder: Path) -> Path:
    """Take all the space that is left; gives the file that holds it."""
    path = folder / "filler"
    with path.open("ab", buffering=0) as file:
        for size in (2**20, 2**12, 1):
            try:
                while file.write(bytes(size)) == size:
                    pass
            except OSError:
                continue
    return path


def full_page(path: Path) -> Path:
    """A file that cannot take one byte more while its disk is full: its last page is full, too."""
    path.write_bytes(b"x" * (PAGE_BYTES - 1) + b"\n")
    return path


@contextmanager
def kept_on_a_full_disk(path: Path, disk: Path) -> Iterator[None]:
    """Let a file, and nothing beside it, stand on that disk, which is filled."""
    there = full_page(disk / path.name)
    fill(disk)
    path.touch()
    subprocess.run(["mount", "--bind", str(there), str(path)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


@contextmanager
def logging_to(log: Path) -> Iterator[None]:
    """Let this process say in that file what it says in its log."""
    former = os.dup(_STANDARD_ERROR)
    with log.open("ab") as file:
        os.dup2(file.fileno(), _STANDARD_ERROR)
    try:
        yield
    finally:
        os.dup2(former, _STANDARD_ERROR)
        os.close(former)


def _mounted(folder: Path, size_mib: int) -> Iterator[Path]:
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size_mib}m", "tmpfs", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("file systems cannot be mounted here: that needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
