"""Arguments that no verb understands, as a problem."""

from typing import Final, cast

import typer

from gpupanel.domain.problem import Problem

EXIT_BAD_USAGE: Final = 2

USAGE_ERROR: Final = cast("type[typer.BadParameter]", typer.BadParameter.__base__)
"""Click's ``UsageError``, with the attributes of this subclass: newer versions of Typer bring a
Click of their own, which is not the one that ``import click`` finds."""


def usage_problem(error: typer.BadParameter) -> Problem:
    """What is wrong with the arguments, and how the verb is called."""
    context = error.ctx
    path = "gpupanel" if context is None else context.command_path
    usage = "" if context is None else context.get_usage()
    return Problem(
        code="arguments_not_understood",
        message=error.format_message(),
        hint=f"`{path} --help` lists all arguments and options.",
        detail=usage,
    )
