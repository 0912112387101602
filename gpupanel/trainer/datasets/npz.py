"""Examples and labels in NumPy's files; which arrays they are is found where nobody chose."""

import contextlib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Literal

import numpy as np
import psutil
from typing_extensions import override

from gpupanel.domain.choice import Choice
from gpupanel.domain.data import DataCache, NpzData, Scaling, Target
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.npy_members import NpyHeader
from gpupanel.trainer.datasets.array_files import ArrayFile, NpyFolder, open_arrays
from gpupanel.trainer.datasets.array_layout import (
    AmbiguousArraysError,
    ArrayLayout,
    find_layout,
)
from gpupanel.trainer.datasets.checks import (
    NUMBER_KINDS,
    ArrayName,
    check_lengths,
    checked_features,
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
from gpupanel.trainer.datasets.npy_rows import NpyRows
from gpupanel.trainer.datasets.source import Found, Reading, Source

_PART_OF_MEMORY = 4
"""An array that takes more than this part of what is free stays on disk: what is trained on is
copied, and peaks of four times the set were measured."""


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
    return _opened(data, needs_labels=needs_labels).all_examples()


def _opened(data: NpzData, *, needs_labels: bool = True) -> "_Arrays":
    arrays = open_arrays(Path(data.path))
    return _Arrays(data, arrays, _layout(data, arrays, needs_labels=needs_labels))


def _layout(data: NpzData, arrays: ArrayFile, *, needs_labels: bool) -> ArrayLayout:
    features = data.features
    if features is None and isinstance(arrays, NpyFolder):
        features = arrays.path.stem  # it was chosen among those of its folder
    labels = data.labels
    if not needs_labels and labels not in arrays.headers:
        labels = None
    try:
        test = (data.test_features, data.test_labels)
        return find_layout(arrays.shapes, features, labels, test, needs_labels=needs_labels)
    except AmbiguousArraysError as error:
        raise _ambiguous(arrays, error.wanted) from error


@dataclass(frozen=True, slots=True)
class _Arrays:
    """The arrays of a file, and which of them are what."""

    data: NpzData
    file: ArrayFile
    layout: ArrayLayout

    def data_set(self, *, must_differ: bool) -> DataSet:
        layout = self.layout
        self.file.header(layout.labels, "data.labels")  # what is missing is said first
        features = self._features(layout.features, "features")
        labels = self._labels(layout.labels, features, must_differ=must_differ)
        test = None
        if layout.test_features:
            test = self._test(features, labels)
        pixels = features.dtype == np.uint8
        return DataSet(
            training=Examples(features=features, labels=labels.array),
            test=test,
            class_names=self._class_names(labels, test),
            scaling=Scaling.DIVIDE if pixels else Scaling.NONE,
            greatest=255.0 if pixels else 1.0,
            files=self._files(),
        )

    def all_examples(self) -> AllExamples:
        layout = self.layout
        if not layout.labels:
            features = self._features(layout.features, "features")
            names = tuple(str(number) for number in range(self.data.class_count or 0))
            target = self.data.predicts or Target.CLASSES
            return AllExamples(
                features=features,
                labels=None,
                target=target,
                class_names=names,
                training_count=features.shape[0],
                class_count_is_known=not self.data.counts_classes_by_labels,
            )
        found = self.data_set(must_differ=False)
        whole = chained([found.training, *filter(None, (found.test,))])
        return AllExamples(
            features=whole.features,
            labels=whole.labels,
            target=found.target,
            class_names=found.class_names,
            training_count=len(found.training),
            class_count_is_known=found.target is Target.LABELS
            or not self.data.counts_classes_by_labels,
        )

    def _test(self, training: Features, labels: Labels) -> Examples:
        layout = self.layout
        features = self._features(layout.test_features, "features")
        if features.shape[1:] != training.shape[1:] or features.dtype != training.dtype:
            raise self._name(layout.test_features, "features").problem(
                "data_test_set_misfit",
                f'In {self.data.path} one example of "{layout.test_features}" has the shape '
                f'{features.shape[1:]} ({features.dtype}), and one of "{layout.features}" '
                f"{training.shape[1:]} ({training.dtype}).",
                "Save both from the same kind of examples, or choose data.features.",
            )
        name = self._name(layout.test_labels, "labels")
        raw = self.file.read(layout.test_labels, "data.labels")
        count = labels.outputs if self.data.class_count or labels.array.ndim == 2 else None
        found = checked_labels(raw, name, labels.target, count or None, must_differ=False)
        check_lengths(features, found.array, self._name(layout.test_features, "features"), name)
        if found.array.shape[1:] != labels.array.shape[1:]:
            raise name.problem(
                "data_test_set_misfit",
                f"{name} has {found.array.shape[1:]} numbers an example, and "
                f'"{layout.labels}" has {labels.array.shape[1:]}.',
                "Save both from the same kind of labels, or choose data.labels.",
            )
        return Examples(features, found.array)

    def _features(self, name: str, key: Literal["features", "labels"]) -> Features:
        of = self._name(name, key)
        header = self.file.header(name, of.field)
        if isinstance(self.file, NpyFolder) and header is not None and self._streams(header):
            return NpyRows(self.file.place(name), header, of)
        return checked_features(self.file.read(name, of.field), of)

    def _streams(self, header: NpyHeader) -> bool:
        """Whether an array stays on disk."""
        if header.is_fortran or header.dtype.kind not in NUMBER_KINDS or 0 in header.shape:
            return False  # its examples do not lie in one piece; or a problem of their own
        width = 1 if header.dtype == np.uint8 else np.dtype(np.float32).itemsize
        size_bytes = int(np.prod(header.shape, dtype=np.int64)) * width
        is_large = size_bytes > psutil.virtual_memory().available // _PART_OF_MEMORY
        return bool(header.shape) and (self.data.cache is not DataCache.MEMORY or is_large)

    def _labels(self, name: str, features: Features, *, must_differ: bool) -> Labels:
        of, data = self._name(name, "labels"), self.data
        raw = self.file.read(name, of.field)
        labels = checked_labels(raw, of, data.predicts, data.class_count, must_differ=must_differ)
        check_lengths(features, labels.array, self._name(self.layout.features, "features"), of)
        return labels

    def _class_names(self, labels: Labels, test: Examples | None) -> tuple[str, ...]:
        count = labels.outputs
        if labels.target is Target.CLASSES and test is not None and not self.data.class_count:
            count = max(count, int(test.labels.max()) + 1)
        return tuple(str(number) for number in range(count))

    def _files(self) -> DataFiles | None:
        # Also of what is held in memory, as it may stay on disk when the run goes on.
        if not isinstance(self.file, NpyFolder):
            return None
        layout = self.layout
        names = [layout.features, layout.labels, layout.test_features, layout.test_labels]
        return DataFiles(self.file.path.parent, [self.file.place(name) for name in names if name])

    def _name(self, name: str, key: Literal["features", "labels"]) -> ArrayName:
        return ArrayName(source=str(self.file.path), name=name, field=f"data.{key}")


def _ambiguous(arrays: ArrayFile, wanted: str) -> ProblemError:
    if wanted == "labels" and len(arrays.headers) == 1:
        (only,) = arrays.headers
        return ProblemError(
            Problem(
                code="data_array_missing",
                field="data.labels",
                message=f'{arrays.path} has no array of labels; the only one is "{only}".',
                hint="Save the labels beside the examples, as an array called y.",
            )
        )
    what = {"features": "the examples", "labels": "the labels"}[wanted]
    there = "; ".join(choice.label for choice in _choices(arrays)[:20])
    return ProblemError(
        Problem(
            code="data_arrays_ambiguous",
            field=f"data.{wanted}",
            message=f"It is not clear which array in {arrays.path} holds {what}. It has: "
            f"{there or 'none'}.",
            hint=f"Choose data.{wanted}; or name the arrays x and y.",
        )
    )


def _choices(arrays: ArrayFile) -> tuple[Choice, ...]:
    """The arrays with their shapes, as they are offered."""
    return tuple(
        Choice(name, f"{name}: {_form(header)}", "") for name, header in arrays.headers.items()
    )


def _form(header: NpyHeader | None) -> str:
    if header is None:
        return "damaged"
    shape = " x ".join(f"{length:,}" for length in header.shape) or "one number"
    return f"{shape}, {header.dtype}"


class _Npz(Source[NpzData]):
    """See :func:`read_npz`."""

    @override
    def read(self, data: NpzData, reading: Reading) -> DataSet:
        return read_npz(data, must_differ=reading.must_differ)

    @override
    def read_all(self, data: NpzData, reading: Reading, *, needs_labels: bool) -> AllExamples:
        return read_all_npz(data, needs_labels=needs_labels)

    @override
    def find(self, data: NpzData) -> Found:
        arrays = open_arrays(Path(data.path))
        choices = _choices(arrays)
        found: dict[str, str] = {}
        with contextlib.suppress(ProblemError):  # reading says it
            found = asdict(_layout(data, arrays, needs_labels=False))
        return Found(
            offers=dict.fromkeys((each.name for each in fields(ArrayLayout)), choices),
            found={name: value for name, value in found.items() if value},
        )


SOURCE = _Npz()
