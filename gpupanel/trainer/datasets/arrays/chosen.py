"""Which arrays of NumPy's files were chosen; those that were not are found by their names."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from gpupanel.domain.choice import Choice
from gpupanel.domain.data import NpzData
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.npy_members import NpyHeader
from gpupanel.trainer.datasets.arrays.files import ArrayFile, NpyFolder
from gpupanel.trainer.datasets.arrays.layout import (
    AmbiguousArraysError,
    ArrayLayout,
    Part,
    find_layout,
)


@dataclass(frozen=True, slots=True)
class SetFile:
    """A set that is held out, in a file of its own.

    Attributes:
        called: ``validation`` or ``test``.
        features: The array of its examples, where it was chosen.
        labels: The array of its labels, where it was chosen.
    """

    called: str
    path: str
    features: str | None
    labels: str | None

    @property
    def key(self) -> str:
        """The profile key that says where it is."""
        return f"data.{self.called}_path"


def set_files(data: NpzData) -> Iterator[SetFile]:
    """The sets in files of their own."""
    if data.validation_path:
        names = data.validation_features, data.validation_labels
        yield SetFile("validation", data.validation_path, *names)
    if data.test_path:
        yield SetFile("test", data.test_path, data.test_features, data.test_labels)


def chosen_layout(data: NpzData, arrays: ArrayFile, *, needs_labels: bool) -> ArrayLayout:
    """Which arrays of the file are what: as they were chosen, the others as they are found.

    Raises:
        ProblemError: Their names do not show it.
    """
    features = data.features
    if features is None and isinstance(arrays, NpyFolder):
        features = arrays.path.stem  # it was chosen among those of its folder
    labels = data.labels
    if not needs_labels and labels not in arrays.headers:
        labels = None
    chosen = ArrayLayout(features or "", labels or "")
    if not data.validation_path:
        chosen = replace(
            chosen,
            validation_features=data.validation_features or "",
            validation_labels=data.validation_labels or "",
        )
    if not data.test_path:
        chosen = replace(
            chosen,
            test_features=data.test_features or "",
            test_labels=data.test_labels or "",
        )
    try:
        return find_layout(arrays.shapes, chosen, needs_labels=needs_labels)
    except AmbiguousArraysError as error:
        raise _ambiguous(arrays, error.wanted, error.wanted) from error


def layout_of_set(data: NpzData, file: ArrayFile, of: SetFile) -> ArrayLayout:
    """Which arrays of a set's own file are what; they may be called otherwise than the training's.

    Raises:
        ProblemError: Their names do not show it.
    """
    features, labels = (
        chosen or (of_training if of_training in file.headers else "") or ""
        for chosen, of_training in ((of.features, data.features), (of.labels, data.labels))
    )
    if not features and isinstance(file, NpyFolder):
        features = file.path.stem
    try:
        return find_layout(file.shapes, ArrayLayout(features, labels), Part[of.called.upper()])
    except AmbiguousArraysError as error:
        raise _ambiguous(file, error.wanted, f"{of.called}_{error.wanted}") from error


def _ambiguous(arrays: ArrayFile, wanted: str, key: str) -> ProblemError:
    if wanted == "labels" and len(arrays.headers) == 1:
        (only,) = arrays.headers
        return ProblemError(
            Problem(
                code="data_array_missing",
                field=f"data.{key}",
                message=f'{arrays.path} has no array of labels; the only one is "{only}".',
                hint="Save the labels beside the examples, as an array called y.",
            )
        )
    what = {"features": "the examples", "labels": "the labels"}[wanted]
    there = "; ".join(choice.label for choice in array_choices(arrays)[:20])
    return ProblemError(
        Problem(
            code="data_arrays_ambiguous",
            field=f"data.{key}",
            message=f"It is not clear which array in {arrays.path} holds {what}. Its arrays: "
            f"{there or 'none'}.",
            hint=f"Choose data.{key}; or name the arrays x and y.",
        )
    )


def array_choices(arrays: ArrayFile) -> tuple[Choice, ...]:
    """The arrays of a file with their shapes, as they are offered."""
    return tuple(
        Choice(name, f"{name}: {_form(header)}", "") for name, header in arrays.headers.items()
    )


def _form(header: NpyHeader | None) -> str:
    if header is None:
        return "damaged"
    shape = " x ".join(f"{length:,}" for length in header.shape) or "one number"
    return f"{shape}, {header.dtype}"
