"""What is in the data: the question to the scanning process, and the report that it answers."""

from typing import Annotated, Literal

from pydantic import AfterValidator

from gpupanel.domain.data import DataSettings
from gpupanel.domain.data_source import Target
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.task import Task
from gpupanel.domain.value import Value
from gpupanel.domain.visible_text import visible_line

SetName = Literal["training", "validation", "test"]
_Name = Annotated[str, AfterValidator(visible_line)]
"""A name from untrusted data: of a file, a class or a column."""


class ScanRequest(Value):
    """What to scan.

    Attributes:
        data: A path in it is absolute, or meant from the working directory.
        task: What is done with it: predicting needs no labels.
        seed: Draws the validation split, as a training with it does.
    """

    data: DataSettings
    task: Task = "train"
    seed: int = 0


def scan_request(profile: Profile) -> ScanRequest:
    """What to scan before that profile starts."""
    return ScanRequest(data=profile.data, task=profile.task, seed=profile.training.seed)


class ScanProgress(Value):
    """How far a scan is.

    Attributes:
        doing: In words.
        done: How many examples, files or bytes.
        total: Of how many; 0 where nobody knows.
    """

    doing: _Name
    done: int = 0
    total: int = 0


class ScannedSet(Value):
    """The examples of one set.

    Attributes:
        labelled: How many of them have a label.
        class_counts: Each class or label with its number of examples, in their order; empty where
            values are predicted, or nothing is known.
    """

    name: SetName
    examples: int
    labelled: int
    class_counts: tuple[tuple[_Name, int], ...] = ()


class Tally(Value):
    """How often something occurs."""

    name: _Name
    count: int


class ScannedColumn(Value):
    """A column of a table, or of rows of numbers.

    Attributes:
        holds: What: "number", "date", "category" or "text".
        missing: Empty cells.
        least: Of its numbers, or of its dates in days since 1970; ``None``: it has none.
        greatest: The greatest of the same; ``None``: it has none.
        mean: Their mean; ``None``: it has none.
        different: How many different texts there are; ``None``: they were not counted.
        is_constant: It holds the same everywhere.
    """

    name: _Name
    holds: str
    missing: int = 0
    least: float | None = None
    greatest: float | None = None
    mean: float | None = None
    different: int | None = None
    is_constant: bool = False


class ScannedArray(Value):
    """An array of a file; the shape of one that is damaged is empty, and so is its type."""

    name: _Name
    shape: tuple[int, ...] = ()
    dtype: str = ""


class ScannedExample(Value):
    """One example, by what a person finds it by: its file, or its row counted from 1."""

    set: SetName
    name: _Name
    label: _Name = ""


class SameExamples(Value):
    """Examples with the same content.

    Attributes:
        count: How many; of very many only some are named.
        examples: Those that are named.
        are_labelled_alike: Whether all have the same label.
    """

    count: int
    examples: tuple[ScannedExample, ...]
    are_labelled_alike: bool = True


class UnreadableExample(Value):
    """An example that cannot be read, and why."""

    set: SetName
    name: _Name
    why: _Name


class DataScan(Value):
    """What is in the data.

    Lists name the first of very many; the counts beside them count all.

    Attributes:
        is_complete: Whether all of it was scanned; if not, what is known before, or instead.
        seconds: How long that took.
        described: Which data.
        target: What the labels are.
        feature_shape: Of one example, as a model is given it.
        sets: In the order training, validation, test; those that there are.
        unlabelled: Examples that nobody can be trained on, since nothing says what they are.
        empty_classes: Classes that are named and hold nothing.
        formats: How the examples are stored, most frequent first.
        sizes: Pixels of images, width x height, likewise.
        columns: Of a table, or of examples that are rows of numbers; of very many the first.
        arrays: Of files of arrays.
        leaked: Examples of the validation or test set whose content is also among those that the
            model learns from, or that validate.
        copies: Examples whose content another one had before, over all sets.
        same: Examples with the same content: first those in several sets, then those with
            different labels.
        unreadable_count: Examples that cannot be read.
        unreadable: Each once, with why.
        needs_download: The data is not on this machine yet.
        needs_start: Only a run may carry out the code that gives the data.
        problems: What is wrong or odd; first what makes figures of a training mean nothing.
    """

    schema_version: Literal[1] = 1
    is_complete: bool = False
    seconds: float = 0.0
    described: _Name = ""
    target: Target = Target.CLASSES
    feature_shape: tuple[int, ...] = ()
    sets: tuple[ScannedSet, ...] = ()
    unlabelled: int = 0
    empty_classes: tuple[_Name, ...] = ()
    formats: tuple[Tally, ...] = ()
    sizes: tuple[Tally, ...] = ()
    columns: tuple[ScannedColumn, ...] = ()
    arrays: tuple[ScannedArray, ...] = ()
    leaked: int = 0
    copies: int = 0
    same: tuple[SameExamples, ...] = ()
    unreadable_count: int = 0
    unreadable: tuple[UnreadableExample, ...] = ()
    needs_download: bool = False
    needs_start: bool = False
    problems: tuple[Problem, ...] = ()

    @property
    def has_errors(self) -> bool:
        """Whether something keeps the data from being trained on."""
        return any(problem.is_error for problem in self.problems)
