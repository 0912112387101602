"""A single example, read as a run that predicts reads it.

What is written for that, and what is made of it, goes into a folder that is removed with it, and
not into the person's cache.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from gpupanel.domain.asked_kind import AskedKind
from gpupanel.domain.asked_prediction import PredictionAsked
from gpupanel.domain.data import DataCache
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.cache_folder import CACHE_DIR_VARIABLE
from gpupanel.trainer.datasets.single_data import AskedModel, SingleData, example_refused
from gpupanel.trainer.datasets.source import Reading, no_download, source_of
from gpupanel.trainer.downloads.keras_cache import needs_download
from gpupanel.trainer.inference.examples import InferenceExamples, read_inference_examples
from gpupanel.trainer.models.model_file import configuration_in, recipe_in, trained_on_in
from gpupanel.trainer.models.saved_outputs import input_shape_in

_ROW_HINT = "Correct it, or leave it empty."


def asked_model(asked: PredictionAsked) -> AskedModel:
    """What the file of the model says that is asked.

    Raises:
        ProblemError: It cannot be read.
    """
    path = asked.profile.model.chosen_path
    trained = trained_on_in(path)
    return AskedModel(
        recipe=recipe_in(path),
        input_shape=input_shape_in(configuration_in(path)),
        value_range=None if trained is None else trained.value_range,
        edges=None if trained is None else trained.edges,
    )


@contextmanager
def single_example(
    asked: PredictionAsked, model: AskedModel
) -> Iterator[tuple[InferenceExamples, SingleData]]:
    """The example that is asked about, which may be read as long as the context lasts.

    Args:
        asked: The question.
        model: What its file says.

    Raises:
        ProblemError: It cannot be read, or is none of those that the model takes.
        OSError: It cannot be handed on.
    """
    data = asked.profile.data
    if data.is_code or (data.asked_kind is not AskedKind.ARRAY and needs_download(data)):
        raise ProblemError(
            example_refused(
                "This data is read by code, or has to be downloaded: only a run does that.",
                "Predict by a run: set it up in the session.",
            )
        )
    with _private_cache() as folder:
        single = source_of(data).single(data, asked, model, folder)
        data = single.data.model_copy(update={"cache": DataCache.NONE})
        profile = asked.profile.model_copy(update={"data": data})
        with _row_in_words(data.chosen_path, folder):
            seed = profile.training.seed
            found = read_inference_examples(profile, Reading(no_download, seed=seed))
        if len(found) != 1:
            raise ProblemError(
                example_refused(
                    f"{len(found):,} examples were found, where one was asked about.",
                    "Predict on several by a run.",
                )
            )
        yield found, single


@contextmanager
def _row_in_words(path: str, folder: Path) -> Iterator[None]:
    """Has problems speak of the row that was asked about, and not of a file that nobody made."""
    try:
        yield
    except ProblemError as error:
        if not path.startswith(str(folder)):
            raise
        raise ProblemError(*(_of_row(each, path) for each in error.problems)) from error


def _of_row(problem: Problem, path: str) -> Problem:
    words = problem.message.replace(f"Row 1 of {path}", "The row").replace(path, "the row")
    if words == problem.message:
        return problem
    return problem.model_copy(update={"message": words, "hint": _ROW_HINT, "fix": None})


@contextmanager
def _private_cache() -> Iterator[Path]:
    before = os.environ.get(CACHE_DIR_VARIABLE)
    with TemporaryDirectory(prefix="gpupanel-") as folder:
        os.environ[CACHE_DIR_VARIABLE] = folder
        try:
            yield Path(folder)
        finally:
            if before is None:
                del os.environ[CACHE_DIR_VARIABLE]
            else:
                os.environ[CACHE_DIR_VARIABLE] = before
