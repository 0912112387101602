"""Fingerprints (SHA-256) of what a run was made of: its profile, its data, its own Python code."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import open_to_read, read_file
from gpupanel.files.regular_files import NotRegularFileError

_MOST_BYTES: Final = 2**20
_MOST_DATA_BYTES: Final = 32 * 2**20
"""The size of a run's own record of its data: that of 200,000 files."""
_MOST_ARRAYS: Final = 50
_MOST_MODEL_BYTES: Final = 4 * 2**30
"""Seconds of reading."""


@dataclass(frozen=True, slots=True)
class RunFingerprint:
    """One fingerprint.

    Attributes:
        name: Of what.
        note: What that is: "1,797 x 8 x 8 uint8".
        digest: In hexadecimal digits; empty: there is none.
        problem: Why there is none.
    """

    name: str
    note: str = ""
    digest: str = ""
    problem: str = ""


def fingerprints(layout: RunLayout) -> tuple[RunFingerprint, ...]:
    """The fingerprints in a run's folder; what is not in it is left out."""
    found = [
        _of_file("Profile", layout.profile, layout.root),
        _of_file("Plan", layout.plan, layout.root),
        *_of_data(layout),
        _of_model(layout),
        _of_file("Python code of the model", layout.model_code, layout.root),
        _of_file("Python code of the data", layout.data_code, layout.root),
    ]
    return tuple(each for each in found if each is not None)


def _of_file(name: str, path: Path, root: Path) -> RunFingerprint | None:
    try:
        content = read_file(path, root, _MOST_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        return RunFingerprint(name, path.name, problem=_why(error))
    return RunFingerprint(name, path.name, hashlib.sha256(content).hexdigest())


def _of_model(layout: RunLayout) -> RunFingerprint | None:
    """Of the saved model that was trained further, in pieces: it may be large."""
    name, path = "Model that was trained further", layout.start_model
    try:
        with open_to_read(path, layout.root) as file:
            if os.fstat(file.fileno()).st_size > _MOST_MODEL_BYTES:
                return RunFingerprint(name, path.name, problem="it is too large to be read here")
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None
    except OSError as error:
        return RunFingerprint(name, path.name, problem=_why(error))
    return RunFingerprint(name, path.name, digest)


class _ArrayPrint(msgspec.Struct):
    """What the trainer has written of an array."""

    name: str
    form: str
    digest: str


class _DataRecord(msgspec.Struct):
    """What the trainer has written of its data; of a file: path, size, three times, digest."""

    arrays: list[_ArrayPrint] = []
    files: list[tuple[str, int, int, int, int, str]] = []


_DECODER = msgspec.json.Decoder(_DataRecord)


def _of_data(layout: RunLayout) -> list[RunFingerprint]:
    name = layout.data_fingerprint.name
    try:
        content = read_file(layout.data_fingerprint, layout.root, _MOST_DATA_BYTES)
        return _data_prints(_DECODER.decode(content))
    except FileNotFoundError:
        return []
    except OSError as error:
        return [RunFingerprint("Data", name, problem=_why(error))]
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return [RunFingerprint("Data", name, problem="it is damaged")]


def _data_prints(record: _DataRecord) -> list[RunFingerprint]:
    """Array by array; of files one of all."""
    arrays = [
        RunFingerprint(f"Data: {each.name}", each.form, each.digest)
        for each in record.arrays[:_MOST_ARRAYS]
    ]
    if not record.files:
        return arrays
    several = f"{len(record.files):,} files: path, size and SHA-256 of each, in their order"
    note = several if len(record.files) > 1 else "one file: its path, size and SHA-256"
    if not all(file[-1] for file in record.files):
        return [*arrays, RunFingerprint("Data", note, problem="not all of them were read")]
    whole = hashlib.sha256()
    for path, size, *_, digest in record.files:
        whole.update(f"{path}\0{size}\0{digest}\n".encode(errors="backslashreplace"))
    return [*arrays, RunFingerprint("Data", note, whole.hexdigest())]


def _why(error: OSError) -> str:
    if isinstance(error, NotRegularFileError):
        return f"it is {error.found}"
    return f"it cannot be read: {error.strerror or error}"
