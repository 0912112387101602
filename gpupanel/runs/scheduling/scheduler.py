"""The scheduler: a small process per user that starts what waits when its devices are free.

``python -m gpupanel.runs.scheduling.scheduler FOLDER`` works until nothing waits and no run of the
queue goes on. It knows nothing that the queue's files and the runs' directories do not say, so it
may be killed at any moment: the next one goes on where it was.
"""

import signal
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

from filelock import FileLock, Timeout

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.bounded_log import BoundedLog
from gpupanel.files.process_limits import hear_of_used_time, time_limit_text
from gpupanel.files.process_log import write_to_process_log
from gpupanel.planning.prepare import Preparation
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.run_lock import STARTING_S
from gpupanel.runs.directory.start_claim import is_start_claimed
from gpupanel.runs.error_problems import problems_of
from gpupanel.runs.launcher import StartSupervisor, start_supervisor
from gpupanel.runs.locations import default_runs_dir
from gpupanel.runs.machine_settings import OutsideHoursError
from gpupanel.runs.queue.bench_claim import HOLDER, benched_devices
from gpupanel.runs.queue.ended_hours import note_end
from gpupanel.runs.queue.entry import QueueEntry
from gpupanel.runs.queue.queue_files import Fingerprint, QueueFiles
from gpupanel.runs.queue.running_runs import RunningRuns, device_keys, ended_entry
from gpupanel.runs.queue.scheduler_trouble import ENDED, forget_trouble, note_trouble
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.runs.queue.waking import LOG_BYTES, ensure_scheduler, scheduler_lock, scheduler_log
from gpupanel.runs.readiness import Machine, MachineWatch, prepared_on
from gpupanel.runs.scheduling import queue_notes
from gpupanel.runs.scheduling.cluster_readings import ClusterReadings
from gpupanel.runs.scheduling.feeding import SweepFeeder
from gpupanel.runs.scheduling.hours_gate import HoursGate
from gpupanel.runs.scheduling.selection import (
    Candidate,
    candidate_of,
    note_selection,
    reasons_to_wait,
)
from gpupanel.runs.scheduling.start_entry import (
    is_to_continue,
    put_back,
    refuse,
    reserve,
    start_again,
    start_entry,
    supervise,
    was_continued,
)

POLL_S = 0.5
_SELECT_S = 2.0
"""How often devices and runs are read while nothing of the queue changes."""
_TROUBLE_S = 2.0
_ANOTHER_S = 2.0
"""How long to wait for the lock: whoever asks whether a scheduler lives shares it only."""

Prepare = Callable[[Machine, Profile], Preparation]


class Scheduler:
    """Starts the entries of a queue in order, each once, and notes how their runs end.

    Args:
        files: The queue.
        read_machine: Reads the devices of this machine.
        prepare: Says what would happen with a profile on them.
        start: Starts the supervisor of a run that was made.
        poll_s: How often to see what is to be done.
        clusters: What is known of clusters that entries are for.
    """

    def __init__(
        self,
        files: QueueFiles,
        read_machine: Callable[[], Machine],
        prepare: Prepare = prepared_on,
        start: StartSupervisor = start_supervisor,
        poll_s: float = POLL_S,
        clusters: ClusterReadings | None = None,
    ) -> None:
        self._files = files
        self._read_machine = read_machine
        self._prepare = prepare
        self._start = start
        self._poll_s = poll_s
        self._lock: FileLock | None = None
        self._has_noted_trouble = False
        self._runs = RunningRuns()
        self._clusters = clusters or ClusterReadings()
        self._sweeps = SweepFeeder(files)
        self._begun_s: dict[str, float] = {}
        self._troubles: dict[str, int | None] = {}
        self._seen: Fingerprint | None = None
        self._selected_s = float("-inf")
        self._has_used_time = False

    def note_used_time(self) -> None:
        """Leave the rest to another one before the system ends this process (``ulimit -t``)."""
        self._has_used_time = True
        write_to_process_log(f"scheduler: {time_limit_text('The scheduler')}")

    def run(self) -> bool:
        """Work until there is nothing to do; says whether it was its turn to do it."""
        try:
            self._lock = scheduler_lock(self._files.folder)
            self._lock.acquire(timeout=_ANOTHER_S)
        except Timeout:
            return False
        except OSError as error:
            raise ProblemError(disk_problem(error, self._files.folder)) from error
        log = BoundedLog(scheduler_log(self._files.folder), LOG_BYTES, LOG_BYTES)
        try:
            self._files.remove_left_overs()
            forget_trouble(self._files.folder)  # of the one before
            while not self.step() and not self._has_used_time:
                log.bound()
                time.sleep(self._poll_s)
            if not self._has_used_time:
                queue_notes.note_empty(self._files.read())
        finally:
            log.close()
            self._clusters.close()
            self._let_go()
        return True

    def step(self) -> bool:
        """Do what is to be done now; says whether nothing is left."""
        try:
            if self._has_nothing_to_do():
                return True
            self._follow_running()
            self._sweeps.step()
            self._start_what_waits()
        except ProblemError as error:
            if any(problem.code == "queue_unreadable" for problem in error.problems):
                raise
            # Such as a full disk: nothing is lost, and it may pass.
            if not self._has_noted_trouble:
                write_to_process_log(f"scheduler: {error}")
                queue_notes.note_trouble(error.problems)
            self._has_noted_trouble = True
            note_trouble(self._files.folder, error.problems)
            time.sleep(_TROUBLE_S)
        else:
            if self._has_noted_trouble:
                forget_trouble(self._files.folder)
            self._has_noted_trouble = False
        return False

    def _let_go(self) -> None:
        if self._lock is not None:
            self._lock.release()

    def _has_nothing_to_do(self) -> bool:
        """Whether nothing waits and nothing runs; then the lock is free already.

        Decided while nobody can add anything: who adds after that finds no scheduler, and starts
        one.
        """

        def unneeded(line: WaitingLine) -> WaitingLine:
            if not line.needs_scheduler:
                self._let_go()
            return line

        line = self._files.read()
        return not line.needs_scheduler and not self._files.change(unneeded).needs_scheduler

    def _follow_running(self) -> None:
        line = self._files.read()
        continued = (entry for entry in line.waiting if was_continued(entry))
        for entry in (*line.running, *continued):
            try:
                self._follow(entry)
            except OSError as error:
                # Such as a disk that does not answer: it may pass, and the other entries go on.
                self._log_trouble(entry, error)

    def _follow(self, entry: QueueEntry) -> None:
        if entry.id not in self._begun_s:
            self._take_over(entry)
        elif not self._still_begins(entry):
            self._note_end(entry)

    def _log_trouble(self, entry: QueueEntry, error: OSError) -> None:
        """Log an entry's trouble, once for each entry and cause."""
        if self._troubles.get(entry.id) != error.errno:
            self._troubles[entry.id] = error.errno
            write_to_process_log(f"scheduler: the run of “{entry.name}” cannot be read: {error}")

    def _note_end(self, entry: QueueEntry) -> None:
        ended = ended_entry(entry)
        if ended is not None:
            note_end(self._files, entry, ended)
            self._selected_s = float("-inf")

    def _still_begins(self, entry: QueueEntry) -> bool:
        """Whether its supervisor was started a moment ago and has not begun yet."""
        if entry.run is None or time.monotonic() - self._begun_s[entry.id] > STARTING_S:
            return False
        return entry.run.is_dir() and not is_start_claimed(RunLayout(entry.run))

    def _take_over(self, entry: QueueEntry) -> None:
        """Go on with an entry that another scheduler was killed over, or just supervise it.

        One that waits is among these where a person has continued its run meanwhile.
        """
        if not entry.is_filled or is_to_continue(entry):
            put_back(self._files, entry)
            return
        self._begun_s[entry.id] = time.monotonic()
        if entry.is_waiting:
            supervise(self._files, entry)
        start_again(entry, self._start)

    def _start_what_waits(self) -> None:
        line, fingerprint = self._files.read(), self._files.fingerprint()
        is_due = time.monotonic() - self._selected_s > _SELECT_S or fingerprint != self._seen
        if line.paused or not line.waiting or not is_due:
            return
        self._selected_s = time.monotonic()
        # At most once, and not at all while each entry waits for its hours: a sleeping GPU sleeps.
        read_machine = cache(self._read_machine)
        hours = HoursGate(time.time())
        held = self._held_devices(line)
        busy, possible = set(held), []
        for entry in line.waiting:
            try:
                profile = self._files.profile(entry.id)
            except ProblemError as error:
                self._refuse(entry, error)
                continue
            candidate = hours.waiting(entry, profile) or candidate_of(
                entry, profile, read_machine, self._prepare, self._clusters, busy
            )
            if candidate.error is not None:
                self._refuse(entry, candidate.error)
                continue
            possible.append(candidate)
            busy |= candidate.devices.keys()
        reasons = reasons_to_wait(possible, held)
        note_selection(self._files, possible, reasons)
        self._seen = self._files.fingerprint()
        for candidate in possible:
            if candidate.asks and reasons[candidate.entry.id] == candidate.obstacle:
                self._clusters.ask(candidate.asks)
            if reasons[candidate.entry.id]:
                continue
            if reserve(self._files, candidate.entry, line):
                self._start_entry(candidate)
            else:
                self._seen = None  # select again at once

    def _start_entry(self, candidate: Candidate) -> None:
        reserved = self._files.read().entry(candidate.entry.id)
        try:
            profile, plan = candidate.startable()
            start_entry(self._files, reserved, profile, plan, self._start)
        except OutsideHoursError:
            put_back(self._files, reserved)  # they ended this moment
        except ProblemError as error:
            # One whose supervisor could not be started stays as it is, and is started again.
            self._refuse(reserved, error)
        else:
            self._begun_s[reserved.id] = time.monotonic()

    def _refuse(self, entry: QueueEntry, error: ProblemError) -> None:
        refuse(self._files, entry, error)
        queue_notes.note_refused(entry, error.problems)

    def _held_devices(self, line: WaitingLine) -> dict[str, str]:
        """Who holds which device: runs that go on, and those that the queue is starting."""
        held: dict[str, str] = {}
        for entry in line.running:
            if entry.run is not None:
                held.update(dict.fromkeys(device_keys(RunLayout(entry.run)), entry.name))
        folders = (default_runs_dir(), *(entry.runs_dir for entry in line.entries))
        for run in self._runs.find(folders):
            for key in run.device_keys:
                held.setdefault(key, run.name)
        for key in benched_devices():
            held.setdefault(key, HOLDER)
        return held


def main() -> int:
    """Schedule the queue in the folder that is the one argument."""
    # The terminal that it was started from may close; people end it with SIGTERM.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    files = QueueFiles(Path(sys.argv[1]))
    try:
        with MachineWatch() as machine:
            scheduler = Scheduler(files, machine.read)
            hear_of_used_time(scheduler.note_used_time)
            scheduler.run()
        # One that has used its processor time has left something: another one has its own time.
        ensure_scheduler(files)
    except Exception as error:  # noqa: BLE001 - whichever it is, who lists the queue sees it
        problems = problems_of(error)
        note_trouble(files.folder, problems)
        for problem in problems:
            write_to_process_log(f"scheduler: {problem.message}", problem.detail)
        return 1
    write_to_process_log(ENDED)
    return 0


if __name__ == "__main__":
    sys.exit(main())
