"""What a gang reserves in a cluster: on each node what its processes there need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.runs.cluster.driver.nodes import free_by_node
from gpupanel.runs.cluster.messages import PlacementRequest


@dataclass(frozen=True, slots=True)
class Bundle:
    """The part of one node.

    Attributes:
        node: Its name; ``node_id`` is Ray's.
        address: By which the cluster knows it.
        places: Of the processes that run there, in the gang.
        gpus: Keys of the GPUs that they use.
        resources: A CPU for each of them, and so many GPUs.
    """

    node: str
    node_id: str
    address: str
    places: tuple[int, ...]
    gpus: tuple[str, ...]
    resources: dict[str, float]


def bundles_for(
    places: Sequence[PlacementRequest], nodes: Mapping[str, Mapping[str, Any]]
) -> tuple[Bundle, ...]:
    """A part for each node that the places name.

    Args:
        places: Of the gang.
        nodes: Those that take part, by their names, as Ray lists them.

    Raises:
        ProblemError: A node is not there, or can never give so much.
    """
    bundles = []
    for name in dict.fromkeys(place.node for place in places):
        node = nodes.get(name)
        if node is None:
            raise ProblemError(_absent(name, nodes))
        here = tuple(number for number, place in enumerate(places) if place.node == name)
        gpus = tuple(dict.fromkeys(key for number in here for key in places[number].gpus))
        resources = {"CPU": float(len(here))} | ({"GPU": float(len(gpus))} if gpus else {})
        for what, count in resources.items():
            total = float((node.get("Resources") or {}).get(what, 0.0))
            if count > total:
                raise ProblemError(_too_small(name, what, count, total))
        bundles.append(
            Bundle(name, node["NodeID"], str(node["NodeManagerAddress"]), here, gpus, resources)
        )
    return tuple(bundles)


def waiting_for(bundles: Sequence[Bundle]) -> str:
    """What is not free yet, in words."""
    free = free_by_node()
    lacking = []
    for bundle in bundles:
        left = free.get(bundle.node_id, {})
        for what, count in bundle.resources.items():
            if left.get(what, 0.0) < count:
                lacking.append(
                    f"{count:g} {what}{'s' if count > 1 else ''} of {bundle.node}, which has "
                    f"{left.get(what, 0.0):g} free"
                )
    return f"it needs {' and '.join(lacking)}" if lacking else "the cluster is reserving it"


def _absent(name: str, nodes: Mapping[str, Any]) -> Problem:
    return Problem(
        code="node_not_in_cluster",
        field="cluster.address",
        message=f"{name} is not a node of the cluster now; its nodes are "
        f"{', '.join(sorted(nodes)) or 'none'}.",
        hint="Start the node again, or continue with this profile on the nodes that are there: "
        "gpupanel resume RUN --with PROFILE.",
    )


def _too_small(name: str, what: str, count: float, total: float) -> Problem:
    return Problem(
        code="cluster_too_small",
        field="strategy.workers",
        message=f"The run needs {count:g} {what}{'s' if count > 1 else ''} of {name}, and Ray has "
        f"{total:g} there.",
        hint="Use fewer workers, or start the node with more (ray start --num-cpus, --num-gpus).",
    )
