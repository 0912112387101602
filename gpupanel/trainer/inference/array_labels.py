"""Labels that Python code loads, beside what a saved model gives."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from gpupanel.domain.data import Target
from gpupanel.domain.example_form import form_refused
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.trained_on import TrainedOn, TrainedOutput
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.models.model_classes import KnownClasses, listed, matched_by_number
from gpupanel.trainer.models.model_file_problems import data_misfit
from gpupanel.trainer.parts.class_names import are_numbers


def check_labels(profile: Profile, data: DataSet, trained: TrainedOn | None) -> None:
    """Refuse labels that are arrays where the model gives a row, and the other way round.

    Args:
        profile: Evaluates, or predicts.
        data: What its Python code loaded.
        trained: What the model's file says.

    Raises:
        ProblemError: They do not fit.
    """
    outputs = "row" if trained is None else trained.outputs
    if outputs == "row" and data.arrays_of is not None:
        of_labels = data.form.model_copy(update={"inputs": {}})
        raise ProblemError(*form_refused(profile.data, of_labels, "the model gives"))
    if profile.task == "evaluate" and outputs == "arrays" and data.arrays_of is None:
        raise data_misfit(
            profile.model.chosen_path,
            "it gives an array for each example, and the labels are a number or a row of numbers",
        )


def with_known_classes(
    data: DataSet, trained: TrainedOn, model: ModelSettings
) -> tuple[DataSet, tuple[Problem, ...]]:
    """The data with the classes of the model, where its labels have numbers alone.

    Args:
        data: Its labels are arrays.
        trained: What the model's file says.
        model: Has that file, and may name classes, too.

    Returns:
        The data, and what is said of its classes.

    Raises:
        ProblemError: They are others, or something else is predicted.
    """
    path, said = model.chosen_path, model.chosen_class_names
    labels = [_Labels("", data.target, data.class_names)]
    names_known = said or trained.class_names
    known = {"": TrainedOutput(name="", predicts=trained.predicts, class_names=names_known)}
    if data.outputs or trained.parts:
        labels = [_Labels(each.name, each.target, each.class_names) for each in data.outputs]
        known = {each.name: each for each in trained.parts}
        if said:
            raise data_misfit(path, "model.class_names is of one output, and it has several")
    if known.keys() != {each.name for each in labels}:
        has, given = (", ".join(names) or "one" for names in (known, (one.name for one in labels)))
        raise data_misfit(path, f"its outputs are {has}, and the labels are of {given}")
    names = {each.name: _classes(each, known[each.name], path) for each in labels}
    notes = tuple(
        matched_by_number(KnownClasses(path, names[each.name], each.target, None), None)
        for each in labels
        if names[each.name] != tuple(each.class_names) and not are_numbers(names[each.name])
    )
    if not data.outputs:
        return replace(data, class_names=names[""]), notes
    outputs = (replace(each, class_names=names[each.name]) for each in data.outputs)
    return replace(data, outputs=tuple(outputs)), notes


class _Labels(NamedTuple):
    """Of one output of a model; the only one has no name."""

    name: str
    target: Target
    class_names: Sequence[str]


def _classes(labels: _Labels, known: TrainedOutput, path: str) -> tuple[str, ...]:
    """The classes of an output in its own order."""
    names, of = tuple(labels.class_names), f" of {labels.name}" if labels.name else ""
    if labels.target is not known.predicts:
        what = f"it was trained to predict {known.predicts}{of}"
        raise data_misfit(path, f"{what}, and the labels are {labels.target}")
    if labels.target is not Target.CLASSES or names == known.class_names:
        return names
    if are_numbers(names) and len(names) <= len(known.class_names):
        return known.class_names
    has, given = listed(known.class_names), listed(names)
    raise data_misfit(path, f"its classes{of} are {has}, and the labels have {given}")


def own_metrics_notes(trained: TrainedOn, model: ModelSettings) -> tuple[Problem, ...]:
    """What is said of metrics of the person's own that an evaluation does not measure.

    Args:
        trained: What the model's file says.
        model: May name the code that has them: of arrays they are measured then.
    """
    if not trained.own_metrics or (trained.outputs != "row" and model.measures_path):
        return ()
    hint = "Name the Python file that has them in model.measures."
    if trained.outputs == "row":
        hint = "Measure them in Python: keras.models.load_model opens the model."
    return (
        Problem(
            code="own_metrics_not_measured",
            severity=Severity.HINT,
            field="model.measures",
            message=f"The training measured {', '.join(trained.own_metrics)}, too, by code of "
            "your own, which this evaluation does not execute.",
            hint=hint,
        ),
    )
