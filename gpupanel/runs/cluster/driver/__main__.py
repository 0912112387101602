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
    DRIVER_ORDER,
    DevicesWanted,
    DriverOrder,
    GangWanted,
    Refused,
    WatchWanted,
)


def main() -> int:
    """Do it; gives the exit status."""
    output = _own_output()
    # Ray has every process that it starts for this one look for modules where this one works.
    os.chdir("/")  # noqa: TID251 - the whole process, before it does anything else

    turn = threading.Lock()

    def say(word: Value) -> None:
        with turn:
            output.write(word.model_dump_json().encode() + b"\n")
            output.flush()

    wanted = DRIVER_ORDER.validate_json(sys.stdin.buffer.readline())
    if isinstance(wanted, DevicesWanted):
        say(_devices(wanted))
    elif isinstance(wanted, GangWanted | WatchWanted):
        orders: Queue[DriverOrder | None] = Queue()
        threading.Thread(target=_read, args=(orders,), name="orders", daemon=True).start()
        try:
            _work(wanted, orders, say)
        except ProblemError as error:
            say(Refused(problem=error.problems[0]))
    return 0


def _work(
    wanted: GangWanted | WatchWanted,
    orders: "Queue[DriverOrder | None]",
    say: Callable[[Value], None],
) -> None:
    if isinstance(wanted, WatchWanted):
        head = connect(wanted.address)

        from gpupanel.runs.cluster.driver.node_watch import NodeWatch

        NodeWatch(head, wanted, orders, say).run()
    else:
        head = connect(wanted.cluster.address)

        from gpupanel.runs.cluster.driver.gang import GangDriver

        GangDriver(head, wanted, orders, say).run()


def _own_output() -> IO[bytes]:
    """Standard output for answers alone: what libraries print there goes to standard error."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return output


def _read(orders: "Queue[DriverOrder | None]") -> None:
    for line in sys.stdin.buffer:
        orders.put(DRIVER_ORDER.validate_json(line))
    orders.put(None)


def _devices(wanted: DevicesWanted) -> ClusterAnswer:
    try:
        head = connect(wanted.address)
    except ProblemError as error:
        return ClusterAnswer(problem=error.problems[0])

    from gpupanel.runs.cluster.driver.nodes import read_nodes

    return ClusterAnswer(reading=read_nodes(head, wanted.file))


if __name__ == "__main__":
    status = 1
    with suppress(BrokenPipeError):  # nobody reads any more
        status = main()
    # All is said. Ray would wait for its cluster to hear of it; the kernel says it as well.
    sys.stderr.flush()
    os._exit(status)
