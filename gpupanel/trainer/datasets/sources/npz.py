"""Examples and labels in NumPy's files; which arrays they are is found where nobody chose."""

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Literal

import numpy as np
from typing_extensions import override

from gpupanel.domain.data import Axes, NpzData, Scaling, Target
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.scan import ScannedArray
from gpupanel.files.npy_members import NpyHeader
from gpupanel.trainer.datasets.arrays.axes import (
    ChannelsMoved,
    check_axes,
    examples_last,
    in_usual_order,
)
from gpupanel.trainer.datasets.arrays.chosen import (
    SetFile,
    array_choices,
    chosen_layout,
    layout_of_set,
    set_files,
)
from gpupanel.trainer.datasets.arrays.files import ArrayFile, NpyFolder, open_arrays
from gpupanel.trainer.datasets.arrays.layout import ArrayLayout
from gpupanel.trainer.datasets.arrays.npy_rows import NpyRows
from gpupanel.trainer.datasets.arrays.single_array import ArraySource
from gpupanel.trainer.datasets.checks import (
    NUMBER_KINDS,
    ArrayName,
    check_lengths,
    checked_features,
    stays_on_disk,
)
from gpupanel.trainer.datasets.examples import (
    AllExamples,
    DataSet,
    Examples,
    Features,
    chained,
)
from gpupanel.trainer.datasets.file_prints import DataFiles
from gpupanel.trainer.datasets.labels import Labels, checked_labels
from gpupanel.trainer.datasets.named_labels import are_names, class_numbers, names_in
from gpupanel.trainer.datasets.scanning.scanned import OnFirstReport, Scanned
from gpupanel.trainer.datasets.source import Found, Reading
from gpupanel.trainer.parts.class_names import are_numbers


def read_npz(data: NpzData, *, must_differ: bool = True) -> DataSet:
    """The examples in the file, checked; ``uint8`` features are taken for pixels 0 to 255.

    Args:
        data: The file, and which of its arrays.
        must_differ: Refuse classes that are all the same.

    Raises:
        ProblemError: The file or an array in it cannot be used.
    """
    return _opened(data).data_set(must_differ=must_differ)


def read_all_npz(data: NpzData, *, needs_labels: bool) -> AllExamples:
    """The features in the file, and the labels if they are there; all may be of one class.

    Raises:
        ProblemError: The file or an array in it cannot be used, or lacks labels that are needed.
    """
    return _opened(data, needs_labels=needs_labels).all_examples(needs_labels=needs_labels)


def _opened(data: NpzData, *, needs_labels: bool = True) -> "_Arrays":
    file = open_arrays(Path(data.path))
    return _Arrays(data, file, chosen_layout(data, file, needs_labels=needs_labels), "data.path")


def _opened_set(data: NpzData, of: SetFile) -> "_Arrays":
    file = open_arrays(Path(of.path), of.key)
    return _Arrays(data, file, layout_of_set(data, file, of), of.key)


@dataclass(frozen=True, slots=True)
class _Arrays:
    """The arrays of a file, and which of them are what.

    Attributes:
        key: The profile key that says where the file is.
    """

    data: NpzData
    file: ArrayFile
    layout: ArrayLayout
    key: str

    def data_set(self, *, must_differ: bool) -> DataSet:
        layout = self.layout
        self.file.header(layout.labels, "data.labels")  # what is missing is said first
        features = self._features(layout.features, "features")
        labels = self._labels(layout.labels, features, must_differ=must_differ)
        sets = self._sets()
        held = {
            name: arrays.held_out(features, labels, self.layout) for name, arrays in sets.items()
        }
        pixels = features.dtype == np.uint8
        return DataSet(
            training=Examples(features=features, labels=labels.array),
            test=held.get("test"),
            validation=held.get("validation"),
            class_names=self._class_names(labels, held.values()),
            scaling=Scaling.DIVIDE if pixels else Scaling.NONE,
            greatest=255.0 if pixels else 1.0,
            files=self._files(sets),
        )

    def all_examples(self, *, needs_labels: bool) -> AllExamples:
        if not self.layout.labels:
            return self._without_labels()
        try:
            found = self.data_set(must_differ=False)
        except ProblemError as error:
            if needs_labels or not {each.field for each in error.problems} <= {"data.labels"}:
                raise
            return self._without_labels()
        whole = chained([found.training, *filter(None, (found.validation, found.test))])
        return AllExamples(
            features=whole.features,
            labels=whole.labels,
            target=found.target,
            class_names=found.class_names,
            training_count=len(found.training),
            validation_count=len(found.validation or ()),
            class_count_is_known=found.target is Target.LABELS
            or not self.data.counts_classes_by_labels
            or not are_numbers(found.class_names),
        )

    def _without_labels(self) -> AllExamples:
        features = self._features(self.layout.features, "features")
        names = tuple(str(number) for number in range(self.data.class_count or 0))
        return AllExamples(
            features=features,
            labels=None,
            target=self.data.predicts or Target.CLASSES,
            class_names=names,
            training_count=features.shape[0],
            class_count_is_known=not self.data.counts_classes_by_labels,
        )

    def _sets(self) -> dict[str, "_Arrays"]:
        """The sets beside the training examples: in files of their own, or in this one."""
        data, layout = self.data, self.layout
        sets = {each.called: _opened_set(data, each) for each in set_files(data)}
        for called, features, labels in (
            ("validation", layout.validation_features, layout.validation_labels),
            ("test", layout.test_features, layout.test_labels),
        ):
            if features and called not in sets:
                of_set = ArrayLayout(features, labels)
                sets[called] = _Arrays(data, self.file, of_set, "data.features")
        return sets

    def held_out(self, training: Features, labels: Labels, layout: ArrayLayout) -> Examples:
        """The examples of a set that is not trained on, which fit those that are.

        Args:
            training: Examples that are trained on.
            labels: Theirs.
            layout: What their arrays are called.
        """
        mine = self.layout
        features = self._features(mine.features, "features")
        if features.shape[1:] != training.shape[1:] or features.dtype != training.dtype:
            raise self._misfit(
                f'one example of "{mine.features}" in {self.file.path} has the shape '
                f"{features.shape[1:]} ({features.dtype}), and one of "
                f'"{layout.features}" that is trained on {training.shape[1:]} ({training.dtype})'
            )
        name = self._name(mine.labels, "labels")
        raw = self.file.read(mine.labels, name.field)
        if labels.names and not are_names(raw):
            raise self._misfit(
                f'"{mine.labels}" in {self.file.path} holds {raw.dtype} values, and '
                f'"{layout.labels}" names of classes'
            )
        raw = class_numbers(raw, labels.names, name) if labels.names else raw
        is_counted = self.data.class_count or labels.names or labels.array.ndim == 2
        count = labels.outputs if is_counted else None
        found = checked_labels(raw, name, labels.target, count or None, must_differ=False)
        check_lengths(features, found.array, self._name(mine.features, "features"), name)
        if found.array.shape[1:] != labels.array.shape[1:]:
            raise self._misfit(
                f'"{mine.labels}" in {self.file.path} has {found.array.shape[1:]} numbers an '
                f'example, and "{layout.labels}" {labels.array.shape[1:]}'
            )
        return Examples(features, found.array)

    def _misfit(self, what: str) -> ProblemError:
        return ProblemError(
            Problem(
                code="data_test_set_misfit",
                field=self.key,
                message=f"What is held out does not fit what is trained on: {what}.",
                hint="Save both from the same kind of examples and labels.",
            )
        )

    def _features(self, name: str, key: Literal["features", "labels"]) -> Features:
        of = self._name(name, key)
        header = self.file.header(name, of.field)
        if isinstance(self.file, NpyFolder) and header is not None and self._streams(header):
            check_axes(header.shape, self.data.axes, of)
            rows = NpyRows(self.file.place(name), header, of)
            return ChannelsMoved(rows) if self.data.axes is Axes.CHANNELS_FIRST else rows
        axes = self.data.axes
        if header is not None and not header.is_fortran and axes is not Axes.EXAMPLES_LAST:
            check_axes(header.shape, axes, of)
            is_first = axes is Axes.CHANNELS_FIRST
            return self.file.read_features(name, of, channels_first=is_first)
        array = in_usual_order(self.file.read(name, of.field), self.data.axes, of)
        return checked_features(array, of)

    def _streams(self, header: NpyHeader) -> bool:
        """Whether an array stays on disk."""
        if header.is_fortran or self.data.axes is Axes.EXAMPLES_LAST:
            return False  # its examples do not lie in one piece
        if header.dtype.kind not in NUMBER_KINDS or 0 in header.shape:
            return False  # a problem of its own
        return bool(header.shape) and stays_on_disk(header.shape, header.dtype, self.data.cache)

    def _labels(self, name: str, features: Features, *, must_differ: bool) -> Labels:
        of, data = self._name(name, "labels"), self.data
        raw = self.file.read(name, of.field)
        names: tuple[str, ...] = ()
        if are_names(raw) and data.predicts in (None, Target.CLASSES):
            names = names_in(raw)
            raw = class_numbers(raw, names, of)
        count = data.class_count or len(names) or None
        labels = checked_labels(raw, of, data.predicts, count, must_differ=must_differ)
        labels = replace(labels, names=names)
        of_features = self._name(self.layout.features, "features")
        if self.data.axes is None and features.shape[0] != len(labels.array) == features.shape[-1]:
            raise examples_last(of_features)
        check_lengths(features, labels.array, of_features, of)
        return labels

    def _class_names(self, labels: Labels, held_out: Iterable[Examples]) -> tuple[str, ...]:
        if labels.names:
            more = range(len(labels.names), labels.outputs)
            return (*labels.names, *map(str, more))
        count = labels.outputs
        if labels.target is Target.CLASSES and not self.data.class_count:
            count = max(count, *(int(each.labels.max()) + 1 for each in held_out), 0)
        return tuple(str(number) for number in range(count))

    def _files(self, sets: Mapping[str, "_Arrays"]) -> DataFiles | None:
        # Also of what is held in memory, as it may stay on disk when the run goes on.
        everything = (self, *sets.values())
        if not any(isinstance(each.file, NpyFolder) for each in everything):
            return None
        beside = {
            name: (each.file.path.parent, each.places())
            for name, each in sets.items()
            if each.file is not self.file
        }
        inside = [each for each in everything if each.file is self.file]
        places = dict.fromkeys(place for each in inside for place in each.places())
        return DataFiles(self.file.path.parent, places, beside)

    def places(self) -> list[Path]:
        """The files that the arrays are in."""
        if not isinstance(self.file, NpyFolder):
            return [self.file.path]
        names = (self.layout.features, self.layout.labels)
        return [self.file.place(name) for name in names if name]

    def _name(self, name: str, key: Literal["features", "labels"]) -> ArrayName:
        field = f"data.{key}" if self.key in ("data.path", "data.features") else self.key
        return ArrayName(source=str(self.file.path), name=name, field=field)


class _Npz(ArraySource[NpzData]):
    """See :func:`read_npz`."""

    @override
    def read(self, data: NpzData, reading: Reading) -> DataSet:
        return read_npz(data, must_differ=reading.must_differ)

    @override
    def read_all(self, data: NpzData, reading: Reading, *, needs_labels: bool) -> AllExamples:
        return read_all_npz(data, needs_labels=needs_labels)

    @override
    def find(self, data: NpzData, reading: Reading) -> Found:
        arrays = open_arrays(Path(data.path))
        offers = dict.fromkeys((each.name for each in fields(ArrayLayout)), array_choices(arrays))
        found: dict[str, str] = {}
        with contextlib.suppress(ProblemError):  # reading says it
            found = asdict(chosen_layout(data, arrays, needs_labels=False))
        for each in set_files(data):
            keys = f"{each.called}_features", f"{each.called}_labels"
            offers |= dict.fromkeys(keys, ())
            found |= dict.fromkeys(keys, "")
            with contextlib.suppress(ProblemError):
                file = open_arrays(Path(each.path))
                offers |= dict.fromkeys(keys, array_choices(file))
                layout = layout_of_set(data, file, each)
                found |= dict(zip(keys, (layout.features, layout.labels), strict=True))
        return Found(offers=offers, found={name: value for name, value in found.items() if value})

    @override
    def scan(self, data: NpzData, reading: Reading, on_first_report: OnFirstReport) -> Scanned:
        arrays = _scanned_arrays(data)

        def report_first(scanned: Scanned) -> None:
            on_first_report(replace(scanned, arrays=arrays))

        return replace(super().scan(data, reading, report_first), arrays=arrays)


def _scanned_arrays(data: NpzData) -> tuple[ScannedArray, ...]:
    """The arrays of the file and of those of other sets."""
    files = [open_arrays(Path(data.path))]
    for each in set_files(data):
        with contextlib.suppress(ProblemError):  # reading says it
            files.append(open_arrays(Path(each.path)))
    return tuple(
        ScannedArray(name=name if len(files) == 1 else f"{file.path.name}: {name}")
        if header is None
        else ScannedArray(
            name=name if len(files) == 1 else f"{file.path.name}: {name}",
            shape=header.shape,
            dtype=str(header.dtype),
        )
        for file in files
        for name, header in file.headers.items()
    )


SOURCE = _Npz()
