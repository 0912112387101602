"""Whether who takes examples takes several inputs, and labels that are arrays."""

from gpupanel.domain.data import DataSettings
from gpupanel.domain.data_source import DataSource
from gpupanel.domain.example_form import ExampleForm, form_refused, takes_any_form
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.model_fit import shape_misfit
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.examples import DataSet


def check_plain(data: DataSource, form: ExampleForm) -> None:
    """Refuse examples that an evaluation or a prediction of such a model does not take.

    Raises:
        ProblemError: They have several inputs, or labels that are arrays.
    """
    _refuse(*form_refused(data, form, "its model takes"))


def check_taken(model: ModelSettings, data: DataSettings, found: DataSet) -> None:
    """Refuse examples that a model cannot be built for.

    Args:
        model: Which.
        data: Where the examples come from.
        found: What it was read as.

    Raises:
        ProblemError: They are of another form or shape.
    """
    if not takes_any_form(model):
        _refuse(*form_refused(data, found.form, f"a model of {model.source} takes"))
    misfit = shape_misfit(model, data, found.training.feature_shape)
    if misfit is not None:
        _refuse(misfit)


def _refuse(*problems: Problem) -> None:
    if problems:
        raise ProblemError(*problems)
