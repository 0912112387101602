"""The files of one checkpoint: written to the last byte, and read only when they are whole.

``state.npz`` holds each variable of model and optimizer by name, ``position.json`` where the
training stood, and ``checksums.json``, which is written last, the SHA-256 of both.
"""

import errno
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from io import BufferedRandom
from pathlib import Path

import numpy as np
from pydantic import TypeAdapter

from gpupanel.files.guarded_files import (
    make_folder,
    open_to_read,
    open_to_write,
    read_file,
    status,
)
from gpupanel.files.npz_archive import write_npz
from gpupanel.files.patient_log import MAY_PASS
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.saving.position import Position

STATE_FILE = "state.npz"
POSITION_FILE = "position.json"
CHECKSUMS_FILE = "checksums.json"

_CHECKSUMS = TypeAdapter(dict[str, str])

_UNREADABLE_NOW = MAY_PASS | {errno.EACCES, errno.EPERM}


class CheckpointDamaged(Exception):  # noqa: N818 - reads as what it says
    """Files of a checkpoint are missing, changed or cannot be read; the message says which."""


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """One that is whole.

    Attributes:
        place: Its folder.
        state: Every variable by name.
        position: Where the training stood.
    """

    place: Path
    state: Mapping[str, Array]
    position: Position


def write_checkpoint(folder: Path, state: Mapping[str, Array], position: Position) -> None:
    """Make the folder and force its files and itself to the disk.

    Raises:
        OSError: It cannot be written; what was begun is still there.
    """
    run = _run_of(folder)
    make_folder(folder, run)
    with open_to_write(folder / STATE_FILE, run) as file:
        write_npz(file, state)
        checksums = {STATE_FILE: _forced_to_disk(file)}
    with open_to_write(folder / POSITION_FILE, run) as file:
        file.write(f"{position.model_dump_json(indent=1)}\n".encode())
        checksums[POSITION_FILE] = _forced_to_disk(file)
    with open_to_write(folder / CHECKSUMS_FILE, run) as file:
        file.write(f"{json.dumps(checksums, indent=1)}\n".encode())
        _forced_to_disk(file)
    force_names_to_disk(folder)


def read_checkpoint(place: Path) -> Checkpoint:
    """Read one, and hold its files against their checksums.

    One that an earlier version wrote has no checksums; then each array's own CRC has to do.

    Raises:
        CheckpointDamaged: It is not what was written.
        OSError: It cannot be read now; that may pass, and says nothing about what was written.
    """
    try:
        _compare_checksums(place)
        # Opened here: of a damaged file NumPy would leave it open.
        with (
            open_to_read(place / STATE_FILE, _run_of(place)) as file,
            np.load(file, allow_pickle=False) as arrays,
        ):
            state = {name: arrays[name] for name in arrays}
        return Checkpoint(place, state, read_position(place))
    except MemoryError:
        raise
    except Exception as error:
        if is_unreadable_now(error):
            raise
        # Whatever the bytes of a damaged file happen to make of the readers.
        raise CheckpointDamaged(f"{type(error).__name__}: {error}") from error


def is_unreadable_now(error: Exception) -> bool:
    """Whether that says nothing about what was written: a disk that stumbles, missing rights."""
    return isinstance(error, OSError) and error.errno in _UNREADABLE_NOW


def read_position(place: Path) -> Position:
    """Which step and epoch a checkpoint was saved at.

    Raises:
        OSError: The file cannot be read.
        ValueError: It holds something else.
    """
    return Position.model_validate_json(read_file(place / POSITION_FILE, _run_of(place)))


def _run_of(place: Path) -> Path:
    """The run's folder, below which links are not followed: nor in the place of ``checkpoints``."""
    return place.parent.parent


def force_names_to_disk(folder: Path) -> None:
    """Make what was created and renamed in a folder outlast a power cut.

    Raises:
        OSError: It cannot be done.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _forced_to_disk(file: BufferedRandom) -> str:
    """Force the file to the disk; gives its checksum."""
    file.flush()
    os.fsync(file.fileno())
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()


def _compare_checksums(place: Path) -> None:
    path = place / CHECKSUMS_FILE
    if status(path, _run_of(place)) is None:
        return
    for name, wanted in _CHECKSUMS.validate_json(read_file(path, _run_of(place))).items():
        if name not in (STATE_FILE, POSITION_FILE):
            raise ValueError(f"{name} is not a file of a checkpoint")
        with open_to_read(place / name, _run_of(place)) as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != wanted:
            raise ValueError(f"{name} has the checksum {found}, and was written with {wanted}")
