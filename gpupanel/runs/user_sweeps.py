"""The user's sweeps as a window works with them: what there are, and what people ask of them."""

from dataclasses import dataclass
from pathlib import Path

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.readiness import read_machine
from gpupanel.runs.sweeps.starting import (
    check_first_trial,
    places_on,
    resume_sweep,
    start_sweep,
    stop_sweep,
)
from gpupanel.runs.sweeps.sweep_layout import SWEEPS, SweepLayout
from gpupanel.runs.sweeps.sweep_status import SweepStatus, list_sweeps, sweep_status


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

    @classmethod
    def of(cls, names: tuple[str, ...], layout: SweepLayout, *, is_known: bool) -> "SweepsRead":
        """All that there are, and the one in that folder as it is now."""
        try:
            return cls(names, sweep_status(layout), is_known)
        except ProblemError as error:
            # The others can still be shown.
            damaged = layout.root.name
            return cls(names, None, is_known, damaged=damaged, problems=error.problems)


class UserSweeps:
    """Those of a folder of runs on this machine; each method may wait for files and locks.

    What cannot be done raises :class:`~gpupanel.domain.problem.ProblemError`, code that nobody
    trusts yet :class:`~gpupanel.runs.trust.trusted.CodeNotTrustedError`.

    Args:
        runs_dir: The folder.
    """

    def __init__(self, runs_dir: Path) -> None:
        self._runs_dir = runs_dir
        self._files = QueueFiles(queue_dir())

    def read(self, name: str) -> SweepsRead:
        """All names, and the sweep of that name; empty: the newest."""
        names = self.names()
        if not names:
            return SweepsRead((), None)
        layout = self.layout(name if name in names else names[0])
        return SweepsRead.of(names, layout, is_known=self.is_known(layout))

    def names(self) -> tuple[str, ...]:
        """Those of all folders, newest first."""
        return tuple(layout.root.name for layout in list_sweeps(self._runs_dir))

    def is_known(self, layout: SweepLayout) -> bool:
        """Whether the queue looks after a sweep."""
        return layout.root in self._files.read().sweeps

    def start(self, profile: Profile) -> str:
        """Start the profile's sweep on the machine as it is now; the name of its folder."""
        machine = read_machine()
        check_first_trial(machine, profile)
        places = places_on(machine, profile)
        return start_sweep(self._files, profile, self._runs_dir, places).root.name

    def stop(self, name: str) -> None:
        """Begin no more trials of a sweep, and stop those that go on."""
        stop_sweep(self._files, self.layout(name))

    def resume(self, name: str) -> None:
        """Let a sweep go on that the queue does not know any more."""
        resume_sweep(self._files, self.layout(name))

    def layout(self, name: str) -> SweepLayout:
        """The folder of a sweep."""
        return SweepLayout(self._runs_dir.absolute() / SWEEPS / name)
