"""The nodes of the job that this process runs in, and what each of them has."""

import os
import re
from typing import Final

from pydantic import ValidationError

from gpupanel.devices.child_process import ChildEnd, ask_child
from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.job_node import JobNode
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.runs.slurm.task_command import JOB_VARIABLE

ANSWER: Final = b"gpupanel-node "
"""What a node's answer begins with, among what its shell may print."""
_LIMIT_S: Final = 60.0
_NODE: Final = re.compile(r"NodeName=(\S+).*?NodeAddr=(\S+)")


def is_job_of_several_nodes() -> bool:
    """Whether this process runs in a job of Slurm that has more than one node."""
    count = os.environ.get("SLURM_JOB_NUM_NODES", "")
    return bool(os.environ.get(JOB_VARIABLE)) and count.isdecimal() and int(count) > 1


def read_nodes() -> tuple[JobNode, ...]:
    """Ask each node of this job what it has, the first one first.

    Raises:
        ProblemError: Slurm or a node does not answer.
    """
    listed = os.environ.get("SLURM_JOB_NODELIST", "")
    names = _asked("scontrol", "show", "hostnames", listed).decode(errors="replace").split()
    if not names:
        raise ProblemError(_no_answer("scontrol", f"The job has the nodes {listed!r}."))
    known = _asked("scontrol", "--oneliner", "show", "node", listed).decode(errors="replace")
    addresses = dict(_NODE.findall(known))
    # Each finds its own address by that of another one.
    first, last = names[0], names[-1]
    others = (addresses.get(last, last), addresses.get(first, first))
    asked = python_module_command("gpupanel.runs.slurm.node_answer", last, *others)
    each = (f"--nodes={len(names)}", f"--ntasks={len(names)}", "--ntasks-per-node=1")
    output = _asked("srun", "--overlap", *each, *asked)
    answers = [line.removeprefix(ANSWER) for line in output.splitlines() if line.startswith(ANSWER)]
    try:
        found = {node.name: node for node in map(JobNode.model_validate_json, answers)}
    except ValidationError as error:
        raise ProblemError(_no_answer("A node of the job", str(error))) from error
    missing = [name for name in names if name not in found]
    if missing:
        raise ProblemError(_no_answer(", ".join(missing), output.decode(errors="replace")))
    return tuple(found[name] for name in names)


def _asked(*command: str) -> bytes:
    try:
        answer = ask_child(command, _LIMIT_S)
    except OSError as error:
        raise ProblemError(_no_answer(command[0], str(error))) from error
    if answer.end is not ChildEnd.BY_ITSELF or answer.exit_code != 0:
        raise ProblemError(_no_answer(command[0], answer.log))
    return answer.output


def _no_answer(who: str, detail: str) -> Problem:
    return Problem(
        code="nodes_not_known",
        message=f"{who} did not answer what the nodes of this job have.",
        hint="See that gpupanel is at the same path on every node, and start the job again.",
        detail=detail,
    )
