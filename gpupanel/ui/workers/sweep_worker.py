"""Reads sweeps and has one stopped, off the GUI thread: a record may have thousands of lines."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.sweeps.starting import resume_sweep, stop_sweep
from gpupanel.runs.sweeps.sweep_layout import SWEEPS, SweepLayout
from gpupanel.runs.sweeps.sweep_status import SweepStatus, list_sweeps, sweep_status
from gpupanel.ui.workers.facade import WorkerFacade


@dataclass(frozen=True, slots=True)
class SweepsRead:
    """What there is.

    Attributes:
        names: Of all sweeps' folders, newest first.
        shown: The one that was asked for, else the newest; ``None``: there is none, or it cannot
            be read.
        is_known: Whether the queue looks after it.
        damaged: The name of the one that was asked for, where it cannot be read.
        problems: Why not.
    """

    names: tuple[str, ...]
    shown: SweepStatus | None
    is_known: bool = True
    damaged: str = ""
    problems: tuple[Problem, ...] = ()


class SweepReader(WorkerFacade):
    """Reads the sweeps beside the runs of a folder; ``refused`` says why one cannot be read.

    Args:
        runs_dir: The folder of runs.
        parent: Owns it.
    """

    found = Signal(object)
    """The :class:`SweepsRead` of now."""

    def __init__(self, runs_dir: Path, parent: QObject | None = None) -> None:
        super().__init__("sweep reader", parent)
        self._runs_dir = runs_dir

    def read(self, name: str) -> None:
        """Read all names and the sweep of that name, empty: the newest; ``found`` follows."""
        self.submit(partial(_read, self._runs_dir, name), self.found.emit)

    def resume_trials(self, name: str) -> None:
        """Let a sweep go on that the queue does not know any more; ``found`` follows."""
        self.submit(partial(_resume, self._runs_dir, name), self.found.emit)

    def stop_trials(self, name: str) -> None:
        """Begin no more trials of a sweep, and stop those that go on; ``found`` follows."""
        self.submit(partial(_stop, self._runs_dir, name), self.found.emit)


def _read(runs_dir: Path, name: str) -> SweepsRead:
    layouts = {layout.root.name: layout for layout in list_sweeps(runs_dir)}
    chosen = layouts.get(name) or next(iter(layouts.values()), None)
    if chosen is None:
        return SweepsRead((), None)
    is_known = chosen.root in QueueFiles(queue_dir()).read().sweeps
    names = tuple(layouts)
    try:
        return SweepsRead(names, sweep_status(chosen), is_known)
    except ProblemError as error:
        # The others can still be shown.
        damaged = chosen.root.name
        return SweepsRead(names, None, is_known, damaged=damaged, problems=error.problems)


def _resume(runs_dir: Path, name: str) -> SweepsRead:
    resume_sweep(QueueFiles(queue_dir()), SweepLayout(runs_dir.absolute() / SWEEPS / name))
    return _read(runs_dir, name)


def _stop(runs_dir: Path, name: str) -> SweepsRead:
    stop_sweep(QueueFiles(queue_dir()), SweepLayout(runs_dir.absolute() / SWEEPS / name))
    return _read(runs_dir, name)
