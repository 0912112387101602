"""Some validation examples, and what a model says of them epoch by epoch: the lines of their file.

They are the same ones through a whole training, so that it can be seen what it learns and forgets.
"""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from gpupanel.domain.shown_examples import ShownClass, ShownExample
from gpupanel.domain.value import Count, Value

MOST_FOLLOWED = 16
"""So many can be seen at once."""


class ExamplePrediction(Value):
    """What a model says of one example.

    Attributes:
        predicted: The most probable classes, most probable first; of several labels those that are
            more probable than not; or values.
        label_probability: Of its class; ``None``: it has none.
        error: Of values the mean absolute error; ``None``: these are none.
        is_right: Whether its class, or all of its labels, are predicted; ``None``: of values.
    """

    predicted: Annotated[tuple[ShownClass, ...], Field(max_length=8)] = ()
    label_probability: float | None = None
    error: float | None = None
    is_right: bool | None = None


class FollowedExamples(Value):
    """A training begins, or goes on, and follows these examples.

    Attributes:
        from_epoch: Its first one; what was predicted after it before is not true any more.
        validation_examples: How many there are, of which these are some.
        examples: Without predictions.
    """

    kind: Literal["examples"] = "examples"
    from_epoch: Count
    validation_examples: Count
    examples: Annotated[tuple[ShownExample, ...], Field(max_length=MOST_FOLLOWED)]


class EpochPredictions(Value):
    """What the model says of them after an epoch.

    Attributes:
        epoch: Counted from 1.
        predictions: One for each example, in their order.
    """

    kind: Literal["epoch"] = "epoch"
    epoch: Count
    predictions: Annotated[tuple[ExamplePrediction, ...], Field(max_length=MOST_FOLLOWED)]

    @property
    def right_count(self) -> int | None:
        """How many are right; ``None``: values are neither right nor wrong."""
        known = [each.is_right for each in self.predictions if each.is_right is not None]
        return sum(known) if known else None


FollowedLine = Annotated[FollowedExamples | EpochPredictions, Field(discriminator="kind")]
FOLLOWED_LINE: TypeAdapter[FollowedExamples | EpochPredictions] = TypeAdapter(FollowedLine)
"""Reads a line of the file."""
