"""The verb lr-find: which learning rate to train with, by a range test."""

from pathlib import Path

import typer
from rich.table import Table

from gpupanel.cli.options import JsonOption, ProfileArgument
from gpupanel.cli.output import (
    EXIT_BAD_PROFILE,
    answers,
    print_json,
    print_problems,
    progress,
    refuse,
)
from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.rate_range import RateRange, rate_range_request, rate_range_sentence
from gpupanel.runs.directory.profile_file import anchored, read_profile
from gpupanel.runs.questions.rate_range import try_learning_rates
from gpupanel.runs.readiness import prepared_on, read_machine

_NOT_TRAINED = Problem(
    code="rate_range_without_training",
    field="task",
    message="The profile trains nothing: it has no learning rate.",
    hint="Name a profile whose task is train.",
)
_SHOWN = 8
"""The table has every eighth step."""


def lr_find(profile: ProfileArgument, *, json: JsonOption = False) -> None:
    """Train for some steps with a rising learning rate, and show where the loss falls fastest."""
    try:
        read = anchored(read_profile(profile), Path.cwd())
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_BAD_PROFILE)
    if read.task != "train":
        refuse(ProblemError(_NOT_TRAINED), json=json, status=EXIT_BAD_PROFILE)
    plan = prepared_on(read_machine(), read).plan
    device = plan.replicas[0].device_key if plan is not None else CPU_KEY
    with progress.status("Trying learning rates…"):
        found = try_learning_rates(rate_range_request(read), device)
    if json:
        print_json(found.model_dump(mode="json"))
    else:
        _print(found)
    raise typer.Exit(1 if found.problems or found.suggested is None else 0)


def _print(found: RateRange) -> None:
    print_problems(found.problems, answers)
    if found.points:
        table = Table(box=None, pad_edge=False, header_style="dim")
        for title in ("learning rate", "loss", "smoothed"):
            table.add_column(title, justify="right")
        for point in found.points[::_SHOWN]:
            table.add_row(f"{point.rate:.1e}", f"{point.loss:.4f}", f"{point.smoothed:.4f}")
        answers.print(table)
        answers.print()
    if not found.problems:
        answers.print(rate_range_sentence(found), highlight=False)
