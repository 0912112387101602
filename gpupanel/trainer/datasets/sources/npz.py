"""Examples and labels in NumPy's files; which arrays they are is found where nobody chose."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
from typing_extensions import override

from gpupanel.domain.data import NpzData, Scaling, Target
from gpupanel.domain.data_source import LABEL_FIELDS
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.scan import ScannedArray
from gpupanel.trainer.datasets.arrays.chosen import (
    ArrayNames,
    array_choices,
    arrays_of_set,
    chosen_arrays,
    set_files,
)
from gpupanel.trainer.datasets.arrays.files import NpyFolder, open_arrays
from gpupanel.trainer.datasets.arrays.layout import ArrayLayout
from gpupanel.trainer.datasets.arrays.set_arrays import ReadArrays, SetArrays
from gpupanel.trainer.datasets.arrays.single_array import ArraySource
from gpupanel.trainer.datasets.examples import (
    AllExamples,
    DataSet,
    Examples,
    PackedOutput,
)
from gpupanel.trainer.datasets.file_prints import DataFiles
from gpupanel.trainer.datasets.labels import Labels
from gpupanel.trainer.datasets.packed_outputs import class_names_of, packed_labels
from gpupanel.trainer.datasets.scanning.scanned import OnFirstReport, Scanned
from gpupanel.trainer.datasets.source import Found, Reading, all_examples
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
    chosen = chosen_arrays(data, file, needs_labels=needs_labels)
    training = SetArrays(data, file, chosen.training, "data.path")
    sets = dict[str, SetArrays]()
    for each in set_files(data):
        of_set = open_arrays(Path(each.path), each.key)
        names = arrays_of_set(data, of_set, each, chosen.training)
        sets[each.called] = SetArrays(data, of_set, names, each.key)
    for called, names in chosen.sets.items():
        sets.setdefault(called, SetArrays(data, file, names, "data.features"))
    return _Arrays(data, training, sets, chosen.notes)


@dataclass(frozen=True, slots=True)
class _Arrays:
    """The arrays of all sets.

    Attributes:
        sets: Those that are held out, by their names.
        notes: On arrays that are left out.
    """

    data: NpzData
    training: SetArrays
    sets: Mapping[str, SetArrays]
    notes: tuple[Problem, ...]

    def data_set(self, *, must_differ: bool) -> DataSet:
        read = self.training.read(must_differ=must_differ)
        held = {
            called: arrays.read_held_out(read, self.training.names)
            for called, arrays in self.sets.items()
        }
        names = {
            output: class_names_of(
                labels,
                [each.labels[output] for each in held.values()],
                None if output else self.data.class_count,
            )
            for output, labels in read.labels.items()
        }
        sets = {
            called: Examples(each.features, _in_one(each, names)[0].array)
            for called, each in {"training": read, **held}.items()
        }
        labels, outputs = _in_one(read, names)
        pixels = read.features.dtype == np.uint8 and not read.inputs
        return DataSet(
            training=sets["training"],
            test=sets.get("test"),
            validation=sets.get("validation"),
            class_names=names.get("", ()),
            arrays_of=labels.target if labels.are_arrays else None,
            learns_inputs=self.data.learns_inputs,
            inputs=read.inputs,
            outputs=outputs,
            scaling=Scaling.DIVIDE if pixels else Scaling.NONE,
            greatest=255.0 if pixels else 1.0,
            files=self._files(),
            notes=self.notes,
        )

    def all_examples(self, *, needs_labels: bool) -> AllExamples:
        has_labels = bool(self.training.names.outputs)
        if not has_labels and not self.data.learns_inputs:
            return self._without_labels()
        try:
            found = self.data_set(must_differ=False)
        except ProblemError as error:
            if needs_labels or not {each.field for each in error.problems} <= LABEL_FIELDS:
                raise
            return self._without_labels()
        if not needs_labels and not found.inputs and found.arrays_of is not None:
            return self._without_labels()
        return replace(
            all_examples(found),
            class_count_is_known=found.target is Target.LABELS
            or not self.data.counts_classes_by_labels
            or not are_numbers(found.class_names),
        )

    def _without_labels(self) -> AllExamples:
        features, inputs = self.training.features()
        names = tuple(str(number) for number in range(self.data.class_count or 0))
        return AllExamples(
            features=features,
            labels=None,
            target=self.data.predicts or Target.CLASSES,
            class_names=names,
            training_count=features.shape[0],
            class_count_is_known=not self.data.counts_classes_by_labels,
            inputs=inputs,
        )

    def _files(self) -> DataFiles | None:
        # Also of what is held in memory, as it may stay on disk when the run goes on.
        everything = (self.training, *self.sets.values())
        if not any(isinstance(each.file, NpyFolder) for each in everything):
            return None
        file = self.training.file
        beside = {
            called: (each.file.path.parent, each.places())
            for called, each in self.sets.items()
            if each.file is not file
        }
        inside = [each for each in everything if each.file is file]
        places = dict.fromkeys(place for each in inside for place in each.places())
        return DataFiles(file.path.parent, places, beside)


def _in_one(
    read: ReadArrays, class_names: Mapping[str, tuple[str, ...]]
) -> tuple[Labels, tuple[PackedOutput, ...]]:
    """The labels of a set, and of which outputs they are; none where they are of one."""
    if not read.labels:
        none = np.zeros(read.features.shape[0], np.int32)
        return Labels(none, Target.VALUES, outputs=0, are_arrays=True), ()
    if "" in read.labels:
        return read.labels[""], ()
    return packed_labels(read.labels, class_names)


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
        keys = ("inputs", *(each.name for each in fields(ArrayLayout)))
        offers = dict.fromkeys(keys, array_choices(arrays))
        found: dict[str, str] = {}
        training = ArrayNames({}, {})
        with contextlib.suppress(ProblemError):  # reading says it
            chosen = chosen_arrays(data, arrays, needs_labels=False)
            training = chosen.training
            found = _found("", training)
            if "" in training.inputs and "" in training.outputs:
                for called, names in chosen.sets.items():
                    found |= _found(f"{called}_", names)
        for each in set_files(data):
            keys = f"{each.called}_features", f"{each.called}_labels"
            offers |= dict.fromkeys(keys, ())
            found |= dict.fromkeys(keys, "")
            with contextlib.suppress(ProblemError):
                file = open_arrays(Path(each.path))
                offers |= dict.fromkeys(keys, array_choices(file))
                if not (data.inputs or data.outputs):
                    found |= _found(f"{each.called}_", arrays_of_set(data, file, each, training))
        return Found(offers=offers, found={name: value for name, value in found.items() if value})

    @override
    def scan(self, data: NpzData, reading: Reading, on_first_report: OnFirstReport) -> Scanned:
        arrays = _scanned_arrays(data)

        def report_first(scanned: Scanned) -> None:
            on_first_report(replace(scanned, arrays=arrays))

        return replace(super().scan(data, reading, report_first), arrays=arrays)


def _found(before: str, names: ArrayNames) -> dict[str, str]:
    """The arrays of a set with one input and one output, by the keys of their settings."""
    found = {"features": names.inputs.get(""), "labels": names.outputs.get("")}
    return {f"{before}{key}": name for key, name in found.items() if name}


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
