"""The verbs of the terminal as a page of Markdown, made of what they declare to Typer."""

import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from types import NoneType
from typing import Annotated, Any, Final, NamedTuple, get_args, get_origin, get_type_hints

import typer
from typer.models import ArgumentInfo, CommandInfo, OptionInfo, ParameterInfo

from gpupanel.cli.verb_group import VERBS, program_of
from references.verb_answers import ANSWERS, VerbAnswer

_WIDTH: Final = 100
_INTRODUCTION: Final = """\
<!-- Written by `make docs` from what the verbs declare: changes here are lost. -->

# The terminal

`gpupanel [PROFILE|PROGRAM|RUN]` opens the window, `gpupanel --version` prints the versions that a
report needs; every verb works without a display. What is asked for is printed on standard output,
progress and problems on standard error. Names and paths are printed as text: what would act on the
terminal stands there escaped (`\\x1b`, `\\u202e`). At the end of a problem stands its code,
`[no_space]`, by which [Problems](problems.md) has its cause and fix. A terminal that is too narrow
for a table leaves out its last columns, and says which; a pipe or a file has all, a line for each
row.

With `--json` a verb prints one JSON document on standard output. Where nothing is done it is
`{"outcome": null, "problems": [...]}`. A problem has `code`, `severity` (`error`, `warning`,
`hint`), `field` (the key of the profile), `message`, `hint`, `detail`, `command`, `fix` and
`alternatives`; [Problems](problems.md) lists the codes. `gpupanel VERB --help` says what this page
says; a call that is not understood exits with 2."""


class _Parameter(NamedTuple):
    """An argument or an option of a verb."""

    info: ParameterInfo
    name: str
    type: object
    default: object

    @property
    def is_option(self) -> bool:
        return isinstance(self.info, OptionInfo)

    @property
    def values(self) -> str:
        """What stands for its value; empty: it takes none."""
        if self.type is bool:
            return ""
        name = self.name.rpartition("_")[2] if self.choices else self.name
        return str(self.info.metavar or name.upper())

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that it may have; empty: any of its type."""
        if isinstance(self.type, type) and issubclass(self.type, Enum):
            return tuple(str(each.value) for each in self.type)
        return ()

    @property
    def words(self) -> str:
        """As it is written in a call."""
        if not self.is_option:
            return self.values
        # Of an annotation, the first one stands where a default would.
        spelt = (self.info.default, *(self.info.param_decls or ()))
        flags = [each for each in spelt if isinstance(each, str) and each.startswith("-")]
        return ", ".join(flags or [f"--{self.name.replace('_', '-')}"])

    @property
    def text(self) -> str:
        """What it does, its bounds and its default."""
        said = [str(self.info.help or "")]
        if self.choices and self.info.metavar is None:
            said.append(f"One of {', '.join(f'`{each}`' for each in self.choices)}.")
        least, most = self.info.min, self.info.max
        if least is not None and most is not None:
            said.append(f"From {least:g} to {most:g}.")
        elif least is not None:
            said.append(f"At least {least:g}.")
        if self.is_option and self.default is inspect.Parameter.empty:
            said.append("It has to be given.")
        if isinstance(self.default, int | float) and not isinstance(self.default, bool):
            said.append(f"Default: {self.default:g}.")
        return " ".join(each for each in said if each)


def terminal_reference() -> str:
    """The page: a section for each verb, in the order of ``gpupanel --help``."""
    sections = (section for verb in VERBS for section in _sections(program_of(verb)))
    return "\n\n".join([_INTRODUCTION, *sections]) + "\n"


def _sections(program: typer.Typer) -> Iterator[str]:
    for command in program.registered_commands:
        yield from _section(_name(command), _function(command))
    for group in program.registered_groups:
        inner = group.typer_instance
        if inner is None or group.name is None:
            continue
        listing = inner.registered_callback
        if listing is not None and listing.callback is not None:
            yield from _section(group.name, listing.callback, str(inner.info.help))
        else:
            yield f"## gpupanel {group.name}"
            yield _wrapped(str(inner.info.help))
        for command in inner.registered_commands:
            yield from _section(f"{group.name} {_name(command)}", _function(command))


def _function(command: CommandInfo) -> Callable[..., Any]:
    if command.callback is None:
        message = f"{command.name} does nothing"
        raise ValueError(message)
    return command.callback


def _name(command: CommandInfo) -> str:
    return command.name or _function(command).__name__.replace("_", "-")


def _section(name: str, verb: Callable[..., Any], about: str = "") -> Iterator[str]:
    parameters = _parameters(verb)
    arguments = [each for each in parameters if not each.is_option]
    options = [each for each in parameters if each.is_option]
    yield f"## gpupanel {name}"
    yield from map(_wrapped, (about or inspect.getdoc(verb) or "").split("\n\n"))
    call = ["gpupanel", name, *map(_in_call, arguments), "[OPTIONS]"]
    yield f"```text\n{' '.join(call)}\n```"
    # A table right below a block of code loses the form of its first cell in Qt.
    yield from _answer(ANSWERS[name])
    rows = [*_rows(arguments), *_rows(options)]
    yield "\n".join(("| Argument or option | What it does |", "| --- | --- |", *rows))


def _parameters(verb: Callable[..., Any]) -> list[_Parameter]:
    hints = get_type_hints(verb, include_extras=True)
    defaults = inspect.signature(verb).parameters
    found = []
    for name, hint in hints.items():
        if get_origin(hint) is not Annotated:
            continue
        annotation, info = get_args(hint)[0], get_args(hint)[1]
        kinds = [each for each in get_args(annotation) or (annotation,) if each is not NoneType]
        if isinstance(info, ArgumentInfo | OptionInfo):
            found.append(_Parameter(info, name, kinds[0], defaults[name].default))
    return found


def _in_call(argument: _Parameter) -> str:
    words = argument.words.replace(" ", "")
    return words if argument.default is inspect.Parameter.empty else f"[{words}]"


def _rows(parameters: Iterable[_Parameter]) -> Iterator[str]:
    for each in parameters:
        words = each.words + (f" {each.values}" if each.is_option and each.values else "")
        # A vertical bar would divide the cell.
        shown = " or ".join(f"`{one}`" for one in words.split("|"))
        yield f"| {shown} | {each.text} |"


def _answer(answer: VerbAnswer) -> Iterator[str]:
    keys = ", ".join(f"`{key}`" for key in answer.keys)
    json = " ".join(filter(None, (f"Keys with `--json`: {keys}." if keys else "", answer.about)))
    if json:
        yield _wrapped(json)
    means = (f"{status}: {meaning}" for status, meaning in sorted(answer.statuses.items()))
    yield _wrapped(f"Exit status {'; '.join(means)}.")


def _wrapped(text: str) -> str:
    return textwrap.fill(
        " ".join(text.split()), _WIDTH, break_long_words=False, break_on_hyphens=False
    )
