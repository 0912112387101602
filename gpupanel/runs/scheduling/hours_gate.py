"""Which entries of the queue wait for their hours."""

from gpupanel.domain.hours import moment_text
from gpupanel.domain.machine import MachineSettings
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.runs.machine_settings import MACHINE_FILE, work_hours
from gpupanel.runs.queue.entry import QueueEntry
from gpupanel.runs.scheduling.selection import Candidate


class HoursGate:
    """Knows the machine's hours at one selection.

    Args:
        now_s: The present moment, seconds since the epoch (UTC).
    """

    def __init__(self, now_s: float) -> None:
        self._now_s = now_s
        self._machine, self._trouble = MachineSettings(), ""
        try:
            self._machine = MACHINE_FILE.read()
        except ProblemError as error:
            self._trouble = f"Waits: {error.problems[0].message}"

    def waiting(self, entry: QueueEntry, profile: Profile) -> Candidate | None:
        """The entry, which waits for its hours; ``None``: they have begun, or never will.

        It claims no devices: others may have them meanwhile.
        """
        if self._trouble:
            return Candidate(entry, profile=profile, obstacle=self._trouble)
        work = work_hours(profile, self._machine)
        begin_s = work.opens_s(self._now_s)
        if begin_s is None:
            return None
        begin = moment_text(begin_s, self._now_s)
        words = f"Waits until {begin}: its hours are {work.words}."
        return Candidate(entry, profile=profile, obstacle=words, begin_s=begin_s)
