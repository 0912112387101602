"""The command: its verbs, and the window when no verb is named."""

from typing import Annotated

import click
import typer
from typer.core import TyperGroup
from typing_extensions import override

from gpupanel import __version__
from gpupanel.cli.asking import check, devices, doctor
from gpupanel.cli.opening import open_window
from gpupanel.cli.running import run, runs, stop, watch

OPEN = "open"


class WindowByDefault(TyperGroup):
    """A command group in which what is no verb is a profile or a run to open in the window."""

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands:
            args = [OPEN, *args]
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=WindowByDefault,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Train TensorFlow models on every GPU of this machine, equal or not. "
    "`gpupanel [PROFILE|RUN]` opens the window; the verbs work without a display.",
)


def _show_version(asked: bool) -> None:  # noqa: FBT001 - typer calls it with the option's value
    if asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Say the version."),
    ] = False,
) -> None:
    """Open the window when no verb is named."""
    del version
    if context.invoked_subcommand is None:
        open_window()


app.command(OPEN, hidden=True)(open_window)
for verb in (devices, doctor, check, run, runs, watch, stop):
    app.command(verb.__name__)(verb)


def main() -> None:
    """Run the command with the arguments of this process."""
    app()
