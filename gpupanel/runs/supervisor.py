"""The supervisor: a small process per run, without Qt and TensorFlow.

``python -m gpupanel.runs.supervisor RUN_DIR`` starts the trainer in a process group of its own,
samples the devices, carries out the watchdogs, and writes how the run ended. It outlives the
window that started it; it holds ``run.lock`` as long as it lives.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from gpupanel.domain.events import (
    Event,
    ProblemReported,
    RequestAnswered,
    RunEnded,
    RunStarted,
    TrainerStarted,
    TrainingEnded,
    decode_event,
    encode_event,
)
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem
from gpupanel.domain.process_environment import SUPERVISOR_PID_VARIABLE
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.exit_reading import Ending, read_exit
from gpupanel.runs.line_log import LineLog
from gpupanel.runs.log_tail import last_lines
from gpupanel.runs.requests import ask, is_asked
from gpupanel.runs.run_lock import hold_run_lock
from gpupanel.runs.status import RunStatus
from gpupanel.runs.tails import LineTail
from gpupanel.runs.telemetry import TelemetryRecorder
from gpupanel.runs.watchdogs import Act, Patience, Watched, decide

_TICK_S = 0.1


class Supervisor:
    """Starts one trainer, watches it, and says how it ended.

    Args:
        layout: The run; its profile and plan are there already.
        trainer_command: Without the run's directory, which is added.
        patience: How long the watchdogs wait.
    """

    def __init__(
        self,
        layout: RunLayout,
        trainer_command: Sequence[str] = (sys.executable, "-m", "gpupanel.trainer"),
        patience: Patience | None = None,
    ) -> None:
        self._layout = layout
        self._command = [*trainer_command, str(layout.root)]
        self._patience = patience or Patience()
        self._log = LineLog(layout.events)
        self._events = LineTail(layout.events)
        self._status = RunStatus()
        self._said: TrainingEnded | None = None
        self._watchdog: Problem | None = None
        self._last_sign_s = time.monotonic()
        self._stop_asked_s: float | None = None
        self._terminated_s: float | None = None
        self._killed = False

    def run(self) -> Outcome:
        """Run the trainer to its end and write the last event of the run."""
        lock = hold_run_lock(self._layout)
        try:
            self._append(RunStarted(time_s=time.time(), supervisor_pid=os.getpid()))
            return self._supervise()
        finally:
            self._log.close()
            lock.release()

    def _supervise(self) -> Outcome:
        try:
            process = self._start_trainer()
        except (OSError, ValueError) as error:
            return self._end(_not_started(error), exit_code=None)
        telemetry = TelemetryRecorder(self._layout)
        telemetry.start()
        while process.poll() is None:
            self._look()
            self._act(process)
            time.sleep(_TICK_S)
        self._look()
        telemetry.stop()
        _kill_group(process.pid)  # whatever the trainer left behind
        ending = read_exit(
            process.returncode,
            self._said,
            stop_asked=self._stop_asked_s is not None,
            watchdog=self._watchdog,
            log_tail=last_lines(self._layout.trainer_log),
        )
        return self._end(ending, exit_code=process.returncode)

    def _start_trainer(self) -> subprocess.Popen[bytes]:
        plan = LaunchPlan.model_validate_json(self._layout.plan.read_text(encoding="utf-8"))
        with self._layout.trainer_log.open("ab") as log:
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._layout.root,
                env={
                    **os.environ,
                    **plan.environment,
                    SUPERVISOR_PID_VARIABLE: str(os.getpid()),
                    "PYTHONUNBUFFERED": "1",
                },
                process_group=0,
            )
        self._append(TrainerStarted(time_s=time.time(), pid=process.pid))
        return process

    def _look(self) -> None:
        """Take in what the trainer wrote and what people asked."""
        while lines := self._events.read():
            self._last_sign_s = time.monotonic()
            for line in lines:
                event = decode_event(line)
                self._status = self._status.after(event)
                self._said = event if isinstance(event, TrainingEnded) else self._said
        asked = any(is_asked(self._layout, request) for request in (Request.STOP, Request.END))
        if asked and self._stop_asked_s is None:
            self._stop_asked_s = time.monotonic()

    def _act(self, process: subprocess.Popen[bytes]) -> None:
        watched = Watched(
            now_s=time.monotonic(),
            last_sign_s=self._last_sign_s,
            stop_asked_s=self._stop_asked_s,
            end_asked=is_asked(self._layout, Request.END),
            terminated_s=self._terminated_s,
        )
        act, problem = decide(self._status, watched, self._patience)
        if problem is not None:
            self._watchdog = problem
            self._append(ProblemReported(time_s=time.time(), problem=problem))
        if act is Act.TERMINATE:
            self._terminated_s = watched.now_s
            if problem is None:
                self._append(RequestAnswered(time_s=time.time(), request=Request.STOP))
            _signal_group(process.pid, signal.SIGTERM)
        elif act is Act.KILL and not self._killed:
            self._killed = True
            if watched.end_asked:
                self._append(RequestAnswered(time_s=time.time(), request=Request.END))
            _kill_group(process.pid)

    def _end(self, ending: Ending, exit_code: int | None) -> Outcome:
        said = self._said
        self._append(
            RunEnded(
                time_s=time.time(),
                outcome=ending.outcome,
                metrics=said.metrics if said is not None else Metrics(),
                examples_per_second=said.examples_per_second if said is not None else None,
                problem=ending.problem,
                exit_code=exit_code,
                log_tail=(
                    () if ending.outcome.was_successful else last_lines(self._layout.trainer_log)
                ),
            )
        )
        return ending.outcome

    def _append(self, event: Event) -> None:
        try:
            self._log.append(encode_event(event))
        except OSError as error:
            # Disk full: the run itself goes on, and the log may still have room.
            print(f"supervisor: {type(event).__name__} not written: {error}", flush=True)  # noqa: T201


def _not_started(error: Exception) -> Ending:
    return Ending(
        outcome=Outcome.FAILED,
        problem=Problem(
            code="trainer_not_started",
            message=f"The trainer could not be started: {error}.",
            hint="Run gpupanel doctor; if it finds nothing, install gpupanel again.",
        ),
    )


def _signal_group(group: int, number: signal.Signals) -> None:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return  # it ended meanwhile, which is what was wanted


def _kill_group(group: int) -> None:
    _signal_group(group, signal.SIGKILL)


def main() -> int:
    """Supervise the run whose directory is the one argument."""
    layout = RunLayout(Path(sys.argv[1]))

    def stop(_signal: int, _frame: FrameType | None) -> None:
        # The machine shuts down, or somebody means to end the run: let it save first.
        ask(layout, Request.STOP)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    return 0 if Supervisor(layout).run().was_successful else 1


if __name__ == "__main__":
    sys.exit(main())
