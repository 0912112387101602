"""Whether an evaluation counts examples that the model learned from."""

from gpupanel.domain.data import DataSettings
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.trainer.datasets.learned_from import learned_from
from gpupanel.trainer.models.model_file import trained_on_in


def learned_note(
    model: ModelSettings, data: DataSettings, seed: int, inference: InferenceSettings
) -> tuple[Problem, ...]:
    """What is said of an evaluation of a saved model on the data that it learned from.

    Args:
        model: What its file says of its training counts.
        data: As the profile has it; a path in it is absolute, or meant from the working directory.
        seed: The profile's.
        inference: Which examples are evaluated.

    Raises:
        ProblemError: The model's file cannot be read.
    """
    if inference.examples == "validation" or not model.is_saved:
        return ()
    trained, here = trained_on_in(model.chosen_path), learned_from(data, seed)
    if trained is None or trained.data != here.data:
        return ()
    held_out = Fix.of("Evaluate on what was held out", "inference.examples", "validation")
    is_known = trained.division == here.division and data.may_validate
    return (
        Problem(
            code="evaluates_what_was_learned",
            severity=Severity.WARNING,
            field="inference.examples",
            message="The model learned from this data, and the examples that it learned from are "
            "evaluated, too: its figures are better than those of new examples.",
            hint="Evaluate on the examples that training held out, with its settings of the data "
            "and its seed; or choose other data.",
            fix=held_out if is_known else None,
        ),
    )
