"""The sweeps of a queue, each followed by the queue's own scheduler until it is over."""

import time
from functools import partial
from pathlib import Path

from gpupanel.domain.problem import ProblemError
from gpupanel.files.guarded_files import status
from gpupanel.files.process_log import write_to_process_log
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.runs.scheduling.running_sweep import RunningSweep
from gpupanel.runs.sweeps.sweep_layout import SweepLayout
from gpupanel.runs.sweeps.sweep_record import SweepEnded, append_event


class SweepFeeder:
    """Looks after the sweeps of a queue; knows nothing that files do not say.

    Args:
        files: The queue.
    """

    def __init__(self, files: QueueFiles) -> None:
        self._files = files
        self._sweeps: dict[Path, RunningSweep] = {}
        self._troubles: dict[Path, str] = {}

    def step(self) -> None:
        """Do what is to be done now for each sweep.

        Raises:
            ProblemError: The queue cannot be read or changed.
        """
        for folder in self._files.read().sweeps:
            try:
                is_over = self._follow(folder)
            except OSError as error:
                # Such as a full disk: it may pass, and the other sweeps go on.
                self._log(folder, str(error))
                continue
            if is_over:
                self._sweeps.pop(folder, None)
                self._files.change(partial(WaitingLine.without_sweep, folder=folder))

    def _follow(self, folder: Path) -> bool:
        """Says whether the sweep is over."""
        layout = SweepLayout(folder)
        if status(layout.record) is None:
            self._log(folder, "its folder was removed")
            return True
        try:
            if folder not in self._sweeps:
                self._sweeps[folder] = RunningSweep(self._files, layout)
        except ProblemError as error:
            # Its profile: that does not pass by itself.
            append_event(layout, SweepEnded(time_s=time.time(), problem=error.problems[0]))
            self._log(folder, str(error))
            return True
        return self._sweeps[folder].step(self._files.read())

    def _log(self, folder: Path, what: str) -> None:
        """Log a sweep's trouble, once for each sweep and cause."""
        if self._troubles.get(folder) != what:
            self._troubles[folder] = what
            write_to_process_log(f"scheduler: the sweep {SweepLayout(folder).name}: {what}")
