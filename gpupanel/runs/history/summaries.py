"""Past and present runs, newest first: read from the ends of their files, and fast."""

import os
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.run_lock import STARTING_S, is_supervised
from gpupanel.runs.history import flaws
from gpupanel.runs.history.run_record import RunRecord, read_progress, read_record
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.history.segments_so_far import SegmentsSoFar, lost_segments_s
from gpupanel.runs.processes.frozen_supervisor import frozen_problem

_FIRST = 32
"""Runs that are read before it is decided whether the disk is waited for."""
_WAITED = 3.0
"""Times the processor's time that reading takes where files are not in memory yet."""
_READERS = 16

_Stamp = tuple[tuple[int, int] | None, ...]
"""When each file of a run was written last, and its size; ``None``: there is no such file."""

_RUN_FILES = ("events.jsonl", "profile.toml", "plan.json")
_NO_FILES: _Stamp = (None, None, None)


@dataclass(frozen=True, slots=True)
class _Remembered:
    stamp: _Stamp
    record: RunRecord
    summary: RunSummary
    segments: SegmentsSoFar | None
    """Of one that goes on."""


class RunLister:
    """Lists the runs of a folder again and again; reads again only what was written since.

    Args:
        runs_dir: Where the runs are kept; it need not be there yet.
    """

    def __init__(self, runs_dir: Path) -> None:
        self._runs_dir = runs_dir
        self._remembered: dict[str, _Remembered] = {}

    def list(self) -> tuple[RunSummary, ...]:
        """The runs, newest first; folders that are no runs are passed over.

        A run that has not changed is the very same value as the last time.

        Raises:
            ProblemError: The folder cannot be read.
        """
        try:
            with os.scandir(self._runs_dir) as entries:
                paths = [
                    entry.path
                    for entry in entries
                    # What is being deleted has a hidden name.
                    if not entry.name.startswith(".") and _is_folder(entry)
                ]
        except (FileNotFoundError, NotADirectoryError):
            paths = []
        except OSError as error:
            raise ProblemError(disk_problem(error, self._runs_dir)) from error
        before, self._remembered = self._remembered, {}
        found = self._summaries(paths, before)
        return tuple(
            sorted(
                (run for run in found if run is not None),
                key=lambda run: (run.started_s or 0.0, run.name),
                reverse=True,
            )
        )

    def _summaries(
        self, paths: Sequence[str], before: dict[str, _Remembered]
    ) -> Iterable[RunSummary | None]:
        known = [before.get(path) for path in paths]
        begin_s, begin_busy_s = time.perf_counter(), time.thread_time()
        first = [*map(self._summary, paths[:_FIRST], known)]
        busy_s = time.thread_time() - begin_busy_s
        later = (paths[_FIRST:], known[_FIRST:])
        if time.perf_counter() - begin_s < _WAITED * busy_s:
            return [*first, *map(self._summary, *later)]
        # A disk that is asked for several files at once answers twice as fast; where none is
        # waited for, threads would only take turns.
        with ThreadPoolExecutor(_READERS, "run reader") as readers:
            return [*first, *readers.map(self._summary, *later)]

    def _summary(self, path: str, before: _Remembered | None) -> RunSummary | None:
        try:
            return self._read_summary(path, before)
        except FileNotFoundError:
            return None  # deleted meanwhile
        except Exception as error:  # noqa: BLE001 - one bad folder never breaks the list for all
            return _unreadable_run(_layout(path), error)

    def _read_summary(self, path: str, before: _Remembered | None) -> RunSummary | None:
        stamp = _stamp(path)
        if stamp[: len(_RUN_FILES)] == _NO_FILES:
            return None
        is_known = before is not None and before.stamp == stamp
        if before is not None and is_known and before.record.summary.flaw is None:
            if not before.summary.is_running:
                # Whoever lets it go on writes that down first.
                self._remembered[path] = before
                return before.summary
            record = before.record
        else:
            # A flaw may be gone though no file has changed: a disk answers again, or rights were
            # given.
            record = read_record(_layout(path))
        summary, segments = record.summary, None
        if not record.has_ended:
            segments = None if before is None else before.segments
            segments = segments or SegmentsSoFar(_layout(path))
            summary = _without_end_event(record, stamp, segments)
        if before is not None and before.summary == summary:
            summary = before.summary
        self._remembered[path] = _Remembered(stamp, record, summary, segments)
        return None if _is_being_made(summary, stamp) else summary


def list_runs(runs_dir: Path) -> tuple[RunSummary, ...]:
    """The runs in a folder, newest first; folders that are no runs are passed over.

    Raises:
        ProblemError: The folder cannot be read.
    """
    return RunLister(runs_dir).list()


def summarize_run(layout: RunLayout, *, with_since: bool = True) -> RunSummary:
    """One run, from the ends of its files; one whose directory is gone is ``run_unreadable``.

    Args:
        layout: The run.
        with_since: Also since when one that goes on is there, for which all of its events are read:
            too much for who asks again and again.
    """
    try:
        stamp = _stamp(str(layout.root))
        record = read_record(layout)
        if record.has_ended:
            return record.summary
        segments = SegmentsSoFar(layout) if with_since else None
        return _without_end_event(record, stamp, segments)
    except Exception as error:  # noqa: BLE001 - what stands in a folder never ends who reads it
        return _unreadable_run(layout, error)


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link that leads round in a circle, or to a disk that is gone


def _layout(path: str) -> RunLayout:
    return RunLayout(Path(path))


def _stamp(path: str) -> _Stamp:
    return tuple(_file_stamp(f"{path}/{name}") for name in (*_RUN_FILES, "label.toml"))


def _file_stamp(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path, follow_symlinks=False)  # noqa: PTH116 - a Path takes longer to make than the file to stat
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_size


def _is_being_made(run: RunSummary, stamp: _Stamp) -> bool:
    """Whether the launcher is at it: it writes the profile last, which makes it a run."""
    events, profile, _plan, _label = stamp
    return events is None and profile is None and run.is_running


def _without_end_event(
    record: RunRecord, stamp: _Stamp, segments: SegmentsSoFar | None
) -> RunSummary:
    """The run whose supervisor has not said its last word: it goes on, or was killed.

    Args:
        record: Of the run.
        stamp: From before that was read.
        segments: Of the run, as far as they were read; ``None``: not asked for.
    """
    layout, now_s = RunLayout(record.summary.path), time.time()
    # Whichever way the clock was set since.
    starting = record.begun_s is not None and abs(now_s - record.begun_s) < STARTING_S
    if starting or is_supervised(layout):
        progress, rate = read_progress(layout, record.summary.task)
        return record.summary.model_copy(
            update={
                "is_running": True,
                "since_s": None if segments is None else segments.since_s(),
                "progress": progress,
                "examples_per_second": rate,
                "problem": frozen_problem(layout),
            }
        )
    if _stamp(str(layout.root)) != stamp:
        # The supervisor may have ended the run after the record was read and before its lock
        # was tried.
        record = read_record(layout)
        if record.has_ended:
            return record.summary
    word = record.trainer_word
    if word is None:
        return _lost(layout, record)
    return record.summary.model_copy(
        update={
            "ended_s": word.time_s,
            "active_s": lost_segments_s(layout, word.time_s),
            "outcome": word.outcome,
            "metrics": word.metrics,
            "kept_epoch": word.kept_epoch,
            "examples_per_second": word.examples_per_second,
            "waiting_for_data": word.waiting_for_data,
            "time_spent": word.time_spent,
            "problem": word.problem,
        }
    )


def _lost(layout: RunLayout, record: RunRecord) -> RunSummary:
    missing = None if record.has_events else flaws.incomplete(layout.name, "events")
    return record.summary.model_copy(
        update={
            "ended_s": record.last_s,
            "active_s": lost_segments_s(layout, record.last_s),
            "outcome": Outcome.LOST,
            "problem": _supervisor_lost(),
            "flaw": record.summary.flaw or missing,
        }
    )


def _unreadable_run(layout: RunLayout, error: Exception) -> RunSummary:
    try:
        started_s = layout.root.stat().st_mtime
    except OSError:
        started_s = None
    return RunSummary(
        name=layout.name,
        path=layout.root,
        profile_name=layout.name,
        started_s=started_s,
        problem=flaws.gone(layout.name) if isinstance(error, FileNotFoundError) else None,
        flaw=flaws.unreadable(layout.name, error),
    )


def _supervisor_lost() -> Problem:
    return Problem(
        code="supervisor_lost",
        message="The run ended without a recorded outcome: its supervisor was killed, or the "
        "machine went down.",
        hint="Resume it from its last checkpoint; where it has saved none, start it again.",
    )
