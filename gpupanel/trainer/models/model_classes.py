"""The classes of a saved model, as its file and the profile name them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from gpupanel.domain.data import DataSettings, Target
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.problem import Fix, Problem, ProblemError, Severity
from gpupanel.domain.task import Task
from gpupanel.trainer.models.model_file import outputs_of_file, recipe_in, trained_on_in
from gpupanel.trainer.models.model_file_problems import problem
from gpupanel.trainer.parts.class_names import UNKNOWN, places_of

_SHOWN = 5
_OWN = "what its outputs mean is known only to the loss of one's own that it was trained by"
_NO_TABLE = Problem(
    code="predictions_no_table",
    field="inference.output",
    message="The model gives arrays, which no table has a place for.",
    hint="Have them written as arrays.",
    fix=Fix.of("Write arrays", "inference.output", "npz"),
)


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


def known_classes(model: ModelSettings) -> KnownClasses:
    """What a saved model's file and the profile say of its classes.

    Raises:
        ProblemError: The file cannot be read, or it says that its outputs are no row of these.
    """
    path = model.chosen_path
    check_gives_rows(path)
    trained, outputs = trained_on_in(path), outputs_of_file(path)
    names = model.chosen_class_names
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


def gives_row(path: str) -> bool:
    """Whether an example's outputs are classes, labels or values in a row, as far as anybody knows.

    Args:
        path: Of the model's file.

    Raises:
        ProblemError: It cannot be read.
    """
    trained = trained_on_in(path)
    return trained is None or trained.outputs == "row"


def check_gives_rows(path: str) -> None:
    """Refuse a model of which an example's outputs are not classes, labels or values in a row.

    What reads them as such would be wrong without anybody seeing it.

    Args:
        path: Of its file.

    Raises:
        ProblemError: They are arrays, or of a loss of the person's own; or it cannot be read.
    """
    trained = trained_on_in(path)
    if trained is None or trained.outputs == "row":
        return
    what = "it gives an array for each example" if trained.outputs == "arrays" else _OWN
    raise _not_rows(f"The model in {path} cannot be used so: {what}.")


def may_have_structure(data: DataSettings) -> bool:
    """Whether examples may have several inputs, and labels be arrays or of several outputs.

    Of Python code a run knows it, when it has executed it.
    """
    return data.is_code


def check_trains(path: str, data: DataSettings) -> None:
    """Refuse to train the last layers of a model further that cannot be.

    Args:
        path: Of its file.
        data: What on.

    Raises:
        ProblemError: Its loss is a person's own, or it gives arrays and the data has none.
    """
    trained = trained_on_in(path)
    if trained is None or trained.outputs != "arrays" or not may_have_structure(data):
        check_gives_rows(path)


def check_infers(
    model: ModelSettings, task: Task, data: DataSettings, inference: InferenceSettings
) -> None:
    """Refuse to evaluate, or to predict with, a model of outputs that cannot be.

    Args:
        model: A saved one; what measures it says its settings.
        task: What is done.
        data: What for.
        inference: Says what predictions are written as.

    Raises:
        ProblemError: It cannot be done; or the file cannot be read.
    """
    path = model.chosen_path
    trained = trained_on_in(path)
    if trained is None or trained.outputs == "row":
        return
    if task == "evaluate" and trained.outputs == "own" and not model.measures_path:
        raise problem(
            "model_outputs_not_rows",
            f"The model in {path} cannot be evaluated: {_OWN}.",
            "Name the Python file that has this loss in model.measures.",
        )
    if task == "predict" and inference.output == "csv":
        raise ProblemError(_NO_TABLE)
    if task != "predict" and not may_have_structure(data):
        check_gives_rows(path)


def _not_rows(message: str) -> ProblemError:
    return problem(
        "model_outputs_not_rows",
        message,
        "Export it: predict.py beside an export predicts with it; or use it in Python by "
        "keras.models.load_model.",
    )


def as_trained(data: DataSettings, known: KnownClasses) -> DataSettings:
    """The settings with what the model predicts, where labels would show it only."""
    if data.target_kind is None and known.predicts is not None and hasattr(data, "predicts"):
        return data.model_copy(update={"predicts": known.predicts})
    return data


def check_outputs(known: KnownClasses) -> None:
    """Refuse more or fewer names than the model has outputs.

    Raises:
        ProblemError: There are.
    """
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


def unknown_classes(
    known: KnownClasses, unknown: Sequence[str], field: str, ways: Sequence[Fix], otherwise: str
) -> Problem:
    """What is said of classes that the model was not trained on.

    Args:
        known: Those of the model.
        unknown: The names of the others.
        field: Where it is asked for.
        ways: Fixes, the likeliest one first.
        otherwise: What else helps than naming the classes as they were named in training.
    """
    what = f"class {listed(unknown)}" if len(unknown) == 1 else f"classes {listed(unknown)}"
    return Problem(
        code="class_unknown",
        field=field,
        message=f"The data has the {what}, which the model was not trained on; it knows "
        f"{listed(known.names)}.",
        hint=f"Name the classes as they were named in training; or {otherwise}.",
        detail="\n".join(unknown),
        fix=ways[0],
        alternatives=tuple(ways[1:]),
    )


def missing_labels(known: KnownClasses, names: Sequence[str], fix: Fix, otherwise: str) -> Problem:
    """What is said of labels that the model gives, and of which the data says nothing.

    Args:
        known: Those of the model.
        names: Those of the data.
        fix: The way on.
        otherwise: What else helps than a column for each label.
    """
    there = places_of(known.names, names)
    absent = [name for name, place in zip(known.names, there, strict=True) if place == UNKNOWN]
    return Problem(
        code="label_missing",
        field="data.path",
        message=f"The data says nothing of {listed(absent)}, which the model gives, too.",
        hint=f"Add a column of 0 and 1 for each of the model's labels; or {otherwise}.",
        fix=fix,
    )


def matched_by_number(known: KnownClasses, fix: Fix | None) -> Problem:
    """What is said where the data has numbers for classes that the model has names of."""
    return Problem(
        code="classes_matched_by_number",
        severity=Severity.WARNING,
        field="data",
        message=f"The data has numbers for its classes, and the model names: 0 is taken for "
        f'"{known.names[0]}", the first of {listed(known.names)}.',
        hint="Continue only if they were numbered in this order; otherwise name them in the data.",
        fix=fix,
    )


def nameless(known: KnownClasses, names: Sequence[str]) -> Problem:
    """What is said where nobody knows the classes of the model: the order of the data's counts."""
    return Problem(
        code="model_without_class_names",
        severity=Severity.WARNING,
        field="model.class_names",
        message=f"The model in {known.path} does not say what its classes are called: its outputs "
        f"are taken for those of the data in the order of their names, {listed(names)}.",
        hint="Take them so only if it was trained in this order; otherwise give their names in "
        "the order of its outputs.",
        fix=naming(names),
    )


def naming(names: Sequence[str]) -> Fix:
    """The fix that gives the model's classes these names."""
    return Fix.of("Name the model's classes in this order", "model.class_names", list(names))


def listed(names: Sequence[str]) -> str:
    """The first of some names, within a sentence."""
    shown = ", ".join(f'"{name}"' for name in names[:_SHOWN])
    return f"{shown}, ... ({len(names):,} in all)" if len(names) > _SHOWN else shown
