"""The command: its verbs, and the window when no verb is named."""

import sys
from collections.abc import Sequence
from typing import Annotated, Final, cast

import typer

from gpupanel.cli.literal_console import styled
from gpupanel.cli.output import EXIT_FAILED, answers, print_refusal
from gpupanel.cli.verb_group import OPEN, VERBS, VerbGroup
from gpupanel.domain.problem import Problem
from gpupanel.runs.error_problems import problems_of

_EXIT_BAD_USAGE: Final = 2
_USAGE_ERROR: Final = cast("type[typer.BadParameter]", typer.BadParameter.__base__)
"""Click's ``UsageError``, with the attributes of this subclass: newer versions of Typer bring a
Click of their own, which is not the one that ``import click`` finds."""


app = typer.Typer(
    cls=VerbGroup,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Train TensorFlow models on every GPU of this machine, equal or not. "
    "`gpupanel [PROFILE|RUN]` opens the window; the verbs work without a display.",
)


def _show_version(asked: bool) -> None:  # noqa: FBT001 - typer calls it with the option's value
    if asked:
        from gpupanel.devices.versions import versions
        from gpupanel.runs.readiness import read_machine

        for name, shown in versions(read_machine().inventory):
            answers.print(styled(f"{name} {shown}"), soft_wrap=True)
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_show_version,
            is_eager=True,
            help="Print the versions.",
        ),
    ] = False,
) -> None:
    """Open the window when no verb is named."""
    del version
    if context.invoked_subcommand is None:
        from gpupanel.cli.verbs.open import open_window

        open_window()


def with_verb(arguments: Sequence[str]) -> list[str]:
    """The arguments with the verb made plain: what is no verb is a profile or run to open."""
    if not arguments or arguments[0].startswith("-") or arguments[0] in (OPEN, *VERBS):
        return list(arguments)
    return [OPEN, *arguments]


def main() -> None:
    """Run the command with the arguments of this process.

    Whatever goes wrong is printed as a problem, with an exit status, and never as a bare traceback.
    """
    try:
        status = app(args=with_verb(sys.argv[1:]), standalone_mode=False)
    except _USAGE_ERROR as error:
        # Typer would print it as it is, and an argument may be the name of a stranger's file. Of a
        # group of verbs that is named alone it has printed the help, and there is nothing to say.
        status = _EXIT_BAD_USAGE
        if error.format_message():
            status = _refused((_usage_problem(error),), status)
    except typer.Abort:
        status = EXIT_FAILED
    except Exception as error:  # noqa: BLE001 - whichever it is, the person has to read it
        status = _refused(problems_of(error), EXIT_FAILED)
    sys.exit(status)


def _refused(problems: tuple[Problem, ...], status: int) -> int:
    print_refusal(problems, json="--json" in sys.argv)
    return status


def _usage_problem(error: typer.BadParameter) -> Problem:
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
