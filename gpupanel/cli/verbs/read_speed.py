"""The verb read-speed: how fast the training examples of a profile can be read here."""

from typing import Annotated

import typer

from gpupanel.cli.named_profile import training_profile
from gpupanel.cli.options import JsonOption, ProfileArgument
from gpupanel.cli.output import (
    answers,
    print_json,
    print_problems,
    progress,
)
from gpupanel.domain.read_speed import SECONDS, read_speed_request, read_speed_sentence
from gpupanel.runs.questions.read_speed import measure_reading


def read_speed(
    profile: ProfileArgument,
    *,
    seconds: Annotated[
        float,
        typer.Option(
            "--seconds", metavar="SECONDS", min=1.0, max=3600.0, help="How long to read examples."
        ),
    ] = SECONDS,
    json: JsonOption = False,
) -> None:
    """Read training examples as a run does, and say how many a second this machine can read."""
    read = training_profile(
        profile,
        code="read_speed_without_training",
        without="the reading of training examples is measured",
        json=json,
    )
    with progress.status("Reading examples…"):
        found = measure_reading(read_speed_request(read, seconds))
    if json:
        speed = {"examples_per_second": found.examples_per_second}
        print_json({**found.model_dump(mode="json"), **speed})
    else:
        print_problems(found.problems, answers)
        if not found.problems:
            answers.print(read_speed_sentence(found), highlight=False)
    known = found.is_in_memory or found.examples_per_second is not None
    raise typer.Exit(0 if known and not found.problems else 1)
