"""A gang whose processes this machine starts: itself, or as tasks of Slurm on other nodes."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

import psutil

from gpupanel.devices.memory_node import make_memory_node
from gpupanel.devices.private_network import (
    NetworkRefusedError,
    PrivateNetwork,
    new_private_network,
)
from gpupanel.domain.device import DeviceKind
from gpupanel.domain.plan import LaunchPlan, PlannedProcess
from gpupanel.domain.process_environment import CHECKED_VARIABLE, SUPERVISOR_PID_VARIABLE
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.bounded_log import BoundedLog
from gpupanel.runs.cluster.environments import allowed, process_environments
from gpupanel.runs.processes.liveness import (
    FROZEN_AFTER_S,
    TASK_FROZEN_AFTER_S,
    Frozen,
    Liveness,
    process_activity,
)
from gpupanel.runs.processes.run_processes import end_processes_of
from gpupanel.runs.processes.trainer_process import signal_group, start_trainer
from gpupanel.runs.slurm.task_command import exit_code_of_task, task_command
from gpupanel.runs.supervision.checked_run import CheckedRun
from gpupanel.runs.supervision.gang import Member, clean_folder, remove_output_parts
from gpupanel.runs.supervision.memory.reading import AllocationWatch

if TYPE_CHECKING:
    from gpupanel.domain.problem import Problem

KILL_S = 5.0
"""The longest time that killed processes are waited for: more than what the kernel needs to take
back some 100 GB of memory."""
_OBSERVE_INTERVAL_S = 0.9
_END_OF_TASK_S = 5.0


class LocalMember(Member):
    """A process that this machine has started, leader of a process group of its own.

    Args:
        layout: The run.
        planned: What the process is there for; with a node it is a task of Slurm there, and what
            runs here is the command that started it.
        place: In the plan's gang.
        started: The process.
        log: Its log, which is kept within bounds.
    """

    def __init__(
        self,
        layout: RunLayout,
        planned: PlannedProcess,
        place: int,
        started: subprocess.Popen[bytes],
        log: BoundedLog,
    ) -> None:
        super().__init__(place, planned.name, started.pid)
        self._heartbeat = layout.heartbeats / str(place)
        self._process = started
        self._log = log
        self._is_task = planned.node is not None
        self._psutil_process = _psutil_process(started.pid)
        silent_s = TASK_FROZEN_AFTER_S if self._is_task else FROZEN_AFTER_S
        self._liveness = Liveness(time.monotonic(), silent_s)
        self._observed_s = 0.0
        on_gpus = any(device.kind is DeviceKind.GPU for device in planned.devices)
        self._allocation = AllocationWatch(layout.process_log(place)) if on_gpus else None

    def poll(self) -> None:
        """See whether it has ended, and about once a second whether it still lives."""
        self.exit_code = self._exit_code(self._process.poll())
        now_s = time.monotonic()
        is_due = now_s - self._observed_s >= _OBSERVE_INTERVAL_S
        if not is_due or not self.is_there or self._psutil_process is None:
            return
        self._observed_s = now_s
        self._log.bound()
        activity = process_activity(self._psutil_process, self._heartbeat)
        if activity is not None:
            self.processor_s = activity.processor_s
            self.frozen = self._liveness.observe(activity, now_s)
        if self._allocation is not None and self._allocation.is_endless():
            self.frozen = Frozen.ENDLESS

    def _exit_code(self, status: int | None) -> int | None:
        return exit_code_of_task(status) if self._is_task else status

    def end_task(self) -> None:
        """Have Slurm kill what is a task on a node: it would outlive the command here."""
        if self._is_task and self._process.poll() is None:
            self.signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_OF_TASK_S)

    def close_log(self) -> None:
        """Close its log, which nothing more is written to."""
        self._log.close()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process group: to what the process has started, too.

        A task on a node is killed by SIGTERM, too: so the command that started it takes it.
        """
        signal_group(self._process, number)

    def wait(self, patience_s: float | None = None) -> None:
        """Take the exit status of a process that was killed; it may not end within that time."""
        with suppress(subprocess.TimeoutExpired):
            self.exit_code = self._exit_code(self._process.wait(patience_s))


class LocalGang:
    """The :class:`~gpupanel.runs.supervision.gang.Gang` of a run without a Ray cluster.

    Args:
        run: Each process is handed what was checked of it.
        plan: Its gang says what to start.
        command: Of a trainer, without the run's directory.
    """

    def __init__(self, run: CheckedRun, plan: LaunchPlan, command: Sequence[str]) -> None:
        self.members: list[LocalMember] = []
        self.network_refusal = ""
        self.notices: list[Problem] = []
        self._layout = run.layout
        self._checked = run.files.model_dump_json()
        self._plan = plan
        self._command = [*command, str(run.layout.root)]

    @property
    def local_members(self) -> Sequence[LocalMember]:
        """All of them: of a task of Slurm the command that started it."""
        return self.members

    def start(self, on_started: Callable[[Member], None]) -> None:
        """Start every process; raises an OSError where there is no free port, too."""
        clean_folder(self._layout)
        environments = process_environments(self._plan)
        with ExitStack() as handed_over:
            network = self._network()
            if network is not None:
                handed_over.enter_context(network)
            for place, planned in enumerate(self._plan.gang):
                member = self._start(place, planned, environments[place], network)
                self.members.append(member)
                on_started(member)

    def poll(self) -> None:
        """See what has become of every process, and about once a second whether it lives."""
        for member in self.members:
            member.poll()

    def is_there(self) -> bool:
        """Whether a process of it had not ended when they were last polled."""
        return any(member.is_there for member in self.members)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to every process."""
        if number is signal.SIGKILL:
            for member in self.members:
                member.end_task()
        for member in self.members:
            member.signal(number)

    def show_request(self, request: Request) -> None:
        """Do nothing: processes that share this machine's disk see what people ask."""

    def end(self) -> None:
        """Kill whatever is left, what the processes have started too, and wait for it.

        One that waits in the kernel for a driver or a disk is left behind: nobody can end it.
        """
        self.signal(signal.SIGKILL)
        until_s = time.monotonic() + KILL_S
        for member in self.members:
            member.wait(max(0.0, until_s - time.monotonic()))
        end_processes_of(self._layout)
        for member in self.members:
            member.wait(0.0)
            member.close_log()
        remove_output_parts(self._layout)

    def _network(self) -> PrivateNetwork | None:
        """A network for processes that open ports to each other, where there can be one."""
        if len(self._plan.gang) == 1 or self._plan.is_on_nodes:
            return None
        if any(device.kind is DeviceKind.GPU for device in self._plan.devices):
            make_memory_node()
        try:
            return new_private_network()
        except NetworkRefusedError as error:
            self.network_refusal = str(error)
            return None

    def _start(
        self,
        place: int,
        planned: PlannedProcess,
        environment: dict[str, str],
        network: PrivateNetwork | None,
    ) -> LocalMember:
        command, variables = self._command, {**allowed(self._plan.environment), **environment}
        variables[CHECKED_VARIABLE] = self._checked
        if planned.node is not None:
            command = task_command(planned.node, command, variables)
            # Slurm ends it with the job; its parent is a process of Slurm's.
            variables[SUPERVISOR_PID_VARIABLE] = ""
        if network is not None:
            variables |= network.environment
        descriptors = () if network is None else network.descriptors
        log = BoundedLog(self._layout.process_log(place))
        process = start_trainer(self._layout, place, command, os.environ, variables, descriptors)
        return LocalMember(self._layout, planned, place, process, log)


def _psutil_process(pid: int) -> psutil.Process | None:
    try:
        return psutil.Process(pid)
    except psutil.Error:
        return None  # it ended already, as its exit status will show
