"""Which of the classes of a saved model examples are of: matched by name."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpupanel.domain.data import Target
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.problem import Fix, Problem, ProblemError, Severity
from gpupanel.domain.task import Task
from gpupanel.trainer.models.model_classes import (
    KnownClasses,
    check_outputs,
    listed,
    matched_by_number,
    missing_labels,
    nameless,
    naming,
    unknown_classes,
)
from gpupanel.trainer.parts.class_names import (
    UNKNOWN,
    are_numbers,
    are_other_numbers,
    places_of,
)

_PREDICT = Fix.of("Predict, without labels", "task", "predict")


@dataclass(frozen=True, slots=True, eq=False)
class ClassMatch:
    """What the classes of examples are to the model.

    Attributes:
        target: What the labels of the model are.
        names: Of the classes or labels in the order of the model's outputs; none where it gives
            values, or nobody knows them.
        places: Of each class or label of the examples its number among the model's;
            :data:`~gpupanel.trainer.parts.class_names.UNKNOWN` where it has none. ``None``: the
            labels of the examples are of no use.
        notes: What was assumed, or left out.
    """

    target: Target
    names: tuple[str, ...]
    places: npt.NDArray[np.int32] | None
    notes: tuple[Problem, ...] = ()


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
    check_outputs(known)
    if are_other_numbers(names, known.names):
        return _by_number(known, task, target, names)
    places = places_of(names, known.names)
    unknown = [name for name, place in zip(names, places, strict=True) if place == UNKNOWN]
    missing = len(set(places.tolist()) - {UNKNOWN}) < len(known.names)
    if task == "predict":
        is_usable = not unknown and not (missing and target is Target.LABELS)
        return ClassMatch(target, known.names, places if names and is_usable else None)
    if target is Target.LABELS and missing:
        raise ProblemError(missing_labels(known, names, _PREDICT, "predict, which needs none"))
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
        return ClassMatch(target, (), None, (_numbered(known),))
    return ClassMatch(target, tuple(names), numbers, (nameless(known, names),))


def _by_number(known: KnownClasses, task: Task, target: Target, names: Sequence[str]) -> ClassMatch:
    """Examples whose classes are numbers, and nothing more."""
    count = len(known.names)
    fits = len(names) <= count if target is Target.CLASSES else len(names) == count
    if not fits:
        if task == "predict":
            return ClassMatch(target, known.names, None)
        raise ProblemError(_unknown(known, names[count:] or names, names))
    note = matched_by_number(known, _PREDICT if task == "evaluate" else None)
    numbers = np.arange(len(names), dtype=np.int32)
    return ClassMatch(target, known.names, numbers, (note,))


def _unknown(known: KnownClasses, unknown: Sequence[str], names: Sequence[str]) -> Problem:
    ways = [Fix.of("Leave those examples out", "inference.unknown_classes", "leave_out"), _PREDICT]
    if len(unknown) == len(names):
        del ways[0]  # nothing would be left
        if are_numbers(known.names) and len(known.names) == len(names):
            ways.insert(0, naming(names))
    otherwise = "leave those examples out, or predict, which needs no labels"
    return unknown_classes(known, unknown, "data.path", ways, otherwise)


def _left_out(unknown: Sequence[str], target: Target) -> Problem:
    what = "Labels" if target is Target.LABELS else "Examples of classes"
    return Problem(
        code="classes_left_out",
        severity=Severity.HINT,
        field="inference.unknown_classes",
        message=f"{what} that the model does not know are left out: {listed(unknown)}.",
        hint="Set inference.unknown_classes to refuse such data.",
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
