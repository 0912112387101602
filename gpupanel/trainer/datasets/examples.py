"""Examples and what is known about them, as every source hands them over."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from gpupanel.domain.data import Scaling, Target
from gpupanel.domain.example_form import ExampleForm
from gpupanel.domain.preview import ColumnPreview, TextsPreview
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.example_columns import ExampleColumns
from gpupanel.trainer.datasets.file_prints import DataFiles
from gpupanel.trainer.datasets.skipped_files import SkippedFiles

Array = npt.NDArray[np.generic]
Indices = npt.NDArray[np.int32]

_PART_BYTES = 8 * 2**20


@runtime_checkable
class DivisibleFiles(Protocol):
    """Features on disk of which a part is again such features."""

    def subset(self, indices: Indices) -> "FeatureFiles":
        """The features of these examples only, in this order."""


class FeatureFiles(Protocol):
    """Features that stay on disk and are read example by example."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Examples first, then the shape of one example."""

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The type of what is read: ``uint8`` or ``float32``."""

    def read(self, indices: Indices) -> Array:
        """The features of these examples, in this order.

        Raises:
            ProblemError: One of them cannot be read.
        """


@runtime_checkable
class ManyAtOnce(Protocol):
    """Features on disk of which many, in any order, are read faster at once than few."""

    @property
    def rows_at_once(self) -> int:
        """How many; 0: it makes no difference."""


Features = Array | FeatureFiles


def rows_at_once(features: Features) -> int:
    """How many examples are best asked for at once; 0: it makes no difference."""
    if isinstance(features, _ChosenFeatures):
        return rows_at_once(features.whole)
    return features.rows_at_once if isinstance(features, ManyAtOnce) else 0


@runtime_checkable
class OneFileEach(Protocol):
    """Features of which each example is a file."""

    @property
    def paths(self) -> Sequence[str]:
        """The files of the examples."""


def file_of(features: Features, index: int) -> str:
    """The path of an example's file; empty where it has none of its own.

    Args:
        features: Of all examples.
        index: Which of them.
    """
    if isinstance(features, _Chained):
        for part in features.parts:
            if index < len(part):
                return file_of(part.features, index)
            index -= len(part)
    return features.paths[index] if isinstance(features, OneFileEach) else ""


def read_features(features: Features, indices: Indices) -> Array:
    """The features of these examples, in this order.

    Raises:
        ProblemError: One of them cannot be read.
    """
    if isinstance(features, np.ndarray):
        return np.asarray(features[indices])
    return features.read(indices)


@dataclass(frozen=True, slots=True, eq=False)
class HeldRows:
    """Features that are in memory.

    Attributes:
        array: Those of all examples of a source, first axis the examples.
        rows: Which of them they are, in this order; ``None``: all.
    """

    array: Array
    rows: Indices | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Examples first."""
        return (len(self.array if self.rows is None else self.rows), *self.array.shape[1:])

    def __getitem__(self, rows: slice) -> Array:
        """Some of them, those in the array as they are."""
        return self.array[rows] if self.rows is None else self.array[self.rows[rows]]

    def parts(self) -> Iterator[Array]:
        """All of them, some at a time."""
        at_once = max(1, _PART_BYTES // max(1, self.array[:1].nbytes))
        return (self[row : row + at_once] for row in range(0, self.shape[0], at_once))

    def chosen(self, rows: Indices) -> "HeldRows":
        """Some of them, in this order."""
        return HeldRows(self.array, self.places(rows))

    def places(self, indices: Indices) -> Indices:
        """Where these of them are in the array."""
        return indices if self.rows is None else self.rows[indices]


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Examples with their labels, in the order in which the source has them.

    Attributes:
        features: ``uint8`` or ``float32``, first axis the examples; or where they are read from.
        labels: ``int32`` class numbers, one an example; or ``float32`` values, shape [examples] or
            [examples, values]; or labels that are 0 or 1, ``float32``, shape [examples, labels].
            Where they are arrays (:attr:`DataSet.arrays_of`), as many of these as the arrays have
            places, shape [examples, ...].
        unreadable: The examples whose features mean nothing, with why they could not be read:
            others stand in for them (:mod:`gpupanel.trainer.datasets.replaced_examples`).
    """

    features: Features
    labels: Array
    unreadable: Mapping[int, ProblemError] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def feature_shape(self) -> tuple[int, ...]:
        """Shape of one example."""
        return tuple(self.features.shape[1:])

    @property
    def example_bytes(self) -> int:
        """What the features of one example take in memory."""
        return math.prod(self.feature_shape) * self.features.dtype.itemsize

    @property
    def carried_bytes(self) -> int:
        """The same with its labels, which may be arrays."""
        labels = math.prod(self.labels.shape[1:]) * self.labels.dtype.itemsize
        return self.example_bytes + labels

    @property
    def in_memory(self) -> Array | None:
        """The features when they are held in memory, each of them an example; else ``None``."""
        if isinstance(self.features, np.ndarray) and not isinstance(self.features, np.memmap):
            return self.features
        return None

    def read(self, indices: Indices) -> Array:
        """The features of these examples, in this order.

        Raises:
            ProblemError: One of them cannot be read.
        """
        return read_features(self.features, indices)

    def read_all(self) -> Array:
        """The features of all examples.

        Raises:
            ProblemError: One of them cannot be read.
        """
        return self.read(np.arange(len(self), dtype=np.int32))

    def subset(self, indices: Indices) -> "Examples":
        """These examples only, in this order."""
        places = range(len(indices)) if self.unreadable else ()
        unreadable = {
            place: self.unreadable[int(indices[place])]
            for place in places
            if int(indices[place]) in self.unreadable
        }
        return Examples(chosen_features(self.features, indices), self.labels[indices], unreadable)


@dataclass(frozen=True, slots=True, eq=False)
class _ChosenFeatures:
    """The features of some examples of a set: those in memory are not there twice."""

    whole: Features
    rows: Indices

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.rows), *self.whole.shape[1:])

    @property
    def dtype(self) -> np.dtype[np.generic]:
        return self.whole.dtype

    def read(self, indices: Indices) -> Array:
        return read_features(self.whole, self.rows[indices])


def chosen_features(features: Features, indices: Indices) -> Features:
    """The features of these examples only, in this order."""
    if isinstance(features, DivisibleFiles):
        return features.subset(indices)
    return _ChosenFeatures(features, indices)


def held_rows(features: Features) -> HeldRows | None:
    """Features that are in memory, also among those of other examples; ``None``: they are not."""
    if isinstance(features, _ChosenFeatures):
        held = held_rows(features.whole)
        return None if held is None else held.chosen(features.rows)
    if isinstance(features, np.ndarray) and not isinstance(features, np.memmap):
        return HeldRows(features)
    return None


@dataclass(frozen=True, slots=True)
class PackedInput:
    """One of several inputs of an example, all of which stand in one row of numbers.

    Attributes:
        name: That of the model's input.
        shape: Of one example.
        are_pixels: They are bytes, and are divided by 255.
        start: Where its numbers begin in the row.
    """

    name: str
    shape: tuple[int, ...]
    are_pixels: bool
    start: int

    @property
    def end(self) -> int:
        """Where they end."""
        return self.start + math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class PackedOutput:
    """One of several outputs of a model, whose labels all stand in one row of numbers.

    Attributes:
        name: That of the model's output.
        target: What it predicts, or what each place of it does.
        shape: Of the labels of one example.
        class_names: Where classes are predicted, in the order of their numbers.
        start: Where its labels begin in the row.
    """

    name: str
    target: Target
    shape: tuple[int, ...]
    class_names: tuple[str, ...]
    start: int

    @property
    def end(self) -> int:
        """Where they end."""
        return self.start + math.prod(self.shape)

    @property
    def output_shape(self) -> tuple[int, ...]:
        """Shape of what the model has to give for one example."""
        if self.target is Target.CLASSES:
            return (*self.shape, len(self.class_names))
        return self.shape or (1,)


@dataclass(frozen=True, slots=True, eq=False)
class DataSet:
    """A source, read and checked.

    Attributes:
        test: A test set of the source's own.
        validation: A validation set of the source's own.
        class_names: In the order of the class numbers, or of the labels; empty where values are
            predicted.
        arrays_of: What each place of the labels is, where these are arrays: masks, sequences,
            images. ``None``: an example has one label, or a row of them.
        learns_inputs: Each example is what is to be predicted of it, scaled as the model takes it:
            the labels are none, and of no meaning. They are arrays then.
        inputs: Of what the features of an example are the numbers, one input after the other
            (:mod:`gpupanel.trainer.datasets.packed_inputs`); none: they are one input.
        outputs: Of what the labels of an example are the numbers, one output after the other
            (:mod:`gpupanel.trainer.datasets.packed_outputs`), ``float32`` all: they are arrays
            then, of values. None: there is one output.
        greatest: The greatest value a pixel can have, for :attr:`Scaling.DIVIDE`.
        files: What the examples are read from, a file each, or a file for each array; ``None``
            where all came from one file.
        notes: What is odd about the data, and keeps nobody from using it.
        skipped: The files that turn out to be unreadable; ``None``: none may.
        recipe: How the features were made, as the source writes it: kept with the model, so that
            a prediction makes the same of other examples. Empty where nothing was made.
        categories: Where the features of each column of categories stand, the first one and how
            many: each is 0 or 1, and is not scaled.
        columns: What is known of each column of a table.
        groups: Of each training example a number that those have in common that are held out
            together; ``None``: none are.
        token_count: How many different numbers stand for words; 0: the features are no words.
        words: What each of these numbers stands for, as far as there are words.
        texts: What is known of texts.
        cells: Of the table that the examples are rows of; or of that which says what they are,
            where they were read to evaluate a model.
    """

    training: Examples
    test: Examples | None = None
    validation: Examples | None = None
    class_names: tuple[str, ...] = ()
    arrays_of: Target | None = None
    learns_inputs: bool = False
    inputs: tuple[PackedInput, ...] = ()
    outputs: tuple[PackedOutput, ...] = ()
    scaling: Scaling = Scaling.NONE
    greatest: float = 1.0
    files: DataFiles | None = None
    notes: tuple[Problem, ...] = ()
    skipped: SkippedFiles | None = None
    recipe: str = ""
    categories: tuple[tuple[int, int], ...] = ()
    columns: tuple[ColumnPreview, ...] = ()
    groups: Array | None = None
    token_count: int = 0
    words: tuple[str, ...] = ()
    texts: TextsPreview | None = None
    cells: ExampleColumns | None = None

    def all_notes(self, *, are_left_out: bool = False) -> tuple[Problem, ...]:
        """The notes, and what is to be said of the files that were skipped until now.

        Args:
            are_left_out: Nothing stands in for these.
        """
        note = None if self.skipped is None else self.skipped.note(are_left_out=are_left_out)
        return self.notes if note is None else (*self.notes, note)

    @property
    def target(self) -> Target:
        """What the labels are; of arrays, what each place of them is."""
        if self.arrays_of is not None:
            return self.arrays_of
        if not self.class_names:
            return Target.VALUES
        return Target.CLASSES if self.training.labels.ndim == 1 else Target.LABELS

    @property
    def form(self) -> ExampleForm:
        """What the examples are made of."""
        return ExampleForm(
            inputs={each.name: each.shape for each in self.inputs},
            outputs=tuple(each.name for each in self.outputs),
            arrays_of=self.arrays_of,
            label_shape=self.label_shape,
            learns_inputs=self.learns_inputs,
        )

    @property
    def label_shape(self) -> tuple[int, ...]:
        """The shape of what is to be predicted of one example, as the labels say it."""
        examples = self.training
        return examples.feature_shape if self.learns_inputs else tuple(examples.labels.shape[1:])

    @property
    def output_shape(self) -> tuple[int, ...]:
        """The shape of what a model has to give for one example."""
        if self.outputs:
            return (sum(math.prod(each.output_shape) for each in self.outputs),)
        if self.arrays_of is None:
            is_of_values = self.target is Target.VALUES
            return (math.prod(self.label_shape) if is_of_values else len(self.class_names),)
        classes = (len(self.class_names),) if self.target is Target.CLASSES else ()
        return (*self.label_shape, *classes)


@dataclass(frozen=True, slots=True, eq=False)
class AllExamples:
    """All examples of a source, for a trained model: validation and test set after the others.

    Attributes:
        features: ``uint8`` or ``float32``, first axis the examples; or where they are read from.
        labels: As :class:`Examples` has them; ``None``: there are none.
        target: What the labels are, or would be.
        class_names: As far as the source knows them.
        training_count: How many of the examples are training examples: the first.
        validation_count: How many after them are of a validation set.
        unreadable: The examples that are left out, with why they could not be read.
        notes: What is odd about the data, and keeps nobody from using it.
        words: What the numbers of the features stand for, where they stand for words.
        class_count_is_known: Whether there are exactly as many classes as names; otherwise the
            greatest label made them and there may be more.
        groups: As :class:`DataSet` has them.
        file_names: Of each example its file within the folder of the data; none where examples
            have no files of their own.
        columns: Of the table that the examples are rows of; ``None``: they are of none.
        inputs: Of what the features are the numbers, as :class:`DataSet` has them; none: of one.
        whole: What they were read as with their labels; ``None``: labels were not needed, or it
            would say nothing more.
    """

    features: Features
    labels: Array | None
    target: Target
    class_names: tuple[str, ...]
    training_count: int
    class_count_is_known: bool = True
    validation_count: int = 0
    groups: Array | None = None
    unreadable: Mapping[int, ProblemError] = field(default_factory=dict)
    notes: tuple[Problem, ...] = ()
    words: tuple[str, ...] = ()
    file_names: tuple[str, ...] = ()
    columns: ExampleColumns | None = None
    inputs: tuple[PackedInput, ...] = ()
    whole: DataSet | None = None

    def __len__(self) -> int:
        return self.features.shape[0]


def chained(parts: Sequence[Examples]) -> Examples:
    """The examples of one or several sets, one set after the other."""
    if len(parts) == 1:
        return parts[0]
    held = [part.in_memory for part in parts]
    known = [array for array in held if array is not None]
    features = np.concatenate(known) if len(known) == len(parts) else _Chained(tuple(parts))
    firsts = np.cumsum([0, *map(len, parts)])
    unreadable = {
        int(first) + row: error
        for first, part in zip(firsts, parts, strict=False)
        for row, error in part.unreadable.items()
    }
    return Examples(features, np.concatenate([part.labels for part in parts]), unreadable)


@dataclass(frozen=True, slots=True, eq=False)
class _Chained:
    """Features of several sets, of which not all are in memory."""

    parts: tuple[Examples, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return (sum(map(len, self.parts)), *self.parts[0].feature_shape)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        return self.parts[0].features.dtype

    def read(self, indices: Indices) -> Array:
        ends = np.cumsum([len(part) for part in self.parts])
        of_part = np.searchsorted(ends, indices, side="right")
        order = np.argsort(of_part, kind="stable")
        pieces = [
            part.read((indices[of_part == place] - (end - len(part))).astype(np.int32))
            for place, (part, end) in enumerate(zip(self.parts, ends, strict=True))
        ]
        return np.asarray(np.concatenate(pieces)[np.argsort(order)])
