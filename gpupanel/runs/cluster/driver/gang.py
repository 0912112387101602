"""Runs a gang on the nodes of the cluster that this process has joined, as its supervisor says."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from queue import Empty, Queue
from typing import Any, Final

import ray
from ray.util.placement_group import PlacementGroup, placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from gpupanel import __version__
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.runs.cluster.agent_answers import (
    UNREADABLE,
    UnreadableAnswerError,
    read_ready,
    read_seen,
    read_started,
)
from gpupanel.runs.cluster.driver.head_watch import HeadWatch
from gpupanel.runs.cluster.driver.nodes import listed_nodes, node_names, why_lost, why_not
from gpupanel.runs.cluster.driver.reservation import Bundle, bundles_for, waiting_for
from gpupanel.runs.cluster.messages import (
    AgentCommand,
    AgentReady,
    DriverCommand,
    DriverMessage,
    EndGang,
    ForwardRequest,
    HeadSilent,
    NodeLost,
    ProcessStart,
    Ready,
    ReadyPlace,
    ReserveGang,
    SignalGang,
    Started,
    StartGang,
    Waiting,
)
from gpupanel.runs.cluster.node_agent import NodeAgent

_POLL_S: Final = 0.25
_READY_S: Final = 60.0
"""How long a node may take to start an agent, and to end what a run has left there."""
_START_S: Final = 60.0
_SILENT_S: Final = 8.0
"""A node that does not answer for so long counts as lost: Ray itself waits for half a minute."""
_END_S: Final = 15.0
_WAITING_S: Final = 5.0
_PATIENT_S: Final = 1.5


class _EndRequested(Exception):  # noqa: N818 - no failure
    """The supervisor is gone, or ordered the end."""


@dataclass
class _Agent:
    """An agent on a node, and the call that it has not answered yet."""

    node: str
    handle: Any
    places: tuple[int, ...]
    asked: Any = None
    asked_s: float = 0.0
    is_lost: bool = False


@dataclass
class GangDriver:
    """Reserves, starts, polls and ends; every wait is short, so that orders are read soon.

    Attributes:
        head: The address of the cluster's head.
        wanted: What to run.
        orders: Of the supervisor; ``None``: it is gone.
        send: Sends the supervisor a message.
    """

    head: str
    wanted: ReserveGang
    orders: "Queue[DriverCommand | None]"
    send: Callable[[DriverMessage], None]
    _agents: list[_Agent] = field(default_factory=list)

    def run(self) -> None:
        """Run the gang until the supervisor orders the end, or is gone.

        Raises:
            ProblemError: The gang cannot be started.
        """
        try:
            bundles = self._reserve()
            self.send(Ready(places=self._make_ready(bundles)))
            self._start(self._next(StartGang).environments)
            head = HeadWatch(self.head)
            is_reported = False
            while True:
                self._poll()
                self._carry_out(_POLL_S)
                if head.is_gone and not is_reported:
                    is_reported = True
                    self.send(HeadSilent(address=self.head))
        except _EndRequested:
            self._end()

    def _reserve(self) -> Sequence[Bundle]:
        """Wait for the places, and start an agent on each node."""
        while True:
            bundles = bundles_for(self.wanted.places, _nodes_by_name())
            group = placement_group(
                [bundle.resources for bundle in bundles],
                # One part a node: what is reserved for this run is nobody else's meanwhile.
                strategy="STRICT_SPREAD",
                bundle_label_selector=[{"ray.io/node-id": bundle.node_id} for bundle in bundles],
            )
            if self._wait_for(group, bundles):
                break
            remove_placement_group(group)
        remote = ray.remote(NodeAgent)
        for index, bundle in enumerate(bundles):
            handle = remote.options(
                num_cpus=bundle.resources["CPU"],
                num_gpus=bundle.resources.get("GPU", 0),
                scheduling_strategy=PlacementGroupSchedulingStrategy(
                    group, placement_group_bundle_index=index
                ),
            ).remote()
            self._agents.append(_Agent(bundle.node, handle, bundle.places))
        return bundles

    def _wait_for(self, group: PlacementGroup, bundles: Sequence[Bundle]) -> bool:
        """Whether it was reserved; not where a node was lost: one that is back has another id.

        Ray itself would wait for the old one for ever.
        """
        # What is free is reserved at once; a wait is reported only after a while.
        reported_s = time.monotonic() - _WAITING_S + _PATIENT_S
        while not group.wait(timeout_seconds=_POLL_S):
            self._carry_out(0.0)
            if time.monotonic() - reported_s >= _WAITING_S:
                reported_s = time.monotonic()
                there = {node["NodeID"] for node in listed_nodes() if node["Alive"]}
                if any(bundle.node_id not in there for bundle in bundles):
                    return False
                self.send(Waiting(reason=waiting_for(bundles)))
        return True

    def _make_ready(self, bundles: Sequence[Bundle]) -> tuple[ReadyPlace, ...]:
        orders = [
            AgentCommand(
                root=self.wanted.root,
                network=self.wanted.cluster.network,
                address=bundle.address,
                count=len(bundle.places),
                gpus=bundle.gpus,
            )
            for bundle in bundles
        ]
        asked = [
            agent.handle.make_ready.remote(order.model_dump_json())
            for agent, order in zip(self._agents, orders, strict=True)
        ]
        found: dict[int, ReadyPlace] = {}
        for bundle, text in zip(bundles, self._answers(asked, _READY_S), strict=True):
            try:
                ready = read_ready(text, len(bundle.places))
            except UnreadableAnswerError as error:
                raise ProblemError(_not_ready(bundle.node, UNREADABLE)) from error
            _check(bundle, ready)
            for place, port in zip(bundle.places, ready.ports, strict=True):
                found[place] = ReadyPlace(
                    address=ready.address, interface=ready.interface, port=port
                )
        return tuple(found[place] for place in sorted(found))

    def _start(self, environments: Sequence[Mapping[str, str]]) -> None:
        asked = []
        for agent in self._agents:
            starts = tuple(
                ProcessStart(place=place, environment=dict(environments[place]))
                for place in agent.places
            )
            order = AgentCommand(root=self.wanted.root, starts=starts)
            asked.append(agent.handle.start.remote(order.model_dump_json()))
        pids: dict[int, int] = {}
        for agent, text in zip(self._agents, self._answers(asked, _START_S), strict=True):
            try:
                pids |= read_started(text, agent.places)
            except UnreadableAnswerError as error:
                raise ProblemError(_not_ready(agent.node, UNREADABLE)) from error
        self.send(Started(pids=tuple(pids[place] for place in sorted(pids))))

    def _answers(self, asked: Sequence[Any], limit_s: float) -> list[str]:
        """What each agent answers; orders are carried out meanwhile."""
        until_s, waited = time.monotonic() + limit_s, list(asked)
        while waited and time.monotonic() < until_s:
            _, waited = ray.wait(waited, num_returns=len(waited), timeout=_POLL_S)
            self._carry_out(0.0)
        answers = []
        for agent, reference in zip(self._agents, asked, strict=True):
            try:
                answers.append(str(ray.get(reference, timeout=0)))
            except ray.exceptions.GetTimeoutError as error:
                raise ProblemError(
                    _not_ready(agent.node, f"no answer in {limit_s:.0f} s")
                ) from error
            except ray.exceptions.RayError as error:
                raise ProblemError(_not_ready(agent.node, why_not(error))) from error
        return answers

    def _poll(self) -> None:
        now_s = time.monotonic()
        for agent in self._agents:
            if agent.asked is None and not agent.is_lost:
                agent.asked, agent.asked_s = agent.handle.poll.remote(), now_s
        asked = [agent.asked for agent in self._agents if agent.asked is not None]
        if asked:
            ray.wait(asked, num_returns=len(asked), timeout=_POLL_S)
        for agent in self._agents:
            if agent.asked is not None:
                self._read_answer(agent)

    def _read_answer(self, agent: _Agent) -> None:
        try:
            seen = read_seen(ray.get(agent.asked, timeout=0), agent.places)
        except ray.exceptions.GetTimeoutError:
            if time.monotonic() - agent.asked_s < _SILENT_S:
                return
            self._lose(agent, f"it has not answered for {_SILENT_S:.0f} s")
            return
        except ray.exceptions.RayError as error:
            self._lose(agent, why_lost(error))
            return
        except UnreadableAnswerError:
            self._lose(agent, UNREADABLE)
            agent.handle.end.remote()
            return
        agent.asked = None
        if seen.is_alone:
            # Ray itself would report that after half a minute.
            self._lose(agent, "its raylet has ended")
            agent.handle.end.remote()
            return
        self.send(seen.model_copy(update={"node": agent.node}))

    def _lose(self, agent: _Agent, reason: str) -> None:
        agent.is_lost, agent.asked = True, None
        self.send(NodeLost(node=agent.node, reason=reason))

    def _next(self, wanted: type[StartGang]) -> StartGang:
        while True:
            order = self._order(None)
            if isinstance(order, wanted):
                return order

    def _carry_out(self, wait_s: float) -> None:
        """Carry out the orders that are there; wait so long for the first one."""
        order = self._order(wait_s)
        while order is not None:
            if isinstance(order, SignalGang):
                for agent in self._agents_left():
                    agent.handle.signal.remote(order.number)
            elif isinstance(order, ForwardRequest):
                for agent in self._agents_left():
                    agent.handle.show_request.remote(order.request.value)
            order = self._order(0.0)

    def _order(self, wait_s: float | None) -> "DriverCommand | None":
        """The next order; ``None``: there is none yet.

        Raises:
            _EndRequested: It is to end, or nobody is there to give orders.
        """
        try:
            order = self.orders.get(block=wait_s != 0.0, timeout=wait_s)
        except Empty:
            return None
        if order is None or isinstance(order, EndGang):
            raise _EndRequested
        return order

    def _agents_left(self) -> list[_Agent]:
        return [agent for agent in self._agents if not agent.is_lost]

    def _end(self) -> None:
        asked = [agent.handle.end.remote() for agent in self._agents_left()]
        if asked:
            ray.wait(asked, num_returns=len(asked), timeout=_END_S)


def _nodes_by_name() -> dict[str, Mapping[str, Any]]:
    nodes = [node for node in listed_nodes() if node["Alive"]]
    names = node_names(nodes)
    return {names[node["NodeID"]]: node for node in nodes}


def _check(bundle: Bundle, ready: AgentReady) -> None:
    if ready.problem is not None:
        raise ProblemError(ready.problem)
    if ready.gpupanel != __version__:
        raise ProblemError(
            Problem(
                code="cluster_gpupanel_differs",
                field="cluster.address",
                message=f"{bundle.node} has gpupanel {ready.gpupanel}, and {__version__} is here.",
                hint="Install the same version on every node.",
            )
        )


def _not_ready(node: str, why: str) -> Problem:
    return Problem(
        code="node_not_ready",
        field="cluster.address",
        message=f"The node {node} cannot start its part of the run: {why}.",
        hint="gpupanel devices --cluster shows which nodes answer; gpupanel has to be installed on "
        "each of them, where Ray's Python finds it.",
    )
