"""Examples of a run that evaluated or predicted, as they are shown: the question and the answer."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from gpupanel.domain.preview import ExamplePreview
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.value import Value
from gpupanel.domain.visible_text import visible_line

MOST_SHOWN = 200
"""How many examples are shown at once."""
MOST_CELLS = 40
"""Columns of an example that are shown: the first ones."""
LONGEST_CELL = 100
_Cell = Annotated[str, AfterValidator(visible_line), Field(max_length=LONGEST_CELL)]
_Name = Annotated[str, AfterValidator(visible_line)]


class ExampleChoice(Value):
    """Which examples of a run.

    Attributes:
        which: Those of a cell of the confusion matrix; the mistakes that the model was surest of
            first, of several labels and of values those with the largest error; or all predictions
            in their order.
        row: Of the cell: the class that they are of.
        column: The class that they were taken for.
        first: How many of them are passed over.
        count: How many are shown at most.
    """

    which: Literal["cell", "mistakes", "predictions"]
    row: Annotated[int, Field(ge=0)] = 0
    column: Annotated[int, Field(ge=0)] = 0
    first: Annotated[int, Field(ge=0)] = 0
    count: Annotated[int, Field(ge=1, le=MOST_SHOWN)] = 50


class ShownRequest(Value):
    """Which examples of which run.

    Attributes:
        profile: As the run was started with it, its paths absolute.
        file: What the run wrote: its evaluation, or its predictions.
        choice: Which of them.
    """

    profile: Profile
    file: str
    choice: ExampleChoice


class ShownClass(Value):
    """A class with its probability; or a value that was predicted, without one."""

    name: _Name
    probability: float | None = None


class ShownCell(Value):
    """What stands in a column of the data, for an example that is a row, or a file beside one.

    Attributes:
        column: Its name.
        text: What stands there, not scaled and not filled in; empty: nothing does.
    """

    column: _Cell
    text: _Cell


class ShownExample(Value):
    """An example, and what the model takes it for.

    Attributes:
        index: Its place in the data, as the run's file has it.
        name: Its file; empty where it has none.
        label: What it is; empty where nobody knows.
        predicted: The most probable classes, most probable first.
        label_probability: Of its label; ``None``: not known.
        error: Of several labels its loss, of values the mean absolute error; ``None``: not known.
        image: It; ``None``: it cannot be shown.
        cells: Of its row, the first ones; none: it is of no table.
    """

    index: int
    name: _Name = ""
    label: _Name = ""
    predicted: tuple[ShownClass, ...] = ()
    label_probability: float | None = None
    error: float | None = None
    image: ExamplePreview | None = None
    cells: Annotated[tuple[ShownCell, ...], Field(max_length=MOST_CELLS)] = ()

    @property
    def is_right(self) -> bool | None:
        """Whether the most probable class is its label; ``None``: not known."""
        if not self.label or not self.predicted or self.predicted[0].probability is None:
            return None
        return self.label == self.predicted[0].name


class ShownExamples(Value):
    """Some of the examples that were chosen.

    Attributes:
        total: How many there are of these.
        problems: Why they, or their images, cannot be shown.
    """

    examples: tuple[ShownExample, ...] = ()
    total: int = 0
    problems: tuple[Problem, ...] = ()
