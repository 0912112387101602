"""The arrays of a set in NumPy's files, read: the features of its inputs, and its labels."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from gpupanel.domain.data import Axes, NpzData, Target
from gpupanel.domain.problem import Fix, Problem, ProblemError
from gpupanel.files.npy_members import NpyHeader
from gpupanel.trainer.datasets.array_labels import checked_arrays
from gpupanel.trainer.datasets.arrays.axes import (
    ChannelsMoved,
    check_axes,
    examples_last,
    in_usual_order,
)
from gpupanel.trainer.datasets.arrays.chosen import ArrayNames
from gpupanel.trainer.datasets.arrays.files import ArrayFile, NpyFolder
from gpupanel.trainer.datasets.arrays.npy_rows import NpyRows
from gpupanel.trainer.datasets.checks import (
    NUMBER_KINDS,
    ArrayName,
    check_exact,
    check_lengths,
    checked_features,
    stays_on_disk,
)
from gpupanel.trainer.datasets.examples import Array, Features, PackedInput
from gpupanel.trainer.datasets.labels import Labels, checked_labels
from gpupanel.trainer.datasets.named_labels import are_names, class_numbers, names_in
from gpupanel.trainer.datasets.packed_inputs import input_misfit, packed
from gpupanel.trainer.datasets.packed_outputs import output_misfit
from gpupanel.trainer.parts.loaded_parts import are_arrays


@dataclass(frozen=True, slots=True, eq=False)
class ReadArrays:
    """What the arrays of a set hold, checked.

    Attributes:
        inputs: None where there is one.
        labels: By the names of outputs; of one by none. Empty where there are no labels.
    """

    features: Features
    inputs: tuple[PackedInput, ...]
    labels: Mapping[str, Labels]


@dataclass(frozen=True, slots=True)
class SetArrays:
    """The arrays of a set.

    Attributes:
        data: Says what they are.
        file: Has them.
        names: Which they are.
        key: The profile key that says where the file is.
    """

    data: NpzData
    file: ArrayFile
    names: ArrayNames
    key: str

    def read(self, *, must_differ: bool) -> ReadArrays:
        """The arrays of a training set.

        Args:
            must_differ: Refuse classes that are all the same.

        Raises:
            ProblemError: They cannot be used.
        """
        self._check_names()
        for name in self.names.outputs.values():
            self.file.header(
                name, self._name_of_labels(name).field
            )  # what is missing is said first
        features, inputs = self.features()
        labels = {
            output: self._labels(name, features, self._target(output), must_differ=must_differ)
            for output, name in self.names.outputs.items()
        }
        return ReadArrays(features, inputs, labels)

    def read_held_out(self, training: ReadArrays, trained: ArrayNames) -> ReadArrays:
        """The arrays of a set that is not trained on, which fit those that are.

        Args:
            training: What is trained on.
            trained: What its arrays are called.

        Raises:
            ProblemError: They cannot be used, or do not fit.
        """
        features, inputs = self.features()
        self._check_inputs(inputs, training.inputs)
        mine, others = features, training.features
        if mine.shape[1:] != others.shape[1:] or mine.dtype != others.dtype:
            raise self._misfit(
                f'one example of "{self.names.inputs[""]}" in {self.file.path} has the shape '
                f"{mine.shape[1:]} ({mine.dtype}), and one of "
                f'"{trained.inputs[""]}" that is trained on {others.shape[1:]} ({others.dtype})'
            )
        labels = {
            output: self._labels_like(name, features, training.labels[output], trained, output)
            for output, name in self.names.outputs.items()
        }
        return ReadArrays(features, inputs, labels)

    def features(self) -> tuple[Features, tuple[PackedInput, ...]]:
        """The features, and of which inputs they are; none where they are one."""
        if not self.data.inputs:
            return self._array(self.names.inputs[""], self.data.axes, self._name_of_input("")), ()
        parts = dict[str, Features]()
        for name in self.names.inputs:
            of = self._name_of_input(name)
            parts[name] = self._array(of.name, None, of)
            header = self.file.header(of.name, of.field)
            if header is not None:
                check_exact(parts[name], header.dtype, of)
            first = next(iter(parts))
            check_lengths(parts[first], parts[name], self._name_of_input(first), of, "examples")
        return packed(parts)

    def places(self) -> list[Path]:
        """The files that the arrays are in."""
        if not isinstance(self.file, NpyFolder):
            return [self.file.path]
        return [self.file.place(name) for name in self.names.all]

    def _check_inputs(
        self, mine: tuple[PackedInput, ...], trained: tuple[PackedInput, ...]
    ) -> None:
        if mine == trained:
            return
        one, other = (
            ", ".join(
                f"{each.name} {each.shape}{' of bytes' if each.are_pixels else ''}"
                for each in inputs
            )
            for inputs in (mine, trained)
        )
        raise self._misfit(
            f"one example in {self.file.path} has {one}, and one that is trained on {other}"
        )

    def _check_names(self) -> None:
        """Refuse names that no input or output of a model can have."""
        for key, names, misfit in (
            ("inputs", self.data.inputs, input_misfit),
            ("outputs", self.data.outputs, output_misfit),
        ):
            for place, name in enumerate(names):
                why = "is named twice" if name in tuple(names)[:place] else misfit(name)
                if why:
                    raise ProblemError(
                        Problem(
                            code="data_names_misfit",
                            field=f"data.{key}",
                            message=f"{name!r} {why}.",
                            hint="Arrays are called as the inputs and outputs of the model: call "
                            "them otherwise in both.",
                        )
                    )

    def _target(self, output: str) -> Target | None:
        """What an output predicts; ``None``: its labels show it."""
        if output:
            return self.data.outputs[output]
        # Who counts classes says that they are.
        return self.data.predicts or (Target.CLASSES if self.data.class_count else None)

    def _array(self, name: str, axes: Axes | None, of: ArrayName) -> Features:
        header = self.file.header(name, of.field)
        if isinstance(self.file, NpyFolder) and header is not None and self._streams(header, axes):
            check_axes(header.shape, axes, of)
            rows = NpyRows(self.file.place(name), header, of)
            return ChannelsMoved(rows) if axes is Axes.CHANNELS_FIRST else rows
        if header is not None and not header.is_fortran and axes is not Axes.EXAMPLES_LAST:
            check_axes(header.shape, axes, of)
            is_first = axes is Axes.CHANNELS_FIRST
            return self.file.read_features(name, of, channels_first=is_first)
        return checked_features(in_usual_order(self.file.read(name, of.field), axes, of), of)

    def _streams(self, header: NpyHeader, axes: Axes | None) -> bool:
        """Whether an array stays on disk."""
        if header.is_fortran or axes is Axes.EXAMPLES_LAST:
            return False  # its examples do not lie in one piece
        if header.dtype.kind not in NUMBER_KINDS or 0 in header.shape:
            return False  # a problem of its own
        return bool(header.shape) and stays_on_disk(header.shape, header.dtype, self.data.cache)

    def _labels(
        self, name: str, features: Features, target: Target | None, *, must_differ: bool
    ) -> Labels:
        of, data = self._name_of_labels(name), self.data
        raw = self.file.read(name, of.field)
        names: tuple[str, ...] = ()
        if are_names(raw) and target in (None, Target.CLASSES):
            names = names_in(raw)
            raw = class_numbers(raw, names, of)
        count = (data.class_count if "" in self.names.outputs else None) or len(names) or None
        if target is None and raw.ndim > 2:
            raise _unclear(raw, of)
        if target is not None and are_arrays(raw, of_classes=target is Target.CLASSES):
            labels = checked_arrays(raw, of, target, count, must_differ=must_differ)
        else:
            labels = checked_labels(raw, of, target, count, must_differ=must_differ)
        self._check_lengths(features, labels.array, of)
        return replace(labels, names=names)

    def _labels_like(
        self, name: str, features: Features, known: Labels, trained: ArrayNames, output: str
    ) -> Labels:
        """Labels of an output as those that are trained on."""
        of = self._name_of_labels(name)
        raw = self.file.read(name, of.field)
        if known.names and not are_names(raw):
            raise self._misfit(
                f'"{name}" in {self.file.path} holds {raw.dtype} values, and '
                f'"{trained.outputs[output]}" names of classes'
            )
        raw = class_numbers(raw, known.names, of) if known.names else raw
        is_counted = self._counts_classes or known.names or known.target is Target.LABELS
        count = (known.outputs if is_counted else None) or None
        checked = checked_arrays if known.are_arrays else checked_labels
        found = checked(raw, of, known.target, count, must_differ=False)
        self._check_lengths(features, found.array, of)
        if found.array.shape[1:] != known.array.shape[1:]:
            raise self._misfit(
                f'"{name}" in {self.file.path} has {found.array.shape[1:]} numbers an '
                f'example, and "{trained.outputs[output]}" {known.array.shape[1:]}'
            )
        return found

    @property
    def _counts_classes(self) -> bool:
        return self.data.class_count is not None and "" in self.names.outputs

    def _check_lengths(self, features: Features, labels: Array, of: ArrayName) -> None:
        of_features = self._name_of_input(next(iter(self.names.inputs)))
        is_last = features.shape[0] != len(labels) == features.shape[-1]
        if self.data.axes is None and is_last and not self.data.inputs:
            raise examples_last(of_features)
        check_lengths(features, labels, of_features, of)

    def _misfit(self, what: str) -> ProblemError:
        return ProblemError(
            Problem(
                code="data_test_set_misfit",
                field=self.key,
                message=f"What is held out does not fit what is trained on: {what}.",
                hint="Save both from the same kind of examples and labels.",
            )
        )

    def _name_of_input(self, key: str) -> ArrayName:
        return self._name(self.names.inputs[key], "inputs" if self.data.inputs else "features")

    def _name_of_labels(self, name: str) -> ArrayName:
        return self._name(name, "outputs" if self.data.outputs else "labels")

    def _name(self, name: str, key: str) -> ArrayName:
        field = f"data.{key}" if self.key in ("data.path", "data.features") else self.key
        return ArrayName(source=str(self.file.path), name=name, field=field)


def _unclear(labels: Array, of: ArrayName) -> ProblemError:
    choices = (
        Fix.of("Predict a class at each place", "data.predicts", Target.CLASSES.value),
        Fix.of("Predict 0 or 1 at each place", "data.predicts", Target.LABELS.value),
        Fix.of("Predict values", "data.predicts", Target.VALUES.value),
    )
    return ProblemError(
        Problem(
            code="data_labels_not_one_each",
            field=of.field,
            message=f"{of} has the shape {labels.shape}, but labels must be one number, or a row "
            "of numbers, for each example; or data.predicts has to say what each place of these "
            "arrays is.",
            hint="Save class numbers, or a row of labels or values for each example. Arrays are "
            "learned by a Python model: set data.predicts.",
            fix=choices[0],
            alternatives=choices[1:],
        )
    )
