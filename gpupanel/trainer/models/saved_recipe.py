"""What a saved model that is trained further says of its data, read without Keras."""

import json
from dataclasses import replace
from pathlib import Path

from gpupanel.domain.data import DataSettings, Target
from gpupanel.domain.model import Head, ModelSettings, SavedModel
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.source import Reading
from gpupanel.trainer.models.model_file import outputs_of_file, recipe_in
from gpupanel.trainer.models.model_file_problems import saved_model_misfit

_NO_RECIPE = Problem(
    code="model_without_recipe",
    field="model.path",
    message="The saved model has no record of how its features are made of texts or of a table's "
    "columns.",
    hint="Use a model that was trained on such data here, or save the examples as the model takes "
    "them in a NumPy array.",
)


def reading_to_train(
    reading: Reading, model: ModelSettings | None, data: DataSettings, kept: Path | None = None
) -> Reading:
    """The reading of what that model is trained on.

    Args:
        reading: As it would be for a model that is built.
        model: What is trained.
        data: What is read.
        kept: A run's copy of the model; ``None``: the file itself is read.

    Raises:
        ProblemError: The file cannot be read, it says nothing of features that it must know, or
            its last layer predicts something else than the data is said to be.
    """
    if not isinstance(model, SavedModel):
        return reading
    recipe = recipe_in(str(kept or model.path))
    if data.makes_features and not recipe:
        raise ProblemError(_NO_RECIPE)
    if data.makes_features and model.head is Head.KEPT:
        _check_predicted(model, data, recipe)
    return replace(reading, recipe=recipe, own_targets=model.head is Head.NEW)


def _check_predicted(model: SavedModel, data: DataSettings, recipe: str) -> None:
    """Refuse to train the last layer on what it does not predict, though the profile says so."""
    try:
        said = json.loads(recipe)
    except (ValueError, RecursionError):
        return  # the source says that it cannot be read
    predicts = said.get("predicts") if isinstance(said, dict) else None
    wanted = data.target_kind
    if wanted is not None and predicts in list(Target) and predicts != wanted:
        why = f"its last layer predicts {predicts}, and data.predicts says {wanted.value}"
        raise saved_model_misfit(model.path, why)


def check_last_layer(model: ModelSettings, *, classes: int, values: int) -> None:
    """Refuse a last layer that data cannot train, as far as the file itself shows it.

    Args:
        model: What is trained.
        classes: Or labels, that the data has; 0: it has values, or nobody knows.
        values: To be predicted, of each example; 0: it has classes, or nobody knows.

    Raises:
        ProblemError: The model has to get another one.
    """
    if not isinstance(model, SavedModel) or model.head is Head.NEW:
        return
    has, wanted = outputs_of_file(model.path), classes or values
    if has is not None and wanted and has != wanted:
        what = "classes" if classes else "values to be predicted"
        why = f"its last layer gives {has:,}, and the data has {wanted:,} {what}"
        raise saved_model_misfit(model.path, why)
