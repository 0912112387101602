"""GPUs that a run loses while it goes on: seen in the driver's readings, and what is done then.

A process that uses a GPU which fell off the bus gets errors of CUDA from there on, is aborted by
TensorFlow, or waits for ever; processes beside it report that they lost a peer. None of them knows
what happened: the driver does, and it is asked twice a second in any case.
"""

import re
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

from gpupanel.domain.device import DeviceInventory, DeviceKind
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Change, Fix, Problem, ProblemError
from gpupanel.domain.telemetry import DeviceState, TelemetrySample
from gpupanel.planning.fewer_gpus import on_other_gpus, resumed_without
from gpupanel.planning.resuming import changes_between
from gpupanel.runs.supervision.checked_run import CheckedRun, ReportFailure, inventory_of
from gpupanel.runs.supervision.exit_reading import RunResult
from gpupanel.runs.supervision.problems import gpu_failed, gpu_lost

ANSWER_S: Final = 3.0
"""The longest time that a run's end waits for new readings of its GPUs."""

_UNANSWERED_S: Final = 5.0
"""A driver is asked twice a second, and may be slow for a moment."""

_CODES: Final = (
    *("ILLEGAL_ADDRESS", "ILLEGAL_INSTRUCTION", "MISALIGNED_ADDRESS", "INVALID_ADDRESS_SPACE"),
    *("INVALID_PC", "HARDWARE_STACK_ERROR", "LAUNCH_FAILED", "LAUNCH_TIMEOUT", "ASSERT"),
    *("ECC_UNCORRECTABLE", "NVLINK_UNCORRECTABLE", "CONTAINED", "EXTERNAL_DEVICE", "TDR_FAILED"),
    *("DEVICE_UNAVAILABLE", "NO_DEVICE", "DEINITIALIZED", "UNKNOWN", "SYSTEM_NOT_READY"),
)
"""Of ``CUresult`` (CUDA driver API): a context is of no use after them, or there is none."""
_ERROR: Final = re.compile(
    rf"CUDA_ERROR_(?:{'|'.join(_CODES)})\b(?:: [\w ()/-]+)?"
    # tensorflow/core/common_runtime/device/device_event_mgr.cc, which then aborts the process.
    r"|Unexpected Event status: \d+"
)
_UNSURE: Final = frozenset({"peer_lost", "nccl_failed", "trainer_killed", "trainer_vanished"})
"""Problems of processes that could not report why they ended, or lost another one: the logs may
have the reason."""
_MAY_FOLLOW: Final = _UNSURE | {
    *("no_step", "no_first_step", "process_frozen", "trainer_not_killable", "gpu_lost"),
    *("devices_not_configured", "device_not_seen_by_tensorflow"),
}
"""Problems by which a run may have ended because a GPU was lost."""
_OF_GPUS: Final = re.compile(r"CUDA|NCCL|cuDNN|cuBLAS", re.IGNORECASE)


class GpuLossWatch:
    """Which of a run's GPUs do not answer any more.

    Samples come in from the thread that takes them.

    Args:
        plan: Has the run's GPUs.
    """

    def __init__(self, plan: LaunchPlan) -> None:
        self.names = _gpu_names(plan)
        # Of a node of a cluster silence says that its agent, or the network, is gone.
        self._is_here = not plan.is_on_nodes
        self._since_s: dict[str, float] = {}
        self._answered_s: dict[str, float] = {}
        self._changed = threading.Condition()

    def turn_to(self, plan: LaunchPlan) -> None:
        """Watch the GPUs of another plan; those that only the one before had are gone for good."""
        with self._changed:
            self.names = _gpu_names(plan)
            self._since_s = {k: since for k, since in self._since_s.items() if k in self.names}

    def take(self, sample: TelemetrySample, begun_s: float) -> None:
        """Take in a sample, and when the devices were first asked for it (:func:`time.monotonic`).

        A GPU that answers again was not lost: its driver was only opened again.
        """
        with self._changed:
            for key in self.names:
                reading = sample.reading(key)
                if reading is None:
                    continue
                # A driver that is slow, or hangs, answers later: the last reading is repeated.
                if self._is_here:
                    self._answered_s[key] = begun_s - reading.age_s
                if reading.state is DeviceState.LOST:
                    self._since_s.setdefault(key, begun_s)
                else:
                    self._since_s.pop(key, None)
            self._changed.notify_all()

    @property
    def lost(self) -> frozenset[str]:
        """The keys of those that are lost."""
        with self._changed:
            return frozenset(self._since_s)

    @property
    def lost_names(self) -> tuple[str, ...]:
        """Their names, in the plan's order."""
        return self.names_of(self.lost)

    @property
    def others_answer(self) -> bool:
        """Whether one of them is not lost."""
        return len(self.lost) < len(self.names)

    def names_of(self, keys: frozenset[str]) -> tuple[str, ...]:
        """The names of GPUs, in the plan's order."""
        return tuple(name for key, name in self.names.items() if key in keys)

    @property
    def since_s(self) -> float | None:
        """When the first of them was seen to be lost; ``None``: all answer."""
        with self._changed:
            return min(self._since_s.values(), default=None)

    def unanswered(self, now_s: float) -> dict[str, float]:
        """The names of GPUs that the driver says nothing about, with when it last did."""
        with self._changed:
            return {
                self.names[key]: answered_s
                for key, answered_s in self._answered_s.items()
                if key in self.names and now_s - answered_s > _UNANSWERED_S
            }

    def ask(self, patience_s: float = ANSWER_S) -> frozenset[str]:
        """The keys of those that are lost, or of which the driver says nothing within that time."""
        begun_s = time.monotonic()
        with self._changed:
            while not self._since_s and (silent := self._silent_since(begun_s)):
                left_s = begun_s + patience_s - time.monotonic()
                if left_s <= 0.0:
                    return silent
                self._changed.wait(left_s)
            return frozenset(self._since_s)

    def _silent_since(self, begun_s: float) -> frozenset[str]:
        """The GPUs that have answered before, and not since then."""
        answered_s = self._answered_s
        return frozenset(key for key in self.names if answered_s.get(key, begun_s) < begun_s)


class GpuLossResponse:
    """Names the GPU where a run ends because one was lost or failed, and plans without lost ones.

    Args:
        run: Its profile is read and changed.
        watch: Knows which GPUs are lost.
        inventory: Gives the devices of the machine; ``None``: they are not known yet.
        sample: Gives the last readings.
        report_failure: Called where the run was to be changed and could not be.
    """

    def __init__(
        self,
        run: CheckedRun,
        watch: GpuLossWatch,
        inventory: Callable[[], DeviceInventory | None],
        sample: Callable[[], TelemetrySample | None],
        report_failure: ReportFailure,
    ) -> None:
        self._run = run
        self._watch = watch
        self._inventory = inventory
        self._sample = sample
        self._report_failure = report_failure

    def explained(self, result: RunResult, logs: Sequence[str], plan: LaunchPlan) -> RunResult:
        """The result with a problem that names the GPU, where one was lost or failed.

        Args:
            result: As the processes report it.
            logs: The last lines of the logs of its processes.
            plan: Of the run.
        """
        problem = result.problem
        if problem is None or result.outcome not in (Outcome.FAILED, Outcome.LOST):
            return result
        reported = f"{problem.message}\n{problem.detail}"
        error = cuda_error(reported) if problem.code in _UNSURE | {"trainer_crashed"} else ""
        if not error and problem.code in _UNSURE:
            error = next(filter(None, map(cuda_error, logs)), "")
        if not (error or problem.code in _MAY_FOLLOW or _OF_GPUS.search(reported)):
            return result
        lost = self._watch.ask()
        if lost:
            return RunResult(
                outcome=Outcome.LOST,
                problem=self._lost(problem, error, lost, plan),
                place=result.place,
                can_restart=True,
            )
        if error:
            used = {device.key for device in plan.gang[result.place].devices}
            names = [name for key, name in self._watch.names.items() if key in used]
            failed = gpu_failed(names, error, _joined(problem.message, problem.detail))
            return result.model_copy(update={"problem": failed, "can_restart": True})
        return result

    def plan_without_lost(self, plan: LaunchPlan) -> tuple[LaunchPlan, tuple[Change, ...]] | None:
        """Plan the run again for the GPUs that answer; its folder has the new plan then.

        Returns:
            The new plan, and what the profile says otherwise; ``None`` where all answer, or nothing
            can be done.
        """
        lost = self._watch.lost
        if not lost:
            return None
        try:
            profile = self._run.profile()
            inventory = self._inventory() or inventory_of(profile, plan)
            fewer = on_other_gpus(profile, inventory, lost, self._sample())
            if fewer is None:
                return None
            self._run.amend(*fewer)
        except (OSError, ProblemError) as error:
            self._report_failure("planned for the GPUs that answer", error)
            return None
        return fewer[1], changes_between(profile, fewer[0])

    def _lost(
        self, problem: Problem, error: str, lost: frozenset[str], plan: LaunchPlan
    ) -> Problem:
        found = gpu_lost(self._watch.names_of(lost))
        if problem.code == "trainer_not_killable":
            found = found.model_copy(update={"message": f"{found.message} {problem.message}"})
        message = "" if problem.code == "gpu_lost" else problem.message
        fixes: tuple[Fix, ...] = ()
        try:
            profile = self._run.profile()
        except ProblemError:
            pass  # it was there when the run began; what happened is reported without fixes
        else:
            inventory = self._inventory() or inventory_of(profile, plan)
            fixes = resumed_without(profile, inventory, lost, self._sample())
        return found.model_copy(
            update={
                "detail": _joined(error, message, problem.detail),
                "fix": fixes[0] if fixes else None,
                "alternatives": fixes[1:],
            }
        )


def _gpu_names(plan: LaunchPlan) -> dict[str, str]:
    gpus = (device.key for device in plan.devices if device.kind is DeviceKind.GPU)
    return {key: plan.device_name(key) for key in gpus}


def _joined(*parts: str) -> str:
    return "\n".join(filter(None, parts))


def cuda_error(text: str) -> str:
    """The error of CUDA after which a GPU is of no more use; empty: the text has none."""
    found = _ERROR.search(text)
    return "" if found is None else found[0]
