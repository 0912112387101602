"""The verb doctor: whether driver, TensorFlow and libraries fit together, and what mends it."""

from typing import Annotated, NoReturn

import typer
from rich.console import Group
from rich.table import Table
from rich.text import Text

from gpupanel.cli.cluster_table import cluster_document, print_cluster
from gpupanel.cli.literal_console import styled
from gpupanel.cli.options import ClusterAddressArgument, JsonOption, cluster_asked
from gpupanel.cli.output import (
    EXIT_FAILED,
    answers,
    print_json,
    print_problems,
    progress,
    refuse,
)
from gpupanel.devices.doctor.report import DoctorReport, Fact, FactGroup
from gpupanel.domain.problem import ProblemError
from gpupanel.planning.cluster_check import cluster_problems
from gpupanel.runs.cluster.reading import read_cluster
from gpupanel.runs.examination import examine
from gpupanel.runs.locations import default_runs_dir

_MARKS = {
    True: Text("\N{CHECK MARK} ", "green"),
    False: Text("\N{MULTIPLICATION X} ", "red"),
    None: Text("  "),
}
_NAME_WIDTH = 28


def doctor(
    address: ClusterAddressArgument = None,
    *,
    cluster: Annotated[
        bool, typer.Option("--cluster", help="Check every node of a Ray cluster.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Check driver, TensorFlow, its libraries and folders, and print what to install."""
    asked = cluster_asked(address, cluster=cluster)
    if asked is not None:
        _check_cluster(asked, json=json)
    with progress.status("Checking driver and TensorFlow…"):
        report = examine()
    if json:
        print_json({"ok": report.is_well, **report.model_dump(mode="json")})
    else:
        _print(report)
    raise typer.Exit(0 if report.is_well else 1)


def _check_cluster(address: str, *, json: bool) -> NoReturn:
    try:
        with progress.status("Asking the nodes of the cluster…"):
            reading = read_cluster(address, folder=default_runs_dir())
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    problems = cluster_problems(reading)
    ok = not any(problem.is_error for problem in problems)
    if json:
        documents = [problem.model_dump(mode="json") for problem in problems]
        print_json({"ok": ok, **cluster_document(reading), "problems": documents})
    else:
        print_cluster(reading)
        answers.print()
        print_problems(problems, answers)
        if not problems:
            answers.print("No problems found.", style="green")
    raise typer.Exit(0 if ok else EXIT_FAILED)


def _print(report: DoctorReport) -> None:
    for group in report.groups():
        answers.print(_group(group))
        answers.print()
    print_problems(report.problems, answers)
    if report.is_well:
        answers.print("No problems found.", style="green")
    elif report.command:
        answers.print()
        answers.print("To fix it:", style="bold")
        # One line whatever the width, so that it can be copied.
        answers.print(report.command, soft_wrap=True, highlight=False)


def _group(group: FactGroup) -> Group:
    table = Table.grid(padding=(0, 1), pad_edge=False)
    table.add_column(width=2)
    table.add_column(min_width=_NAME_WIDTH, no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    for fact in group.facts:
        table.add_row(_mark(fact), fact.name, fact.value)
    return Group(styled((group.title, "bold")), table)


def _mark(fact: Fact) -> Text:
    return _MARKS[fact.is_well]
