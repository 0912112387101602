"""The verb bench: how fast a profile trains on each device alone and on all together."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from types import FrameType
from typing import Annotated, Any, Final

import typer
from rich.table import Table

from gpupanel.cli.file_endings import check_is_toml
from gpupanel.cli.literal_console import styled
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
    shown,
)
from gpupanel.cli.run_end import EXIT_STOPPED
from gpupanel.domain.bench import Bench, BenchProgress, BenchResult, bench_sentence
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.visible_text import visible_line
from gpupanel.files.regular_files import open_regular
from gpupanel.runs.directory.profile_file import anchored, read_profile, write_profile
from gpupanel.runs.history.measured_speeds import remembered
from gpupanel.runs.readiness import read_machine
from gpupanel.runs.tools.bench.bench import REPEATS, SECONDS, compare
from gpupanel.runs.trust.trusted import trust as trust_code
from gpupanel.runs.trust.user_code import code_of_profile

_BAR: Final = 20
"""Characters of the longest one."""
_MOST_BYTES: Final = 2**21
"""The most bytes of a profile."""
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_NOTHING: Final = Problem(
    code="bench_not_measured",
    message="Devices were not compared on this machine for this training.",
    hint="`gpupanel bench PROFILE` without --remembered measures them.",
)


def bench(
    profile: ProfileArgument,
    runs_dir: RunsDirOption = None,
    *,
    seconds: Annotated[
        float,
        typer.Option(
            "--seconds",
            metavar="SECONDS",
            min=10.0,
            max=86_400.0,
            help="After this many seconds nothing is repeated.",
        ),
    ] = SECONDS,
    repeats: Annotated[
        int,
        typer.Option(
            "--repeats", metavar="N", min=1, max=20, help="How often each candidate runs."
        ),
    ] = REPEATS,
    apply: Annotated[
        Path | None,
        typer.Option(
            "--apply",
            metavar="FILE.toml",
            help="Write a profile of the fastest setup to this file.",
            show_default=False,
        ),
    ] = None,
    is_remembered: Annotated[
        bool, typer.Option("--remembered", help="Show what was measured last; train nothing.")
    ] = False,
    trust: TrustOption = False,
    json: JsonOption = False,
) -> None:
    """Train some steps on each device alone and on all, and show which setup is the fastest."""
    try:
        if apply is not None:
            check_is_toml(apply)
        before = None if apply is None else _content(apply)
        read = read_profile(profile)
        if trust:
            trust_code(code_of_profile(read))
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_BAD_PROFILE)
    if read.task != "train":
        refuse(ProblemError(_not_trained()), json=json, status=EXIT_BAD_PROFILE)
    try:
        found = _recall(read) if is_remembered else _measure(read, seconds, repeats, runs_dir)
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    print_problems(found.problems)
    for failure in found.failures:
        progress.print(failure.sentence, highlight=False)
        print_problems([failure.problem])
    if json:
        print_json(_document(found))
    else:
        _print(found)
    if found.fastest is None:
        raise typer.Exit(EXIT_FAILED)
    if apply is not None:
        _apply(read, found.fastest, apply, before)


def _changed_meanwhile(path: Path, fastest: BenchResult) -> Problem:
    name = visible_line(str(path))
    return Problem(
        code="bench_file_changed",
        message=f"{name} was written by somebody else while the devices were compared, so it is "
        f"left as it is. The fastest way was: {fastest.name}.",
        hint="Name another file, or compare again; of the profile that was compared the result is "
        "remembered (--remembered).",
    )


def _not_trained() -> Problem:
    return Problem(
        code="bench_without_training",
        field="task",
        message="The profile trains nothing: devices are compared by training steps.",
        hint="Name a profile whose task is train.",
    )


def _recall(profile: Profile) -> Bench:
    found = remembered(anchored(profile, Path.cwd()), read_machine().inventory)
    if found is None:
        raise ProblemError(_NOTHING)
    return found


def _measure(profile: Profile, seconds: float, repeats: int, runs_dir: Path | None) -> Bench:
    with (
        _cancelled_by_signals() as cancelled,
        progress.status("Preparing the comparison…") as status,
    ):

        def show(news: BenchProgress) -> None:
            status.update(styled(f"{news.number} of {news.of}: {news.name}, {news.doing}…"))

        found = compare(
            profile,
            read_machine(),
            seconds,
            repeats,
            cancelled=cancelled,
            on_progress=show,
            runs_dir=runs_dir,
        )
    if cancelled.is_set():
        progress.print("Cancelled: nothing is kept of what was measured.")
        raise typer.Exit(EXIT_STOPPED)
    return found


@contextmanager
def _cancelled_by_signals() -> Iterator[Event]:
    """Set by Ctrl+C and SIGTERM, so that every process is ended before this one."""
    cancelled = Event()

    def cancel(_signal: int, _frame: FrameType | None) -> None:
        cancelled.set()

    former = {number: signal.signal(number, cancel) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield cancelled
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def _document(found: Bench) -> dict[str, Any]:
    fastest = found.fastest
    document = found.model_dump(mode="json")
    for result, each in zip(found.results, document["results"], strict=True):
        spent = result.time_spent
        fractions = {} if spent is None else spent.fractions()
        each["time_fractions"] = {activity.value: part for activity, part in fractions.items()}
    return {"fastest": None if fastest is None else fastest.name, **document}


def _print(found: Bench) -> None:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("candidate", overflow="fold")
    table.add_column("examples/s", justify="right")
    table.add_column("±", justify="right")
    table.add_column("", min_width=_BAR, no_wrap=True)
    table.add_column("efficiency", justify="right")
    best = max((each.examples_per_second or 0.0 for each in found.results), default=0.0)
    for result in found.results:
        is_fastest = result is found.fastest
        table.add_row(
            styled((visible_line(result.name), "bold" if is_fastest else "")),
            _speed(result),
            NONE_GIVEN if result.spread is None else f"{50 * result.spread:.0f} %",
            styled((_bar(result, best), "green" if is_fastest else "cyan")),
            NONE_GIVEN if result.efficiency is None else f"{100 * result.efficiency:.0f} %",
        )
    answers.print(table)
    for left in found.left_out:
        answers.print(f"Left out: {left.name}. {left.problem.message}", style="dim")
    answers.print(bench_sentence(found), highlight=False)


def _speed(result: BenchResult) -> str:
    return "failed" if result.examples_per_second is None else shown(result.examples_per_second)


def _bar(result: BenchResult, best: float) -> str:
    eighths = round(8 * _BAR * (result.examples_per_second or 0.0) / best) if best else 0
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")


def _content(path: Path) -> bytes | None:
    """Of a file that may be written to at the end; ``None``: there is none that can be read."""
    try:
        with open_regular(path) as file:
            return file.read(_MOST_BYTES)
    except OSError:
        return None


def _apply(profile: Profile, fastest: BenchResult, path: Path, before: bytes | None) -> None:
    """Write the profile, unless somebody else has written there since the comparison began."""
    if _content(path) not in (None, before):
        print_problems([_changed_meanwhile(path, fastest)])
        raise typer.Exit(EXIT_FAILED)
    try:
        write_profile(path, fastest.candidate.applied(profile))
    except ProblemError as error:
        print_problems(error.problems)
        raise typer.Exit(EXIT_FAILED) from error
    progress.print(f"{path} trains as the fastest one does: {fastest.name}.", highlight=False)
