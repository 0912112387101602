"""``gpupanel sweep``: start the trials of a profile's ``[sweep]``, and show what they came to."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from gpupanel.cli.options import JsonOption, RunsDirOption, TrustOption
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
from gpupanel.domain.number_text import short_number
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.sweep import SweepMethod, SweptValue
from gpupanel.domain.toml_text import toml_value
from gpupanel.planning.sweep_trials import Values, repeats_of, sweep_of, trials_of
from gpupanel.runs.directory.profile_file import read_profile
from gpupanel.runs.locations import default_runs_dir, queue_dir
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.queue.waking import ensure_scheduler
from gpupanel.runs.readiness import read_machines_for
from gpupanel.runs.sweeps.starting import (
    check_first_trial,
    check_sweep,
    places_on,
    resume_sweep,
    start_sweep,
    stop_sweep,
)
from gpupanel.runs.sweeps.sweep_layout import SweepLayout
from gpupanel.runs.sweeps.sweep_status import (
    SweepPhase,
    SweepStatus,
    find_sweep,
    sweep_status,
)
from gpupanel.runs.sweeps.trial_status import TrialPhase, TrialStatus
from gpupanel.runs.trust.trusted import trust as trust_code
from gpupanel.runs.trust.user_code import code_of_profile

_SPREAD_DIGITS = 3
_STYLES = {
    TrialPhase.RUNNING: "bold",
    TrialPhase.PAUSED: "dim",
    TrialPhase.PRUNED: "dim",
    TrialPhase.FAILED: "red",
    TrialPhase.LOST: "red",
    TrialPhase.NOT_STARTED: "red",
}


def sweep(
    profile: Annotated[
        str,
        typer.Argument(
            metavar="PROFILE|SWEEP",
            help="A profile with a [sweep] table, to start it; or the folder or name of a sweep, "
            "to show it.",
            show_default=False,
        ),
    ],
    runs_dir: RunsDirOption = None,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the trials of a profile and start nothing.")
    ] = False,
    stop: Annotated[
        bool,
        typer.Option("--stop", help="Begin no more trials of a sweep, and stop those in progress."),
    ] = False,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Continue a sweep that is no longer in the queue."),
    ] = False,
    trust: TrustOption = False,
    json: JsonOption = False,
) -> None:
    """Search values of settings: each trial is a run, started by the queue."""
    folder = runs_dir or default_runs_dir()
    found = find_sweep(profile, folder)
    if found is not None and not dry_run:
        _show(found, stop=stop, resume=resume, json=json)
        return
    if stop or resume:
        refuse(ProblemError(_no_sweep(profile)), json=json, status=EXIT_BAD_PROFILE)
    try:
        read = read_profile(found.profile if found is not None else Path(profile))
        if trust:
            trust_code(code_of_profile(read))
        count = check_sweep(read)
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_BAD_PROFILE)
    if dry_run:
        _print_trials(read, count, json=json)
    else:
        _start(read, count, folder, json=json)


def _start(profile: Profile, count: int, runs_dir: Path, *, json: bool) -> None:
    try:
        machine = read_machines_for(profile)
        print_problems(check_first_trial(machine, profile))
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_BAD_PROFILE)
    try:
        places = places_on(machine, profile)
        layout = start_sweep(QueueFiles(queue_dir()), profile, runs_dir, places)
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    runs = count * len(repeats_of(profile))
    if json:
        print_json({"sweep": str(layout.root), "trials": count, "runs": runs})
        return
    answers.print(str(layout.root), highlight=False, soft_wrap=True)
    at_once = f", {len(places)} at once" if places else ""
    trials = f"{count:,} {'trial' if count == 1 else 'trials'}"
    each = f" with {runs // count} runs each" if runs > count else ""
    progress.print(f"{trials}{each}{at_once}, in the queue.")
    progress.print(f"`gpupanel sweep {layout.name}` shows how far they are.", highlight=False)


def _print_trials(profile: Profile, count: int, *, json: bool) -> None:
    is_bayesian = sweep_of(profile).method is SweepMethod.BAYESIAN
    runs = count * len(repeats_of(profile))
    trials: tuple[Values, ...] = () if is_bayesian else trials_of(profile)
    if json:
        documents = [
            {"number": number, "values": dict(values)} for number, values in enumerate(trials, 1)
        ]
        print_json({"count": count, "runs": runs, "trials": documents})
        return
    if is_bayesian:
        answers.print(f"Up to {count:,} trials; their values follow from those before.")
        return
    keys = list(trials[0])
    table = _table(["trial", *keys])
    for number, values in enumerate(trials, 1):
        table.add_row(str(number), *(_text(values.get(key)) for key in keys))
    answers.print(table)
    if runs > count:
        answers.print(f"{runs:,} runs: {runs // count} of each trial.")


def _show(layout: SweepLayout, *, stop: bool, resume: bool, json: bool) -> None:
    files = QueueFiles(queue_dir())
    try:
        if stop:
            stop_sweep(files, layout)
        elif resume:
            resume_sweep(files, layout)
        else:
            ensure_scheduler(files)
        status, is_known = sweep_status(layout), layout.root in files.read().sweeps
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    if json:
        print_json(status.model_dump(mode="json"))
        return
    answers.print(_status_table(status))
    best = "" if status.best is None else f", best: {_best(status)}"
    word = "stopping" if stop and status.state is SweepPhase.IN_PROGRESS else status.state
    ended = f"{status.ended_count:,} of {status.trial_count:,} trials have ended"
    answers.print(f"{word}: {ended}{best}", highlight=False)
    if status.problem is not None:
        print_problems([status.problem])
    if status.state is SweepPhase.IN_PROGRESS and not is_known and not stop:
        progress.print("The queue does not know it: `--resume` continues it.", highlight=False)


def _status_table(status: SweepStatus) -> Table:
    measured = ["spread", "n"] if status.has_repeats else ["epoch"]
    table = _table(["trial", *status.keys, status.metric, *measured, "state", "run"])
    for trial in status.trials:
        style = "green" if trial.number == status.best else _STYLES.get(trial.state, "")
        table.add_row(
            str(trial.number),
            *(_text(trial.values.get(key)) for key in status.keys),
            NONE_GIVEN if trial.value is None else short_number(trial.value),
            *(_repeats(trial) if status.has_repeats else [_count(trial.epoch)]),
            _state_text(trial),
            _run_text(trial),
            style=style,
        )
    return table


def _best(status: SweepStatus) -> str:
    best = next(trial for trial in status.trials if trial.number == status.best)
    values = ", ".join(f"{key} = {toml_value(value)}" for key, value in best.values.items())
    figure = short_number(best.value)
    if best.spread is not None:
        figure += f" ± {short_number(best.spread, _SPREAD_DIGITS)} (n = {best.measured})"
    return f"trial {best.number} with {status.metric} {figure} ({values})"


def _repeats(trial: TrialStatus) -> list[str]:
    """The spread over the runs of a trial, and how many were measured."""
    spread = NONE_GIVEN if trial.spread is None else short_number(trial.spread, _SPREAD_DIGITS)
    return [spread, _count(trial.measured)]


def _count(number: int | None) -> str:
    return NONE_GIVEN if number is None else str(number)


def _state_text(trial: TrialStatus) -> str:
    return f"{trial.state_text}: {trial.reason}" if trial.reason else trial.state_text


def _run_text(trial: TrialStatus) -> str:
    if trial.run is not None:
        return trial.run
    return NONE_GIVEN if trial.problem is None else trial.problem.message


def _table(headings: list[str]) -> Table:
    table = Table(box=None, header_style="dim")
    for heading in headings:
        table.add_column(heading, overflow="fold", no_wrap=heading == "run")
    return table


def _text(value: SweptValue | None) -> str:
    if value is None:
        return NONE_GIVEN
    return value if isinstance(value, str) else toml_value(value)


def _no_sweep(name: str) -> Problem:
    return Problem(
        code="sweep_missing",
        message=f"{name} is not a sweep: there is no such folder, here or among the sweeps.",
        hint="`gpupanel sweep PROFILE` prints the folder of the sweep that it starts.",
    )
