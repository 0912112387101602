"""What the files of a run say of it; whether it goes on, its lock shows."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from gpupanel.domain.events import (
    DataReady,
    EpochDone,
    Event,
    ExamplesDone,
    FitBegan,
    HoursEnded,
    RunEnded,
    RunRestarted,
    RunStarted,
    StepsDone,
    TrainingEnded,
    UnknownEvent,
    decode_event,
)
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import SCHEMA_VERSION
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import status
from gpupanel.files.plan_file import PlanHead, read_plan_head
from gpupanel.runs.directory.event_times import time_of_line
from gpupanel.runs.directory.profile_file import ProfileHead, read_profile_head, read_run_profile
from gpupanel.runs.directory.unsafe_entries import first_unsafe_entry
from gpupanel.runs.history import flaws
from gpupanel.runs.history.event_ends import EventEnds
from gpupanel.runs.history.label import RunLabel, read_label
from gpupanel.runs.history.run_summary import RunProgress, RunSummary

_Head = TypeVar("_Head")


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run as its files have it.

    Attributes:
        summary: Complete where ``has_ended``; else without what its lock shows.
        has_ended: The supervisor's last word was read, or nothing can be read.
        trainer_word: The trainer's own last word, where it is the last one.
        begun_s: When the run was started, or started again, where its supervisor has not said so
            itself yet: it may just be starting.
        last_s: When the last event happened.
        has_events: Whether there are any.
    """

    summary: RunSummary
    has_ended: bool = False
    trainer_word: TrainingEnded | None = None
    begun_s: float | None = None
    last_s: float | None = None
    has_events: bool = True


def read_record(layout: RunLayout) -> RunRecord:
    """What the files of the run say.

    Raises:
        FileNotFoundError: There is no such directory any more.
    """
    label, label_flaw = _label(layout)
    plan, plan_flaw = _plan(layout)
    profile, profile_flaw = _profile(layout)
    summary = RunSummary(
        name=layout.name,
        path=layout.root,
        profile_name=profile.name or layout.name,
        label=label.name,
        notes=label.notes,
        tags=label.tags,
        task=profile.task,
        model_run=_run_of_model(profile.model_path),
        strategy=plan.strategy,
        devices=tuple(device.name for device in plan.devices),
        device_keys=tuple(device.key for device in plan.devices),
        flaw=_unsafe(layout) or profile_flaw or plan_flaw or label_flaw,
    )
    try:
        ends = EventEnds(layout.events)
    except FileNotFoundError:
        return _without_events(layout, summary)
    except OSError as error:
        flaw = summary.flaw or flaws.unreadable(layout.name, error)
        return RunRecord(summary.model_copy(update={"flaw": flaw}), has_ended=True)
    return _with_events(layout, summary, ends)


def _unsafe(layout: RunLayout) -> Problem | None:
    try:
        found = first_unsafe_entry(layout.root)
    except PermissionError:
        return None  # a folder of which only the files may be read
    return None if found is None else flaws.unreadable(layout.name, found)


def _run_of_model(path: str) -> Path | None:
    """The run that saved a model, found by its path alone: no other disk is accessed."""
    folder = Path(path).parent
    layout = RunLayout(folder)
    models = layout.model, *(layout.other_model(is_best=each) for each in (True, False))
    return folder if path and Path(path) in models else None


def _label(layout: RunLayout) -> tuple[RunLabel, Problem | None]:
    try:
        return read_label(layout), None
    except OSError as error:
        return RunLabel(), flaws.unreadable(layout.name, error)


def _profile(layout: RunLayout) -> tuple[ProfileHead, Problem | None]:
    head, flaw = _head(layout, "profile", read_profile_head)
    if head is not None and head.schema_version > SCHEMA_VERSION:
        flaw = flaws.newer(layout.name)
    return head or ProfileHead(), flaw


def _plan(layout: RunLayout) -> tuple[PlanHead, Problem | None]:
    head, flaw = _head(layout, "plan", read_plan_head)
    if head is not None and head.is_newer:
        flaw = flaws.newer(layout.name)
    return head or PlanHead(), flaw


def _head(
    layout: RunLayout, part: str, read: Callable[[RunLayout], _Head]
) -> tuple[_Head | None, Problem | None]:
    try:
        return read(layout), None
    except FileNotFoundError:
        return None, flaws.incomplete(layout.name, part)
    except OSError as error:
        return None, flaws.unreadable(layout.name, error)
    except ValueError as error:
        return None, flaws.damaged(layout.name, part, str(error))


def _without_events(layout: RunLayout, summary: RunSummary) -> RunRecord:
    """A run that was launched just now, or whose supervisor never came."""
    begun_s = (status(layout.profile) or layout.root.stat()).st_mtime
    summary = summary.model_copy(update={"started_s": begun_s})
    return RunRecord(summary, begun_s=begun_s, has_events=False)


def _with_events(layout: RunLayout, summary: RunSummary, ends: EventEnds) -> RunRecord:
    first_line, last_line = ends.first_line(), ends.last_line()
    first = decode_event(first_line) if first_line else None
    begun_s = time_of_line(first_line) or ends.changed_s
    changes: dict[str, Any] = {"started_s": begun_s}
    end, trainer_word, restarted = _final_events(ends)
    if first is not None and summary.flaw is None:
        changes["flaw"] = _flaw_of_start(layout.name, first, first_line)
    if end is not None:
        word, is_known = end
        changes |= {
            "ended_s": word.time_s,
            "outcome": word.outcome,
            "metrics": word.metrics if word.metrics != Metrics() else _last_metrics(ends),
            "kept_epoch": word.kept_epoch,
            "examples_per_second": word.examples_per_second,
            "waiting_for_data": word.waiting_for_data,
            "time_spent": word.time_spent,
            "findings": word.findings,
            "problem": word.problem,
            "saved": word.saved,
            "restarts": word.restarts,
            "active_s": word.lasted_s,
            "energy": word.energy,
            "hours_begin_s": _hours_begin_s(ends) if word.outcome is Outcome.SUSPENDED else None,
        }
        if not is_known:
            changes["flaw"] = summary.flaw or flaws.newer(layout.name)
        return RunRecord(summary.model_copy(update=changes), has_ended=True)
    changes["metrics"] = _last_metrics(ends)
    return RunRecord(
        summary.model_copy(update=changes),
        trainer_word=trainer_word,
        begun_s=restarted.time_s if restarted is not None else None if first_line else begun_s,
        last_s=time_of_line(last_line),
    )


def _flaw_of_start(name: str, first: Event, line: bytes) -> Problem | None:
    if isinstance(first, UnknownEvent):
        return flaws.unknown_event(name, line)
    # A run whose supervisor never came is started again: that is the first that is written.
    return None if isinstance(first, RunStarted | RunRestarted) else flaws.lost_start(name)


def _final_events(
    ends: EventEnds,
) -> tuple[tuple[RunEnded, bool] | None, TrainingEnded | None, RunRestarted | None]:
    """The last events of supervisor, trainer and restarts, of which only the last counts.

    A restart that a supervisor has claimed does not count any more: from then on its lock does.
    """
    while True:
        end = ends.last_end()
        trainer = ends.last_of(TrainingEnded, lambda event: event.process == 0)
        restart = ends.last_of(RunRestarted)
        found = [each[0] for each in (end, trainer, restart) if each is not None]
        if found:
            last = max(found)
            return (
                end[1:] if end is not None and end[0] == last else None,
                trainer[1] if trainer is not None and trainer[0] == last else None,
                restart[1]
                if restart is not None and restart[0] == last and not _is_claimed(ends, *restart)
                else None,
            )
        if not ends.lengthen():
            return None, None, None


def _hours_begin_s(ends: EventEnds) -> float | None:
    """When the hours begin whose end has suspended the run; ``None``: something else has."""
    ended, started = ends.last_of(HoursEnded), ends.last_of(RunStarted)
    if ended is None or (started is not None and started[0] > ended[0]):
        return None
    return ended[1].begin_s


def _is_claimed(ends: EventEnds, at: int, restart: RunRestarted) -> bool:
    started = ends.last_of(RunStarted)
    return restart.attempt > 0 or (started is not None and started[0] > at)


def _last_metrics(ends: EventEnds) -> Metrics:
    """Metrics of the last epoch, and of the last validation, if near the end of the events."""
    while (found := ends.last_of(EpochDone)) is None:
        if not ends.lengthen():
            return Metrics()
    metrics = found[1].metrics
    if metrics.val_loss is not None:
        return metrics
    validated = ends.last_of(EpochDone, lambda event: event.metrics.val_loss is not None)
    return metrics if validated is None else metrics.with_validation_of(validated[1].metrics)


def read_progress(layout: RunLayout, task: str) -> tuple[RunProgress | None, float | None]:
    """How far the run is, and its examples per second over the last steps.

    Args:
        layout: A run that goes on.
        task: ``train``, ``evaluate``, ``predict`` or ``script``.

    Returns:
        ``None`` for what it has not reported yet, or not lately.
    """
    try:
        return _progress(layout, task, EventEnds(layout.events))
    except OSError:
        return None, None


def lines_of_record(layout: RunLayout) -> tuple[dict[int, bytes], bool]:
    """The lines of events in which all stands that :func:`read_record` and the progress take.

    Returns:
        Them, by where they begin in the file, and whether the run's end is among them.

    Raises:
        OSError: They cannot be read.
    """
    ends = EventEnds(layout.events)
    profile, _ = _profile(layout)
    summary = RunSummary(name="", path=layout.root, profile_name="")
    record = _with_events(layout, summary, ends)
    if not record.has_ended:
        _progress(layout, profile.task, ends)
    return ends.lines(), record.has_ended


def _progress(
    layout: RunLayout, task: str, ends: EventEnds
) -> tuple[RunProgress | None, float | None]:
    match task:
        case "train":
            return _trained(layout, ends)
        case "script":
            return _followed(ends)
        case _:
            return _evaluated(ends)


def _evaluated(ends: EventEnds) -> tuple[RunProgress | None, float | None]:
    found = ends.last_of(ExamplesDone)
    if found is None:
        return None, None
    done = found[1]
    progress = RunProgress(step=done.examples, step_total=done.examples_total)
    return progress, done.examples_per_second


def _followed(ends: EventEnds) -> tuple[RunProgress | None, float | None]:
    """Of a program of the person's own, as far as it reports steps."""
    found, last_fit = ends.last_of(StepsDone), ends.last_of(FitBegan)
    if found is None:
        return None, None
    steps, fit = found[1], ends.first_of(FitBegan) if last_fit is None else last_fit[1]
    epochs = None if fit is None else fit.epochs
    each = None if fit is None else fit.steps_per_epoch
    total = None if each is None or epochs is None else each * epochs
    progress = RunProgress(epoch=steps.epoch, epoch_total=epochs, step=steps.step, step_total=total)
    return progress, steps.examples_per_second


def _trained(layout: RunLayout, ends: EventEnds) -> tuple[RunProgress | None, float | None]:
    found, data = ends.last_of(StepsDone), ends.first_of(DataReady)
    if found is None:
        return None, None
    steps, epochs = found[1], _epochs(layout)
    total = None if data is None or epochs is None else data.steps_per_epoch * epochs
    progress = RunProgress(epoch=steps.epoch, epoch_total=epochs, step=steps.step, step_total=total)
    return progress, steps.examples_per_second


def _epochs(layout: RunLayout) -> int | None:
    try:
        return read_run_profile(layout).epochs_to_train
    except ProblemError:
        return None
