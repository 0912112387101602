"""Which entries of the queue are trials of a sweep that goes on, and whether one may come back."""

from pathlib import Path

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.guarded_files import status
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.runs.sweeps.sweep_layout import SweepLayout
from gpupanel.runs.sweeps.sweep_record import read_state


def sweep_of_entry(line: WaitingLine, entry_id: str) -> Path | None:
    """The folder of the sweep of the queue that added that entry; ``None``: none did.

    One that cannot be read has added none.
    """
    for folder in line.sweeps:
        try:
            trials = read_state(SweepLayout(folder)).trials
        except OSError:
            continue
        if any(trial.entry == entry_id for trial in trials):
            return folder
    return None


def check_sweep_goes_on(line: WaitingLine, folder: Path) -> None:
    """See to it that a sweep still counts a trial that is put back into the queue.

    Raises:
        ProblemError: It has ended meanwhile, or is to stop.
    """
    layout = SweepLayout(folder)
    if folder not in line.sweeps or status(layout.stop) is not None:
        raise ProblemError(
            Problem(
                code="sweep_has_ended",
                message=f"The sweep {layout.name} has ended, so its trial cannot come back.",
                hint="Start the sweep again to try its values.",
            )
        )
