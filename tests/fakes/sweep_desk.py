"""A queue with a sweep, whose trials are no processes: the test says how each goes on."""

from pathlib import Path

import pytest

from gpupanel.domain.events import EpochDone, encode_event
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.line_log import LineLog
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.scheduling.scheduler import Scheduler
from gpupanel.runs.sweeps.starting import places_on, start_sweep
from gpupanel.runs.sweeps.sweep_layout import SweepLayout
from gpupanel.runs.sweeps.sweep_record import SweepState, SweepTrial, read_state
from tests.fakes.queued_runs import GPU_A, MACHINE, QueuedRuns, prepare_without_build

RATES = '"training.learning_rate" = [0.1, 0.01, 0.001]'


def sweep_profile(values: str = RATES, sweep: str = 'method = "grid"', above: str = "") -> str:
    return (
        f'name = "digits"\n[devices]\nvisible = ["{GPU_A}"]\n[strategy]\nkind = "one_device"\n'
        f"{above}\n[sweep]\n{sweep}\n[sweep.values]\n{values}"
    )


class Desk:
    """A queue with a scheduler that does one piece of work when the test says so."""

    def __init__(self, files: QueueFiles, runs: QueuedRuns, runs_dir: Path) -> None:
        self.files, self.runs, self.runs_dir = files, runs, runs_dir
        self.another_scheduler()

    def another_scheduler(self) -> None:
        """One that knows nothing but what the files say."""
        self.scheduler = Scheduler(
            self.files, lambda: MACHINE, prepare_without_build, self.runs.start, poll_s=0.0
        )

    def start(self, text: str) -> SweepLayout:
        read = parse_profile(text)
        return start_sweep(self.files, read, self.runs_dir, places_on(MACHINE, read))

    def state(self, sweep: SweepLayout) -> SweepState:
        return read_state(sweep)

    def run_of(self, trial: SweepTrial) -> Path:
        assert trial.run is not None
        return self.runs_dir / trial.run

    def epochs(self, trial: SweepTrial, *losses: float, first: int = 1) -> None:
        log = LineLog(RunLayout(self.run_of(trial)).events)
        for epoch, loss in enumerate(losses, first):
            metrics = Metrics(val_loss=loss)
            done = EpochDone(time_s=1.0, epoch=epoch, step=epoch * 10, metrics=metrics, seconds=1.0)
            log.append(encode_event(done))
        log.close()

    def finish(self, sweep: SweepLayout, *losses: float) -> int:
        """Let every trial that is started come to its end; says how many there were."""
        for count in range(1, 50):
            if self.scheduler.step():
                return count
            self.end_started(sweep, *losses)
        pytest.fail("the sweep does not end")

    def end_started(self, sweep: SweepLayout, *losses: float) -> None:
        """Let the trials end that go on."""
        for trial in self.state(sweep).open_trials:
            if trial.run is not None and self.run_of(trial) in self.runs._locks:
                self.epochs(trial, *losses)
                self.runs.end(self.run_of(trial))
