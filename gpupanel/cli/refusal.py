"""How a verb is refused: problems, and an exit status."""

from typing import NoReturn

import typer

from gpupanel.cli.output import print_json, print_problems
from gpupanel.domain.problem import ProblemError

EXIT_FAILED, EXIT_BAD_PROFILE = 1, 2


def refuse(error: ProblemError, *, json: bool, status: int) -> NoReturn:
    """Print the problems because of which nothing is done, and leave with that exit status."""
    print_problems(error.problems)
    if json:
        problems = [problem.model_dump(mode="json") for problem in error.problems]
        print_json({"outcome": None, "problems": problems})
    raise typer.Exit(status) from error
