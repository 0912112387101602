"""Past and present runs, newest first: read from the ends of their files, and fast."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.run_lock import is_supervised
from gpupanel.runs.history.run_record import RunRecord, read_record, unreadable_run
from gpupanel.runs.history.run_summary import RunSummary as RunSummary

STARTING_S = 10.0
"""How long a run without a supervisor may be one whose supervisor is just starting."""

_Stamp = tuple[tuple[int, int] | None, ...]
"""When each file of a run was written last, and its size; ``None``: there is no such file."""


@dataclass(frozen=True, slots=True)
class _Remembered:
    stamp: _Stamp
    record: RunRecord
    summary: RunSummary


class RunLister:
    """Lists the runs of a folder again and again; reads again only what was written since.

    Args:
        runs_dir: Where the runs are kept; it may not be there yet.
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
                paths = [entry.path for entry in entries if entry.is_dir()]
        except (FileNotFoundError, NotADirectoryError):
            paths = []
        except OSError as error:
            raise ProblemError(disk_problem(error, self._runs_dir)) from error
        before, self._remembered = self._remembered, {}
        summaries = []
        for path in paths:
            summary = self._summary(path, before.get(path))
            if summary is not None:
                summaries.append(summary)
        return tuple(
            sorted(summaries, key=lambda run: (run.started_s or 0.0, run.name), reverse=True)
        )

    def _summary(self, path: str, before: _Remembered | None) -> RunSummary | None:
        layout = RunLayout(Path(path))
        try:
            stamp = _stamp(path)
            if before is not None and before.stamp == stamp:
                record = before.record
            else:
                before = None
                record = read_record(layout)
                if not _is_a_run(record, stamp):
                    return None
        except OSError as error:
            return _gone_or_unreadable(layout, error)
        summary = summarize_record(layout, record)
        if before is not None and before.summary == summary:
            summary = before.summary
        self._remembered[path] = _Remembered(stamp, record, summary)
        return summary


def list_runs(runs_dir: Path) -> tuple[RunSummary, ...]:
    """The runs in a folder, newest first; folders that are no runs are passed over.

    Raises:
        ProblemError: The folder cannot be read.
    """
    return RunLister(runs_dir).list()
