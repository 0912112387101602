"""The verb that says how notes reach the person, and tries it."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from gpupanel.cli.literal_console import styled
from gpupanel.cli.options import JsonOption
from gpupanel.cli.output import EXIT_FAILED, answers, print_json, print_problems, refuse
from gpupanel.domain.notes import NoteKind, NoteSettings
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.visible_text import visible_line
from gpupanel.runs.notes.note_settings import NOTES_FILE, problems_of
from gpupanel.runs.notes.trial import TriedWay, try_ways

_Test = Annotated[bool, typer.Option("--test", help="Send a test by every way that is set.")]


def notes(*, test: _Test = False, json: JsonOption = False) -> None:
    """Say how notes about your runs reach you while you are elsewhere; send a test."""
    try:
        settings, file = NOTES_FILE.read(), str(NOTES_FILE.path())
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    tried = tuple(try_ways(settings)) if test else ()
    if json:
        print_json(_document(settings, file, tried))
    else:
        _print(settings, file, tried)
        print_problems(problems_of(settings))
    if test and (not tried or any(each.failure for each in tried)):
        raise typer.Exit(EXIT_FAILED)


def _document(settings: NoteSettings, file: str, tried: Sequence[TriedWay]) -> dict[str, Any]:
    """Without the address of the webhook and the command, which may hold secrets."""
    return {
        "file": file,
        "ways": [way.value for way in settings.ways],
        "kinds": [kind.value for kind in NoteKind if settings.wants(kind)],
        "problems": [problem.model_dump(mode="json") for problem in problems_of(settings)],
        "tried": [{"way": each.way.value, "failure": each.failure or None} for each in tried],
    }


def _print(settings: NoteSettings, file: str, tried: Sequence[TriedWay]) -> None:
    lines = [each.words for each in tried]
    if not settings.ways:
        lines.append("No notes are sent: no way is set.")
    elif not tried:
        ways = ", ".join(way.label.lower() for way in settings.ways)
        kinds = ", ".join(kind.label.lower() for kind in NoteKind if settings.wants(kind))
        lines.append(f"By {ways}: {kinds or 'nothing, as no kind is switched on'}.")
    lines.append(f"Settings: {visible_line(file)}, or in the window: File > Settings…, page Notes.")
    for line in lines:
        answers.print(styled(line), soft_wrap=True)
