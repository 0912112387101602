"""The nodes of the cluster that this process has joined."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import ray
from pydantic import ValidationError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from gpupanel.domain.cluster import ClusterNode, ClusterReading, NodeReport, NodeState
from gpupanel.runs.cluster.node_agent import NodeAgent
from gpupanel.runs.cluster.node_names import NodeIdentity, names_of, returned

_CLOCK_S: Final = 5.0
ANSWER_S: Final = 20.0
"""How long a node may take to start an agent and to ask its driver, before it counts as silent."""
OTHER_VERSION: Final = "its gpupanel is of another version"
_TAKEN_OUT: Final = (1, 3, 4)
"""Ray's reasons of a node's end that were meant (``NodeDeathInfo`` in ``gcs.proto``): ended in
order, or taken out by the autoscaler."""


def read_nodes(head: str, file: str = "") -> ClusterReading:
    """Every node, with what it says of itself where it answers within :data:`ANSWER_S`.

    Args:
        head: The address of the cluster's head.
        file: One that every node should see; empty: none.
    """
    nodes = shown_nodes()
    alive = [node["NodeID"] for node in nodes if node["Alive"]]
    return reading_of(head, nodes, _answers(alive, file))


@dataclass(frozen=True, slots=True)
class NodeAnswer:
    """What a node says, or why it says nothing.

    Attributes:
        report: ``None`` as well while it has not been asked long enough.
        skew_s: How far its clock is ahead; ``None``: not known.
    """

    report: NodeReport | None = None
    skew_s: float | None = None
    state: NodeState = NodeState.OK
    reason: str = ""


def shown_nodes(ended: Mapping[str, str] | None = None) -> list[Mapping[str, Any]]:
    """The nodes that take part, and those that were lost and have not come back.

    Args:
        ended: Why nodes are lost of which Ray does not know it yet, by their ids.
    """
    known = ended or {}
    nodes = [
        {**node, "Alive": False, "DeathReasonMessage": known[node["NodeID"]]}
        if node["NodeID"] in known
        else node
        for node in listed_nodes()
    ]
    alive = [node for node in nodes if node["Alive"]]
    lost = [
        node for node in nodes if not node["Alive"] and node.get("DeathReason") not in _TAKEN_OUT
    ]
    back = returned(map(_identity, lost), map(_identity, alive))
    return alive + [node for node in lost if node["NodeID"] not in back]


def reading_of(
    head: str, nodes: Sequence[Mapping[str, Any]], answers: Mapping[str, NodeAnswer]
) -> ClusterReading:
    """The cluster as it is now.

    Args:
        head: The address of its head.
        nodes: As :func:`shown_nodes` gives them.
        answers: Of those that take part, by their ids.
    """
    # Those that take part first: they are called so wherever a run names them.
    names = node_names([node for node in nodes if node["Alive"]])
    names |= node_names([node for node in nodes if not node["Alive"]])
    free = free_by_node()
    found = [
        _node(node, names[node["NodeID"]], free, answers.get(node["NodeID"], NodeAnswer()))
        for node in nodes
    ]
    order = list(NodeState)
    found.sort(key=lambda node: (order.index(node.state), node.name))
    context = ray.get_runtime_context()
    return ClusterReading(
        address=head, ray=ray.__version__, here=context.get_node_id(), nodes=tuple(found)
    )


def listed_nodes() -> list[Mapping[str, Any]]:
    """The nodes as Ray lists them, those that were lost too."""
    return list(ray.nodes())


def node_names(nodes: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What each is called, by its id."""
    return names_of(map(_identity, nodes))


def _identity(node: Mapping[str, Any]) -> NodeIdentity:
    return (
        node["NodeID"],
        str(node.get("NodeName") or ""),
        str(node.get("NodeManagerAddress") or ""),
        str(node.get("NodeManagerHostname") or node["NodeID"]),
    )


def on_node(node_id: str) -> NodeAffinitySchedulingStrategy:
    """Have Ray start something there and nowhere else."""
    return NodeAffinitySchedulingStrategy(node_id, soft=False)


def free_by_node() -> Mapping[str, Mapping[str, float]]:
    """What nobody has reserved, by the id of the node; empty where Ray does not say it."""
    try:
        from ray._private.state import available_resources_per_node
    except ImportError:
        return {}  # an inner name of Ray's: without it, it is not known
    found: Mapping[str, Mapping[str, float]] = available_resources_per_node()
    return found


def _answers(node_ids: Sequence[str], file: str) -> dict[str, NodeAnswer]:
    """What each node says and how far its clock is ahead, or why it says nothing."""
    # Nothing is reserved: it starts on a node that is busy with others' work, too.
    remote = ray.remote(NodeAgent)
    agents = [
        remote.options(num_cpus=0, scheduling_strategy=on_node(each)).remote() for each in node_ids
    ]
    asked = [agent.report.remote(file) for agent in agents]
    until_s = time.monotonic() + ANSWER_S
    answers: dict[str, NodeAnswer] = {}
    for node_id, agent, reference in zip(node_ids, agents, asked, strict=True):
        answer = _answer(reference, max(0.0, until_s - time.monotonic()))
        answers[node_id] = answer if answer.report is None else _with_skew(answer.report, agent)
    for agent in agents:
        ray.kill(agent)
    return answers


def _with_skew(report: NodeReport, agent: Any) -> NodeAnswer:  # noqa: ANN401 - Ray's
    """The report, with how far the node's clock is ahead: as it was amid a call."""
    asked_s = time.time()
    try:
        clock_s = float(ray.get(agent.clock.remote(), timeout=_CLOCK_S))
    except ray.exceptions.RayError as error:
        return _silent(why_not(error))
    return NodeAnswer(report, clock_s - (asked_s + time.time()) / 2.0)


def _silent(reason: str) -> NodeAnswer:
    return NodeAnswer(state=NodeState.SILENT, reason=reason)


def _answer(reference: ray.ObjectRef, timeout_s: float) -> NodeAnswer:
    try:
        return NodeAnswer(NodeReport.model_validate_json(ray.get(reference, timeout=timeout_s)))
    except ray.exceptions.GetTimeoutError:
        return _silent(f"no answer within {ANSWER_S:.0f} s")
    except ValidationError:
        return _silent(OTHER_VERSION)
    except ray.exceptions.RayError as error:
        return _silent(why_not(error))


def why_not(error: BaseException) -> str:
    """Why something that Ray was to do on a node was not done, in one sentence."""
    text = str(error)
    if "No module named 'gpupanel" in text:
        return "gpupanel is not installed there"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else type(error).__name__


def why_lost(error: BaseException) -> str:
    """Why an agent that looked after a run answers no more, in one sentence."""
    text = str(error)
    if "node was terminated" in text or "node has died" in text:
        return "its raylet has ended, or cannot be reached"
    if has_died(error):
        return "the process that looked after the run there has ended"
    return why_not(error)


def has_died(error: BaseException) -> bool:
    """Whether the process of an agent has ended, while its node is there."""
    return "worker process has died" in str(error)


def _node(
    node: Mapping[str, Any],
    name: str,
    free: Mapping[str, Mapping[str, float]],
    answer: NodeAnswer,
) -> ClusterNode:
    node_id = node["NodeID"]
    state, reason = answer.state, answer.reason
    if not node["Alive"]:
        state = NodeState.LOST
        reason = str(node.get("DeathReasonMessage") or "it left the cluster")
    resources, left = node.get("Resources") or {}, free.get(node_id)
    return ClusterNode(
        id=node_id,
        name=name,
        address=str(node.get("NodeManagerAddress") or ""),
        state=state,
        reason=reason,
        cpus=float(resources.get("CPU", 0.0)),
        gpus=float(resources.get("GPU", 0.0)),
        cpus_free=None if left is None else float(left.get("CPU", 0.0)),
        gpus_free=None if left is None else float(left.get("GPU", 0.0)),
        clock_skew_s=None if answer.skew_s is None else round(answer.skew_s, 3),
        report=answer.report,
    )
