"""Verbs that start runs and deal with them: run, runs, watch, resume, stop."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.table import Table

from gpupanel.cli.judging import findings_document, tell_findings
from gpupanel.cli.neighbours import tell_others
from gpupanel.cli.options import (
    DetachOption,
    JsonOption,
    ProfileArgument,
    RunArgument,
    RunsDirOption,
)
from gpupanel.cli.preparing import startable
from gpupanel.cli.telling import NONE_GIVEN, answers, progress, shown, tell_json, tell_problems
from gpupanel.cli.watching import watch_to_its_end
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.profile_file import read_profile
from gpupanel.runs.directory.requests import ask, end_now
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.history.summaries import RunSummary, list_runs, summarize_run
from gpupanel.runs.launcher import launch
from gpupanel.runs.launcher import resume as resume_run
from gpupanel.runs.locations import default_runs_dir

EXIT_FAILED, EXIT_BAD_PROFILE, EXIT_STOPPED = 1, 2, 130


def run(
    profile: ProfileArgument,
    runs_dir: RunsDirOption = None,
    *,
    detach: DetachOption = False,
    json: JsonOption = False,
) -> None:
    """Train, evaluate or predict as a profile says; Ctrl+C stops, and saves a training."""
    train(profile, runs_dir, detach=detach, json=json)


def train(
    profile: Path, runs_dir: Path | None = None, *, detach: bool = False, json: bool = False
) -> None:
    """Launch a run, follow it to its end and leave with the exit status of how it ended."""
    try:
        read, plan, preparation = startable(profile)
    except ProblemError as error:
        _refuse(error, json=json, status=EXIT_BAD_PROFILE)
    tell_problems(preparation.problems)
    tell_others(preparation.others, progress)
    try:
        layout = launch(read, plan, runs_dir or default_runs_dir())
    except ProblemError as error:
        _refuse(error, json=json, status=EXIT_FAILED)
    _follow_unless(detach, layout, read.epochs_to_train, json=json)


def runs(runs_dir: RunsDirOption = None, *, json: JsonOption = False) -> None:
    """List past and present runs, newest first."""
    found = list_runs(runs_dir or default_runs_dir())
    if json:
        tell_json({"runs": [summary.model_dump(mode="json") for summary in found]})
        return
    if not found:
        answers.print("No runs yet: start one with `gpupanel run PROFILE`.")
        return
    answers.print(_runs_table(found))


def watch(run: RunArgument, runs_dir: RunsDirOption = None, *, json: JsonOption = False) -> None:
    """Follow a run to its end; Ctrl+C stops watching, not the run."""
    layout = _found_run(run, runs_dir, json=json)
    try:
        epochs = read_profile(layout.profile).epochs_to_train
    except ProblemError as error:
        _refuse(error, json=json, status=EXIT_FAILED)
    _follow(layout, epochs, json=json, ctrl_c_stops=False)


def resume(
    run: RunArgument,
    runs_dir: RunsDirOption = None,
    *,
    detach: DetachOption = False,
    json: JsonOption = False,
) -> None:
    """Go on with a run that was stopped or died, from its last checkpoint."""
    layout = _found_run(run, runs_dir, json=json)
    try:
        epochs = read_profile(layout.profile).epochs_to_train
        resume_run(layout)
    except ProblemError as error:
        _refuse(error, json=json, status=EXIT_FAILED)
    _follow_unless(detach, layout, epochs, json=json)


def stop(
    run: RunArgument,
    runs_dir: RunsDirOption = None,
    *,
    now: Annotated[bool, typer.Option("--now", help="End at once, without saving.")] = False,
    json: JsonOption = False,
) -> None:
    """Ask a run to finish its step, save, and end."""
    layout = _found_run(run, runs_dir, json=json)
    summary = summarize_run(layout)
    if summary.is_running:
        try:
            end_now(layout) if now else ask(layout, Request.STOP)
        except ProblemError as error:
            _refuse(error, json=json, status=EXIT_FAILED)
    if json:
        tell_json({"run": str(layout.root), "asked": summary.is_running})
    elif summary.is_running:
        progress.print(f"Asked {layout.name} to {'end now' if now else 'stop'}.")
    else:
        progress.print(f"{layout.name} has ended already ({summary.outcome}).")


def _follow_unless(detach: bool, layout: RunLayout, epochs: int, *, json: bool) -> None:  # noqa: FBT001 - the sentence reads so
    if not detach:
        _follow(layout, epochs, json=json)
    elif json:
        tell_json({"run": str(layout.root)})
    else:
        answers.print(str(layout.root), highlight=False, soft_wrap=True)


def _follow(layout: RunLayout, epochs: int, *, json: bool, ctrl_c_stops: bool = True) -> None:
    status = watch_to_its_end(layout, epochs, ctrl_c_stops=ctrl_c_stops)
    if status.outcome is None:
        raise typer.Exit(EXIT_STOPPED)  # the person stopped watching
    if json:
        tell_json(_run_document(layout, status))
    else:
        _tell_end(layout, status)
    raise typer.Exit(
        {Outcome.COMPLETED: 0, Outcome.STOPPED: EXIT_STOPPED, Outcome.SUSPENDED: EXIT_STOPPED}.get(
            status.outcome, EXIT_FAILED
        )
    )


def _run_document(layout: RunLayout, status: RunStatus) -> dict[str, Any]:
    problem, returned = status.ending_problem, status.memory_returned
    return {
        "run": str(layout.root),
        "outcome": status.outcome.value if status.outcome is not None else None,
        "metrics": status.metrics.model_dump(mode="json"),
        "examples_per_second": status.examples_per_second,
        "problem": problem.model_dump(mode="json") if problem is not None else None,
        "memory_returned": returned.model_dump(mode="json") if returned is not None else None,
        **findings_document(layout, status),
    }


def _tell_end(layout: RunLayout, status: RunStatus) -> None:
    if status.ending_problem is not None:
        tell_problems([status.ending_problem])
    tell_findings(layout, status)
    metrics = status.metrics.model_dump(exclude_none=True)
    words = "  ".join(f"{name} {value:.4f}" for name, value in metrics.items())
    outcome = str(status.outcome)
    style = "green" if status.outcome is Outcome.COMPLETED else "yellow"
    answers.print(f"[{style} bold]{outcome}[/]  {words}")
    if status.examples_per_second is not None:
        answers.print(f"{status.examples_per_second:,.0f} examples/s", style="dim")
    answers.print(str(layout.root), style="dim", highlight=False, soft_wrap=True)


def _found_run(name: str, runs_dir: Path | None, *, json: bool) -> RunLayout:
    for root in ((runs_dir or default_runs_dir()) / name, Path(name).absolute()):
        if (root / "profile.toml").is_file():
            return RunLayout(root)
    return _refuse(ProblemError(_run_not_found(name)), json=json, status=EXIT_FAILED)


def _run_not_found(name: str) -> Problem:
    return Problem(
        code="run_not_found",
        message=f"There is no run {name}.",
        hint="`gpupanel runs` lists them; --runs-dir names another folder.",
    )


def _refuse(error: ProblemError, *, json: bool, status: int) -> NoReturn:
    tell_problems(error.problems)
    if json:
        problems = [problem.model_dump(mode="json") for problem in error.problems]
        tell_json({"outcome": None, "problems": problems})
    raise typer.Exit(status) from error


def _runs_table(found: tuple[RunSummary, ...]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("run", "started", "outcome", "val accuracy", "examples/s", "devices"):
        right = name in ("val accuracy", "examples/s")
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    for summary in found:
        accuracy = summary.metrics.val_accuracy
        table.add_row(
            summary.name,
            _moment(summary.started_s),
            "running" if summary.is_running else str(summary.outcome),
            NONE_GIVEN if accuracy is None else f"{accuracy:.4f}",
            shown(summary.examples_per_second),
            ", ".join(summary.devices),
        )
    return table


def _moment(seconds: float | None) -> str:
    if seconds is None:
        return NONE_GIVEN
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
