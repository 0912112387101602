"""Which entries of the queue are trials of a sweep that goes on."""

from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.runs.sweeps.sweep_layout import SweepLayout
from gpupanel.runs.sweeps.sweep_record import read_state


def is_trial(line: WaitingLine, entry_id: str) -> bool:
    """Whether a sweep of the queue added that entry; one that cannot be read has none."""
    for folder in line.sweeps:
        try:
            trials = read_state(SweepLayout(folder)).trials
        except OSError:
            continue
        if any(trial.entry == entry_id for trial in trials):
            return True
    return False
