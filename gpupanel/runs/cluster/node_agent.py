"""What works on a node of a cluster for a run, or for whoever asks what is there.

Ray starts it there as an actor and calls it, one call after the other and always in the same
thread. It does not know Ray: texts go in and come out, so that versions of this program that
differ are found by a comparison, and not by an object that cannot be made.

What it starts are children of its process. When that ends, whatever the reason, they see that
their supervisor is gone: they save and end.
"""

import os
import platform
import signal
import threading
import time
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Final

import psutil

from gpupanel import __version__
from gpupanel.devices.packages import tensorflow_package
from gpupanel.devices.sampler import PATIENT_S, DeviceSampler
from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.cluster import NodeReport
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.bounded_log import BoundedLog
from gpupanel.files.guarded_files import touch
from gpupanel.runs.cluster.environments import free_ports
from gpupanel.runs.cluster.listening import address_in, interfaces_here
from gpupanel.runs.cluster.messages import AgentCommand, AgentReady, NodeSeen, ProcessSeen
from gpupanel.runs.cluster.reserved_gpus import check_reserved, reserved_gpus
from gpupanel.runs.directory.tails import LineTail
from gpupanel.runs.processes.liveness import process_activity
from gpupanel.runs.processes.run_processes import await_end_of_processes, end_processes_of
from gpupanel.runs.processes.trainer_process import signal_group, start_trainer

if TYPE_CHECKING:
    import subprocess

    from gpupanel.domain.device import DeviceInventory

_BUSY_S: Final = 0.2
"""How long to observe the processor to say how busy it is: the kernel counts in ticks of 10 ms."""
_SAMPLE_INTERVAL_S: Final = 0.5
_ABANDONED_S: Final = 15.0
"""Without a call for so long nobody looks after the run any more, as where the network broke: what
was started here is ended, before those on other nodes continue without it."""
_ORPHANS_S: Final = 20.0
"""Processes of the run that lost their supervisor here have this long to save and end."""
_RAYS: Final = ("RAY_", "OMP_NUM_THREADS", "PYTHONBREAKPOINT", "CUDA_VISIBLE_DEVICES")
"""What Ray sets in its own processes, and a trainer is not to have from there: with one OpenMP
thread it would be slow, and the plan says which GPUs it sees."""


class NodeAgent:
    """Lists and samples the devices of its node; starts, polls and ends processes of a run."""

    def __init__(self) -> None:
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._events: dict[int, LineTail] = {}
        self._logs: dict[int, BoundedLog] = {}
        self._layout: RunLayout | None = None
        self._sampler: DeviceSampler | None = None
        self._sampled_s = 0.0
        self._inventory: DeviceInventory | None = None
        self._raylet = os.getppid()
        self._called_s = time.monotonic()

    def clock(self) -> float:
        """Seconds since the epoch by the clock of this node."""
        return time.time()

    def report(self, file: str = "") -> str:
        """What is here now: a :class:`~gpupanel.domain.cluster.NodeReport` as JSON.

        Args:
            file: One that should be here, in a folder where runs are kept; empty: none.
        """
        with DeviceSampler(wait_s=PATIENT_S) as sampler:
            return _report(sampler, file).model_dump_json()

    def watch(self, file: str = "") -> str:
        """The same, and from now on :meth:`poll` says what the devices report.

        Args:
            file: See :meth:`report`.
        """
        self._sampler = DeviceSampler(wait_s=PATIENT_S)
        return _report(self._sampler, file).model_dump_json()

    def make_ready(self, command_json: str) -> str:
        """Check that the run can be started here and find ports; its leftover processes end first.

        Args:
            command_json: An :class:`~gpupanel.runs.cluster.messages.AgentCommand` as JSON.

        Returns:
            An :class:`~gpupanel.runs.cluster.messages.AgentReady` as JSON.
        """
        command = AgentCommand.model_validate_json(command_json)
        layout = self._layout = RunLayout(Path(command.root))
        ready = AgentReady(gpupanel=__version__)
        try:
            _check_folder(layout)
            if not await_end_of_processes(layout, _ORPHANS_S):
                end_processes_of(layout)
            address, interface = address_in(command.network, command.address, interfaces_here())
            ports = free_ports(command.count, address)
            self._sampler = DeviceSampler()
            if command.gpus:
                visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
                reserved = reserved_gpus(visible, self._sampler.inventory())
                check_reserved(command.gpus, reserved, platform.node())
        except ProblemError as error:
            return ready.model_copy(update={"problem": error.problems[0]}).model_dump_json()
        found = {"address": address, "interface": interface, "ports": ports}
        return ready.model_copy(update=found).model_dump_json()

    def start(self, command_json: str) -> str:
        """Start processes of the run.

        Args:
            command_json: An :class:`~gpupanel.runs.cluster.messages.AgentCommand` as JSON.

        Returns:
            Their pids by their places, as a :class:`~gpupanel.runs.cluster.messages.NodeSeen`.

        Raises:
            OSError: One cannot be started.
        """
        command = AgentCommand.model_validate_json(command_json)
        layout = RunLayout(Path(command.root))
        trainer = python_module_command("gpupanel.trainer", command.root)
        for each in command.starts:
            self._events[each.place] = LineTail(layout.process_events(each.place))
            self._logs[each.place] = BoundedLog(layout.process_log(each.place))
            self._processes[each.place] = start_trainer(
                layout, each.place, trainer, _without_rays(os.environ), each.environment
            )
        self._called_s = time.monotonic()
        threading.Thread(target=self._end_when_abandoned, name="abandoned", daemon=True).start()
        pids = {place: process.pid for place, process in self._processes.items()}
        seen = tuple(ProcessSeen(place=place, pid=pid) for place, pid in pids.items())
        return NodeSeen(processes=seen).model_dump_json()

    def poll(self) -> str:
        """What the processes are doing, and twice a second what the devices report."""
        self._called_s = time.monotonic()
        for log in self._logs.values():
            log.bound()
        processes = tuple(self._seen(place) for place in self._processes)
        inventory, sample = None, None
        now_s = time.monotonic()
        if self._sampler is not None and now_s - self._sampled_s >= _SAMPLE_INTERVAL_S:
            self._sampled_s = now_s
            inventory, sample = self._sampler.inventory(), self._sampler.sample()
            # It is larger than a sample, and as good as always the same.
            if inventory == self._inventory:
                inventory = None
            else:
                self._inventory = inventory
        return NodeSeen(
            is_alone=os.getppid() != self._raylet,
            processes=processes,
            inventory=inventory,
            sample=sample,
        ).model_dump_json()

    def signal(self, number: int) -> None:
        """Send a signal to the process group of each process."""
        for process in self._processes.values():
            signal_group(process, signal.Signals(number))

    def show_request(self, request: str) -> None:
        """Have the processes here see what a person asked of the run."""
        if self._layout is not None:
            touch(self._layout.requests / Request(request), self._layout.root)

    def end(self) -> None:
        """Kill whatever of the run is left here, and wait for it."""
        self.signal(signal.SIGKILL)
        for process in self._processes.values():
            process.wait()
        if self._layout is not None:
            end_processes_of(self._layout)
        for log in self._logs.values():
            log.close()
        if self._sampler is not None:
            self._sampler.close()
            self._sampler = None

    def _end_when_abandoned(self) -> None:
        while time.monotonic() - self._called_s < _ABANDONED_S:
            time.sleep(1.0)
        self.signal(signal.SIGKILL)
        for process in self._processes.values():
            process.wait()

    def _seen(self, place: int) -> ProcessSeen:
        process, events = self._processes[place], self._events[place]
        # Asked first: the last words of one that has ended are read then.
        exit_code = process.poll()
        lines = _new_lines(events)
        seen = ProcessSeen(
            place=place,
            pid=process.pid,
            exit_code=exit_code,
            lines=lines,
            read_bytes=events.place.offset,
        )
        if exit_code is not None or self._layout is None:
            return seen
        try:
            watched = psutil.Process(process.pid)
        except psutil.Error:
            return seen  # it has just ended
        activity = process_activity(watched, self._layout.heartbeats / str(place))
        if activity is None:
            return seen
        return seen.model_copy(
            update={
                "beat": activity.beat,
                "processor_s": activity.processor_s,
                "is_stopped": activity.is_stopped,
                "is_held": activity.is_held,
            }
        )


def _report(sampler: DeviceSampler, file: str) -> NodeReport:
    inventory = sampler.inventory()
    time.sleep(_BUSY_S)
    sample = sampler.sample()
    tensorflow = tensorflow_package()
    return NodeReport(
        gpupanel=__version__,
        python=platform.python_version(),
        tensorflow=None if tensorflow is None else tensorflow[1],
        ray=_version("ray"),
        clock_s=time.time(),
        sees_folder=_sees(Path(file)) if file else None,
        inventory=inventory,
        sample=sample,
    )


def _new_lines(events: LineTail) -> tuple[str, ...]:
    try:
        lines = events.read()
        while events.has_more:
            lines += events.read()
    except OSError:
        return ()  # not now: a disk that does not answer
    return tuple(line.decode(errors="replace") for line in lines)


def _without_rays(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in environment.items() if not name.startswith(_RAYS)}


def _sees(file: Path) -> bool:
    return file.is_file() and os.access(file.parent, os.W_OK)


def _check_folder(layout: RunLayout) -> None:
    if layout.profile.is_file() and os.access(layout.root, os.W_OK):
        return
    raise ProblemError(
        Problem(
            code="run_folder_not_shared",
            message=f"{platform.node()} does not see the run's folder {layout.root}, or may not "
            "write there.",
            hint="Keep runs in a folder that every node has under the same path, such as one of "
            "NFS: --runs-dir, or GPUPANEL_RUNS_DIR.",
        )
    )


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
