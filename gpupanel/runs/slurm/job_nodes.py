"""The nodes of the job that this process runs in, and what each of them has."""

import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from gpupanel.devices.child_process import ChildEnd, ask_child
from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.job_node import JobNode
from gpupanel.domain.last_lines import last_lines
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.value import MOST_PLACES
from gpupanel.domain.visible_text import visible_line
from gpupanel.runs.slurm.task_command import JOB_VARIABLE, task_command

ANSWER: Final = b"gpupanel-node "
"""What a node's answer begins with, among what its shell may print."""
_LIMIT_S: Final = 60.0
_MOST_AT_ONCE: Final = 16
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
    if len(names) > MOST_PLACES:
        what = f"It names {len(names):,} nodes; a run has processes on {MOST_PLACES:,} at most."
        raise ProblemError(_no_answer("scontrol", what))
    known = _asked("scontrol", "--oneliner", "show", "node", listed).decode(errors="replace")
    addresses = dict(_NODE.findall(known))
    # Each finds its own address by that of another one.
    first, last = names[0], names[-1]
    others = (addresses.get(last, last), addresses.get(first, first))
    command = python_module_command("gpupanel.runs.slurm.node_answer", last, *others)
    with ThreadPoolExecutor(_MOST_AT_ONCE, thread_name_prefix="node") as asking:
        return tuple(asking.map(lambda name: _read_node(name, command), names))


def _read_node(name: str, command: Sequence[str]) -> JobNode:
    """Ask one node.

    Each has an answer of its own: long lines of several tasks of one step come mixed (seen with
    60 kB and Slurm 22.05).
    """
    try:
        asked = task_command(name, command, {})
    except ValueError as error:
        raise ProblemError(_no_answer(f"The node {visible_line(name)}", str(error))) from error
    output = _asked(*asked, who=name)
    lines = [line for line in output.splitlines() if line.startswith(ANSWER)]
    try:
        (line,) = lines
        node = JobNode.model_validate_json(line.removeprefix(ANSWER))
    except ValueError as error:
        raise ProblemError(_no_answer(name, output.decode(errors="replace"))) from error
    if node.name != name:
        raise ProblemError(_no_answer(name, f"{node.name} answered."))
    return node


def _asked(*command: str, who: str = "") -> bytes:
    try:
        answer = ask_child(command, _LIMIT_S)
    except OSError as error:
        raise ProblemError(_no_answer(command[0], str(error))) from error
    if answer.end is not ChildEnd.BY_ITSELF or answer.exit_code != 0:
        raise ProblemError(_no_answer(who or command[0], answer.log))
    return answer.output


def _no_answer(who: str, detail: str) -> Problem:
    return Problem(
        code="nodes_not_known",
        message=f"{who} did not answer what the nodes of this job have.",
        hint="See that gpupanel is at the same path on every node, and start the job again.",
        detail=last_lines(detail),
    )
