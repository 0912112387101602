"""Single examples that a model is asked about at once: the questions, and the answers."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field

from gpupanel.domain.preview import ExamplePreview
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.value import Count, Value
from gpupanel.domain.visible_text import visible_line

MOST_PREDICTED = 5
"""Classes or values that an answer has."""
MOST_COLUMNS_ASKED = 200
"""Columns of a table that are asked for by hand; a model of more takes a file."""
LONGEST_TEXT = 100_000
"""Characters of a text that is asked about by hand."""
_Name = Annotated[str, AfterValidator(visible_line)]
Cell = float | Annotated[str, Field(max_length=LONGEST_TEXT)] | None
"""What stands in a column; ``None``: nothing."""


class AskedColumn(Value):
    """A column of a table that a model learned from.

    Attributes:
        mean: Of numbers, over the rows of the training; it stands for an empty cell.
        least: Of numbers; ``None``: not known.
        greatest: Likewise.
        categories: All that training knew.
        usual: The most frequent of them; empty: not known.
    """

    name: str
    kind: Literal["number", "date", "category"]
    mean: float = 0.0
    least: float | None = None
    greatest: float | None = None
    categories: tuple[str, ...] = ()
    usual: str = ""


class PredictionAsked(Value):
    """What a model is asked.

    Attributes:
        number: The answer has it, too: it is that to this question.
        profile: One that predicts, its paths absolute: its model, and how its examples are read.
            It names the file of an image.
        wants: ``inputs``: what the model takes, which loads it; else what it predicts of the
            example.
        file: Of numbers: a picture, or a ``.npy`` file of one example or several; absolute.
        place: Which of the file's examples, from 0.
        swap: Of a picture in greyscale: whether light and dark are swapped before the model gets
            it. ``None``: where its edge is bright and those of the training are dark, or the other
            way round.
        row: Of a table: what stands in its columns, by their names; those left out are empty.
        text: Of texts.
        with_heat_map: Of an image: tell which parts of it speak for the class, where that is known.
    """

    number: int = 0
    profile: Profile
    wants: Literal["inputs", "prediction"] = "prediction"
    file: str = ""
    place: Count = 0
    swap: bool | None = None
    row: Annotated[Mapping[str, Cell], Field(max_length=MOST_COLUMNS_ASKED)] | None = None
    text: Annotated[str, Field(max_length=LONGEST_TEXT)] | None = None
    with_heat_map: bool = False

    def about_file(self, file: str) -> Self:
        """The same question about that file: of numbers, or an image, as it is now."""
        if self.file:
            return self.model_copy(update={"file": file})
        data = self.profile.data.with_files((file,))
        profile = self.profile.model_copy(update={"data": data})
        return self.model_copy(update={"profile": profile})


class PredictedNumber(Value):
    """A class or label with its probability, or a value with the name of what it is of."""

    name: _Name
    number: float


class HeatMap(Value):
    """How much each part of an image speaks for its class.

    Attributes:
        pixels_base64: 0: not at all, 255: most; rows first, base64.
        width: Numbers a row.
        height: Rows.
        about: The class that it is about.
    """

    pixels_base64: str
    width: int
    height: int
    about: _Name


class PredictionAnswer(Value):
    """What a model says of one example; or what it takes.

    Attributes:
        number: Of the question.
        columns: Where it takes rows, and that was asked.
        column_count: How many it takes; those beyond :data:`MOST_COLUMNS_ASKED` are not told.
        takes: Where it takes numbers, and that was asked: which files, and what becomes of a
            picture, or why it takes none. Sentences.
        takes_pictures: Whether it takes pictures, too.
        meaning: What the numbers are: probabilities of classes of which one is right, or of labels
            of which each may be; or values.
        predicted: The most probable first; of values as they are.
        predicted_count: How many there are; ``predicted`` has the first.
        image: The example as the model takes it; ``None``: it is no image.
        made: What the model was given: "8 x 8 grey, 0 to 16"; empty: the example as it is.
        is_swapped: Whether light and dark were swapped; ``None``: they cannot be.
        count: Examples in the file.
        heat_map: ``None``: none was asked for, or there is none.
        without_heat_map: Why there is none, as a sentence.
        problems: Why there is no answer, or what is to be known of it.
    """

    number: int = 0
    columns: tuple[AskedColumn, ...] = ()
    column_count: int = 0
    takes: str = ""
    takes_pictures: bool = True
    meaning: Literal["classes", "labels", "values"] = "classes"
    predicted: tuple[PredictedNumber, ...] = ()
    predicted_count: int = 0
    image: ExamplePreview | None = None
    made: str = ""
    is_swapped: bool | None = None
    count: Count = 1
    heat_map: HeatMap | None = None
    without_heat_map: str = ""
    problems: tuple[Problem, ...] = ()
