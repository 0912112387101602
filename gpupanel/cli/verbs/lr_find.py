"""The verb lr-find: which learning rate to train with, by a range test."""

import typer
from rich.table import Table

from gpupanel.cli.named_profile import training_profile
from gpupanel.cli.options import JsonOption, ProfileArgument
from gpupanel.cli.output import (
    answers,
    print_json,
    print_problems,
    progress,
)
from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.rate_range import RateRange, rate_range_request, rate_range_sentence
from gpupanel.runs.questions.rate_range import try_learning_rates
from gpupanel.runs.readiness import prepared_on, read_machine

_SHOWN = 8
"""The table has every eighth step."""


def lr_find(profile: ProfileArgument, *, json: JsonOption = False) -> None:
    """Train for some steps with a rising learning rate, and show where the loss falls fastest."""
    read = training_profile(
        profile,
        code="rate_range_without_training",
        without="it has no learning rate",
        json=json,
    )
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
