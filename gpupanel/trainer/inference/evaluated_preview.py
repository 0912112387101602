"""Which examples an evaluation would evaluate, for the preview of its data."""

from gpupanel.domain.preview import EvaluatedPreview, PreviewRequest
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import TrainingSettings
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.source import all_examples
from gpupanel.trainer.inference.examples import choose_examples
from gpupanel.trainer.inference.learned_examples import note_of_place
from gpupanel.trainer.models.model_classes import gives_row
from gpupanel.trainer.models.model_file import trained_on_in


def evaluated_preview(
    request: PreviewRequest, data: DataSet
) -> tuple[EvaluatedPreview | None, tuple[Problem, ...]]:
    """Which of these examples would be evaluated, and what is said of that.

    Args:
        request: What is previewed; another task evaluates none.
        data: Of the request, as it was read.
    """
    model = request.model
    if request.task != "evaluate" or model is None or not model.is_saved:
        return None, ()
    training = TrainingSettings(seed=request.seed)
    profile = Profile(
        task=request.task,
        data=request.data,
        model=model,
        inference=request.inference,
        training=training,
    )
    everything = all_examples(data)
    try:
        chosen, found = choose_examples(profile, everything, gives_row=gives_row(model.chosen_path))
    except ProblemError as error:
        # What is wrong with a choice is said by the rules of planning.
        of_choice = ("inference.examples", "data.validation_fraction", "data.stratify", "data.fold")
        return None, tuple(each for each in error.problems if each.field not in of_choice)
    how = None if chosen.learned is None or not chosen.is_part_found else chosen.learned.how
    count = len(chosen.indices)
    notes = (*(each for each in found.notes if each not in everything.notes), *chosen.notes)
    return EvaluatedPreview(which=chosen.which, count=count, held_out=how), notes


def unread_preview(
    request: PreviewRequest,
) -> tuple[EvaluatedPreview | None, tuple[Problem, ...]]:
    """The same of data that only a run reads: where it is says whether the model knows it."""
    model = request.model
    if request.task != "evaluate" or model is None or not model.is_saved:
        return None, ()
    try:
        trained = trained_on_in(model.chosen_path)
    except ProblemError:
        return None, ()  # said of the model
    notes = note_of_place(trained, request.data, request.inference.examples)
    how = trained.held_out if trained is not None and notes else None
    if how is None or not how.held_out_fraction:
        return None, notes
    return EvaluatedPreview(which="validation", held_out=how), notes
