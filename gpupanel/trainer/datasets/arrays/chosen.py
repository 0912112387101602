"""Which arrays of NumPy's files were chosen; those that were not are found by their names."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gpupanel.domain.choice import Choice
from gpupanel.domain.data import NpzData
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.files.npy_members import NpyHeader
from gpupanel.trainer.datasets.arrays.files import ArrayFile, NpyFolder
from gpupanel.trainer.datasets.arrays.layout import (
    AmbiguousArraysError,
    ArrayLayout,
    Part,
    counterparts,
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


@dataclass(frozen=True, slots=True)
class ArrayNames:
    """Which arrays of a file are what of a set.

    Attributes:
        inputs: The names of arrays by those of inputs; of one input by none.
        outputs: Those of labels by those of outputs, likewise; empty where there are no labels.
    """

    inputs: Mapping[str, str]
    outputs: Mapping[str, str]

    @classmethod
    def of(cls, features: str, labels: str) -> "ArrayNames":
        """Those of one input and one output; no labels where that is empty."""
        return cls({"": features}, {"": labels} if labels else {})

    @property
    def all(self) -> tuple[str, ...]:
        """Each of the arrays once."""
        return tuple(dict.fromkeys((*self.inputs.values(), *self.outputs.values())))

    def called(self, others: Mapping[str, str]) -> "ArrayNames":
        """The same of a set whose arrays have other names.

        Args:
            others: By the names here.
        """
        return ArrayNames(
            {key: others[name] for key, name in self.inputs.items()},
            {key: others[name] for key, name in self.outputs.items()},
        )


@dataclass(frozen=True, slots=True)
class ChosenArrays:
    """Which arrays of a file are what: those of its training set and of sets beside it.

    Attributes:
        sets: Those that are held out, by their names.
        notes: On arrays that look like those of a set, which is not whole.
    """

    training: ArrayNames
    sets: Mapping[str, ArrayNames]
    notes: tuple[Problem, ...] = ()


def chosen_arrays(data: NpzData, arrays: ArrayFile, *, needs_labels: bool) -> ChosenArrays:
    """Which arrays of the file are what: as they were chosen, the others as they are found.

    Raises:
        ProblemError: Their names do not show it.
    """
    if data.inputs or data.outputs:
        return _by_names(data, arrays, needs_labels=needs_labels)
    layout = _chosen_layout(data, arrays, needs_labels=needs_labels)
    sets = {
        called: ArrayNames.of(features, labels)
        for called, features, labels in (
            ("validation", layout.validation_features, layout.validation_labels),
            ("test", layout.test_features, layout.test_labels),
        )
        if features
    }
    return ChosenArrays(ArrayNames.of(layout.features, layout.labels), sets)


def _chosen_layout(data: NpzData, arrays: ArrayFile, *, needs_labels: bool) -> ArrayLayout:
    """The same of one array of examples and one of labels.

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
        return find_layout(
            arrays.shapes, chosen, needs_labels=needs_labels, has_labels=not data.learns_inputs
        )
    except AmbiguousArraysError as error:
        raise _ambiguous(arrays, error.wanted, error.wanted) from error


def _by_names(data: NpzData, arrays: ArrayFile, *, needs_labels: bool) -> ChosenArrays:
    """Arrays that are called as the inputs or outputs of a model; the others are found."""
    inputs, outputs = ({name: name for name in names} for names in (data.inputs, data.outputs))
    if not needs_labels and not outputs.keys() <= arrays.headers.keys():
        # They are to be predicted: no other array is what is known of them.
        data = data.model_copy(update={"outputs": {}, "labels": None})
        if not inputs:
            features = _chosen_layout(data, arrays, needs_labels=False).features
            return ChosenArrays(ArrayNames.of(features, ""), {})
        return ChosenArrays(ArrayNames(inputs, {}), {})
    if not inputs or not outputs:
        (first, *more) = (*inputs, *outputs)
        shapes = {name: shape for name, shape in arrays.shapes.items() if name not in more}
        chosen = ArrayLayout(data.features or "", first) if outputs else ArrayLayout(first)
        if inputs:
            are_there = needs_labels or data.labels in arrays.headers
            chosen = replace(chosen, labels=(are_there and data.labels) or "")
        elif isinstance(arrays, NpyFolder):
            chosen = replace(chosen, features=chosen.features or arrays.path.stem)
        try:
            layout = find_layout(shapes, chosen, needs_labels=needs_labels)
        except AmbiguousArraysError as error:
            raise _ambiguous(arrays, error.wanted, error.wanted) from error
        inputs = inputs or {"": layout.features}
        outputs = outputs or ({"": layout.labels} if layout.labels else {})
    training = ArrayNames(inputs, outputs)
    sets, notes = dict[str, ArrayNames](), list[Problem]()
    beside = {each.called for each in set_files(data)}
    for called in ("validation", "test"):
        found = counterparts(arrays.headers, training.all, Part[called.upper()])
        missing = [name for name in training.all if name not in found]
        if called in beside or not found:
            continue
        if missing:
            notes.append(_incomplete(called, list(found.values()), missing))
        else:
            sets[called] = training.called(found)
    return ChosenArrays(training, sets, tuple(notes))


def _incomplete(called: str, found: Sequence[str], missing: Sequence[str]) -> Problem:
    there, lacking = (", ".join(f'"{name}"' for name in names) for names in (found, missing))
    return Problem(
        code="data_set_incomplete",
        severity=Severity.HINT,
        field="data.path",
        message=f"Arrays such as {there} seem to be a {called} set, and there are none of it for "
        f"{lacking}: it is left out.",
        hint="Save all arrays of the set, or nothing, if that is meant.",
    )


def arrays_of_set(data: NpzData, file: ArrayFile, of: SetFile, training: ArrayNames) -> ArrayNames:
    """Which arrays of a set's own file are what; they may be called otherwise than the training's.

    Raises:
        ProblemError: Their names do not show it.
    """
    if data.inputs or data.outputs:
        found = counterparts(file.headers, training.all, Part[of.called.upper()])
        return training.called(
            {name: name if name in file.headers else found.get(name, name) for name in training.all}
        )
    layout = _layout_of_set(data, file, of)
    return ArrayNames.of(layout.features, layout.labels)


def _layout_of_set(data: NpzData, file: ArrayFile, of: SetFile) -> ArrayLayout:
    """The same of one array of examples and one of labels.

    Raises:
        ProblemError: Their names do not show it.
    """
    features, labels = (
        chosen or (of_training if of_training in file.headers else "") or ""
        for chosen, of_training in ((of.features, data.features), (of.labels, data.labels))
    )
    if not features and isinstance(file, NpyFolder):
        features = file.path.stem
    chosen, part = ArrayLayout(features, labels), Part[of.called.upper()]
    try:
        return find_layout(file.shapes, chosen, part, has_labels=not data.learns_inputs)
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
