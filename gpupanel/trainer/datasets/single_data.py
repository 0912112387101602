"""A single example that a model is asked about: what is known of both."""

from dataclasses import dataclass

from gpupanel.domain.data import DataSettings
from gpupanel.domain.problem import Problem


@dataclass(frozen=True, slots=True)
class AskedModel:
    """What the file of a model says that is asked about single examples.

    Attributes:
        recipe: How its features were made; empty: it says nothing.
        input_shape: Of one example; ``None`` within it: of any length. ``None``: only Keras can
            say.
        value_range: Least and greatest number of the training; ``None``: not known.
        edges: As :class:`~gpupanel.domain.trained_on.TrainedOn` has them.
    """

    recipe: str = ""
    input_shape: tuple[int | None, ...] | None = None
    value_range: tuple[float, float] | None = None
    edges: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class SingleData:
    """Data that holds one example alone.

    Attributes:
        data: Reads it.
        made: What became of a file: "8 x 8 grey, 0 to 16"; empty: nothing to be told.
        is_swapped: Whether light and dark were swapped; ``None``: they cannot be.
        count: Examples of the file that this one is of.
        shown_between: The numbers that are black and white where it is shown; ``None``: the least
            and the greatest, or those of bytes.
        notes: What is odd about it.
    """

    data: DataSettings
    made: str = ""
    is_swapped: bool | None = None
    count: int = 1
    shown_between: tuple[float, float] | None = None
    notes: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class AskedFiles:
    """Which files a person may give.

    Attributes:
        words: Sentences; empty: nothing has to be said.
        are_pictures: Whether pictures are among them.
    """

    words: str = ""
    are_pictures: bool = True


def example_refused(message: str, hint: str) -> Problem:
    """Why a single example is not predicted."""
    return Problem(code="example_refused", message=message, hint=hint)
