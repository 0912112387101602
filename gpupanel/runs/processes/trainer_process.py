"""A process of a run as it is started on whichever machine it is to work on."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress

import psutil

from gpupanel.domain.child_command import WORKING_DIRECTORY, child_environment
from gpupanel.domain.process_environment import RUN_VARIABLE, SUPERVISOR_PID_VARIABLE
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import open_to_append
from gpupanel.runs.processes.run_processes import run_name


def start_trainer(
    layout: RunLayout,
    place: int,
    command: Sequence[str],
    inherited: Mapping[str, str],
    variables: Mapping[str, str],
    descriptors: Sequence[int] = (),
) -> "subprocess.Popen[bytes]":
    """Start a process of a run, in a process group of its own; this process looks after it.

    Args:
        layout: The run.
        place: Of the process in the plan's gang.
        command: What to start.
        inherited: The variables that it has from this machine.
        variables: What it gets besides, or instead.
        descriptors: Of files that it has open from its start.

    Raises:
        OSError: It cannot be started, or its log cannot be opened.
    """
    with os.fdopen(open_to_append(layout.process_log(place)), "ab") as log:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=WORKING_DIRECTORY,
            env=child_environment(
                inherited,
                {
                    RUN_VARIABLE: run_name(layout),
                    SUPERVISOR_PID_VARIABLE: str(os.getpid()),
                    "PYTHONUNBUFFERED": "1",
                    **variables,
                },
            ),
            pass_fds=tuple(descriptors),
            process_group=0,
        )


def signal_group(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    """Send a signal to the process group of a trainer: to what it has started, too.

    Killed is also what has gone into a session of its own and forgotten its environment: once the
    trainer is gone, nobody could tell any more whose that was.
    """
    is_kill = number is signal.SIGKILL and process.poll() is None
    left = _descendants(process.pid) if is_kill else []
    with suppress(ProcessLookupError):  # it ended meanwhile, which is what was wanted
        os.killpg(process.pid, number)
    for each in left:
        with suppress(psutil.Error):
            each.kill()


def _descendants(pid: int) -> list[psutil.Process]:
    with suppress(psutil.Error):
        return psutil.Process(pid).children(recursive=True)
    return []
