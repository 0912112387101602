"""The process of a supervisor, which outlives the window that started it.

``python -m gpupanel.runs.supervision.process RUN_DIR CHECKED``: ``CHECKED`` says what the run's
files held when they were checked to be started
(:class:`~gpupanel.domain.checked_files.CheckedFiles`).
"""

import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

from gpupanel.domain.checked_files import CheckedFiles
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.process_limits import hear_of_used_time
from gpupanel.files.process_log import write_to_process_log
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.start_claim import AlreadyClaimedError
from gpupanel.runs.notes.run_notes import guard_end, note_end
from gpupanel.runs.queue.waking import wake_scheduler
from gpupanel.runs.supervision.supervisor import Supervisor


def supervise(layout: RunLayout, make: Callable[[RunLayout], Supervisor]) -> int:
    """Let the supervisor of a run do its work in this process; gives the exit status.

    SIGTERM stops the run as a person would: the machine shuts down, or somebody means to end it.
    """
    # Trainers inherit that: whoever logs out takes no run along.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        supervisor = make(layout)

        def stop(_signal: int, _frame: FrameType | None) -> None:
            supervisor.signal_stop()

        signal.signal(signal.SIGTERM, stop)
        hear_of_used_time(supervisor.note_used_time)
        guard_end(layout)
        return 0 if supervisor.run().was_successful else 1
    except AlreadyClaimedError:
        return 0
    except OSError as error:
        # What its folder has become it says in its log, which is open: events find no place.
        problem = disk_problem(error, layout.root)
        write_to_process_log(f"supervisor: {problem.message} {problem.hint}")
        return 1
    finally:
        note_end(layout)
        # Its devices are free for what waits; the scheduler may have been killed meanwhile.
        wake_scheduler()


def supervise_as_told(arguments: Sequence[str], *, heeds_hours: bool = True) -> int:
    """The same by the arguments of a launcher: the run's directory, what was checked of it.

    Args:
        arguments: They.
        heeds_hours: The run is suspended when its hours end.

    Raises:
        ValueError: They are others.
    """
    layout = RunLayout(Path(arguments[0]))
    return supervise(layout, lambda _: supervisor_of(arguments, heeds_hours=heeds_hours))


def supervisor_of(arguments: Sequence[str], *, heeds_hours: bool = True) -> Supervisor:
    """The supervisor that a launcher wants by these arguments, as of :func:`supervise_as_told`.

    Raises:
        ValueError: They are others.
    """
    root, checked = arguments
    files = CheckedFiles.model_validate_json(checked)
    return Supervisor(RunLayout(Path(root)), checked=files, heeds_hours=heeds_hours)


if __name__ == "__main__":
    sys.exit(supervise_as_told(sys.argv[1:]))
