"""What the devices of several nodes report, put together as a sampler of one machine gives it.

The driver of a Ray cluster hands it over; on the nodes of a Slurm job tasks are started for it.
"""

import os
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import TracebackType
from typing import IO, Final, Self

from gpupanel.domain.child_command import (
    WORKING_DIRECTORY,
    child_environment,
    python_module_command,
)
from gpupanel.domain.cluster import key_in, node_readings
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.job_node import NodeReadings
from gpupanel.domain.telemetry import DeviceReading, DeviceState, TelemetrySample
from gpupanel.files.process_log import write_to_process_log
from gpupanel.runs.slurm.task_command import task_command

_FRESH_S: Final = 1.5
"""A node reports twice a second."""
_COMMAND: Final = tuple(python_module_command("gpupanel.runs.slurm.node_sampling"))
_MOST_LINE_BYTES: Final = 2**22
_END_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class _Node:
    inventory: DeviceInventory
    sample: TelemetrySample
    taken_s: float
    is_lost: bool = False


class NodeSamples:
    """Keeps the last sample of each node.

    It is asked as a :class:`~gpupanel.devices.sampler.DeviceSampler` is. Safe to use from several
    threads.
    """

    def __init__(self) -> None:
        self._nodes: dict[str, _Node] = {}
        self._lock = threading.Lock()

    def take(self, node: str, inventory: DeviceInventory | None, sample: TelemetrySample) -> None:
        """Take in what the devices of a node have reported.

        Args:
            node: Its name.
            inventory: Its devices; ``None``: those that it has had before.
            sample: What they report.
        """
        with self._lock:
            if inventory is None:
                before = self._nodes.get(node)
                if before is None:
                    return  # nothing is known of what it reports
                inventory = before.inventory
            self._nodes[node] = _Node(inventory, sample, time.monotonic())

    def lose(self, node: str) -> None:
        """Note that a node does not answer any more: its devices count as lost."""
        with self._lock:
            if node in self._nodes:
                self._nodes[node] = replace(self._nodes[node], is_lost=True)

    def inventory(self) -> DeviceInventory | None:
        """The devices of every node that has reported; ``None``: none has yet."""
        with self._lock:
            nodes = dict(self._nodes)
        devices = tuple(
            device.model_copy(update={"key": key_in(name, device), "node": name})
            for name, node in nodes.items()
            for device in node.inventory.devices
        )
        return DeviceInventory(devices=devices) if devices else None

    def sample(self) -> TelemetrySample:
        """The last readings of every node, with their ages."""
        with self._lock:
            nodes = dict(self._nodes)
        readings = tuple(
            _aged(reading, node)
            for name, node in nodes.items()
            for reading in node_readings(name, node.inventory, node.sample)
        )
        return TelemetrySample(time_s=time.time(), readings=readings)


def _aged(reading: DeviceReading, node: _Node) -> DeviceReading:
    if node.is_lost:
        return DeviceReading(
            key=reading.key, state=DeviceState.LOST, memory_total_mib=reading.memory_total_mib
        )
    age_s = time.monotonic() - node.taken_s
    return reading if age_s < _FRESH_S else reading.model_copy(update={"age_s": age_s})


class TaskReadings:
    """Has a task on each node sample its devices as long as it is entered.

    A node whose task cannot be started, or ends early, has no readings, or old ones with their age;
    the run goes on.

    Args:
        nodes: Of the job.
        samples: Takes what they report.
        command: Of what samples on a node.
    """

    def __init__(
        self, nodes: Sequence[str], samples: NodeSamples, command: Sequence[str] = _COMMAND
    ) -> None:
        self._nodes = nodes
        self._samples = samples
        self._command = command
        self._tasks: dict[str, subprocess.Popen[bytes]] = {}
        self._threads: list[threading.Thread] = []
        self._is_ending = False

    def __enter__(self) -> Self:
        for node in self._nodes:
            try:
                # What srun and the node say otherwise goes to the supervisor's own log.
                task = subprocess.Popen(
                    task_command(node, self._command, {}),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=child_environment(os.environ),
                    cwd=WORKING_DIRECTORY,
                    # Not with whatever a signal to the supervisor's group reaches.
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                write_to_process_log(f"telemetry: no readings of {node}: {error}")
                continue
            self._tasks[node] = task
            read = threading.Thread(target=self._read, args=(node, task), daemon=True)
            self._threads.append(read)
            read.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_ending = True
        for task in self._tasks.values():
            # Each ends by itself when its input does.
            with suppress(OSError):
                _pipe(task.stdin).close()
        for task in self._tasks.values():
            _end(task)
        for thread in self._threads:
            thread.join(_END_S)
        for task in self._tasks.values():
            with suppress(OSError):
                _pipe(task.stdout).close()

    def _read(self, node: str, task: "subprocess.Popen[bytes]") -> None:
        output = _pipe(task.stdout)
        while line := output.readline(_MOST_LINE_BYTES):
            # A line that is none, as what a shell prints at its start, says nothing.
            with suppress(ValueError):
                readings = NodeReadings.model_validate_json(line)
                self._samples.take(node, readings.inventory, readings.sample)
        if not self._is_ending:
            write_to_process_log(f"telemetry: {node} says nothing any more of its devices.")


def _end(task: "subprocess.Popen[bytes]") -> None:
    """Srun hands SIGTERM on to its task; killed, it would leave that to the end of the job."""
    for signal_it in (task.terminate, task.kill):
        with suppress(subprocess.TimeoutExpired):
            task.wait(_END_S)
            return
        signal_it()
    task.wait()


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise ValueError("the task was started without pipes")
    return stream
