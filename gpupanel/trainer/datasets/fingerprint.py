"""What the data of a run was: enough to see, when the run goes on, whether it is the same.

Arrays are known by a hash of their numbers as they are trained on, files that stay on disk by a
hash of their bytes. Neither depends on where the data is, so that a run may go on elsewhere.
"""

import hashlib
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from gpupanel.domain.value import Value
from gpupanel.trainer.datasets.examples import Array, DataSet, Examples
from gpupanel.trainer.datasets.file_prints import (
    THREADS,
    DataFiles,
    FilePrints,
    json_with_prints,
    read_json,
)

_CHUNK_BYTES = 8 * 2**20


class ArrayPrint(msgspec.Struct, frozen=True):
    """An array, or a list of names.

    Attributes:
        name: What people read: "training examples".
        form: Its shape and the type of its numbers.
        digest: SHA-256 of its content in hexadecimal digits.
    """

    name: str
    form: str
    digest: str


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """All that a run learns from.

    Attributes:
        looked_ns: When it was examined, in nanoseconds since the epoch.
        arrays: Of data that is held in memory.
        files: Of data in files, in the order of their examples.
    """

    looked_ns: int
    arrays: tuple[ArrayPrint, ...] = ()
    files: FilePrints = field(default_factory=lambda: FilePrints.from_json(()))

    @property
    def is_complete(self) -> bool:
        """Whether the content of every file was read."""
        return bool((self.files.digests != b"").all())

    def to_json(self) -> Iterator[bytes]:
        """As a run keeps it, in pieces."""
        saved = _Saved(looked_ns=self.looked_ns, arrays=self.arrays)
        return json_with_prints(saved, "files", self.files)

    @classmethod
    def from_json(cls, content: bytes) -> "Fingerprint":
        """What a run has kept.

        Raises:
            ValueError: It is damaged.
        """
        saved = read_json(content, _SavedWithFiles)
        return cls(saved.looked_ns, saved.arrays, FilePrints.from_json(saved.files))


class _Saved(msgspec.Struct):
    looked_ns: int
    arrays: tuple[ArrayPrint, ...] = ()
    schema_version: Literal[1] = 1


class _SavedWithFiles(_Saved):
    files: list[msgspec.Raw] = []


class Differences(Value):
    """In what data differs from what it was.

    Attributes:
        arrays: Clauses, one an array.
        changed: Files with another content.
        missing: Files that are not there any more.
        added: Files that were not there.
        unknown: Files that were touched, and of which nobody had read what was in them before.
    """

    arrays: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether there are any."""
        return any((self.arrays, self.changed, self.missing, self.added, self.unknown))


def take_fingerprint(data: DataSet) -> Fingerprint:
    """Hash what is in memory; of files only their sizes and times are known then."""
    if data.files is not None:
        return Fingerprint(looked_ns=data.files.looked_ns, files=data.files.prints)
    with ThreadPoolExecutor(THREADS, thread_name_prefix="hash-data") as pool:
        arrays = list(_prints_of(data.training, "training", pool))
        for part, name in ((data.validation, "validation"), (data.test, "test")):
            if part is not None:
                arrays += _prints_of(part, name, pool)
    if data.class_names:
        content = repr(data.class_names).encode(errors="backslashreplace")
        digest = hashlib.sha256(content).hexdigest()
        form = f"{len(data.class_names):,}"
        arrays.append(ArrayPrint(name="class names", form=form, digest=digest))
    return Fingerprint(looked_ns=time.time_ns(), arrays=tuple(arrays))


def compare(
    before: Fingerprint, now: Fingerprint, files: DataFiles | None
) -> tuple[Differences, Fingerprint]:
    """Hold data against what it was; files that were touched since are read.

    Args:
        before: What it was.
        now: What it is.
        files: Where its files are, if it is in files.

    Returns:
        The differences, and what it is now with what is known of its files by then.
    """
    places = now.files.places_in(before.files)
    untouched = now.files.are_untouched(before.files, places, before.looked_ns)
    here = np.flatnonzero(places >= 0)
    there = places[here]
    digests, had = np.zeros_like(now.files.digests), before.files.digests[there]
    digests[untouched] = before.files.digests[places[untouched]]
    as_large = now.files.marks["size"][here] == before.files.marks["size"][there]
    is_open = ~untouched[here] & as_large & (had != b"")
    if files is not None:
        digests[here[is_open]] = files.digests_of(here[is_open].tolist())
    differ = ~untouched[here] & ((digests[here] != had) | (had == b""))
    is_known = (had != b"") | ~as_large
    missing = np.flatnonzero(before.files.places_in(now.files) < 0)
    differences = Differences(
        arrays=tuple(_array_differences(before.arrays, now.arrays)),
        changed=_paths(now.files, here[differ & is_known]),
        missing=_paths(before.files, missing),
        added=_paths(now.files, np.flatnonzero(places < 0)),
        unknown=_paths(now.files, here[differ & ~is_known]),
    )
    return differences, replace(now, files=now.files.with_digests(digests))


def _paths(files: FilePrints, rows: npt.NDArray[np.intp]) -> tuple[str, ...]:
    return tuple(files.paths[row] for row in rows.tolist())


def _prints_of(examples: Examples, part: str, pool: ThreadPoolExecutor) -> Iterator[ArrayPrint]:
    for name, array in (("examples", examples.in_memory), ("labels", examples.labels)):
        if array is not None:
            shape = " x ".join(f"{size:,}" for size in array.shape)
            digest = _digest(array, pool)
            yield ArrayPrint(name=f"{part} {name}", form=f"{shape} {array.dtype}", digest=digest)


def _digest(array: Array, pool: ThreadPoolExecutor) -> str:
    """Digest of the numbers in index order, whatever their layout in memory."""
    rows = max(1, _CHUNK_BYTES // max(1, array[:1].nbytes))

    def chunk(start: int) -> bytes:
        return hashlib.sha256(np.ascontiguousarray(array[start : start + rows]).data).digest()

    return hashlib.sha256(b"".join(pool.map(chunk, range(0, len(array), rows)))).hexdigest()


def _array_differences(before: Iterable[ArrayPrint], now: Iterable[ArrayPrint]) -> Iterator[str]:
    was, here = ({each.name: each for each in prints} for prints in (before, now))
    for name in dict.fromkeys((*was, *here)):
        if name not in here:
            yield f"the {name} no longer exist"
        elif name not in was:
            yield f"there are {name} now"
        elif was[name].form != here[name].form:
            yield f"the {name} are {here[name].form} now and were {was[name].form}"
        elif was[name].digest != here[name].digest:
            yield f"the {name} differ"
