"""Scans folders of images: each file once, on several threads."""

import os
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gpupanel.domain.data_source import Target
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.scan import SetName
from gpupanel.domain.visible_text import as_utf8, visible_line
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.datasets.images.files import image_errors
from gpupanel.trainer.datasets.images.image_sizes import value_notes
from gpupanel.trainer.datasets.images.pixels import form_and_pixels_of
from gpupanel.trainer.datasets.images.sets import ImageSet
from gpupanel.trainer.datasets.progress import OnProgress
from gpupanel.trainer.datasets.scanning.digests import digest_of_file
from gpupanel.trainer.datasets.scanning.examples import MOST_COLUMNS
from gpupanel.trainer.datasets.scanning.image_facts import (
    MARKS,
    Forms,
    ImageFacts,
    Seen,
    cached_facts,
    keep_facts,
    marks_of,
    rows_of,
)
from gpupanel.trainer.datasets.scanning.image_sets import ImageSets
from gpupanel.trainer.datasets.scanning.numbers import (
    NumberFacts,
    NumberScan,
    sampled_indices,
    scanned_column,
    values_far_outside,
)
from gpupanel.trainer.datasets.scanning.scanned import (
    MOST_NAMED,
    ExamplesOfSet,
    OnFirstReport,
    Scanned,
)
from gpupanel.trainer.parts.image_pixels import WantedPixels

_THREADS = max(2, min(8, os.cpu_count() or 1))
_CHUNK = 256
_UNPACKED = 256
"""Images that are decoded again to find their greatest value."""
_SIDE = 64
"""Decoding shows whether a file can be read, whatever size it is scaled to."""
_BATCH = 8
"""Files that a thread reads before it is given others: small ones are seen as fast as that."""
_DOING = "scanning images"


def scan_images(
    sets: Mapping[str, ImageSet],
    listed: Scanned,
    on_progress: OnProgress,
    on_first_report: OnFirstReport,
) -> Scanned:
    """Every image once: readable or not, its size and form, its content.

    What the last scan of the same folders found of files that have not changed since is taken from
    the cache.

    Args:
        sets: The files.
        listed: What is known of them by their folders and tables.
        on_progress: Called with how many files are done.
        on_first_report: Called once before the first is opened.
    """
    named = {name: each for name, each in sets.items() if name in listed.sets}
    on_first_report(listed)
    roots = tuple(each.root for each in named.values())
    total = sum(len(each.files.paths) for each in named.values())
    files = sets["training"].files
    white = files.wanted.white
    scan = _FileScan(cached_facts(roots, white), on_progress, total, white)
    seen = {name: scan.scanned(each) for name, each in named.items()}
    rows = np.concatenate([each.rows for each in seen.values()])
    readable = rows[rows["is_readable"]]
    # What could not be read is tried again the next time.
    keep_facts(roots, white, ImageFacts(readable, tuple(scan.forms.texts), scan.looked_ns))
    found: dict[SetName, ExamplesOfSet] = {}
    for name, whole in listed.sets.items():
        facts = seen[name]
        found[name] = ExamplesOfSet(
            count=whole.count,
            labels=whole.labels,
            digests=facts.rows["digest"],
            is_readable=facts.rows["is_readable"],
            unreadable=facts.unreadable,
            name_of=whole.name_of,
        )
    gone = [_gone(each.root) for each in named.values() if not each.root.is_dir()]
    values = value_notes(files, 0, _UNPACKED)
    beside = {name: _numbers_beside(each) for name, each in named.items()}
    problems = (
        *(*listed.problems, *gone, *values, *_odd(seen, listed, scan.changed)),
        *chain.from_iterable(
            values_far_outside(each.items(), _Namer(named[name])) for name, each in beside.items()
        ),
    )
    return Scanned(
        sets=found,
        target=listed.target,
        class_names=listed.class_names,
        feature_shape=listed.feature_shape,
        unlabelled=listed.unlabelled,
        empty_classes=listed.empty_classes,
        formats=_counted(readable["form"], scan.forms.texts),
        sizes=_sizes(readable),
        columns=tuple(
            scanned_column(*each) for each in list(beside["training"].items())[:MOST_COLUMNS]
        ),
        # Of files that went away nobody skips a part.
        unreadable_share=None if gone else listed.unreadable_share,
        problems=problems,
    )


def listed_images(found: ImageSets, share: float) -> Scanned:
    """What folders and tables show before any file is opened.

    Args:
        found: The sets that there are.
        share: The part of the files that may be unreadable.
    """
    sets = found.sets
    labels = sets["training"].labels
    return Scanned(
        sets={
            name: ExamplesOfSet(
                len(sets[name].files.paths), _labels(sets[name]), name_of=_Namer(sets[name])
            )
            for name in _NAMES
            if name in sets
        },
        target=Target.CLASSES if labels is None else labels.target,
        class_names=() if labels is None else labels.names,
        feature_shape=sets["training"].files.shape[1:],
        unlabelled=sum(each.unlabelled for each in sets.values()),
        empty_classes=found.empty_classes,
        unreadable_share=share,
        is_complete=False,
        problems=found.problems,
    )


_NAMES: tuple[SetName, ...] = ("training", "validation", "test")


def _numbers_beside(part: ImageSet) -> dict[str, NumberFacts]:
    """What is known of the numbers that belong to the images, by their columns; empty: none."""
    if part.numbers is None:
        return {}
    rows = part.numbers.array
    scan = NumberScan(rows[sampled_indices(len(rows))])
    scan.take(rows, np.arange(len(rows), dtype=np.int32))
    return dict(zip(map(visible_line, part.numbers.columns), scan.facts(), strict=True))


def _labels(part: ImageSet) -> npt.NDArray[np.generic] | None:
    return None if part.labels is None else part.labels.array


@dataclass(frozen=True, slots=True, eq=False)
class _Namer:
    """An image by its path within the folder of its set."""

    part: ImageSet

    def __call__(self, index: int) -> str:
        above = f"{str(self.part.root).rstrip(os.sep)}{os.sep}"
        return as_utf8(self.part.files.paths[index].removeprefix(above))


@dataclass(frozen=True, slots=True, eq=False)
class _SeenSet:
    rows: Seen
    unreadable: Mapping[int, str]

    @property
    def is_blank(self) -> npt.NDArray[np.bool_]:
        blank: npt.NDArray[np.bool_] = self.rows["is_blank"] & self.rows["is_readable"]
        return blank


@dataclass(slots=True)
class _FileScan:
    """Reads the files of one set after the other.

    Attributes:
        before: What is known from the last time.
        total: Files of all sets.
        white: The value that is white, where it was chosen.
        done: Of them.
        changed: Files that changed while they were examined; of very many the first.
    """

    before: ImageFacts
    on_progress: OnProgress
    total: int
    white: int | None
    done: int = 0
    looked_ns: int = field(default_factory=time.time_ns)
    changed: list[str] = field(default_factory=list)
    forms: Forms = field(init=False)
    _large: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.forms = Forms(list(self.before.forms))

    def scanned(self, part: ImageSet) -> _SeenSet:
        """What is seen of the files of a set."""
        paths, key = part.files.paths, part.files.key
        rows = _marks(paths)
        rows, is_known = self.before.known(rows)
        unreadable: dict[int, str] = {}

        def scan_files(batch: Sequence[str]) -> list[tuple[object, ...] | str]:
            return [self._scan_file(path, key) for path in batch]

        waiting = np.flatnonzero(~is_known)
        self.done += int(is_known.sum())
        self.on_progress(_DOING, self.done, self.total)
        pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="scan")
        try:
            for first in range(0, len(waiting), _CHUNK):
                chunk = waiting[first : first + _CHUNK].tolist()
                batches = [
                    [paths[place] for place in chunk[start : start + _BATCH]]
                    for start in range(0, len(chunk), _BATCH)
                ]
                found = chain.from_iterable(pool.map(scan_files, batches))
                for place, seen in zip(chunk, found, strict=True):
                    if isinstance(seen, str):
                        rows[place]["is_readable"] = False
                        if len(unreadable) < MOST_NAMED:
                            unreadable[place] = seen
                    else:
                        rows[place] = seen
                self.done += len(chunk)
                self.on_progress(_DOING, self.done, self.total)
        finally:
            pool.shutdown(cancel_futures=True)
        return _SeenSet(rows, unreadable)

    def _scan_file(self, path: str, key: str) -> tuple[object, ...] | str:
        """What is seen of a file, or why it cannot be read."""
        try:
            with image_errors(path, key), open_regular(Path(path)) as file:
                before = os.fstat(file.fileno())
                wanted = WantedPixels((_SIDE, _SIDE), 3, self.white)
                form, pixels = form_and_pixels_of(file, wanted, self._large)
                file.seek(0)
                digest = digest_of_file(file, before.st_size)
                after = os.fstat(file.fileno())
        except ProblemError as error:
            return str(error)
        marks = marks_of(before)
        if marks_of(after) != marks:
            marks = (0,) * len(MARKS)  # the next scan begins anew
            if len(self.changed) < MOST_NAMED:
                self.changed.append(path)
        stored = self.forms.place(f"{form.format}, {form.mode}")
        is_blank = bool((pixels == pixels[0, 0]).all())
        return (*marks, tuple(digest), form.width, form.height, stored, True, is_blank)


def _marks(paths: Sequence[str]) -> Seen:
    return rows_of((mark for path in paths for mark in _marks_of_path(path)), len(paths))


def _marks_of_path(path: str) -> tuple[int, ...]:
    try:
        return marks_of(os.stat(path))  # noqa: PTH116 - a Path each takes longer than to ask
    except OSError:
        return (0,) * len(MARKS)  # whoever opens it says why


def _counted(forms: npt.NDArray[np.generic], texts: Sequence[str]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for form, count in zip(*np.unique(forms, return_counts=True), strict=True):
        counts[texts[int(form)]] += int(count)
    return dict(counts)


def _sizes(rows: Seen) -> dict[str, int]:
    both = rows["width"].astype(np.uint64) << np.uint64(32) | rows["height"].astype(np.uint64)
    sizes, counts = np.unique(both, return_counts=True)
    most = np.argsort(-counts, kind="stable")
    return {
        f"{int(sizes[place]) >> 32} x {int(sizes[place]) & 0xFFFFFFFF}": int(counts[place])
        for place in most.tolist()
    }


def _odd(
    seen: Mapping[str, _SeenSet], listed: Scanned, changed: Sequence[str]
) -> tuple[Problem, ...]:
    problems = []
    blank = [
        whole.name_of(place)
        for name, whole in listed.sets.items()
        for place in np.flatnonzero(seen[name].is_blank)[:MOST_NAMED].tolist()
    ]
    count = sum(int(each.is_blank.sum()) for each in seen.values())
    if blank:
        problems.append(
            _hint(
                "scan_pictures_blank",
                f"{count:,} {'image is' if count == 1 else 'images are'} of one colour: "
                f"{_shown(blank)}.",
                "A covered camera or an interrupted copy looks like this.",
                blank,
            )
        )
    if changed:
        names = [as_utf8(path) for path in changed]
        problems.append(
            _hint(
                "scan_files_changed",
                f"{len(names):,} files changed while they were examined: {_shown(names)}.",
                "Scan again when no program writes there any more.",
                names,
            ).model_copy(update={"severity": Severity.WARNING})
        )
    return tuple(problems)


def _gone(root: Path) -> Problem:
    return Problem(
        code="scan_folder_gone",
        field="data.path",
        message=f"The folder {root} disappeared while it was scanned.",
        hint="Check whether its disk is still there, and scan again.",
    )


def _hint(code: str, message: str, hint: str, names: Sequence[str]) -> Problem:
    return Problem(
        code=code,
        severity=Severity.HINT,
        field="data",
        message=message,
        hint=hint,
        detail="\n".join(names[:MOST_NAMED]),
    )


def _shown(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
