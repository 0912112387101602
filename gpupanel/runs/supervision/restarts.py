"""What follows an attempt of a run: why it ended so, and whether and with what it starts again."""

import signal
from dataclasses import dataclass, replace
from typing import Final

from gpupanel.devices.doctor.spoiled_import import what_spoils_import
from gpupanel.domain.cluster import devices_of, sample_of
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Change, ProblemError
from gpupanel.domain.process_environment import PORT_TAKEN_STATUS
from gpupanel.files.process_log import write_to_process_log
from gpupanel.planning.fewer_nodes import on_nodes_there
from gpupanel.planning.resuming import changes_between
from gpupanel.runs.cluster.reading import read_cluster
from gpupanel.runs.supervision.checked_run import CheckedRun
from gpupanel.runs.supervision.exit_reading import FinishedAttempt, RunResult
from gpupanel.runs.supervision.gpu_loss import GpuLossResponse, GpuLossWatch
from gpupanel.runs.supervision.memory.response import ShortageResponse

_MOST_PORT_RETRIES: Final = 3

_SPOILED_IMPORT_CODES: Final = frozenset(
    {
        "tensorflow_not_importable",
        "trainer_crashed",
        "trainer_vanished",
        "trainer_killed",
        "out_of_memory",
    }
)
"""Problems that an import ends in which something else on the machine spoils; a process that cannot
even report it has vanished."""

_CRASHES: Final = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)
"""Any other signal came from somebody."""


@dataclass(frozen=True, slots=True)
class NextStart:
    """With what a run is started again.

    Attributes:
        plan: What to start.
        changes: What the profile says otherwise than before.
        number: Of this restart, from 1; 0: it is not reported, as only a port was taken.
        takes_less: Whether it is started again to take less memory.
    """

    plan: LaunchPlan
    changes: tuple[Change, ...] = ()
    number: int = 0
    takes_less: bool = False


class Restarts:
    """Explains how an attempt ended, and decides whether the run is started again.

    Args:
        run: Its profile says how often it may be.
        shortages: Responds to a lack of memory.
        gpu_losses: Responds to the loss of a GPU.
        gpus: Is turned to the GPUs of a changed plan.
    """

    def __init__(
        self,
        run: CheckedRun,
        shortages: ShortageResponse,
        gpu_losses: GpuLossResponse,
        gpus: GpuLossWatch,
    ) -> None:
        self._run = run
        self._shortages = shortages
        self._gpu_losses = gpu_losses
        self._gpus = gpus
        self._most_restarts = _most_restarts(run)
        self._restarts = self._port_retries = self._with_less = 0

    def after(
        self, attempt: FinishedAttempt, plan: LaunchPlan
    ) -> tuple[FinishedAttempt, NextStart | None]:
        """What an attempt with that plan came to, and the next start; ``None``: it was the last."""
        if attempt.exit_code == PORT_TAKEN_STATUS and self._port_retries < _MOST_PORT_RETRIES:
            self._port_retries += 1
            return attempt, NextStart(plan)
        spoiled = explained_import(attempt, plan)
        if spoiled is not None:
            return replace(attempt, result=spoiled), None
        result = self._shortages.explained(attempt, plan)
        if attempt.shortage is None:
            result = self._gpu_losses.explained(result, attempt.log_lines, plan)
        attempt = replace(attempt, result=result)
        return attempt, None if attempt.stop_requested else self._next_start(attempt, plan)

    def _next_start(self, attempt: FinishedAttempt, plan: LaunchPlan) -> NextStart | None:
        less = self._shortages.try_with_less(attempt, plan)
        if less is not None:
            self._with_less += 1
            return self._numbered(*less, takes_less=True)
        result = attempt.result
        if not result.can_restart or self._restarts >= self._most_restarts:
            return None
        fewer = plan_without_lost_nodes(self._run, plan) or self._gpu_losses.plan_without_lost(plan)
        if fewer is None and result.problem is not None and result.problem.code == "gpu_lost":
            return None
        self._restarts += 1
        if fewer is None:
            return self._numbered(plan, ())
        self._gpus.turn_to(fewer[0])
        return self._numbered(*fewer)

    def _numbered(
        self, plan: LaunchPlan, changes: tuple[Change, ...], *, takes_less: bool = False
    ) -> NextStart:
        number = self._with_less + self._restarts
        return NextStart(plan, changes, number, takes_less)


def _most_restarts(run: CheckedRun) -> int:
    try:
        profile = run.profile()
    except ProblemError:
        return 0  # the trainer reports what is wrong with it
    return (profile.script or profile.training).max_restarts


def explained_import(attempt: FinishedAttempt, plan: LaunchPlan) -> RunResult | None:
    """The result where something else on the machine keeps TensorFlow from being imported.

    The doctor finds it out, which takes some imports.

    Args:
        attempt: That has failed.
        plan: Of the run: nothing can be tried here for processes of other machines.

    Returns:
        ``None`` where that is not the reason.
    """
    problem = attempt.result.problem
    if problem is None or problem.code not in _SPOILED_IMPORT_CODES or plan.is_on_nodes:
        return None
    exit_code = attempt.exit_code or 0
    was_killed = exit_code < 0 and -exit_code not in _CRASHES
    if attempt.has_imported or attempt.stop_requested or was_killed:
        return None
    spoiled = what_spoils_import(problem.detail or "\n".join((*attempt.log_lines, problem.message)))
    if spoiled is None:
        return None
    # Started again it would fail again.
    return attempt.result.model_copy(
        update={"outcome": Outcome.FAILED, "problem": spoiled, "can_restart": False}
    )


def plan_without_lost_nodes(
    run: CheckedRun, plan: LaunchPlan
) -> tuple[LaunchPlan, tuple[Change, ...]] | None:
    """Plan a run again for the nodes that answer; its folder has the new plan then.

    Args:
        run: Its profile is read and changed.
        plan: What it was started with.

    Returns:
        The new plan, and what the profile says otherwise; ``None`` where every node of the plan
        answers, or nothing can be done: what is tried next says why.
    """
    if plan.cluster is None:
        return None
    try:
        reading = read_cluster(plan.cluster.address)
        answering = {node.name for node in reading.answering}
        if all(process.node in answering for process in plan.gang):
            return None
        profile = run.profile()
        fewer = on_nodes_there(profile, devices_of(reading), sample_of(reading))
        if fewer is None:
            return None
        run.amend(*fewer)
    except (OSError, ProblemError) as error:
        write_to_process_log(f"supervisor: not planned for fewer nodes: {error}")
        return None
    return fewer[1], changes_between(profile, fewer[0])
