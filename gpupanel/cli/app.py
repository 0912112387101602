"""The command: its verbs, and the window when no verb is named."""

import difflib
import os
import re
import sys
from collections.abc import Sequence
from typing import Annotated, Final, cast

import typer

from gpupanel.cli.literal_console import paragraph, styled
from gpupanel.cli.output import EXIT_FAILED, answers, print_refusal, progress
from gpupanel.cli.verb_group import OPEN, PLAIN_TEXT, UNLISTED, VERBS, VerbGroup
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.process_limits import hear_of_used_time, time_limit_text
from gpupanel.files.process_log import write_to_process_log
from gpupanel.runs.error_problems import problems_of

_EXIT_BAD_USAGE: Final = 2
_OF_WINDOW: Final = ("--host", "--there")
"""Options of the window, which a person names without a verb."""
_LIKE_A_VERB: Final = re.compile(r"[A-Za-z][\w-]*")
"""What cannot be a verb, such as a path or a profile's name with its ending, is opened."""
_USAGE_ERROR: Final = cast("type[typer.BadParameter]", typer.BadParameter.__base__)
"""Click's ``UsageError``, with the attributes of this subclass: newer versions of Typer bring a
Click of their own, which is not the one that ``import click`` finds."""


app = typer.Typer(
    cls=VerbGroup,
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=PLAIN_TEXT,
    pretty_exceptions_enable=False,
    help="Train TensorFlow models on every GPU of this machine, even mismatched ones. "
    "`gpupanel [PROFILE|PROGRAM|RUN]` opens the window, with `--host NAME` for another machine's "
    "GPUs by ssh; the verbs work without a display.",
)


def _show_version(asked: bool) -> None:  # noqa: FBT001 - typer calls it with the option's value
    if asked:
        from gpupanel.devices.sampler import DeviceSampler
        from gpupanel.devices.versions import versions

        with DeviceSampler(wakes=True) as sampler:
            inventory = sampler.inventory()
        for name, shown in versions(inventory):
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
    """The arguments with the verb made plain: what is no verb is a profile or run to open.

    Raises:
        ProblemError: It is none of them, but a word as verbs are.
    """
    if not arguments or arguments[0] in (*UNLISTED, *VERBS):
        return list(arguments)
    if arguments[0].split("=")[0] in _OF_WINDOW:
        return [OPEN, *arguments]
    if arguments[0].startswith("-"):
        return list(arguments)
    if _LIKE_A_VERB.fullmatch(arguments[0]) and not _can_be_opened(arguments[0]):
        raise ProblemError(_unknown_verb(arguments[0]))
    return [OPEN, *arguments]


def _can_be_opened(name: str) -> bool:
    from gpupanel.cli.named_run import run_called
    from gpupanel.runs.locations import default_runs_dir

    if os.path.lexists(name):
        return True
    try:
        return run_called(name, default_runs_dir()) is not None
    except ProblemError:
        return False  # nobody knows where runs are kept


def _unknown_verb(word: str) -> Problem:
    close = difflib.get_close_matches(word.lower(), VERBS, n=1)
    meant = f"Did you mean `gpupanel {close[0]}`? " if close else ""
    return Problem(
        code="verb_unknown",
        message=f"gpupanel has no verb {word}, and there is no profile or run of that name.",
        hint=f"{meant}`gpupanel --help` lists the verbs, `gpupanel runs` the runs.",
    )


def main() -> None:
    """Run the command with the arguments of this process.

    Whatever goes wrong is printed as a problem, with an exit status, and never as a bare traceback.
    """
    hear_of_used_time(_end_with_used_time)
    try:
        arguments = with_verb(sys.argv[1:])
    except ProblemError as error:
        sys.exit(_refused(error.problems, _EXIT_BAD_USAGE))
    try:
        status = app(args=arguments, standalone_mode=False)
    except _USAGE_ERROR as error:
        # Typer would print it as it is, and an argument may be the name of a stranger's file.
        status = _EXIT_BAD_USAGE
        if error.ctx is not None and error.format_message() == error.ctx.get_help():
            progress.print(paragraph(error.format_message()))  # a group of verbs named alone
        else:
            status = _refused((_usage_problem(error),), status)
    except typer.Abort:
        status = EXIT_FAILED
    except Exception as error:  # noqa: BLE001 - whichever it is, the person has to read it
        status = _refused(problems_of(error), EXIT_FAILED)
    sys.exit(status)


def _end_with_used_time() -> None:
    words = time_limit_text("This command")
    write_to_process_log(f"{words} A run that it started or followed continues without it.")
    sys.exit(EXIT_FAILED)


def _refused(problems: tuple[Problem, ...], status: int) -> int:
    print_refusal(problems, json="--json" in sys.argv)
    return status


def _usage_problem(error: typer.BadParameter) -> Problem:
    """What is wrong with the arguments, and how the verb is called."""
    context = error.ctx
    path = "gpupanel" if context is None else context.command_path
    usage = "" if context is None else context.get_usage()
    option = getattr(error, "option_name", "")
    hint = f"`{path} --help` lists all arguments and options."
    if option and path.endswith(" run"):
        hint += f" What a program is given stands behind --: {path} train.py -- {option} ..."
    return Problem(
        code="arguments_not_understood",
        message=error.format_message(),
        hint=hint,
        detail=usage,
    )
