"""Finds out a sweep's trials and starts it, off the GUI thread: devices and disks are asked."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gpupanel.domain.profile import Profile
from gpupanel.runs.sweeps.proposing import propose_sweep
from gpupanel.runs.trust.trusted import CodeNotTrustedError
from gpupanel.runs.trust.user_code import UserCode
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.workplace import workplace


class SweepStarter(WorkerFacade):
    """Starts sweeps as the terminal does; ``refused`` says why one was not started.

    Args:
        runs_dir: The folder of runs, in which that of sweeps is.
        parent: Owns it.
    """

    proposed = Signal(object)
    """What a sweep would try: a :class:`SweepProposal`."""
    started = Signal(str)
    """A sweep was handed to the queue: the name of its folder."""
    notTrusted = Signal(object, object)
    """A profile's sweep was not started, because of this code: a tuple of ``UserCode``."""

    def __init__(self, runs_dir: Path, parent: QObject | None = None) -> None:
        super().__init__("sweep starter", parent)
        self._runs_dir = runs_dir

    def propose(self, profile: Profile) -> None:
        """Find out what the profile's sweep would try; ``proposed`` follows."""
        propose = partial(propose_sweep, profile, is_here=not workplace().host)
        self.submit(propose, self.proposed.emit)

    def start(self, profile: Profile, code: tuple[UserCode, ...] = ()) -> None:
        """Start the profile's sweep; ``started``, ``refused`` or ``notTrusted`` follows.

        Args:
            profile: With its sweep.
            code: The person trusts it from now on.
        """
        work = partial(_start, profile, self._runs_dir, code)
        self.submit(work, partial(self._on_started, profile))

    def _on_started(self, profile: Profile, found: str | tuple[UserCode, ...]) -> None:
        if isinstance(found, str):
            self.started.emit(found)
        else:
            self.notTrusted.emit(profile, found)


def _start(
    profile: Profile, runs_dir: Path, code: tuple[UserCode, ...]
) -> str | tuple[UserCode, ...]:
    workplace().trust(code)
    try:
        return workplace().sweeps(runs_dir).start(profile)
    except CodeNotTrustedError as error:
        return error.code
