"""Lines about validation examples are read as they were written, and counted."""

import pytest
from pydantic import ValidationError

from gpupanel.domain.shown_examples import ShownClass, ShownExample
from gpupanel.domain.validation_examples import (
    FOLLOWED_LINE,
    MOST_FOLLOWED,
    EpochPredictions,
    ExamplePrediction,
    FollowedExamples,
)

RIGHT = ExamplePrediction(
    predicted=(ShownClass(name="cat", probability=0.75),), label_probability=0.75, is_right=True
)
WRONG = RIGHT.model_copy(update={"label_probability": 0.25, "is_right": False})
VALUE = ExamplePrediction(predicted=(ShownClass(name="12,646"),), error=3.5)


@pytest.mark.parametrize(
    "line",
    [
        EpochPredictions(epoch=3, predictions=(RIGHT, WRONG, VALUE)),
        FollowedExamples(
            from_epoch=1, validation_examples=40, examples=(ShownExample(index=7, label="cat"),)
        ),
    ],
)
def test_that_a_line_is_read_as_it_was_written(line: EpochPredictions | FollowedExamples) -> None:
    assert FOLLOWED_LINE.validate_json(line.model_dump_json(exclude_none=True)) == line


def test_that_right_ones_are_counted_and_values_are_neither_right_nor_wrong() -> None:
    assert EpochPredictions(epoch=1, predictions=(RIGHT, WRONG, RIGHT)).right_count == 2
    assert EpochPredictions(epoch=1, predictions=(VALUE, VALUE)).right_count is None


def test_that_a_line_of_a_stranger_has_no_more_examples_than_are_shown() -> None:
    with pytest.raises(ValidationError):
        EpochPredictions(epoch=1, predictions=(RIGHT,) * (MOST_FOLLOWED + 1))
