"""``python -m gpupanel.runs.cluster.driver``: does with a cluster what its first line says."""

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Queue
from typing import IO

from gpupanel.domain.cluster import ClusterAnswer
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.value import Value
from gpupanel.runs.cluster.driver.connecting import connect
from gpupanel.runs.cluster.messages import (
    DRIVER_COMMAND,
    DriverCommand,
    ListDevices,
    Refused,
    ReserveGang,
    WatchDevices,
)


def main() -> int:
    """Do it; gives the exit status."""
    output = _own_output()
    # Ray has every process that it starts for this one look for modules where this one works.
    os.chdir("/")  # noqa: TID251 - the whole process, before it does anything else

    turn = threading.Lock()

    def send(message: Value) -> None:
        with turn:
            output.write(message.model_dump_json().encode() + b"\n")
            output.flush()

    command = DRIVER_COMMAND.validate_json(sys.stdin.buffer.readline())
    if isinstance(command, ListDevices):
        send(_devices(command))
    elif isinstance(command, ReserveGang | WatchDevices):
        commands: Queue[DriverCommand | None] = Queue()
        threading.Thread(target=_read, args=(commands,), name="commands", daemon=True).start()
        try:
            _work(command, commands, send)
        except ProblemError as error:
            send(Refused(problem=error.problems[0]))
    return 0


def _work(
    command: ReserveGang | WatchDevices,
    commands: "Queue[DriverCommand | None]",
    send: Callable[[Value], None],
) -> None:
    if isinstance(command, WatchDevices):
        head = connect(command.address)

        from gpupanel.runs.cluster.driver.node_watch import NodeWatch

        NodeWatch(head, command, commands, send).run()
    else:
        head = connect(command.cluster.address)

        from gpupanel.runs.cluster.driver.gang import GangDriver

        GangDriver(head, command, commands, send).run()


def _own_output() -> IO[bytes]:
    """Standard output for answers alone: what libraries print there goes to standard error."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return output


def _read(commands: "Queue[DriverCommand | None]") -> None:
    for line in sys.stdin.buffer:
        commands.put(DRIVER_COMMAND.validate_json(line))
    commands.put(None)


def _devices(command: ListDevices) -> ClusterAnswer:
    try:
        head = connect(command.address)
    except ProblemError as error:
        return ClusterAnswer(problem=error.problems[0])

    from gpupanel.runs.cluster.driver.nodes import read_nodes

    return ClusterAnswer(reading=read_nodes(head, command.file))


if __name__ == "__main__":
    status = 1
    with suppress(BrokenPipeError):  # nobody reads any more
        status = main()
    # All is said. Ray would wait for its cluster to hear of it; the kernel says it as well.
    sys.stderr.flush()
    os._exit(status)
