"""What was seen of each image's file, kept in the cache for the next scan.

A file is known by its disk, number, size and times, as
:mod:`gpupanel.trainer.datasets.file_prints` says; its name does not matter. Each takes some seventy
bytes, in memory and in the cache.
"""

import contextlib
import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

from gpupanel.domain.value import Value
from gpupanel.files.cache_folder import cache_folder, remove_unused
from gpupanel.files.guarded_files import read_file
from gpupanel.files.whole_files import whole_file

_VERSION: Final = 1
"""Another version reads other things, or decodes otherwise."""
_RECENT_NS: Final = 2 * 10**9
_MOST_BYTES: Final = 2**31
_MOST_FORMS: Final = 60_000

SEEN: Final = np.dtype(
    [
        ("device", np.uint64),
        ("number", np.uint64),
        ("size", np.uint64),
        ("mtime", np.uint64),
        ("ctime", np.uint64),
        ("digest", np.uint64, (2,)),
        ("width", np.uint32),
        ("height", np.uint32),
        ("form", np.uint16),
        ("is_readable", np.bool_),
        ("is_blank", np.bool_),
    ]
)
"""Of a file: what it is known by, then what it holds. ``form``: its place in a list of them."""
MARKS: Final = ("device", "number", "size", "mtime", "ctime")
_BITS: Final = 2**64 - 1
Seen = npt.NDArray[np.void]


def marks_of(found: os.stat_result) -> tuple[int, ...]:
    """What a file is known by, in the order of :data:`MARKS`; a time before 1970 as 64 bits."""
    times = (found.st_mtime_ns & _BITS, found.st_ctime_ns & _BITS)
    return (found.st_dev, found.st_ino, found.st_size, *times)


def rows_of(marks: Iterable[int], count: int) -> Seen:
    """Rows of files of which nothing else is known yet.

    Args:
        marks: Of one file after the other.
        count: How many files.
    """
    table = np.fromiter(marks, np.uint64, count * len(MARKS)).reshape(count, len(MARKS))
    rows = np.zeros(count, SEEN)
    for place, mark in enumerate(MARKS):
        rows[mark] = table[:, place]
    return rows


class _Head(Value):
    """The first line of a file of the cache."""

    version: int
    looked_ns: int
    forms: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ImageFacts:
    """What was seen of some files.

    Attributes:
        rows: Of :data:`SEEN`.
        forms: How files are stored, each once.
        looked_ns: When the files were first examined, in nanoseconds since the epoch.
    """

    rows: Seen
    forms: tuple[str, ...] = ()
    looked_ns: int = 0

    def known(self, now: Seen) -> tuple[Seen, npt.NDArray[np.bool_]]:
        """What is known of files that are as they were.

        Args:
            now: The files as they are, with their marks.

        Returns:
            The same with all else filled in, and of which of them that holds.
        """
        filled = now.copy()
        if not len(self.rows) or not len(now):
            return filled, np.zeros(len(now), np.bool_)
        before = self.rows[np.argsort(self.rows["number"], kind="stable")]
        places = np.searchsorted(before["number"], now["number"]).clip(max=len(before) - 1)
        found = before[places]
        is_same = found["is_readable"] & (found["ctime"] < max(0, self.looked_ns - _RECENT_NS))
        for mark in MARKS:
            is_same &= found[mark] == now[mark]
        filled[is_same] = found[is_same]
        return filled, is_same


@dataclass(slots=True)
class Forms:
    """A list of texts, each once, which several threads add to."""

    texts: list[str] = field(default_factory=list)
    _places: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._places.update({text: place for place, text in enumerate(self.texts)})

    def place(self, text: str) -> int:
        """Where it is; of too many kinds the last one stands for all others."""
        if text in self._places or len(self.texts) >= _MOST_FORMS:
            return self._places.get(text, _MOST_FORMS - 1)
        # One after the other under the interpreter's lock; a text that is added twice does no harm.
        self.texts.append(text)
        return self._places.setdefault(text, len(self.texts) - 1)


def cached_facts(roots: Iterable[Path], white: int | None) -> ImageFacts:
    """What was seen of the files in these folders the last time; empty where nothing was kept.

    Args:
        roots: The folders.
        white: The value that was white; ``None``: none was chosen.
    """
    try:
        content = read_file(_place(roots, white), most_bytes=_MOST_BYTES)
        first, _, rest = content.partition(b"\n")
        head = _Head.model_validate_json(first)
        rows = np.frombuffer(rest, SEEN)
    except (OSError, ValueError, ValidationError):
        return ImageFacts(np.empty(0, SEEN))
    if head.version != _VERSION or (len(rows) and int(rows["form"].max()) >= len(head.forms)):
        return ImageFacts(np.empty(0, SEEN))
    return ImageFacts(rows, head.forms, head.looked_ns)


def keep_facts(roots: Iterable[Path], white: int | None, facts: ImageFacts) -> None:
    """Keep what was seen for the next time; where that cannot be done, it is seen anew then."""
    with contextlib.suppress(OSError):
        place = _place(roots, white)
        remove_unused(place.parent)
        head = _Head(version=_VERSION, looked_ns=facts.looked_ns, forms=facts.forms)
        with whole_file(place, private=True) as file:
            file.write(head.model_dump_json().encode() + b"\n")
            file.write(facts.rows.tobytes())


def _place(roots: Iterable[Path], white: int | None) -> Path:
    named = b"\0".join(os.fsencode(root.absolute()) for root in roots)
    named += b"" if white is None else f"\0white {white}".encode()
    return cache_folder("scans") / f"{hashlib.sha256(named).hexdigest()[:32]}.seen"
