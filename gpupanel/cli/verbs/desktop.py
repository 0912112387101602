"""The verb ``desktop``: launcher, icon and file type in the person's own folders."""

from collections.abc import Callable
from pathlib import Path

import typer

from gpupanel.cli.literal_console import styled
from gpupanel.cli.options import JsonOption
from gpupanel.cli.output import EXIT_FAILED, answers, print_json, refuse
from gpupanel.cli.verb_group import WholeHelpGroup
from gpupanel.domain.problem import ProblemError
from gpupanel.ui.desktop import installation
from gpupanel.ui.preflight import missing_libraries

desktop = typer.Typer(
    cls=WholeHelpGroup,
    no_args_is_help=True,
    help="A launcher, an icon, and profiles that open with a double click, for the current user.",
)


@desktop.command()
def install(*, json: JsonOption = False) -> None:
    """Install launcher, icon and file type for the current user."""
    missing = missing_libraries()  # icons are drawn with Qt
    if missing is not None:
        refuse(ProblemError(missing), json=json, status=EXIT_FAILED)
    _carry_out(installation.install, "Installed", json=json)


@desktop.command()
def remove(*, json: JsonOption = False) -> None:
    """Uninstall launcher, icon and file type."""
    _carry_out(installation.remove, "Removed", json=json)


def _carry_out(work: Callable[[], tuple[Path, ...]], word: str, *, json: bool) -> None:
    try:
        paths = work()
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    if json:
        print_json({"files": [str(path) for path in paths]})
        return
    for path in paths:
        answers.print(styled(f"{word} {path}"), soft_wrap=True)
    if not paths:
        answers.print("Nothing was installed.")
