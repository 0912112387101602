"""Reads the sets of records: which files they are, what each record holds, and its labels."""

import math
import os
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from pathlib import Path

import numpy as np

from gpupanel.domain.data import DataCache, Target, TfrecordData
from gpupanel.domain.problem import Problem
from gpupanel.domain.visible_text import as_utf8, visible_line
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.datasets.cache_file import marks_of
from gpupanel.trainer.datasets.checks import ArrayName, stays_on_disk
from gpupanel.trainer.datasets.data_problems import data_problem, unreadable
from gpupanel.trainer.datasets.examples import Features
from gpupanel.trainer.datasets.file_prints import DataFiles
from gpupanel.trainer.datasets.images.image_sizes import dark_notes
from gpupanel.trainer.datasets.labels import Labels, checked_labels
from gpupanel.trainer.datasets.records import problems
from gpupanel.trainer.datasets.records.first_records import first_values, read_first_records
from gpupanel.trainer.datasets.records.layout import RecordLayout, detected_layout
from gpupanel.trainer.datasets.records.listing import (
    PATHS,
    RecordPaths,
    files_of,
    with_detected_sets,
)
from gpupanel.trainer.datasets.records.record_file import RecordSource
from gpupanel.trainer.datasets.records.rows import RecordRows, Unreadable
from gpupanel.trainer.datasets.records.scan import ScannedRecords, scan
from gpupanel.trainer.datasets.records.unpacked import is_packed, unpacked
from gpupanel.trainer.datasets.skipped_files import SkippedFiles
from gpupanel.trainer.datasets.source import Reading
from gpupanel.trainer.size_limits import check_size

_LONGEST_PREVIEW_S = 8.0
"""A preview answers while a person waits."""
_LARGEST_PREVIEW_BYTES = 512 * 2**20
"""The largest compressed file that a preview unpacks: it takes some seconds."""

_COUNTING = "counting the records"
LabelsOfSets = dict[str, Labels]
"""Labels by the name of their set."""


@dataclass(frozen=True, slots=True, eq=False)
class RecordReader:
    """Reads the sets of the settings, whose folders of sets were found before.

    Attributes:
        files: Of each set that there is, by its name.
        until_s: When a preview takes too long.
    """

    data: TfrecordData
    reading: Reading
    files: Mapping[str, RecordPaths]
    until_s: float

    def layout(self, *, needs_labels: bool) -> RecordLayout:
        """What is read of each record."""
        first = read_first_records(self.files["training"].paths, "data.path")
        return detected_layout(self.data, first, needs_labels=needs_labels)

    def prints(self) -> DataFiles:
        """The files as they are before their records are read."""
        sets = {name: (each.root, each.paths) for name, each in self.files.items()}
        root, paths = sets.pop("training")
        try:
            return DataFiles(root, paths, sets)
        except OSError as error:
            raise unreadable(Path(error.filename), error, "data.path") from error

    def scanned(self, layout: RecordLayout) -> dict[str, ScannedRecords]:
        """The records of each set.

        Raises:
            ProblemError: They cannot be read, or are not like that.
        """
        return {name: self._scanned(name, layout) for name in self.files}

    def skipped(
        self, layout: RecordLayout, scanned: Mapping[str, ScannedRecords]
    ) -> SkippedFiles | None:
        """Takes note of images that cannot be read; ``None`` where there are no images."""
        count = sum(map(len, scanned.values()))
        return SkippedFiles(count, self.data.unreadable_share) if layout.is_image else None

    def notes_on_images(self, layout: RecordLayout) -> tuple[Problem, ...]:
        """In a preview, notes on images that use only the lower bits, judged by the first ones."""
        if not (self.reading.is_preview and layout.is_image):
            return ()
        paths = self.files["training"].paths
        return dark_notes(first_values(paths, "data.path", layout.features), "data.features")

    def features(
        self, layout: RecordLayout, found: ScannedRecords, skipped: SkippedFiles | None
    ) -> tuple[Features, Unreadable]:
        """The features of a set: in memory where that is wanted and they are not too large.

        And those that mean nothing, as far as that is known before they are asked for.
        """
        check_size(4 * math.prod(layout.shape), "One example of the records", "data.features")
        rows = RecordRows(found.files, layout, skipped)
        doing = "decoding images" if layout.is_image else "reading the records"
        progress = partial(self.reading.on_progress, doing)
        if not stays_on_disk(rows.shape, rows.dtype, self.data.cache):
            return rows.in_memory(progress)
        # Numbers are read from the records as fast as from any other file.
        is_kept = layout.is_image and self.data.cache is DataCache.DISK
        return rows.cached_on_disk(progress) if is_kept else (rows, {})

    def _scanned(self, name: str, layout: RecordLayout) -> ScannedRecords:
        field, paths = f"data.{PATHS[name]}", self.files[name].paths
        sources = [self._source(path, field) for path in paths]

        ends = [0, *accumulate(each.size_bytes() for each in sources)]

        def progress(at: int, done: int) -> None:
            self._preview_time(paths[at])
            self.reading.on_progress(_COUNTING, ends[at] + done, ends[-1])

        found = scan(sources, layout, progress)
        self.reading.on_progress(_COUNTING, ends[-1], ends[-1])
        return found

    def _source(self, path: Path, field: str) -> RecordSource:
        try:
            with open_regular(path) as file:
                packed, origin = is_packed(file.read(2)), marks_of(os.fstat(file.fileno()))
        except OSError as error:
            raise unreadable(path, error, field) from error
        if not packed:
            return RecordSource(path, None, field, origin)

        def progress(done: int, total: int) -> None:
            self._preview_time(path)
            self.reading.on_progress("unpacking the records", done, total)

        most = _LARGEST_PREVIEW_BYTES if self.reading.is_preview else None
        place = unpacked(path, field, progress, most_bytes=most)
        return RecordSource(path, place, field, origin)

    def _preview_time(self, path: Path) -> None:
        if self.reading.is_preview and time.monotonic() > self.until_s:
            raise problems.left_to_a_run(path)


def record_reader(data: TfrecordData, reading: Reading) -> RecordReader:
    """Reads the sets of the settings, and those that are found in the folder.

    Raises:
        ProblemError: There are no such files.
    """
    data = with_detected_sets(data)
    files = {
        name: files_of(getattr(data, key), f"data.{key}")
        for name, key in PATHS.items()
        if getattr(data, key) or name == "training"
    }
    return RecordReader(data, reading, files, time.monotonic() + _LONGEST_PREVIEW_S)


def labels_of_sets(
    reader: RecordReader, layout: RecordLayout, scanned: Mapping[str, ScannedRecords]
) -> LabelsOfSets:
    """The labels of each set, those of the others as those that are trained on."""
    data = reader.data
    found: LabelsOfSets = {}
    if layout.labels_kind == "bytes":
        return labels_by_names(reader, layout, scanned)
    for name, records in scanned.items():
        field = "data.labels" if name == "training" else f"data.{PATHS[name]}"
        of = ArrayName(getattr(data, PATHS[name]), layout.labels, field, "Feature")
        assert records.labels is not None, "they were asked for"
        target, count = data.predicts, data.class_count
        if name != "training":
            first = found["training"]
            target = first.target
            count = first.outputs if data.class_count or first.array.ndim == 2 else None
        found[name] = checked_labels(
            records.labels,
            of,
            target,
            count or None,
            must_differ=reader.reading.must_differ and name == "training",
        )
    return found


def labels_by_names(
    reader: RecordReader, layout: RecordLayout, scanned: Mapping[str, ScannedRecords]
) -> LabelsOfSets:
    """Classes by their names, which are sorted as those of folders are."""
    data, names = reader.data, _sorted_names(scanned["training"])
    counts = (None, len(names))
    if data.predicts not in (None, Target.CLASSES) or data.class_count not in counts:
        raise data_problem(
            "record_names_are_classes",
            f'The feature "{visible_line(layout.labels)}" names {len(names):,} classes, and '
            "something else is chosen to be predicted.",
            "Leave data.predicts and data.class_count out; or choose another feature.",
            field="data.labels",
        )
    places = {name: place for place, name in enumerate(names)}
    found: LabelsOfSets = {}
    for of_set, records in scanned.items():
        field = "data.labels" if of_set == "training" else f"data.{PATHS[of_set]}"
        unknown = [name for name in _sorted_names(records) if name not in places]
        if unknown:
            shown = ", ".join(f'"{as_utf8(name)}"' for name in unknown[:5])
            raise data_problem(
                "data_classes_differ",
                f"The records in {getattr(data, PATHS[of_set])} name classes that those trained "
                f"on do not have: {shown}.",
                "Choose records of the same classes.",
                field=field,
            )
        assert records.labels is not None, "they were asked for"
        order = np.array([places[_text(name)] for name in records.names], np.int64)
        of = ArrayName(getattr(data, PATHS[of_set]), layout.labels, field, "Feature")
        found[of_set] = checked_labels(
            order[records.labels.astype(np.int64)],
            of,
            Target.CLASSES,
            len(names),
            must_differ=reader.reading.must_differ and of_set == "training",
        )
    return found


def _sorted_names(records: ScannedRecords) -> list[str]:
    return sorted(map(_text, records.names))


def _text(name: bytes) -> str:
    return name.decode(errors="surrogateescape")


def class_names_of_sets(
    data: TfrecordData, labels: LabelsOfSets, scanned: Mapping[str, ScannedRecords]
) -> tuple[str, ...]:
    """The names of classes or labels: as many as all sets have; none of values."""
    if scanned["training"].names:
        return tuple(map(as_utf8, _sorted_names(scanned["training"])))
    training = labels["training"]
    count = training.outputs
    if training.target is Target.CLASSES and not data.class_count:
        count = max(each.outputs for each in labels.values())
    return tuple(str(number) for number in range(count))


def without_unlabelled(
    reader: RecordReader, data: TfrecordData, labels: Collection[str]
) -> tuple[RecordReader, tuple[Problem, ...]]:
    """The reader without sets that were found and lack labels; and what is said of them.

    Args:
        reader: Has the sets.
        data: As it was chosen.
        labels: The features that are predicted.
    """
    lacking: dict[str, str] = {}
    for name, each in reader.files.items():
        if name == "training" or getattr(data, PATHS[name]):
            continue
        there = read_first_records(each.paths, f"data.{PATHS[name]}").features
        for label in labels:
            if label not in there:
                lacking.setdefault(name, label)
    if not lacking:
        return reader, ()
    files = {name: each for name, each in reader.files.items() if name not in lacking}
    note = problems.sets_left_out(list(lacking), next(iter(lacking.values())))
    return replace(reader, files=files), (note,)
