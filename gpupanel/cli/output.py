"""What is printed: tables and sentences for people, one JSON document for scripts."""

import json
import math
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

import typer
from rich.console import Console

from gpupanel.cli.literal_console import LiteralConsole, paragraph, styled
from gpupanel.domain.change_toml import changes_toml
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.visible_text import visible_json

answers = LiteralConsole()
"""Standard output: what was asked for."""
progress = LiteralConsole(stderr=True)
"""Standard error: progress and problems."""

_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.HINT: "cyan"}
_MOST_DETAIL_LINES = 8
NONE_GIVEN = "–"  # noqa: RUF001 - the dash that stands for a reading that is not there


def print_file(content: str) -> None:
    """Print a file of gpupanel's own on stdout, to the letter."""
    sys.stdout.write(content)


def print_json(document: dict[str, Any]) -> None:
    """Print one JSON document on standard output: strict JSON (RFC 8259), whatever was read.

    What is no number in JSON (infinity, not-a-number) is null; bytes of a path that are no UTF-8
    are the escapes by which :func:`json.loads` gives the same path.
    """
    text = json.dumps(_strict(document), indent=2, ensure_ascii=False, allow_nan=False)
    sys.stdout.write(visible_json(text) + "\n")


def _strict(node: Any) -> Any:  # noqa: ANN401 - as deep as any document
    if isinstance(node, dict):
        return {key: _strict(value) for key, value in node.items()}
    if isinstance(node, list | tuple):
        return [_strict(value) for value in node]
    return None if isinstance(node, float) and not math.isfinite(node) else node


def print_problems(
    problems: Iterable[Problem], console: Console = progress, *, log: Path | None = None
) -> None:
    """Print each problem: what is wrong, where, its code in the guide, what to do, its detail.

    Args:
        problems: In their order.
        console: Where.
        log: Has the details, too: of those that fill a screen, such as a trace, its path is printed
            in their place.
    """
    for problem in problems:
        style = _STYLES[problem.severity]
        field = f" {problem.field}" if problem.field else ""
        severity = (str(problem.severity), f"{style} bold")
        code = (f" [{problem.code}]", "dim")
        console.print(styled(severity, (field, "dim"), f"  {problem.message}", code))
        if problem.hint:
            console.print(f"    {problem.hint}")
        if problem.command:
            # One line whatever the width, so that it can be copied.
            console.print(f"    $ {problem.command}", style="bold", highlight=False, soft_wrap=True)
        first = () if problem.fix is None else (problem.fix,)
        for fix in (*first, *problem.alternatives):
            console.print(f"    → {fix.label}: {changes_toml(fix.changes)}", style="dim")
        if log is not None and problem.detail.count("\n") > _MOST_DETAIL_LINES:
            console.print(f"    Details: {log}", style="dim", highlight=False, soft_wrap=True)
        elif problem.detail:
            console.print(paragraph(problem.detail, "dim"))


def shown(value: object, unit: str = "") -> str:
    """A reading with its unit; a dash for one that a device cannot give."""
    if value is None:
        return NONE_GIVEN
    number = f"{value:,.0f}" if isinstance(value, float) else f"{value:,}"
    return f"{number} {unit}".strip()


EXIT_FAILED, EXIT_BAD_PROFILE = 1, 2


def refuse(error: ProblemError, *, json: bool, status: int) -> NoReturn:
    """Print the problems because of which nothing is done, and leave with that exit status."""
    print_refusal(error.problems, json=json)
    raise typer.Exit(status) from error


def print_refusal(problems: tuple[Problem, ...], *, json: bool) -> None:
    """Print the problems because of which nothing is done, also as the one JSON document."""
    print_problems(problems)
    if json:
        documents = [problem.model_dump(mode="json") for problem in problems]
        print_json({"outcome": None, "problems": documents})
