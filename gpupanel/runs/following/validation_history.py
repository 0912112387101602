"""What a training said of the same validation examples, epoch by epoch, read from its file."""

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import ValidationError

from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.shown_examples import ShownExample
from gpupanel.domain.validation_examples import (
    FOLLOWED_LINE,
    EpochPredictions,
    ExamplePrediction,
    FollowedExamples,
)
from gpupanel.files.guarded_files import open_to_read

MOST_BYTES = 64 * 2**20
"""More than a run writes: 16 images each time that it goes on, and some thousand epochs."""
MOST_LINES, LONGEST_LINE = 20_000, 2**20
"""Likewise: the images of 16 examples are 400 KiB."""


@dataclass(frozen=True, slots=True)
class ValidationHistory:
    """The examples with what was said of them so far.

    Attributes:
        validation_examples: How many the run validates on.
        examples: Those that are followed.
        epochs: Ascending, each with a prediction for every example.
    """

    validation_examples: int = 0
    examples: tuple[ShownExample, ...] = ()
    epochs: tuple[EpochPredictions, ...] = ()

    def of_example(self, place: int) -> list[ExamplePrediction]:
        """What was said of one of them, epoch by epoch."""
        return [each.predictions[place] for each in self.epochs]


def read_validation_history(layout: RunLayout) -> ValidationHistory:
    """Read it; a run that validates nothing, or has not begun, has none.

    Lines that cannot be read are passed over: one that is being written, of a later version, or
    another's.

    Args:
        layout: The run, into whose folder others may write.

    Raises:
        OSError: It cannot be read, or is no file of the run's.
    """
    examples = FollowedExamples(from_epoch=1, validation_examples=0, examples=())
    of_epoch: dict[int, EpochPredictions] = {}
    for line in _lines(layout):
        if isinstance(line, FollowedExamples):
            same = [each.index for each in line.examples] == [
                each.index for each in examples.examples
            ]
            of_epoch = {
                epoch: said for epoch, said in of_epoch.items() if same and epoch < line.from_epoch
            }
            examples = line
        elif len(line.predictions) == len(examples.examples):
            of_epoch[line.epoch] = line
    return ValidationHistory(
        examples.validation_examples,
        examples.examples,
        tuple(of_epoch[epoch] for epoch in sorted(of_epoch)),
    )


def _lines(layout: RunLayout) -> Iterator[FollowedExamples | EpochPredictions]:
    try:
        with open_to_read(layout.validation_examples) as file:
            content = file.read(MOST_BYTES)
    except FileNotFoundError:
        return
    for line in content.splitlines()[:MOST_LINES]:
        if len(line) > LONGEST_LINE:
            continue
        try:
            yield FOLLOWED_LINE.validate_json(line)
        except ValidationError:
            continue
