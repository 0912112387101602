"""``python -m gpupanel.runs.cluster.driver``: does with a cluster what its first line says."""

import os
import sys
from typing import IO

from gpupanel.domain.cluster import ClusterAnswer
from gpupanel.domain.problem import ProblemError
from gpupanel.runs.cluster.driver.connecting import connect
from gpupanel.runs.cluster.messages import DevicesWanted


def main() -> int:
    """Do it; gives the exit status."""
    output = _own_output()
    # Ray has every process that it starts for this one look for modules where this one works.
    os.chdir("/")  # noqa: TID251 - the whole process, before it does anything else
    wanted = DevicesWanted.model_validate_json(sys.stdin.buffer.readline())
    output.write(_devices(wanted).model_dump_json().encode() + b"\n")
    output.flush()
    return 0


def _own_output() -> IO[bytes]:
    """Standard output for answers alone: what libraries print there goes to standard error."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return output


def _devices(wanted: DevicesWanted) -> ClusterAnswer:
    try:
        head = connect(wanted.address)
    except ProblemError as error:
        return ClusterAnswer(problem=error.problems[0])

    from gpupanel.runs.cluster.driver.nodes import read_nodes

    return ClusterAnswer(reading=read_nodes(head))


if __name__ == "__main__":
    status = main()
    # All is answered. Ray would wait for its cluster to hear of it; the kernel says it as well.
    sys.stderr.flush()
    os._exit(status)
