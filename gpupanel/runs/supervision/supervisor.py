"""The supervisor of a run, without Qt and TensorFlow; :mod:`process` is its process.

It starts the run's processes, each in a process group of its own, samples the devices, carries out
the watchdogs, starts all of them again when one died, and writes how the run ended. It holds
``run.lock`` as long as it lives.
"""

import os
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

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
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Change, Problem, ProblemError, Severity
from gpupanel.domain.process_environment import PORT_TAKEN_STATUS
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.domain.unsafe_files import unsafe_file
from gpupanel.files.file_obstacles import NO_SPACE
from gpupanel.files.guarded_files import UnsafeFileError
from gpupanel.files.process_limits import used_time_words
from gpupanel.files.process_log import write_to_process_log
from gpupanel.files.reserved_log import ReservedLog
from gpupanel.planning.visible_gpus import variables_of_plan
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.start_claim import claim_start
from gpupanel.runs.directory.tails import LineTail, last_lines
from gpupanel.runs.history.run_legs import RunLegs
from gpupanel.runs.processes.run_processes import end_processes_of
from gpupanel.runs.supervision.attempt import Attempt
from gpupanel.runs.supervision.checked_run import CheckedRun
from gpupanel.runs.supervision.energy_meter import EnergyMeter
from gpupanel.runs.supervision.exit_reading import Ending
from gpupanel.runs.supervision.failed_changes import FailedChanges
from gpupanel.runs.supervision.finding_watch import FindingWatch
from gpupanel.runs.supervision.gpu_loss import GpuLossCare, GpuLossWatch
from gpupanel.runs.supervision.memory.memory_watch import MemoryWatch
from gpupanel.runs.supervision.node_care import plan_without_lost_nodes
from gpupanel.runs.supervision.node_samples import NodeSamples
from gpupanel.runs.supervision.shortage_care import ShortageCare
from gpupanel.runs.supervision.spoiled_start import explained_import
from gpupanel.runs.supervision.stop_requests import StopRequests
from gpupanel.runs.supervision.task_readings import TaskReadings
from gpupanel.runs.supervision.telemetry import TelemetryRecorder
from gpupanel.runs.supervision.watchdogs import Patience

TRAINER_COMMAND = python_module_command("gpupanel.trainer")
_MOST_PORT_RETRIES = 3


class Supervisor:
    """Starts the gang of a run, watches it, starts it again, and says how it ended.

    Args:
        layout: The run; its profile and plan are there already.
        checked: What was checked of it when it was started; ``None``: nothing was, and none of its
            processes executes code of a person's.
        trainer_command: Without the run's directory, which is added.
        patience: How long the watchdogs wait.

    Raises:
        OSError: The run's events cannot be written.
    """

    def __init__(
        self,
        layout: RunLayout,
        trainer_command: Sequence[str] = TRAINER_COMMAND,
        patience: Patience | None = None,
        checked: CheckedFiles | None = None,
    ) -> None:
        self._layout = layout
        self._is_checked = checked is not None
        self._run = CheckedRun(layout, checked)
        self._command = trainer_command
        self._patience = patience or Patience()
        self._log = ReservedLog(layout.events, layout.reserve)
        self._news = LineTail(layout.events)
        self._stop_requests = StopRequests(layout)
        self._legs = RunLegs()
        self._energy: EnergyMeter | None = None
        self._findings: FindingWatch | None = None
        self._samples: NodeSamples | None = None
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
            # Those of a supervisor before, which was killed, write into the same directory.
            end_processes_of(self._layout)
            try:
                self._skip_what_was()
                self._append(RunStarted(time_s=time.time(), supervisor_pid=os.getpid()))
                return self._supervise()
            except OSError as error:
                problem = disk_problem(error, self._layout.root)
                return self._end(Ending(outcome=Outcome.FAILED, problem=problem))
        finally:
            self._log.close()
            lock.release()

    def _skip_what_was(self) -> None:
        """Events of a run that is resumed: they are over."""
        self._legs.see_lines(self._news.read())
        while self._news.has_more:
            self._legs.see_lines(self._news.read())

    def _supervise(self) -> Outcome:
        try:
            plan = self._run.plan()
            if self._is_checked:
                self._run.profile()
        except (OSError, ValueError, ProblemError) as error:
            return self._end(_not_started(error, self._layout))
        memory = MemoryWatch(plan)
        energy = self._energy = EnergyMeter(plan)
        gpus = GpuLossWatch(plan)
        self._findings = self._watch_for_findings(plan, memory)

        def listen(sample: TelemetrySample, begun_s: float) -> None:
            memory.take(sample, begun_s)
            energy.take(sample, begun_s)
            gpus.take(sample, begun_s)
            if self._findings is not None:
                self._findings.take_sample(sample, telemetry.inventory)

        samples = self._samples = NodeSamples() if plan.is_on_nodes else None
        keys = frozenset(device.key for device in plan.devices)
        variables = variables_of_plan(plan)
        telemetry = TelemetryRecorder(self._layout, listen, samples, keys, variables)
        telemetry.start()
        try:
            failed = FailedChanges(self._layout, self._append).report
            care = ShortageCare(self._run, memory, telemetry, failed)
            loss = GpuLossCare(
                self._run, gpus, lambda: telemetry.inventory, lambda: memory.sample, failed
            )
            with _task_readings(plan, samples):
                ending, attempt = self._run_attempts(plan, memory, care, gpus, loss)
                self._watch_memory(memory, telemetry)
                return self._end(ending, attempt)
        finally:
            telemetry.stop()

    def _run_attempts(
        self,
        plan: LaunchPlan,
        memory: MemoryWatch,
        care: ShortageCare,
        gpus: GpuLossWatch,
        loss: GpuLossCare,
    ) -> tuple[Ending, Attempt | None]:
        def report(event: Event) -> None:
            memory.notice(event)
            self._append(event)

        restarts = port_retries = smaller = 0
        most_restarts = self._most_restarts()
        while True:
            attempt = Attempt(
                self._run,
                plan,
                self._command,
                self._patience,
                report,
                self._news,
                self._stop_requests,
                self._findings,
                self._samples,
                self._append_line,
                gpus,
            )
            try:
                ending = attempt.run()
            except (OSError, ValueError, ProblemError) as error:
                return _not_started(error, self._layout), None
            if attempt.exit_code == PORT_TAKEN_STATUS and port_retries < _MOST_PORT_RETRIES:
                port_retries += 1
                continue
            spoiled = explained_import(ending, attempt, plan)
            if spoiled is not None:
                return spoiled, attempt
            ending = care.explained(ending, attempt, plan)
            if attempt.shortage is None:
                ending = loss.explained(ending, attempt.last_log_lines(), plan)
            less = None if attempt.stop_asked else care.try_with_less(attempt, plan)
            changes: tuple[Change, ...] = ()
            if less is not None:
                smaller += 1
                plan, changes = less
                self._findings = self._watch_for_findings(plan, memory)
            elif ending.can_restart and not attempt.stop_asked and restarts < most_restarts:
                fewer = plan_without_lost_nodes(self._run, plan) or loss.plan_without_lost(plan)
                if fewer is not None:
                    plan, changes = fewer
                    gpus.turn_to(plan)
                elif ending.problem is not None and ending.problem.code == "gpu_lost":
                    return ending, attempt
                restarts += 1
            else:
                return ending, attempt
            again = smaller + restarts
            now_s = time.time()
            report(
                RunRestarted(time_s=now_s, attempt=again, problem=ending.problem, changes=changes)
            )

    def _watch_for_findings(self, plan: LaunchPlan, memory: MemoryWatch) -> FindingWatch | None:
        """Of a training; ``None`` where its profile cannot be read: the trainer says so."""
        try:
            profile = self._run.profile()
        except ProblemError:
            return None
        if profile.task != "train":
            return None
        return FindingWatch(profile, plan, memory.is_of_the_run)

    def _watch_memory(self, memory: MemoryWatch, telemetry: TelemetryRecorder) -> None:
        """Report what became of the GPU memory that the run held; no time passes without any."""
        if not memory.run_ended():
            return
        telemetry.hurry()
        returned = memory.wait()
        if returned is not None:
            self._append(returned)

    def _most_restarts(self) -> int:
        try:
            return self._run.profile().training.max_restarts
        except ProblemError:
            return 0  # the trainer reports what is wrong with it

    def _end(self, ending: Ending, attempt: Attempt | None = None) -> Outcome:
        said = attempt.said if attempt is not None else None
        log = last_lines(self._layout.process_log(ending.place))
        now_s = time.time()
        if self._has_used_time:
            self._append(ProblemReported(time_s=now_s, problem=_used_time()))
        self._append(
            RunEnded(
                time_s=now_s,
                outcome=ending.outcome,
                metrics=attempt.metrics if attempt is not None else Metrics(),
                kept_epoch=said.kept_epoch if said is not None else None,
                examples_per_second=said.examples_per_second if said is not None else None,
                waiting_for_data=said.waiting_for_data if said is not None else None,
                time_spent=said.time_spent if said is not None else None,
                findings=self._findings.found if self._findings is not None else (),
                problem=ending.problem,
                exit_code=attempt.exit_code if attempt is not None else None,
                log_tail=() if ending.outcome.was_successful else log,
                saved=attempt.saved_work if attempt is not None else None,
                restarts=self._legs.restarts,
                lasted_s=self._legs.lasted_s(now_s),
                energy=self._energy_taken(said),
            )
        )
        return ending.outcome

    def _energy_taken(self, said: TrainingEnded | None) -> RunEnergy | None:
        """Of all legs, this one included."""
        before = self._legs.energy
        devices = self._energy.devices() if self._energy is not None else ()
        if not devices:
            return before
        epochs, examples = (said.epochs, said.examples) if said is not None else (0, 0)
        taken = RunEnergy(devices=devices, epochs=epochs, examples=examples)
        return taken if before is None else before.plus(taken)

    def _append(self, event: Event) -> None:
        self._legs.see(event)
        self._append_line(encode_event(event))

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


def _used_time() -> Problem:
    return Problem(
        code="processor_time_limited",
        severity=Severity.WARNING,
        message=f"{used_time_words('The supervisor of the run')} The run was stopped before.",
        hint="Resume it from there: it continues from its last checkpoint.",
    )


def _not_started(error: Exception, layout: RunLayout) -> Ending:
    if isinstance(error, ProblemError):
        return Ending(outcome=Outcome.FAILED, problem=error.problems[0])
    if isinstance(error, UnsafeFileError):
        return Ending(outcome=Outcome.FAILED, problem=unsafe_file(str(error.path), error.found))
    if isinstance(error, OSError) and error.errno in NO_SPACE:
        return Ending(outcome=Outcome.FAILED, problem=disk_problem(error, layout.root))
    return Ending(
        outcome=Outcome.FAILED,
        problem=Problem(
            code="trainer_not_started",
            message=f"The trainer could not be started: {error}.",
            hint="Run gpupanel doctor; if it finds nothing, install gpupanel again.",
        ),
    )
