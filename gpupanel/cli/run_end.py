"""Following a run to its end, and printing how it ended."""

import time
from pathlib import Path
from typing import Any

import typer

from gpupanel.cli.evaluation_report import evaluation_document, print_evaluation
from gpupanel.cli.interrupts import Interrupts
from gpupanel.cli.literal_console import styled
from gpupanel.cli.output import EXIT_FAILED, answers, print_json, print_problems, refuse
from gpupanel.cli.run_hours import continues_s
from gpupanel.cli.run_watcher import figures_text, metrics_text, watch_to_its_end
from gpupanel.domain.energy import RunEnergy
from gpupanel.domain.finding import Finding
from gpupanel.domain.hours import until_text
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.time_spent import TimeSpent
from gpupanel.domain.visible_text import visible_line
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.following.end_text import end_text, loses_steps
from gpupanel.runs.following.evaluated_text import evaluated_text
from gpupanel.runs.following.saved_model_text import saved_model_text
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.following.unread_problems import unread_problem

EXIT_STOPPED = 130


def follow_unless(detach: bool, layout: RunLayout, epochs: int, *, json: bool) -> None:  # noqa: FBT001 - the sentence reads so
    """Follow a run to its end, or only say which one it is."""
    if not detach:
        follow(layout, epochs, json=json)
    elif json:
        print_json({"run": str(layout.root)})
    else:
        answers.print(str(layout.root), highlight=False, soft_wrap=True)


def follow(layout: RunLayout, epochs: int, *, json: bool, ctrl_c_stops: bool = True) -> None:
    """Follow a run to its end, say how it ended, and leave with that exit status."""
    # Until all is said: the second of two Ctrl+C may come when the run has just ended.
    with Interrupts() as interrupts:
        try:
            status = watch_to_its_end(
                layout, epochs, ctrl_c_stops=ctrl_c_stops, interrupts=interrupts
            )
        except OSError as error:
            problem = disk_problem(error, layout.root)
            refuse(ProblemError(problem), json=json, status=EXIT_FAILED)
        _print(layout, status, json=json)


def _print(layout: RunLayout, status: RunStatus, *, json: bool) -> None:
    """Print how a run ended, and leave with that exit status."""
    unread = unread_problem(status.unread_lines)
    if unread is not None:
        print_problems([unread])
    if status.outcome is None and not status.has_ended:
        raise typer.Exit(EXIT_STOPPED)  # the person stopped watching
    if status.outcome is None:
        # How it ended is not known any more.
        refuse(ProblemError(*status.problems[-1:]), json=json, status=EXIT_FAILED)
    if json:
        print_json(run_document(layout, status))
    else:
        _print_end(layout, status)
    raise typer.Exit(
        {Outcome.COMPLETED: 0, Outcome.STOPPED: EXIT_STOPPED, Outcome.SUSPENDED: EXIT_STOPPED}.get(
            status.outcome, EXIT_FAILED
        )
    )


def run_document(layout: RunLayout, status: RunStatus) -> dict[str, Any]:
    """What ``--json`` says of a run that has ended."""
    problem, returned = status.ending_problem, status.memory_returned
    saved = status.saved_work
    return {
        "run": str(layout.root),
        "outcome": status.outcome.value if status.outcome is not None else None,
        "metrics": status.metrics.model_dump(mode="json"),
        "figures": status.figures,
        "kept_epoch": status.kept_epoch,
        "best_epoch": status.best.epoch if status.best is not None else None,
        "examples_per_second": status.examples_per_second,
        "waiting_for_data": status.waiting_for_data,
        "time_spent": _time_document(status.time_spent),
        "energy": _energy_document(status.energy),
        "findings": [finding_document(finding) for finding in status.findings],
        "problem": problem.model_dump(mode="json") if problem is not None else None,
        "saved": saved.model_dump(mode="json") if saved is not None else None,
        "memory_returned": returned.model_dump(mode="json") if returned is not None else None,
        "continues_s": continues_s(layout, status),
        "unread_lines": status.unread_lines,
        **evaluation_document(layout, status),
    }


def finding_document(finding: Finding) -> dict[str, Any]:
    """What ``--json`` says of a finding."""
    return finding.model_dump(mode="json", include=set(Finding.model_fields))


def _time_document(spent: TimeSpent | None) -> dict[str, Any] | None:
    if spent is None:
        return None
    fractions = {activity.value: part for activity, part in spent.fractions().items()}
    return {**spent.model_dump(mode="json"), "fractions": fractions}


def _energy_document(energy: RunEnergy | None) -> dict[str, Any] | None:
    if energy is None:
        return None
    return {
        "watt_hours": energy.watt_hours,
        "per_epoch_wh": energy.per_epoch_wh,
        "per_million_examples_wh": energy.per_million_examples_wh,
        **energy.model_dump(mode="json"),
    }


def _log_of_failure(layout: RunLayout, status: RunStatus) -> Path:
    """The log of the process that says what ended the run, else of the first."""
    places = (place for place, problem in status.failures if problem == status.ending_problem)
    return layout.process_log(next(places, 0))


def _print_end(layout: RunLayout, status: RunStatus) -> None:
    if status.ending_problem is not None:
        print_problems([status.ending_problem], log=_log_of_failure(layout, status))
    print_evaluation(layout, status)
    outcome = f"{status.outcome}{until_text(continues_s(layout, status), time.time())}"
    style = "green" if status.outcome is Outcome.COMPLETED else "yellow"
    reached = "  ".join(filter(None, (metrics_text(status.metrics), figures_text(status.figures))))
    answers.print(styled((outcome, f"{style} bold"), f"  {visible_line(reached)}"))
    evaluated = "" if status.evaluation is None else evaluated_text(status.evaluation)
    if evaluated:
        answers.print(f"Evaluated: {evaluated}.", highlight=False)
    kept = saved_model_text(status)
    if kept:
        answers.print(f"{kept[:1].upper()}{kept[1:]}.", highlight=False)
    ending = end_text(status.outcome, status.saved_work)
    if ending:
        is_lost = loses_steps(status.outcome, status.saved_work)
        answers.print(f"{ending}.", style="yellow" if is_lost else "", highlight=False)
    if status.examples_per_second is not None:
        words = f"{status.examples_per_second:,.0f} examples/s"
        if status.waiting_for_data is not None:
            words += f", {status.waiting_for_data * 100:.0f} % of the time waiting for data"
        answers.print(words, style="dim")
    if status.time_spent is not None and status.time_spent.words:
        answers.print(f"Time: {status.time_spent.words}", style="dim")
    if status.energy is not None:
        answers.print(f"Energy: {status.energy.words}", style="dim")
    answers.print(str(layout.root), style="dim", highlight=False, soft_wrap=True)
