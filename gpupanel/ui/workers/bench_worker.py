"""Has devices compared by short trainings, and reports how far it is."""

from pathlib import Path
from threading import Event

from PySide6.QtCore import QObject, Signal

from gpupanel.domain.bench import Bench
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.runs.bench.bench import REPEATS, SECONDS, compare
from gpupanel.runs.directory.profile_file import anchored
from gpupanel.runs.history.measured_speeds import remembered
from gpupanel.runs.readiness import Machine
from gpupanel.runs.trust.trusted import CodeNotTrustedError
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
            try:
                if recall:
                    known = remembered(anchored(profile, Path.cwd()), machine.inventory)
                    if known is not None:
                        return known
                return compare(profile, machine, SECONDS, REPEATS, dropped, report, runs_dir)
            except CodeNotTrustedError as error:
                # The window asks before a run, where a person can read the code.
                return Bench(problems=tuple(_asked_later(each) for each in error.problems))
            except ProblemError as error:
                return Bench(problems=error.problems)

        self.carry_out(
            work,
            self.compared.emit,
            failed=lambda problems: Bench(problems=problems),
            report=self.progressed.emit,
        )


def _asked_later(problem: Problem) -> Problem:
    hint = "Train with it once: the window asks then whether you trust it."
    return problem.model_copy(update={"hint": hint})
