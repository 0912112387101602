"""What is done about a run that ran out of memory: it is explained, or tried with less."""

import time
from dataclasses import replace
from typing import Final

from gpupanel.domain.device import CPU_KEY, DeviceKind
from gpupanel.domain.events import MemoryExhausted
from gpupanel.domain.model_summary import SummaryRequest, summary_request
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Change, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.step_memory import StepMemory
from gpupanel.planning.out_of_memory import with_less_at_a_time
from gpupanel.planning.resuming import changes_between
from gpupanel.planning.shortage import Prospects
from gpupanel.runs.measured_memory import remember_measured
from gpupanel.runs.questions.model_summary import summarize_model
from gpupanel.runs.supervision.checked_run import (
    CheckedRun,
    ReportFailure,
    inventory_of,
)
from gpupanel.runs.supervision.exit_reading import FinishedAttempt, RunResult
from gpupanel.runs.supervision.memory.gpu_watch import GpuMemoryWatch
from gpupanel.runs.supervision.memory.problem import ShortageContext, shortage_problem
from gpupanel.runs.supervision.problems import ALLOCATION_ENDLESS
from gpupanel.runs.supervision.telemetry import TelemetryRecorder

_build: Final = replace(summarize_model, limit_s=60.0)
"""A run's end waits no longer for its model to be built again, for what a step of it holds."""
_NOTHING_MIB: Final = 16
"""CUDA gives out memory by 2 MiB, and NVML counts whole MiB."""


class ShortageResponse:
    """Explains why a run lacked memory, and changes it so that it needs less.

    Args:
        run: Its profile is read and changed.
        memory: Knows what other processes hold of its GPUs.
        telemetry: Knows the devices of the machine.
        report_failure: Called where the run was to be changed and could not be.
    """

    def __init__(
        self,
        run: CheckedRun,
        memory: GpuMemoryWatch,
        telemetry: TelemetryRecorder,
        report_failure: ReportFailure,
    ) -> None:
        self._run = run
        self._memory = memory
        self._telemetry = telemetry
        self._report_failure = report_failure
        self._retries = 0
        self._built: tuple[SummaryRequest, StepMemory | None] | None = None

    def explained(self, attempt: FinishedAttempt, plan: LaunchPlan) -> RunResult:
        """The attempt's result, with a problem that says whose memory it was and what to try.

        Args:
            attempt: Its shortage says what the process to blame lacked.
            plan: Of the run.
        """
        result = attempt.result
        shortage = attempt.shortage or self._of_endless_allocation(result, plan)
        if shortage is None:
            return result
        try:
            profile = self._run.profile()
        except ProblemError:
            return result  # it was there when the run began; what the process reported remains
        context = self._context(shortage, attempt, profile, plan)
        self._remember(profile, plan, shortage, context)
        detail = "" if result.problem is None else result.problem.detail
        problem = shortage_problem(shortage, attempt.process_name, profile, plan, context, detail)
        return result.model_copy(update={"problem": problem})

    def try_with_less(
        self, attempt: FinishedAttempt, plan: LaunchPlan
    ) -> tuple[LaunchPlan, tuple[Change, ...]] | None:
        """Change profile and plan of the run so that it takes half as much at a time, or less.

        Returns:
            The new plan and what the profile says otherwise; ``None`` where the person did not
            ask for that, as often as it was done, or it would not help.
        """
        shortage = attempt.shortage
        if shortage is None or _is_beside_the_work(shortage, plan):
            return None
        try:
            profile = self._run.profile()
            if self._retries >= profile.training.out_of_memory_retries:
                return None
            context = self._context(shortage, attempt, profile, plan)
            inventory = context.inventory or inventory_of(profile, plan)
            sample = context.sample_without_run(shortage.device_key, inventory)
            prospects = Prospects(profile, inventory, sample, context.of(shortage))
            less = with_less_at_a_time(profile, plan, prospects)
            if less is None:
                return None
            self._run.amend(*less)
        except (OSError, ProblemError) as error:
            self._report_failure("tried with less memory", error)
            return None
        self._retries += 1
        return less[1], changes_between(profile, less[0])

    def _of_endless_allocation(self, result: RunResult, plan: LaunchPlan) -> MemoryExhausted | None:
        """Of an allocator that did not end, where one GPU of its process alone was full."""
        sample = self._memory.sample
        if result.problem is None or result.problem.code != ALLOCATION_ENDLESS or sample is None:
            return None
        gpus = [each for each in plan.gang[result.place].devices if each.kind is DeviceKind.GPU]
        readings = (sample.reading(each.key) for each in gpus)
        full = [
            each.key
            for each in readings
            if each is not None
            and each.memory_free_mib is not None
            and each.memory_free_mib <= _NOTHING_MIB
        ]
        if len(full) != 1:
            return None
        return MemoryExhausted(time_s=time.time(), process=result.place, device_key=full[0])

    def _remember(
        self,
        profile: Profile,
        plan: LaunchPlan,
        shortage: MemoryExhausted,
        context: ShortageContext,
    ) -> None:
        """Note what the run held at least: ways to fit are estimated by that from now on."""
        known = context.of(shortage)
        if known.step is None or not known.in_step:
            return
        inventory = context.inventory or inventory_of(profile, plan)
        sample = context.sample_without_run(shortage.device_key, inventory)
        measured = Prospects(profile, inventory, sample, known).measured
        if measured is not None:
            remember_measured(summary_request(profile), known.step, measured)

    def _context(
        self,
        shortage: MemoryExhausted,
        attempt: FinishedAttempt,
        profile: Profile,
        plan: LaunchPlan,
    ) -> ShortageContext:
        gpus = [each.key for each in plan.devices if each.kind is DeviceKind.GPU]
        key = shortage.device_key or ""
        of_gpu = key != CPU_KEY and bool(gpus)
        return ShortageContext(
            self._telemetry.inventory,
            self._memory.sample,
            *self._memory.of_other_processes(key),
            held_by_others_mib={each: self._memory.of_other_processes(each)[0] for each in gpus},
            in_step=attempt.has_begun_steps,
            step=self._step(profile) if of_gpu and profile.task == "train" else None,
            preview=attempt.data,
        )

    def _step(self, profile: Profile) -> StepMemory | None:
        """What a step of that training holds; a process of its own builds the model for it."""
        request = summary_request(profile)
        if self._built is None or self._built[0] != request:
            self._built = request, _build(request).step
        return self._built[1]


def _is_beside_the_work(shortage: MemoryExhausted, plan: LaunchPlan) -> bool:
    """Whether it is the host's memory that a run on GPUs lacked: what it computes is not there."""
    on_gpus = any(device.kind is DeviceKind.GPU for device in plan.devices)
    return on_gpus and shortage.device_key == CPU_KEY
