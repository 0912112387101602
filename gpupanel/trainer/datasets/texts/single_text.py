"""A text that a person gives: a table of it alone."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from gpupanel.domain.asked_prediction import PredictionAsked
from gpupanel.domain.data import TextData
from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.datasets.single_data import example_refused
from gpupanel.trainer.datasets.texts.recipe import TextRecipe

_FILE = "text.parquet"
_COLUMN = "text"


def table_of_text(
    data: TextData, asked: PredictionAsked, recipe: TextRecipe, folder: Path
) -> TextData:
    """The settings that read the text, which is written into the folder.

    Raises:
        ProblemError: There is none.
    """
    text = _COLUMN if asked.wants == "inputs" else asked.text
    if text is None:
        raise ProblemError(example_refused("The model takes texts.", "Give it one."))
    column = data.text or recipe.text or _COLUMN
    place = str(folder / _FILE)
    pq.write_table(pa.table({column: pa.array([text], pa.string())}), place)
    # How texts are written in the training's files says nothing of this one.
    return TextData(
        path=place,
        text=column,
        vocabulary=data.vocabulary,
        length=data.length,
        empty_words=data.empty_words,
    )
