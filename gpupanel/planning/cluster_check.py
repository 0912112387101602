"""What keeps the nodes of a cluster from training together, as far as they can say it."""

from collections.abc import Iterator
from ipaddress import ip_address
from typing import Final

from gpupanel.domain.cluster import ClusterNode, ClusterReading, NodeReport
from gpupanel.domain.problem import Problem, Severity

MOST_SKEW_S: Final = 5.0
"""Between clocks: events of processes on several nodes stand in one file with their times."""


def cluster_problems(reading: ClusterReading) -> tuple[Problem, ...]:
    """Everything that is wrong with the nodes, in their order."""
    here = next((report for node, report in _reports(reading) if node.id == reading.here), None)
    return (
        *(problem for node in reading.nodes for problem in _of_state(node)),
        *(problem for node, said in _reports(reading) for problem in _of_node(node, said, here)),
    )


def is_public(address: str) -> bool:
    """Whether an address is one of the internet."""
    try:
        return ip_address(address).is_global
    except ValueError:
        return False  # a name: nothing is known of it


def _reports(reading: ClusterReading) -> list[tuple[ClusterNode, NodeReport]]:
    return [(node, node.report) for node in reading.nodes if node.report is not None]


def _of_state(node: ClusterNode) -> Iterator[Problem]:
    if node.report is None:
        yield Problem(
            code="node_not_answering",
            severity=Severity.WARNING,
            message=f"The node {node.name} ({node.address}) does not take part: "
            f"{node.reason or 'it does not answer'}.",
            hint="Start its raylet again, or see in its log why it is busy.",
        )


def _of_node(node: ClusterNode, said: NodeReport, here: NodeReport | None) -> Iterator[Problem]:
    if said.tensorflow is None:
        yield _problem("node_without_tensorflow", f"{node.name} has no TensorFlow.", _INSTALL)
    for what in ("gpupanel", "tensorflow", "python"):
        own = None if here is None else getattr(here, what)
        other = getattr(said, what)
        if own is not None and other is not None and own != other:
            message = f"{node.name} has {_NAMES[what]} {other}, and {own} is here."
            yield _problem("node_versions_differ", message, _INSTALL)
    if node.gpus and said.inventory.driver is None:
        message = f"Ray gives away {node.gpus:g} GPUs of {node.name}, where no driver answers."
        yield _problem("node_without_driver", message, "Run gpupanel doctor on that node.")
    if said.sees_folder is False:
        yield _problem(
            "node_without_folder",
            f"{node.name} does not see the folder of runs of this machine, or may not write there.",
            "Keep runs in a folder that every node has under the same path: set GPUPANEL_RUNS_DIR.",
        )
    if node.clock_skew_s is not None and abs(node.clock_skew_s) > MOST_SKEW_S:
        ahead = "ahead of" if node.clock_skew_s > 0 else "behind"
        yield _problem(
            "node_clock_differs",
            f"The clock of {node.name} is {abs(node.clock_skew_s):,.0f} s {ahead} this machine's.",
            "Set the clocks by the network (timedatectl set-ntp true) on every node.",
            Severity.WARNING,
        )
    if is_public(node.address):
        yield _problem(
            "cluster_network_public",
            f"{node.name} is known by {node.address}, an address of the internet: the ports of a "
            "run and of Ray itself are open there, without authentication.",
            "Join the nodes by a network of their own (ray start --node-ip-address), or name one "
            "as cluster.network.",
            Severity.WARNING,
        )


_INSTALL: Final = (
    "Install the same versions on every node, in the Python that Ray was started with."
)
_NAMES: Final = {"gpupanel": "gpupanel", "tensorflow": "TensorFlow", "python": "Python"}


def _problem(code: str, message: str, hint: str, severity: Severity = Severity.ERROR) -> Problem:
    return Problem(code=code, severity=severity, field="cluster", message=message, hint=hint)
