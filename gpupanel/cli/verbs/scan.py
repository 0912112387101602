"""The verb scan: what is in the data of a profile."""

from typing import Final

import typer
from rich.console import Group
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from gpupanel.cli.literal_console import styled
from gpupanel.cli.named_profile import named_profile
from gpupanel.cli.options import JsonOption, ProfileArgument
from gpupanel.cli.output import (
    EXIT_BAD_PROFILE,
    answers,
    print_json,
    print_problems,
    progress,
    refuse,
)
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.scan import DataScan, ScanProgress, ScanRequest, scan_request
from gpupanel.domain.scan_text import ScanSection, scan_sections, scan_summary
from gpupanel.domain.script_document import own_program
from gpupanel.domain.visible_text import visible_line
from gpupanel.runs.questions.data_scan import scan_data

_NAME_WIDTH: Final = 28
_EXIT_INTERRUPTED: Final = 130
_DETAIL_LINES: Final = 10


def scan(profile: ProfileArgument, *, json: JsonOption = False) -> None:
    """Print what the data holds: examples, classes, duplicates, unreadable files, outliers."""
    read = named_profile(profile, json=json)
    if read.script is not None:
        error = ProblemError(own_program("what it reads is not known"))
        refuse(error, json=json, status=EXIT_BAD_PROFILE)
    request = scan_request(read)
    try:
        found = _with_progress(request)
    except KeyboardInterrupt:
        raise typer.Exit(_EXIT_INTERRUPTED) from None
    if json:
        print_json(found.model_dump(mode="json"))
    else:
        _print(found)
    raise typer.Exit(1 if found.has_errors else 0)


def _with_progress(request: ScanRequest) -> DataScan:
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=progress, transient=True) as bar:
        task = bar.add_task("reading", total=None)

        def show(now: ScanProgress | DataScan) -> None:
            if isinstance(now, DataScan):
                return
            # Rich would take brackets in the words for its own.
            words = visible_line(now.doing)
            bar.update(task, description=words, completed=now.done, total=now.total or None)

        return scan_data(request, on_progress=show)


def _print(found: DataScan) -> None:
    answers.print(styled(("Data: ", "bold"), found.described))
    answers.print(scan_summary(found))
    answers.print()
    print_problems(map(_shortened, found.problems), answers)
    for section in scan_sections(found):
        answers.print()
        answers.print(_section(section))
    if found.is_complete and not found.problems:
        answers.print()
        answers.print("No problems found.", style="green")


def _shortened(problem: Problem) -> Problem:
    """The problem with only the first lines of its detail; JSON has all."""
    lines = problem.detail.splitlines()
    if len(lines) <= _DETAIL_LINES:
        return problem
    more = f"... and {len(lines) - _DETAIL_LINES:,} more; --json names them"
    return problem.model_copy(update={"detail": "\n".join([*lines[:_DETAIL_LINES], more])})


def _section(section: ScanSection) -> Group:
    table = Table.grid(padding=(0, 2), pad_edge=False)
    table.add_column(min_width=_NAME_WIDTH, style="dim", overflow="fold")
    table.add_column(overflow="fold")
    for row in section.rows:
        table.add_row(f"  {row.name}", row.text)
    return Group(styled((section.title, "bold")), table)
