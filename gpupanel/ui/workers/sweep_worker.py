"""Reads sweeps and has one stopped, off the GUI thread: a record may have thousands of lines."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gpupanel.runs.user_sweeps import SweepsRead
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.workplace import workplace


class SweepReader(WorkerFacade):
    """Reads the sweeps beside the runs of a folder; ``refused`` says why one cannot be read.

    Args:
        runs_dir: The folder of runs.
        parent: Owns it.
    """

    found = Signal(object)
    """The :class:`SweepsRead` of now."""
    orderRefused = Signal(object)
    """Why a sweep was not stopped, or not let go on: a tuple of ``Problem``."""

    def __init__(self, runs_dir: Path, parent: QObject | None = None) -> None:
        super().__init__("sweep reader", parent)
        self._runs_dir = runs_dir

    def read(self, name: str) -> None:
        """Read all names and the sweep of that name, empty: the newest; ``found`` follows."""
        self.submit(partial(_read, self._runs_dir, name), self.found.emit)

    def resume_trials(self, name: str) -> None:
        """Let a sweep go on that the queue does not know any more; ``found`` follows."""
        resume = partial(_resume, self._runs_dir, name)
        self.submit(resume, self.found.emit, self.orderRefused.emit)

    def stop_trials(self, name: str) -> None:
        """Begin no more trials of a sweep, and stop those that go on; ``found`` follows."""
        stop = partial(_stop, self._runs_dir, name)
        self.submit(stop, self.found.emit, self.orderRefused.emit)


def _read(runs_dir: Path, name: str) -> SweepsRead:
    return workplace().sweeps(runs_dir).read(name)


def _resume(runs_dir: Path, name: str) -> SweepsRead:
    workplace().sweeps(runs_dir).resume(name)
    return _read(runs_dir, name)


def _stop(runs_dir: Path, name: str) -> SweepsRead:
    workplace().sweeps(runs_dir).stop(name)
    return _read(runs_dir, name)
