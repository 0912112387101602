"""What a preview says of the file that holds a model or its code."""

import contextlib
from pathlib import Path
from typing import Final

from gpupanel.domain.data import DataSettings, Target
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.code_file import read_code_file
from gpupanel.trainer.datasets.source import Reading, no_download
from gpupanel.trainer.failures import problems_of
from gpupanel.trainer.inference.known_classes import match_classes
from gpupanel.trainer.models.input_shape import input_misfit, input_shape_in
from gpupanel.trainer.models.kept_head import kept_classes
from gpupanel.trainer.models.model_classes import (
    as_trained,
    check_infers,
    check_trains,
    gives_row,
    known_classes,
)
from gpupanel.trainer.models.model_file import (
    check_model_file,
    configuration_in,
    scales_of_file,
    trained_on_in,
)
from gpupanel.trainer.models.saved_ending import (
    check_saved_ending,
    ending_notes,
    is_wrapped,
)
from gpupanel.trainer.models.saved_outputs import mixing_layers_in, standardised_range
from gpupanel.trainer.models.saved_recipe import check_last_layer, reading_to_train
from gpupanel.trainer.models.weights_file import check_weights_file
from gpupanel.trainer.parts.class_names import are_numbers, used_names
from gpupanel.trainer.parts.input_shape import fitting

_MOST_BEYOND: Final = 10
"""Times the range of a training's numbers: those of the same kind do not lie further outside."""
_MODEL_BYTES: Final = 256 * 2**20
"""The weights of a larger file are read by the run only: a preview must not take long."""


def model_scales(request: PreviewRequest) -> tuple[bool | None, bool]:
    """Whether a saved model scales what it is given, and whether it divides pixels by 255."""
    model = request.model
    if model is None or not model.is_saved:
        return None, False
    return scales_of_file(model.chosen_path)


def model_expects(request: PreviewRequest) -> tuple[float, float] | None:
    """Between which values those lie that a saved model is made for, with much room.

    By what its training learned from, or by a layer that standardises.
    """
    model = request.model
    if model is None or not model.is_saved or request.data.makes_features:
        return None
    with contextlib.suppress(ProblemError):  # what is wrong with the model is said of it
        trained = trained_on_in(model.chosen_path)
        if trained is None or trained.value_range is None:
            return standardised_range(configuration_in(model.chosen_path))
        least, greatest = trained.value_range
        room = _MOST_BEYOND * (greatest - least)
        return (least - room, greatest + room) if room else None
    return None


def mixing_layers(request: PreviewRequest) -> tuple[str, ...]:
    """The layers of a saved model to train that mix the examples of a batch."""
    model = request.model
    if model is None or not model.is_saved or request.task != "train":
        return ()
    with contextlib.suppress(ProblemError):  # what is wrong with the model is said of it
        return mixing_layers_in(configuration_in(model.chosen_path))
    return ()


def read_as_trained(request: PreviewRequest) -> PreviewRequest:
    """The request with the target of a saved model, where only labels would show it."""
    model = request.model
    if request.task != "train" and model is not None and model.is_saved and model.chosen_paths:
        with contextlib.suppress(ProblemError):  # what is wrong with the model is said of it
            known = known_classes(model)
            return request.model_copy(update={"data": as_trained(request.data, known)})
    return request


def model_problems(request: PreviewRequest, found: DataPreview) -> tuple[Problem, ...]:
    """Why the model's file cannot be used with the data, or what is odd about both.

    Args:
        request: Has the model.
        found: What the data is like.
    """
    model = request.model
    if model is None or model.lacks_path or not model.chosen_paths:
        return ()
    try:
        if model.is_code:
            read_code_file(Path(model.chosen_path), "model.path")
        elif model.weights_path:
            check_weights_file(model.weights_path)
        else:
            is_whole = request.task != "train" or not model.has_new_head
            any_ends = request.data.may_have_inputs and is_whole
            check_model_file(model.chosen_path, most_bytes=_MODEL_BYTES, any_ends=any_ends)
            if request.task == "evaluate" and model.measures_path:
                read_code_file(Path(model.measures_path), "model.measures")
            if request.task != "train":
                check_infers(model, request.task, request.data, request.inference)
            elif not model.has_new_head:
                check_trains(model.chosen_path, request.data)
            _check_input(request, found)
            if request.task == "train":
                reading_to_train(Reading(no_download), model, request.data)
                if not model.has_new_head and not gives_row(model.chosen_path):
                    return ()  # its classes are matched when a run has loaded the labels
                return _notes_to_train(model, request.data, found)
            if found.example_count and gives_row(model.chosen_path):
                notes = ending_notes(model, found.target)
                if request.task == "evaluate":  # its classes are matched where they are counted
                    return notes
                known, inference = known_classes(model), request.inference
                names = [name for name, _ in found.class_counts]
                if are_numbers(names):
                    names = used_names(found.class_counts, known.names)
                match = match_classes(known, request.task, inference, found.target, names)
                return (*match.notes, *notes)
    except Exception as error:  # noqa: BLE001 - reported as a problem, as at the start of a run
        return problems_of(error, what="The preview of the model")
    return ()


def _check_input(request: PreviewRequest, found: DataPreview) -> None:
    """Refuse examples of a shape that the model does not take.

    Raises:
        ProblemError: They are.
    """
    model, shape = request.model, found.feature_shape
    # To predict, labels that are missing refuse nothing.
    is_refused = found.is_refused and request.task != "predict"
    if model is None or not shape or is_refused or request.data.makes_features:
        return  # of tables and texts the record of their features decides
    if found.form.inputs:
        return  # a run compares them by their names
    configuration = configuration_in(model.chosen_path)
    # Within a model that was trained further stands the one that takes the examples.
    wanted = None if is_wrapped(configuration) else input_shape_in(configuration)
    if wanted is not None and fitting(wanted, shape) is None:
        raise ProblemError(input_misfit(wanted, shape, request.data))


def _notes_to_train(
    model: ModelSettings, data: DataSettings, found: DataPreview
) -> tuple[Problem, ...]:
    """What is said of the classes of data that a model is trained on.

    Raises:
        ProblemError: Its last layer cannot be.
    """
    names, kept = [name for name, _ in found.class_counts], kept_classes(model, data)
    notes: tuple[Problem, ...] = ()
    if kept is not None and (names or found.value_count):
        are_used = found.target is Target.CLASSES and kept.names
        used = used_names(found.class_counts, kept.names) if are_used else names
        _, notes = kept.match(found.target, used)
    if kept is None or not (kept.names and names):
        check_last_layer(model, classes=len(names), values=found.value_count)
    # Where nothing shows what is predicted, it is what a person says.
    target = found.target if found.example_count else data.target_kind
    if target is not None:
        check_saved_ending(model, target, found.value_count)
    return notes
