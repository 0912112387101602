"""The verb summary: the layers of a profile's model, and what they hold."""

from pathlib import Path

import typer
from rich.table import Table

from gpupanel.cli.literal_console import styled
from gpupanel.cli.options import JsonOption, ProfileArgument
from gpupanel.cli.output import EXIT_BAD_PROFILE, answers, print_json, print_problems, refuse
from gpupanel.domain.model_summary import (
    ModelSummary,
    parameters_text,
    shape_text,
    summary_request,
    summary_sentence,
)
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.runs.directory.profile_file import anchored, read_profile
from gpupanel.runs.model_summary import summarize_model

_NOT_TRAINED = Problem(
    code="summary_without_training",
    field="task",
    message="The profile trains nothing: its model is in a file already.",
    hint="Name a profile whose task is train.",
)


def summary(profile: ProfileArgument, *, json: JsonOption = False) -> None:
    """List the layers of a profile's model, with their shapes and parameters."""
    try:
        read = anchored(read_profile(profile), Path.cwd())
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_BAD_PROFILE)
    if not (read.task == "train" and read.model.is_trainable):
        refuse(ProblemError(_NOT_TRAINED), json=json, status=EXIT_BAD_PROFILE)
    found = summarize_model(summary_request(read))
    if json:
        print_json(found.model_dump(mode="json"))
    else:
        _print(found)
    raise typer.Exit(1 if found.problems else 0)


def _print(found: ModelSummary) -> None:
    print_problems(found.problems, answers)
    if found.layers:
        table = Table(box=None, pad_edge=False, header_style="dim")
        for title in ("layer", "kind", "output"):
            table.add_column(title, overflow="fold")
        table.add_column("parameters", justify="right")
        for layer in found.layers:
            path = styled((layer.path, ""))
            table.add_row(path, layer.kind, shape_text(layer), parameters_text(layer))
        answers.print(table)
        answers.print()
    if not found.problems:
        answers.print(summary_sentence(found))
