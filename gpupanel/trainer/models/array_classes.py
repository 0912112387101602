"""The classes of a saved model that gives arrays, or several outputs, and those of labels."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from gpupanel.domain.data import DataSettings, Target
from gpupanel.domain.example_form import arrays_refused
from gpupanel.domain.model import Head, ModelSettings, SavedModel
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.trained_on import TrainedOn, TrainedOutput
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.models.model_classes import (
    KnownClasses,
    check_gives_rows,
    listed,
    matched_by_number,
)
from gpupanel.trainer.models.model_file import trained_on_in
from gpupanel.trainer.models.model_file_problems import data_misfit
from gpupanel.trainer.parts.class_names import are_numbers


def with_kept_arrays(
    data: DataSet, settings: DataSettings, model: ModelSettings, kept: Path | None
) -> DataSet:
    """Labels that are arrays, with the classes of the saved model that is trained further.

    Args:
        data: Any; other labels stay as they are.
        settings: Of the data.
        model: What is trained.
        kept: A run's copy of it; ``None``: the file itself is read.

    Raises:
        ProblemError: Its last layers cannot be trained on them.
    """
    if not isinstance(model, SavedModel) or model.head is Head.NEW or data.arrays_of is None:
        return data
    path = str(kept or model.path)
    trained = trained_on_in(path)
    if trained is None:
        return data  # whether it fits is known when it is built
    if trained.outputs != "arrays":
        check_gives_rows(path)
        raise ProblemError(arrays_refused(settings, data.label_shape, "the model gives"))
    found, notes = with_known_classes(data, trained, model)
    return replace(found, notes=(*found.notes, *notes))


def kept_weights(model: ModelSettings, kept: Path | None) -> Mapping[str, float]:
    """What the losses of a saved model's outputs counted; none where it has one output.

    Args:
        model: What is trained further.
        kept: A run's copy of it.

    Raises:
        ProblemError: The file cannot be read.
    """
    if not model.is_saved or model.has_new_head:
        return {}
    trained = trained_on_in(str(kept or model.chosen_path))
    return {} if trained is None else {each.name: each.weight for each in trained.parts}


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
