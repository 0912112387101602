"""How a process of a run becomes a task of the job that its supervisor runs in."""

import os
import re
from collections.abc import Mapping, Sequence

from gpupanel.domain.job_node import NODE_NAME
from gpupanel.domain.process_environment import CHECKED_VARIABLE

JOB_VARIABLE = "SLURM_JOB_ID"

_SAID_AGAIN = ("CUDA_VISIBLE_DEVICES", CHECKED_VARIABLE)
"""Variables that are set on the node itself: Slurm sets the first one for each task, after those
that srun hands on; and without the other one a task would take files as it finds them, where
``SLURM_EXPORT_ENV`` has srun hand on nothing."""


def task_command(node: str, command: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """The command that starts another one as a task on a node, and ends as that does.

    ``--overlap``: the task shares what the job has with the script of the job and with the others
    (srun(1)); which GPU is whose, the plan says.

    Args:
        node: Of the job.
        command: To start there.
        environment: What the plan sets for it.

    Raises:
        ValueError: No node of a job has such a name; or this process is in no job: srun would ask
            for a new one.
    """
    if re.fullmatch(NODE_NAME, node) is None:
        raise ValueError(f"no node of a job is called {node!r}")
    if not os.environ.get(JOB_VARIABLE):
        raise ValueError(f"its processes are for nodes of a Slurm job ({node}), and this is none")
    again = [f"{name}={environment[name]}" for name in _SAID_AGAIN if name in environment]
    return [
        "srun",
        "--overlap",
        "--nodes=1",
        "--ntasks=1",
        f"--nodelist={node}",
        "env",
        *again,
        *command,
    ]


def exit_code_of_task(status: int | None) -> int | None:
    """The exit code as of a process here: negative for a signal, where srun adds 128 to it.

    Args:
        status: Of the command; ``None`` while it is there, negative where a signal ended itself.
    """
    return 128 - status if status is not None and status > 128 else status
