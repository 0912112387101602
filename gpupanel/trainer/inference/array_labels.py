"""Labels that may be arrays, beside what a saved model gives."""

from gpupanel.domain.example_form import arrays_refused
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.trained_on import TrainedOn
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.models.model_file_problems import data_misfit


def check_labels(profile: Profile, data: DataSet | None, trained: TrainedOn | None) -> None:
    """Refuse labels that are arrays where the model gives a row, and the other way round.

    Args:
        profile: Evaluates, or predicts.
        data: What was read; ``None``: its labels are a row, or nobody needs them.
        trained: What the model's file says.

    Raises:
        ProblemError: They do not fit.
    """
    outputs = "row" if trained is None else trained.outputs
    arrays_of = None if data is None else data.arrays_of
    if outputs == "row" and data is not None and arrays_of is not None:
        raise ProblemError(arrays_refused(profile.data, data.label_shape, "the model gives"))
    if profile.task == "evaluate" and outputs == "arrays" and arrays_of is None:
        raise data_misfit(
            profile.model.chosen_path,
            "it gives an array for each example, and the labels are a number or a row of numbers",
        )


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
