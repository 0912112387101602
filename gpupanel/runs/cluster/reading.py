"""Asks a cluster once, in a process of its own, within a time limit."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Event
from typing import Final

from pydantic import ValidationError

from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.cluster import ClusterAnswer, ClusterReading
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.runs.cluster.cluster_problems import cluster_address_wrong
from gpupanel.runs.cluster.messages import ListDevices
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.private_files import make_private_folder
from gpupanel.runs.questions.question import Question

DRIVER: Final = python_module_command("gpupanel.runs.cluster.driver")

_LIMIT_S: Final = 45.0
"""More than all that is waited for within: Ray's import and its connection, and silent nodes."""
_what_is_there: Final = Question[ListDevices, ClusterAnswer](
    code="cluster",
    process="the process that asks the cluster",
    work="asking the Ray cluster",
    command=DRIVER,
    answer=ClusterAnswer,
    limit_s=_LIMIT_S,
    slow_hint="ray status shows whether the cluster is well.",
    death_hint="Ray ends its programs when the head of the cluster goes away: ray status shows "
    "whether it is there.",
    field="cluster.address",
)


def read_cluster(
    address: str,
    cancelled: Event | None = None,
    limit_s: float = _LIMIT_S,
    folder: Path | None = None,
) -> ClusterReading:
    """What is in the cluster at an address.

    Takes some seconds: Ray is loaded, and starts a process on each node.

    Args:
        address: ``auto``, or ``host:port`` of its head.
        cancelled: Set, by any thread, when the answer is no longer needed.
        limit_s: How long it may take.
        folder: Where runs are kept, to see whether every node sees it, too.

    Raises:
        ProblemError: There is none, or it cannot be used.
    """
    try:
        command = ListDevices(address=address)
    except ValidationError as error:
        raise ProblemError(cluster_address_wrong(address)) from error
    if folder is None:
        return _asked(command, cancelled, limit_s)
    with _file_in(folder) as file:
        return _asked(command.model_copy(update={"file": file}), cancelled, limit_s)


@contextmanager
def _file_in(folder: Path) -> Iterator[str]:
    """A file that is there for a moment, by its path.

    Raises:
        ProblemError: The folder cannot be written.
    """
    try:
        make_private_folder(folder, parents=True)
        with NamedTemporaryFile(prefix=".node-check-", dir=folder) as file:
            yield str(Path(file.name).resolve())
    except OSError as error:
        raise ProblemError(disk_problem(error, folder)) from error


def _asked(command: ListDevices, cancelled: Event | None, limit_s: float) -> ClusterReading:
    answer = replace(_what_is_there, limit_s=limit_s).answered(command, cancelled=cancelled)
    if isinstance(answer, Problem):
        raise ProblemError(answer)
    if answer.reading is None:
        raise ProblemError(*([] if answer.problem is None else [answer.problem]))
    return answer.reading
