"""The verb `queue` and what can be asked of the queue: add, remove, move, edit, pause, resume."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from gpupanel.cli.options import JsonOption, ProfileArgument, RunsDirOption, TrustOption
from gpupanel.cli.output import (
    EXIT_BAD_PROFILE,
    EXIT_FAILED,
    NONE_GIVEN,
    answers,
    print_json,
    print_problems,
    progress,
    refuse,
)
from gpupanel.cli.verb_group import WholeHelpGroup
from gpupanel.domain.hours import until_text
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.runs.directory.profile_file import read_profile
from gpupanel.runs.locations import default_runs_dir, queue_dir
from gpupanel.runs.queue import orders
from gpupanel.runs.queue.entry import EntryState, QueueEntry
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.queue.scheduler_trouble import queue_problems
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.runs.queue.waking import ensure_scheduler, scheduler_lives
from gpupanel.runs.trust.trusted import trust as trust_code
from gpupanel.runs.trust.user_code import code_of_profile

queue = typer.Typer(
    cls=WholeHelpGroup,
    invoke_without_command=True,
    help="Runs that wait for their devices; without a verb, list them.",
)

EntryArgument = Annotated[
    str, typer.Argument(metavar="ID", help="An entry's id as `gpupanel queue` lists it.")
]
_STYLES = {EntryState.RUNNING: "bold", EntryState.REFUSED: "red", EntryState.ENDED: "dim"}


@queue.callback()
def listed(context: typer.Context, *, json: JsonOption = False) -> None:
    """List waiting, running and ended entries; starts the scheduler if it is not running."""
    if context.invoked_subcommand is not None:
        return
    try:
        files = QueueFiles(queue_dir())
        line = files.read()
        problems = queue_problems(files, line)
        ensure_scheduler(files)
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    if json:
        print_json(_document(line, problems))
        return
    if not line.entries:
        answers.print("No entries: add a profile with `gpupanel queue add PROFILE`.")
    else:
        answers.print(_table(line))
        if line.paused:
            answers.print("Paused: nothing is started until `gpupanel queue resume`.")
    print_problems(problems)


@queue.command()
def add(
    profile: ProfileArgument,
    runs_dir: RunsDirOption = None,
    *,
    trust: TrustOption = False,
    json: JsonOption = False,
) -> None:
    """Add a run of a profile to the end of the queue."""
    read = _read(profile, trust=trust, json=json)
    _print_entry(
        lambda files: orders.add(files, read, runs_dir or default_runs_dir()), "waits", json=json
    )


@queue.command()
def edit(
    entry: EntryArgument,
    profile: ProfileArgument,
    *,
    trust: TrustOption = False,
    json: JsonOption = False,
) -> None:
    """Replace the profile of an entry that has not started yet."""
    read = _read(profile, trust=trust, json=json)
    _print_entry(lambda files: orders.edit(files, entry, read), "has the new profile", json=json)


@queue.command()
def remove(entry: EntryArgument, *, json: JsonOption = False) -> None:
    """Remove an entry; a run in progress is stopped with `gpupanel stop` first."""
    _print_line(lambda files: orders.remove(files, entry), f"{entry} is removed.", json=json)


@queue.command()
def move(
    entry: EntryArgument,
    place: Annotated[int, typer.Argument(metavar="PLACE", min=1, help="Counted from 1.")],
    *,
    json: JsonOption = False,
) -> None:
    """Move a waiting entry to another position."""
    _print_line(lambda files: orders.move(files, entry, place), f"{entry} is moved.", json=json)


@queue.command()
def pause(*, json: JsonOption = False) -> None:
    """Start no more entries; running ones continue."""
    _print_line(orders.pause, "Paused: running entries continue, no more are started.", json=json)


@queue.command("resume")
def go_on(*, json: JsonOption = False) -> None:
    """Start waiting entries again after a pause."""
    _print_line(orders.go_on, "Resumed: waiting entries start again, in order.", json=json)


@queue.command()
def clear(*, json: JsonOption = False) -> None:
    """Remove entries that have ended or cannot start; their runs stay."""
    _print_line(orders.clear, "Ended entries are removed.", json=json)


def _read(path: Path, *, trust: bool, json: bool) -> Profile:
    try:
        profile = read_profile(path)
        if trust:
            trust_code(code_of_profile(profile))
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_BAD_PROFILE)
    return profile


def _print_entry(order: Callable[[QueueFiles], QueueEntry], done: str, *, json: bool) -> None:
    try:
        entry = order(QueueFiles(queue_dir()))
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    if json:
        print_json({"entry": entry.model_dump(mode="json")})
    else:
        answers.print(f"{entry.id}  {entry.name} {done}.", highlight=False)


def _print_line(order: Callable[[QueueFiles], WaitingLine], done: str, *, json: bool) -> None:
    try:
        files = QueueFiles(queue_dir())
        line = order(files)
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    if json:
        print_json(_document(line, queue_problems(files, line)))
    else:
        progress.print(done, highlight=False)


def _document(line: WaitingLine, problems: tuple[Problem, ...]) -> dict[str, object]:
    return {
        "paused": line.paused,
        "scheduler_lives": scheduler_lives(queue_dir()),
        "entries": [entry.model_dump(mode="json") for entry in line.entries],
        "problems": [problem.model_dump(mode="json") for problem in problems],
    }


def _table(line: WaitingLine) -> Table:
    table = Table(box=None, header_style="dim")
    for heading in ("", "id", "name", "state", "devices", "why it waits, or its result"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "name")
    for entry in line.entries:
        place = line.place(entry.id)
        table.add_row(
            "" if place is None else str(place),
            entry.id,
            entry.name,
            _state_of(entry),
            ", ".join(entry.devices) or NONE_GIVEN,
            _what_of(entry) or NONE_GIVEN,
            style=_STYLES.get(entry.state, ""),
        )
    return table


def _state_of(entry: QueueEntry) -> str:
    if not entry.is_waiting:
        return str(entry.outcome or entry.state)
    words = "suspended" if entry.is_suspended else str(entry.state)
    return f"{words}{until_text(entry.begin_s, time.time())}"


def _what_of(entry: QueueEntry) -> str:
    if entry.is_waiting:
        return entry.waits
    if entry.problems:
        return entry.problems[-1].message
    return "" if entry.run is None else str(entry.run)
