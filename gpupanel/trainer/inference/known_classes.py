"""The classes of a saved model, and which of them the examples are of: matched by name."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpupanel.domain.data import DataSettings, Target
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.problem import Fix, Problem, ProblemError, Severity
from gpupanel.domain.profile import Task
from gpupanel.trainer.datasets.class_names import UNKNOWN, are_numbers, places_of
from gpupanel.trainer.models.model_file import outputs_of_file, recipe_in, trained_on_in

_PREDICT = Fix.of("Predict, without labels", "task", "predict")
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class KnownClasses:
    """What the outputs of a saved model are about.

    Attributes:
        path: Of its file.
        names: Of its classes or labels; none: it gives values, or nobody knows them.
        predicts: What the labels were that it was trained on; ``None``: nobody knows.
        outputs: Numbers that it gives an example; ``None``: only Keras can say.
    """

    path: str
    names: tuple[str, ...]
    predicts: Target | None
    outputs: int | None


@dataclass(frozen=True, slots=True, eq=False)
class ClassMatch:
    """What the classes of examples are to the model.

    Attributes:
        target: What the labels of the model are.
        names: Of the classes or labels in the order of the model's outputs; none where it gives
            values, or nobody knows them.
        places: Of each class or label of the examples its number among the model's;
            :data:`~gpupanel.trainer.datasets.class_names.UNKNOWN` where it has none. ``None``: the
            labels of the examples are of no use.
        notes: What was assumed, or left out.
    """

    target: Target
    names: tuple[str, ...]
    places: npt.NDArray[np.int32] | None
    notes: tuple[Problem, ...] = ()


def known_classes(model: ModelSettings) -> KnownClasses:
    """What a saved model's file and the profile say of its classes.

    Raises:
        ProblemError: The file cannot be read.
    """
    path = model.chosen_path
    trained, outputs = trained_on_in(path), outputs_of_file(path)
    names = model.said_class_names
    if trained is not None:
        return KnownClasses(path, names or trained.class_names, trained.predicts, outputs)
    # Before there was such a record, tables and texts had one that says it, too.
    try:
        recipe = json.loads(recipe_in(path) or "{}")
        predicts = Target(recipe["predicts"]) if "predicts" in recipe else None
        names = names or tuple(map(str, recipe.get("class_names", ())))
    except (ValueError, TypeError, AttributeError, RecursionError):
        predicts = None  # whoever reads the recipe says that it cannot be read
    return KnownClasses(path, names, predicts, outputs)


def match_classes(
    known: KnownClasses,
    task: Task,
    inference: InferenceSettings,
    target: Target,
    names: Sequence[str],
) -> ClassMatch:
    """Find the classes of examples among those of the model.

    Args:
        known: Those of the model.
        task: ``predict`` asks for no labels, so that none can be wrong.
        inference: What is done about classes that the model does not know.
        target: What the labels of the examples are.
        names: Of their classes or labels; none where nobody knows them.

    Raises:
        ProblemError: The examples are not of the model's classes.
    """
    predicts = known.predicts or target
    if predicts is not target:
        if task == "evaluate":
            raise ProblemError(_predicts_otherwise(known, target))
        return ClassMatch(predicts, known.names, None)
    if target is Target.VALUES:
        return ClassMatch(target, (), np.empty(0, np.int32))
    if not known.names:
        return _without_names(known, task, target, names)
    _check_outputs(known)
    if are_numbers(names) and not are_numbers(known.names) and names:
        return _by_number(known, task, target, names)
    places = places_of(names, known.names)
    unknown = [name for name, place in zip(names, places, strict=True) if place == UNKNOWN]
    missing = len(set(places.tolist()) - {UNKNOWN}) < len(known.names)
    if task == "predict":
        is_usable = not unknown and not (missing and target is Target.LABELS)
        return ClassMatch(target, known.names, places if names and is_usable else None)
    if target is Target.LABELS and missing:
        raise ProblemError(_labels_missing(known, names))
    if not unknown:
        return ClassMatch(target, known.names, places)
    if inference.unknown_classes == "refuse" or len(unknown) == len(names):
        raise ProblemError(_unknown(known, unknown, names))
    return ClassMatch(target, known.names, places, (_left_out(unknown, target),))


def _without_names(
    known: KnownClasses, task: Task, target: Target, names: Sequence[str]
) -> ClassMatch:
    """A model of somebody else's: by the order of the names, which is said."""
    fits = known.outputs in (None, len(names)) or (known.outputs == 1 and len(names) <= 2)
    numbers = np.arange(len(names), dtype=np.int32)
    if not names and target is Target.CLASSES and (known.outputs or 2) > 1:
        return ClassMatch(target, (), numbers, (_numbered(known),))
    if are_numbers(names):  # then a number is all that either of them has
        usable = task != "predict" or known.outputs is None or len(names) <= max(2, known.outputs)
        return ClassMatch(target, tuple(names), numbers if usable else None)
    if not fits and task == "predict":
        return ClassMatch(target, (), None)
    return ClassMatch(target, tuple(names), numbers, (_nameless(known, names),))


def _by_number(known: KnownClasses, task: Task, target: Target, names: Sequence[str]) -> ClassMatch:
    """Examples whose classes are numbers, and nothing more."""
    count = len(known.names)
    fits = len(names) <= count if target is Target.CLASSES else len(names) == count
    if not fits:
        if task == "predict":
            return ClassMatch(target, known.names, None)
        raise ProblemError(_unknown(known, names[count:] or names, names))
    note = Problem(
        code="classes_matched_by_number",
        severity=Severity.WARNING,
        field="data",
        message=f"The data has numbers for its classes, and the model names: 0 is taken for "
        f'"{known.names[0]}", the first of {_listed(known.names)}.',
        hint="Evaluate only if they were numbered in this order; otherwise predict, and compare "
        "the names.",
        fix=_PREDICT if task == "evaluate" else None,
    )
    numbers = np.arange(len(names), dtype=np.int32)
    return ClassMatch(target, known.names, numbers, (note,))


def _check_outputs(known: KnownClasses) -> None:
    count = len(known.names)
    fits = known.outputs in (None, count) or (known.outputs == 1 and count <= 2)
    if not fits:
        raise ProblemError(
            Problem(
                code="class_names_misfit",
                field="model.class_names",
                message=f"{count:,} names are given for the {known.outputs:,} outputs of the model "
                f"in {known.path}.",
                hint="Give one name for each output, in their order.",
                fix=Fix.of("Take the names in the file", "model.class_names"),
            )
        )


def _unknown(known: KnownClasses, unknown: Sequence[str], names: Sequence[str]) -> Problem:
    one = len(unknown) == 1
    what = f"class {_listed(unknown)}" if one else f"classes {_listed(unknown)}"
    fixes = [Fix.of("Leave those examples out", "inference.unknown_classes", "leave_out"), _PREDICT]
    if len(unknown) == len(names):
        del fixes[0]  # nothing would be left
        if are_numbers(known.names) and len(known.names) == len(names):
            fixes.insert(0, _naming(names))
    return Problem(
        code="class_unknown",
        field="data.path",
        message=f"The data has the {what}, which the model was not trained on; it knows "
        f"{_listed(known.names)}.",
        hint="Name the classes as they were named in training; or leave those examples out, or "
        "predict, which needs no labels.",
        detail="\n".join(unknown),
        fix=fixes[0],
        alternatives=tuple(fixes[1:]),
    )


def _labels_missing(known: KnownClasses, names: Sequence[str]) -> Problem:
    there = places_of(known.names, names)
    absent = [name for name, place in zip(known.names, there, strict=True) if place == UNKNOWN]
    return Problem(
        code="label_missing",
        field="data.path",
        message=f"The data says nothing of {_listed(absent)}, which the model gives, too.",
        hint="Add a column of 0 and 1 for each of the model's labels; or predict, which needs "
        "none.",
        fix=_PREDICT,
    )


def _left_out(unknown: Sequence[str], target: Target) -> Problem:
    what = "Labels" if target is Target.LABELS else "Examples of classes"
    return Problem(
        code="classes_left_out",
        severity=Severity.HINT,
        field="inference.unknown_classes",
        message=f"{what} that the model does not know are left out: {_listed(unknown)}.",
        hint="Set inference.unknown_classes to refuse such data.",
    )


def _nameless(known: KnownClasses, names: Sequence[str]) -> Problem:
    return Problem(
        code="model_without_class_names",
        severity=Severity.WARNING,
        field="model.class_names",
        message=f"The model in {known.path} does not say what its classes are called: its outputs "
        f"are taken for those of the data in the order of their names, {_listed(names)}.",
        hint="Take them so only if it was trained in this order; otherwise give their names in "
        "the order of its outputs.",
        fix=_naming(names),
    )


def _numbered(known: KnownClasses) -> Problem:
    return Problem(
        code="model_without_class_names",
        severity=Severity.HINT,
        field="model.class_names",
        message=f"The model in {known.path} does not say what its classes are called: they are "
        "numbered as its outputs are, from 0.",
        hint="Give their names in the order of its outputs.",
    )


def _naming(names: Sequence[str]) -> Fix:
    return Fix.of("Name the model's classes in this order", "model.class_names", list(names))


def _predicts_otherwise(known: KnownClasses, target: Target) -> Problem:
    return Problem(
        code="model_predicts_otherwise",
        field="data.predicts",
        message=f"The model in {known.path} was trained to predict {known.predicts}, and the "
        f"data is read as having {target} to be predicted.",
        hint="Set data.predicts to what the model predicts where the labels are that; or choose "
        "other data, or predict, which needs no labels.",
        fix=_PREDICT,
    )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f'"{name}"' for name in names[:_SHOWN])
    return f"{shown}, ... ({len(names):,} in all)" if len(names) > _SHOWN else shown


def as_trained(data: DataSettings, known: KnownClasses) -> DataSettings:
    """The settings with what the model predicts, where labels would show it only."""
    if data.target_kind is None and known.predicts is not None and hasattr(data, "predicts"):
        return data.model_copy(update={"predicts": known.predicts})
    return data
