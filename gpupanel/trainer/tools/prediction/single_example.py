"""A single example, read as a run that predicts reads it.

A row and a text become a table of one row, which such a run would take, too. Its import goes into
a folder that is removed with it, and not into the person's cache.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from gpupanel.domain.asked_prediction import Cell, PredictionAsked
from gpupanel.domain.data import DataCache, DataSettings, ImagesData, TableData, TextData
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.visible_text import visible_line
from gpupanel.files.cache_folder import CACHE_DIR_VARIABLE
from gpupanel.trainer.datasets.source import Reading, no_download
from gpupanel.trainer.datasets.tables.chosen_table import recipe_of
from gpupanel.trainer.datasets.tables.recipe import TableRecipe
from gpupanel.trainer.datasets.texts.recipe import TextRecipe
from gpupanel.trainer.downloads.keras_cache import needs_download
from gpupanel.trainer.inference.examples import InferenceExamples, read_inference_examples
from gpupanel.trainer.models.model_file import recipe_in

_TEXT = "text"
_BLANK_SIDE = 8
_ONE_ROW = "example.parquet"
_ROW_HINT = "Correct it, or leave it empty."


@contextmanager
def single_example(asked: PredictionAsked) -> Iterator[InferenceExamples]:
    """The example that is asked about; it may be read as long as the context lasts.

    Raises:
        ProblemError: It cannot be read, or is none of those that the model takes.
        OSError: It cannot be handed on.
    """
    data = asked.profile.data
    with _private_cache() as folder:
        place = str(folder / _ONE_ROW)
        if asked.row is not None:
            data = _table_of(asked, place)
        elif asked.text is not None:
            data = _text_table_of(asked, place)
        elif isinstance(data, ImagesData):
            # One that cannot be read is refused by its name, and not left out.
            data = data.model_copy(update={"unreadable_share": 0.0})
        if data.is_code or needs_download(data):
            raise ProblemError(_only_by_a_run())
        data = data.model_copy(update={"cache": DataCache.NONE})
        profile = asked.profile.model_copy(update={"data": data})
        seed = profile.training.seed
        with _row_in_words(place):
            found = read_inference_examples(profile, Reading(no_download, seed=seed))
        if len(found) != 1:
            raise ProblemError(_several(len(found)))
        yield found


@contextmanager
def blank_example(asked: PredictionAsked) -> Iterator[PredictionAsked]:
    """The same about an example that nobody gave: a black picture, or a text of one word."""
    data = asked.profile.data
    if not isinstance(data, ImagesData):
        yield asked.model_copy(update={"text": _TEXT})
        return
    with TemporaryDirectory(prefix="gpupanel-") as folder:
        place = Path(folder) / "blank.png"
        Image.new("RGB", (_BLANK_SIDE, _BLANK_SIDE)).save(place)
        profile = asked.profile.model_copy(update={"data": data.with_files([str(place)])})
        yield asked.model_copy(update={"profile": profile})


@contextmanager
def _row_in_words(place: str) -> Iterator[None]:
    """Has problems speak of the row that was asked about, and not of a file that nobody made."""
    try:
        yield
    except ProblemError as error:
        told = (
            each.message.replace(f"Row 1 of {place}", "The row").replace(place, "the row")
            for each in error.problems
        )
        raise ProblemError(
            *(
                each.model_copy(update={"message": words, "hint": _ROW_HINT, "fix": None})
                if words != each.message
                else each
                for each, words in zip(error.problems, told, strict=True)
            )
        ) from error


def table_recipe(profile_path: str) -> TableRecipe:
    """How the model in that file takes rows.

    Raises:
        ProblemError: It says nothing of that, or cannot be read.
    """
    found = recipe_of(Reading(no_download, recipe=recipe_in(profile_path)))
    if found is None:
        raise ProblemError(_no_rows())
    return found


def _table_of(asked: PredictionAsked, place: str) -> DataSettings:
    data, row = asked.profile.data, asked.row or {}
    if not isinstance(data, TableData):
        raise ProblemError(_no_rows())
    recipe = table_recipe(asked.profile.model.chosen_path)
    known = {each.name: each.kind for each in recipe.features}
    for name in row:
        if name not in known:
            raise ProblemError(_unknown_column(name))
    columns = {name: _column(name, kind, row.get(name)) for name, kind in known.items()}
    pq.write_table(pa.table(columns), place)
    # What else was chosen is about the table of the training: how it is written, and what of it
    # is left out.
    return TableData(path=place, missing=data.missing, empty_words=data.empty_words)


def _column(name: str, kind: str, cell: Cell) -> pa.Array:
    if kind != "number":
        return pa.array([None if cell is None else str(cell)], pa.string())
    if isinstance(cell, str):
        raise ProblemError(_no_number(name, cell))
    return pa.array([cell], pa.float64())


def _text_table_of(asked: PredictionAsked, place: str) -> DataSettings:
    data = asked.profile.data
    if not isinstance(data, TextData):
        raise ProblemError(_no_texts())
    recipe = recipe_in(asked.profile.model.chosen_path)
    column = data.text or (TextRecipe.model_validate_json(recipe).text if recipe else "") or _TEXT
    text = (asked.text or "").encode("utf-8", "replace").decode()
    pq.write_table(pa.table({column: pa.array([text], pa.string())}), place)
    return TextData(
        path=place,
        text=column,
        vocabulary=data.vocabulary,
        length=data.length,
        empty_words=data.empty_words,
    )


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


def _refused(message: str, hint: str) -> Problem:
    return Problem(code="example_refused", message=message, hint=hint)


def _only_by_a_run() -> Problem:
    return _refused(
        "This data is read by code, or has to be downloaded: only a run does that.",
        "Predict by a run: set it up in the session.",
    )


def _several(count: int) -> Problem:
    return _refused(
        f"{count:,} examples were found, where one was asked about.",
        "Predict on several by a run.",
    )


def _no_rows() -> Problem:
    return _refused(
        "The model does not take rows of a table.", "Use a model that was trained on a table here."
    )


def _no_texts() -> Problem:
    return _refused("The model does not take texts.", "Use a model that was trained on texts here.")


def _unknown_column(name: str) -> Problem:
    return _refused(
        f'The model did not learn from a column "{visible_line(name)}".',
        "Give it the columns that it was trained on.",
    )


def _no_number(name: str, cell: str) -> Problem:
    return _refused(
        f'"{visible_line(cell[:100])}" is no number, and the column "{visible_line(name)}" holds '
        "numbers.",
        "Give a number, or leave it empty.",
    )
