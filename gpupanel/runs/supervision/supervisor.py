"""The supervisor of a run, without Qt and TensorFlow; :mod:`process` is its process.

It holds ``run.lock`` as long as it lives, samples the devices, starts one attempt after another as
:mod:`restarts` decides, and writes how the run ended.
"""

import os
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from gpupanel.domain.checked_files import CheckedFiles
from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.energy import RunEnergy
from gpupanel.domain.events import (
    Event,
    ProblemReported,
    RunEnded,
    RunRestarted,
    RunStarted,
    TrainingEnded,
    encode_event,
)
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.files.process_log import write_to_process_log
from gpupanel.files.reserved_log import ReservedLog
from gpupanel.planning.visible_gpus import variables_of_plan
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.start_claim import claim_start
from gpupanel.runs.directory.tails import LineTail, last_lines
from gpupanel.runs.history.run_segments import RunSegments
from gpupanel.runs.notes.run_notes import note_event
from gpupanel.runs.processes.run_processes import end_processes_of
from gpupanel.runs.supervision.attempt import Attempt
from gpupanel.runs.supervision.attempt_setup import AttemptSetup, StopRequests
from gpupanel.runs.supervision.checked_run import CheckedRun, FailedChanges
from gpupanel.runs.supervision.energy_meter import EnergyMeter
from gpupanel.runs.supervision.exit_reading import FinishedAttempt, RunResult
from gpupanel.runs.supervision.finding_watch import FindingWatch
from gpupanel.runs.supervision.gpu_claims import GpuClaims
from gpupanel.runs.supervision.gpu_loss import GpuLossResponse, GpuLossWatch
from gpupanel.runs.supervision.hours_watch import HoursWatch
from gpupanel.runs.supervision.memory.gpu_watch import GpuMemoryWatch
from gpupanel.runs.supervision.memory.response import ShortageResponse
from gpupanel.runs.supervision.node_samples import NodeSamples, TaskReadings
from gpupanel.runs.supervision.problems import not_started, supervisor_used_its_time
from gpupanel.runs.supervision.restarts import Restarts
from gpupanel.runs.supervision.telemetry import TelemetryRecorder
from gpupanel.runs.supervision.watchdogs import Patience

TRAINER_COMMAND = python_module_command("gpupanel.trainer")


class Supervisor:
    """Starts the gang of a run, watches it, starts it again, and says how it ended.

    Args:
        layout: The run; its profile and plan are there already.
        checked: What was checked of it when it was started; ``None``: nothing was, and none of its
            processes executes code of a person's.
        trainer_command: Without the run's directory, which is added.
        patience: How long the watchdogs wait.
        heeds_hours: The run is suspended when its hours end.

    Raises:
        OSError: The run's events cannot be written.
    """

    def __init__(
        self,
        layout: RunLayout,
        trainer_command: Sequence[str] = TRAINER_COMMAND,
        patience: Patience | None = None,
        checked: CheckedFiles | None = None,
        *,
        heeds_hours: bool = True,
    ) -> None:
        self._layout = layout
        self._is_checked = checked is not None
        self._heeds_hours = heeds_hours
        self._run = CheckedRun(layout, checked)
        self._command = trainer_command
        self._patience = patience or Patience()
        self._log = ReservedLog(layout.events, layout.reserve)
        self._events = LineTail(layout.events)
        self._stop_requests = StopRequests(layout)
        self._segments = RunSegments()
        self._energy: EnergyMeter | None = None
        self._findings: FindingWatch | None = None
        self._has_used_time = False

    def signal_stop(self) -> None:
        """Let the run save and end, as if a person had asked; a signal's handler may call it."""
        self._stop_requests.signal_stop()

    def note_used_time(self) -> None:
        """Let the run save and end before the system ends this process (``ulimit -t``)."""
        self._has_used_time = True
        self._stop_requests.signal_stop()

    def run(self) -> Outcome:
        """Run the gang to its end and write the last event of the run.

        Raises:
            AlreadyClaimedError: Another supervisor was started for it, too, and was faster.
            OSError: A file of the run cannot be used, such as a link that stands in its place, and
                nothing can be written about that. None of the run's processes is there.
        """
        lock = claim_start(self._layout)
        try:
            # Processes of a supervisor before, which was killed, write into the same directory.
            end_processes_of(self._layout)
            try:
                self._read_segments_before()
                self._append(RunStarted(time_s=time.time(), supervisor_pid=os.getpid()))
                return self._supervise()
            except OSError as error:
                problem = disk_problem(error, self._layout.root)
                return self._end(_failed(problem))
        finally:
            self._log.close()
            lock.release()

    def _read_segments_before(self) -> None:
        """Read the events of a run that is resumed: they are no events of its attempts now."""
        self._segments.see_block(self._events.read_block())
        while self._events.has_more:
            self._segments.see_block(self._events.read_block())

    def _supervise(self) -> Outcome:
        try:
            plan = self._run.plan()
            if self._is_checked:
                self._run.profile()
        except (OSError, ValueError, ProblemError) as error:
            return self._end(_failed(not_started(error, self._layout)))
        memory = GpuMemoryWatch(plan)
        energy = self._energy = EnergyMeter(plan)
        gpus = GpuLossWatch(plan)
        self._findings = self._watch_for_findings(plan, memory)

        def listen(sample: TelemetrySample, begun_s: float) -> None:
            memory.take(sample, begun_s)
            energy.take(sample, begun_s)
            gpus.take(sample, begun_s)
            if self._findings is not None:
                self._findings.take_sample(sample, telemetry.inventory)

        def report(event: Event) -> None:
            memory.notice(event)
            self._append(event)

        node_samples = NodeSamples() if plan.is_on_nodes else None
        keys = frozenset(device.key for device in plan.devices)
        variables = variables_of_plan(plan)
        telemetry = TelemetryRecorder(self._layout, listen, node_samples, keys, variables)
        claims = GpuClaims()
        telemetry.start()
        try:
            failed = FailedChanges(self._layout, self._append).report
            gpu_losses = GpuLossResponse(
                self._run, gpus, lambda: telemetry.inventory, lambda: memory.sample, failed
            )
            shortages = ShortageResponse(self._run, memory, telemetry, failed)
            setup = AttemptSetup(
                run=self._run,
                plan=plan,
                command=self._command,
                patience=self._patience,
                report=report,
                append_line=self._append_line,
                events=self._events,
                requests=self._stop_requests,
                gpus=gpus,
                claims=claims,
                hours=HoursWatch(self._layout, self._profile_with_hours(), report),
                node_samples=node_samples or NodeSamples(),
            )
            with _task_readings(plan, node_samples):
                restarts = Restarts(self._run, shortages, gpu_losses, gpus)
                attempt = self._run_attempts(setup, restarts, memory)
                self._await_memory(memory, telemetry)
                return self._end(attempt)
        finally:
            claims.release()
            telemetry.stop()

    def _run_attempts(
        self, setup: AttemptSetup, restarts: Restarts, memory: GpuMemoryWatch
    ) -> FinishedAttempt:
        """Run one attempt after another; gives the last one."""
        while True:
            setup = replace(setup, findings=self._findings)
            if setup.hours.look():
                return FinishedAttempt(RunResult(outcome=Outcome.SUSPENDED))
            setup.claims.hold(setup.plan)
            attempt = Attempt(setup)
            try:
                finished = attempt.run()
            except (OSError, ValueError, ProblemError) as error:
                return _failed(not_started(error, self._layout))
            finished, start = restarts.after(finished, setup.plan)
            if start is None:
                return finished
            setup = replace(setup, plan=start.plan)
            if start.takes_less:
                self._findings = self._watch_for_findings(start.plan, memory)
            if start.number:
                setup.report(
                    RunRestarted(
                        time_s=time.time(),
                        attempt=start.number,
                        problem=finished.result.problem,
                        changes=start.changes,
                    )
                )

    def _profile_with_hours(self) -> Profile | None:
        """``None``: the run heeds no hours, or its trainer says that its profile is unreadable."""
        try:
            return self._run.profile() if self._heeds_hours else None
        except ProblemError:
            return None

    def _watch_for_findings(self, plan: LaunchPlan, memory: GpuMemoryWatch) -> FindingWatch | None:
        """Of a training; ``None`` where its profile cannot be read: the trainer says so."""
        try:
            profile = self._run.profile()
        except ProblemError:
            return None
        if profile.task != "train":
            return None
        return FindingWatch(profile, plan, memory.is_of_the_run)

    def _await_memory(self, memory: GpuMemoryWatch, telemetry: TelemetryRecorder) -> None:
        """Wait until the GPU memory that the run held is back, and report what became of it."""
        if not memory.run_ended():
            return
        telemetry.sample_faster()
        returned = memory.wait()
        if returned is not None:
            self._append(returned)

    def _end(self, attempt: FinishedAttempt) -> Outcome:
        result, now_s = attempt.result, time.time()
        log = last_lines(self._layout.process_log(result.place))
        nothing = TrainingEnded(time_s=now_s, outcome=result.outcome)
        last_report = attempt.last_report or nothing
        if self._has_used_time:
            self._append(ProblemReported(time_s=now_s, problem=supervisor_used_its_time()))
        self._append(
            RunEnded(
                time_s=now_s,
                outcome=result.outcome,
                metrics=attempt.metrics,
                kept_epoch=last_report.kept_epoch,
                examples_per_second=last_report.examples_per_second,
                waiting_for_data=last_report.waiting_for_data,
                time_spent=last_report.time_spent,
                findings=() if self._findings is None else self._findings.found,
                problem=result.problem,
                exit_code=attempt.exit_code,
                log_tail=() if result.outcome.was_successful else log,
                saved=attempt.saved_work,
                restarts=self._segments.restarts,
                lasted_s=self._segments.lasted_s(now_s),
                energy=self._energy_taken(last_report),
            )
        )
        return result.outcome

    def _energy_taken(self, last_report: TrainingEnded) -> RunEnergy | None:
        """What the devices took in all segments of the run, this one included."""
        before = self._segments.energy
        devices = self._energy.devices() if self._energy is not None else ()
        if not devices:
            return before
        taken = RunEnergy(devices=devices, epochs=last_report.epochs, examples=last_report.examples)
        return taken if before is None else before.plus(taken)

    def _append(self, event: Event) -> None:
        self._segments.see(event)
        self._append_line(encode_event(event))
        note_event(self._layout, event)

    def _append_line(self, line: str) -> None:
        try:
            self._log.append(line)
        except OSError as error:
            # Disk full: the run itself goes on, and the log may still have room.
            write_to_process_log(f"supervisor: not written: {error}: {line[:100]}")


def _task_readings(plan: LaunchPlan, samples: NodeSamples | None) -> AbstractContextManager[object]:
    """Has the nodes of a job say what their devices do; nodes of a cluster do so by themselves."""
    if samples is None or plan.cluster is not None:
        return nullcontext()
    nodes = dict.fromkeys(process.node for process in plan.gang if process.node is not None)
    return TaskReadings(tuple(nodes), samples)


def _failed(problem: Problem) -> FinishedAttempt:
    """What there is of a run of which no process could be started."""
    return FinishedAttempt(RunResult(outcome=Outcome.FAILED, problem=problem))
