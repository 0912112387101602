"""GPUs that a run loses while it goes on: what the driver says of them, and what CUDA said.

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
from gpupanel.runs.supervision.checked_run import CheckedRun
from gpupanel.runs.supervision.exit_reading import Ending
from gpupanel.runs.supervision.failed_changes import ReportFailure, log_failure
from gpupanel.runs.supervision.memory.memory_shortage import inventory_of
from gpupanel.runs.supervision.watchdogs import gpu_lost

ANSWER_S: Final = 3.0
"""The longest time that a run's end waits for the driver's word about its GPUs."""

_UNANSWERED_S: Final = 5.0
"""A driver is asked twice a second, and may be slow for a moment."""

_CODES: Final = (
    *("ILLEGAL_ADDRESS", "ILLEGAL_INSTRUCTION", "MISALIGNED_ADDRESS", "INVALID_ADDRESS_SPACE"),
    *("INVALID_PC", "HARDWARE_STACK_ERROR", "LAUNCH_FAILED", "LAUNCH_TIMEOUT", "ASSERT"),
    *("ECC_UNCORRECTABLE", "NVLINK_UNCORRECTABLE", "CONTAINED", "EXTERNAL_DEVICE", "TDR_FAILED"),
    *("DEVICE_UNAVAILABLE", "NO_DEVICE", "DEINITIALIZED", "UNKNOWN", "SYSTEM_NOT_READY"),
)
"""Of ``CUresult`` (CUDA driver API): a context is of no use after them, or there is none."""
_WORDS: Final = re.compile(
    rf"CUDA_ERROR_(?:{'|'.join(_CODES)})\b(?:: [\w ()/-]+)?"
    # tensorflow/core/common_runtime/device/device_event_mgr.cc, which then aborts the process.
    r"|Unexpected Event status: \d+"
)
_IN_LOGS: Final = frozenset({"peer_lost", "nccl_failed", "trainer_killed", "trainer_vanished"})
"""Problems of processes that had no last word, or do not know what happened to another one."""
_MAY_FOLLOW: Final = _IN_LOGS | {
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
        self._news = threading.Condition()

    def turn_to(self, plan: LaunchPlan) -> None:
        """Watch the GPUs of another plan; those that only the one before had are gone for good."""
        with self._news:
            self.names = _gpu_names(plan)
            self._since_s = {k: since for k, since in self._since_s.items() if k in self.names}

    def take(self, sample: TelemetrySample, begun_s: float) -> None:
        """Take in a sample, and when the devices were first asked for it (:func:`time.monotonic`).

        A GPU that answers again was not lost: its driver was only opened anew.
        """
        with self._news:
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
            self._news.notify_all()

    @property
    def lost(self) -> frozenset[str]:
        """The keys of those that are lost."""
        with self._news:
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
        with self._news:
            return min(self._since_s.values(), default=None)

    def unanswered(self, now_s: float) -> dict[str, float]:
        """The names of GPUs that the driver says nothing about, with when it last did."""
        with self._news:
            found = {key: said_s for key, said_s in self._answered_s.items() if key in self.names}
        return {self.names[k]: said for k, said in found.items() if now_s - said > _UNANSWERED_S}

    def ask(self, patience_s: float = ANSWER_S) -> frozenset[str]:
        """The keys of those that are lost, or of which the driver says nothing within that time."""
        begun_s = time.monotonic()
        with self._news:
            while not self._since_s and (silent := self._silent_since(begun_s)):
                left_s = begun_s + patience_s - time.monotonic()
                if left_s <= 0.0:
                    return silent
                self._news.wait(left_s)
            return frozenset(self._since_s)

    def _silent_since(self, begun_s: float) -> frozenset[str]:
        """Those that have answered before, and not since then."""
        said = self._answered_s
        return frozenset(key for key in self.names if key in said and said[key] < begun_s)


class GpuLossCare:
    """Says that a GPU was lost, by name, where a run ends because of it, and what to do.

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
        report_failure: ReportFailure = log_failure,
    ) -> None:
        self._run = run
        self._watch = watch
        self._inventory = inventory
        self._sample = sample
        self._report_failure = report_failure

    def explained(self, ending: Ending, logs: Sequence[str], plan: LaunchPlan) -> Ending:
        """The ending with a problem that names the GPU, where one was lost or failed.

        Args:
            ending: As its processes report it.
            logs: The last lines of the logs of its processes.
            plan: Of the run.
        """
        problem = ending.problem
        if problem is None or ending.outcome not in (Outcome.FAILED, Outcome.LOST):
            return ending
        said = f"{problem.message}\n{problem.detail}"
        words = cuda_words(said) if problem.code in _IN_LOGS | {"trainer_crashed"} else ""
        if not words and problem.code in _IN_LOGS:
            words = next(filter(None, map(cuda_words, logs)), "")
        if not (words or problem.code in _MAY_FOLLOW or _OF_GPUS.search(said)):
            return ending
        lost = self._watch.ask()
        if lost:
            explained = self._lost(problem, words, lost, plan)
            return Ending(
                outcome=Outcome.LOST, problem=explained, place=ending.place, can_restart=True
            )
        if words:
            failed = self._failed(ending, problem, words, plan)
            return ending.model_copy(update={"problem": failed, "can_restart": True})
        return ending

    def plan_without_lost(self, plan: LaunchPlan) -> tuple[LaunchPlan, tuple[Change, ...]] | None:
        """Plan the run anew for the GPUs that answer; its folder has the new plan then.

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
        self, problem: Problem, words: str, lost: frozenset[str], plan: LaunchPlan
    ) -> Problem:
        said = gpu_lost(self._watch.names_of(lost))
        if problem.code == "trainer_not_killable":
            said = said.model_copy(update={"message": f"{said.message} {problem.message}"})
        details = (words, "" if problem.code == "gpu_lost" else problem.message, problem.detail)
        fixes: tuple[Fix, ...] = ()
        try:
            profile = self._run.profile()
        except ProblemError:
            pass  # it was there when the run began; what happened is said without
        else:
            inventory = self._inventory() or inventory_of(profile, plan)
            fixes = resumed_without(profile, inventory, lost, self._sample())
        return said.model_copy(
            update={
                "detail": "\n".join(part for part in details if part),
                "fix": fixes[0] if fixes else None,
                "alternatives": fixes[1:],
            }
        )

    def _failed(self, ending: Ending, problem: Problem, words: str, plan: LaunchPlan) -> Problem:
        """CUDA gave up on a GPU that the driver still reaches."""
        used = {device.key for device in plan.gang[ending.place].devices}
        names = [name for key, name in self._watch.names.items() if key in used]
        one = names[0] if len(names) == 1 else f"One of the GPUs ({', '.join(names)})"
        return Problem(
            code="gpu_failed",
            message=f"{one} failed in the middle of the run: CUDA said {words!r}; the driver still "
            "reaches it.",
            hint="Resume the run from its last checkpoint. If it fails again, see what the "
            "kernel's log says (dmesg | grep -i xid) and test the GPU with gpupanel selftest: an "
            "operation of the model, the driver or the card itself is at fault.",
            detail="\n".join(filter(None, (problem.message, problem.detail))),
        )


def _gpu_names(plan: LaunchPlan) -> dict[str, str]:
    gpus = (device.key for device in plan.devices if device.kind is DeviceKind.GPU)
    return {key: plan.device_name(key) for key in gpus}


def cuda_words(text: str) -> str:
    """What CUDA said of a GPU that is of no more use; empty: nothing of that kind."""
    found = _WORDS.search(text)
    return "" if found is None else found[0]
