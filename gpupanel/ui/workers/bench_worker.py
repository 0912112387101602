"""Has devices compared by short trainings, and reports how far it is."""

from pathlib import Path
from threading import Event

from PySide6.QtCore import QObject, Signal

from gpupanel.domain.bench import Bench
from gpupanel.domain.profile import Profile
from gpupanel.runs.bench.bench import REPEATS, SECONDS, compare
from gpupanel.runs.bench.remembered import remembered
from gpupanel.runs.directory.profile_file import anchored
from gpupanel.runs.readiness import Machine
from gpupanel.ui.workers.single_request import Report, SingleRequestFacade


class DeviceComparer(SingleRequestFacade):
    """One comparison at a time; cancelled, it ends its runs before anything else is begun.

    Whatever becomes of the runs, the answer is a :class:`Bench`: what went wrong is a problem in
    it.
    """

    compared = Signal(object)
    """The :class:`Bench` of the last request."""
    progressed = Signal(object)
    """How far it is: a :class:`BenchProgress`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__("comparison of devices", parent)

    def begin(
        self, profile: Profile, machine: Machine, runs_dir: Path, *, recall: bool = False
    ) -> None:
        """Compare the devices of that profile; ends a comparison that goes on.

        Args:
            profile: What would be trained.
            machine: Its devices.
            runs_dir: The window's folder of runs.
            recall: Answer what was measured before, where something was.
        """

        def work(dropped: Event, report: Report) -> Bench:
            known = None
            if recall:
                known = remembered(anchored(profile, Path.cwd()), machine.inventory)
            return known or compare(
                profile,
                machine,
                SECONDS,
                REPEATS,
                dropped,
                report,
                runs_dir,
            )

        self.carry_out(
            work,
            self.compared.emit,
            failed=lambda problems: Bench(problems=problems),
            report=self.progressed.emit,
        )
