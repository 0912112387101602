"""The verbs of the command, each of which is imported when it is named."""

import pkgutil
from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperGroup
from typing_extensions import override

_PACKAGE: Final = "gpupanel.cli.verbs"
OPEN: Final = "open"
"""The verb that a person need not write, and that the help does not list."""
UNLISTED: Final = (OPEN, "serve")
"""Verbs that no person writes: the second is what ``gpupanel --host`` starts on a host."""
ORDER: Final = (
    "devices",
    "power",
    "doctor",
    "check",
    "export",
    "scan",
    "schema",
    "template",
    "reporting",
    "read-speed",
    "summary",
    "lr-find",
    "fit",
    "fit-batch",
    "selftest",
    "bench",
    "run",
    "sweep",
    "runs",
    "watch",
    "stop",
    "suspend",
    "checkpoint",
    "trace",
    "resume",
    "queue",
    "notes",
    "desktop",
)
"""Of the help: from a profile to its runs. A verb that is not named here stands last."""


def found_verbs() -> tuple[str, ...]:
    """The modules of ``gpupanel.cli.verbs``, as they are called, in the order of the help."""
    names = {
        found.name.replace("_", "-")
        for found in pkgutil.iter_modules(import_module(_PACKAGE).__path__)
    }
    last = len(ORDER)
    places = {name: place for place, name in enumerate(ORDER)}
    return tuple(sorted(names - {*UNLISTED}, key=lambda name: (places.get(name, last), name)))


VERBS: Final = found_verbs()
PLAIN_TEXT: Final = None
"""How Typer is to read help: as text. As Rich's markup ``[sweep]`` would be a style, and unseen."""

_WHOLE: Final = 1_000
"""Characters, more than the first sentence of any help has."""


class WholeHelpGroup(TyperGroup):
    """Says of each verb all of its first sentence, in as many lines as that takes."""

    @override
    def format_commands(self, ctx: Any, formatter: Any) -> None:
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [
            (name, verb.get_short_help_str(_WHOLE))
            for name, verb in found
            if verb is not None and not verb.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class VerbGroup(WholeHelpGroup):
    """Finds a verb in the module of ``gpupanel.cli.verbs`` that is named as it is.

    Importing all of them takes a tenth of a second, before a word of any is said. This is the
    lazy group of Click's documentation ("Lazily Loading Subcommands").
    """

    @override
    def list_commands(self, ctx: Any) -> list[str]:
        return list(VERBS)

    @override
    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in (*UNLISTED, *VERBS):
            return None
        if cmd_name not in self.commands:
            group = typer.main.get_command(program_of(cmd_name))
            assert isinstance(group, TyperGroup)
            self.commands[cmd_name] = group.commands[cmd_name]
        return self.commands[cmd_name]


def program_of(verb: str) -> typer.Typer:
    """A program that has this verb and no other."""
    name_in_python = verb.replace("-", "_")
    module = import_module(f"{_PACKAGE}.{name_in_python}")
    found = getattr(module, "open_window" if verb == OPEN else name_in_python)
    program = typer.Typer(add_completion=False, rich_markup_mode=PLAIN_TEXT)
    program.callback()(_none)  # makes it a group, also of one verb
    if isinstance(found, typer.Typer):
        program.add_typer(found, name=verb)
    else:
        program.command(verb, hidden=verb in UNLISTED)(found)
    return program


def _none() -> None:
    """Does nothing."""
