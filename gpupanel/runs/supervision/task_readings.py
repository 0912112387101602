"""What the devices of a job's nodes report, while the run's processes are tasks there."""

import os
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import IO, Final, Self

from gpupanel.domain.child_command import (
    WORKING_DIRECTORY,
    child_environment,
    python_module_command,
)
from gpupanel.domain.job_node import NodeReadings
from gpupanel.files.process_log import write_to_process_log
from gpupanel.runs.slurm.task_command import task_command
from gpupanel.runs.supervision.node_samples import NodeSamples

_COMMAND: Final = tuple(python_module_command("gpupanel.runs.slurm.node_sampling"))
_MOST_LINE_BYTES: Final = 2**22
_END_S: Final = 5.0


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
