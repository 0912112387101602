"""Says again and again what is in the cluster that this process has joined."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, Queue
from typing import Any, Final

import ray
from pydantic import ValidationError

from gpupanel.domain.cluster import NodeReport, NodeState
from gpupanel.runs.cluster.cluster_problems import cluster_not_found
from gpupanel.runs.cluster.driver.head_watch import HeadWatch
from gpupanel.runs.cluster.driver.nodes import (
    ANSWER_S,
    OTHER_VERSION,
    NodeAnswer,
    has_died,
    on_node,
    reading_of,
    shown_nodes,
    why_lost,
    why_not,
)
from gpupanel.runs.cluster.messages import (
    ClusterSeen,
    DriverCommand,
    DriverMessage,
    NodeSeen,
    Refused,
    WatchDevices,
)
from gpupanel.runs.cluster.node_agent import NodeAgent

_ROUND_S: Final = 1.0
"""So long a round waits for nodes that answer late; what the others say is not held up longer."""
_SILENT_S: Final = 8.0
"""A node that does not answer for so long counts as silent: Ray itself waits for half a minute."""
_AGAIN_S: Final = 15.0
"""Seconds before the next agent is started on a node where one failed."""
_GONE: Final = "its raylet has ended"
_ENDED: Final = "the process of gpupanel there has ended"
_FRESH_S: Final = 3.0
"""More than from one round to the next: older readings have their age."""


@dataclass
class _Watched:
    """A node, what it has said, and the call that it has not answered yet."""

    agent: Any
    asked: Any = None
    asked_s: float = 0.0
    report: NodeReport | None = None
    is_silent: bool = False
    state: NodeState = NodeState.OK
    reason: str = ""
    again_s: float = 0.0

    @property
    def answer(self) -> NodeAnswer:
        report = None if self.is_silent or self.state is not NodeState.OK else self.report
        return NodeAnswer(report and self._aged(report), None, self.state, self.reason)

    def _aged(self, report: NodeReport) -> NodeReport:
        age_s = 0.0 if self.asked is None else time.monotonic() - self.asked_s
        if age_s < _FRESH_S:
            return report
        sample = report.sample
        readings = tuple(each.model_copy(update={"age_s": age_s}) for each in sample.readings)
        sample = sample.model_copy(update={"readings": readings})
        return report.model_copy(update={"sample": sample})


class NodeWatch:
    """Keeps an agent on each node; every wait is short, so that its end is heard.

    Args:
        head: The address of the cluster's head.
        command: How often to report, and which file every node should see.
        commands: ``None`` in it ends the watch.
        send: Sends a message to the supervisor.
    """

    def __init__(
        self,
        head: str,
        command: WatchDevices,
        commands: "Queue[DriverCommand | None]",
        send: Callable[[DriverMessage], None],
    ) -> None:
        self._head, self._command, self._commands, self._send = head, command, commands, send
        self._nodes: dict[str, _Watched] = {}
        self._ended: dict[str, str] = {}

    def run(self) -> None:
        """Report until the commands end, or the head is gone."""
        HeadWatch(self._head, self._end_without_head)
        while True:
            begun_s = time.monotonic()
            self._send(ClusterSeen(reading=self._round()))
            if self._has_ended(self._command.interval_s - (time.monotonic() - begun_s)):
                return

    def _round(self) -> Any:  # noqa: ANN401 - see reading_of
        nodes = shown_nodes(self._ended)
        alive = {node["NodeID"]: node for node in nodes if node["Alive"]}
        for node_id in [each for each in self._nodes if each not in alive]:
            self._kill(self._nodes.pop(node_id))
        for node_id in alive:
            self._ask(node_id)
        asked = [each.asked for each in self._nodes.values() if each.asked is not None]
        if asked:
            ray.wait(asked, num_returns=len(asked), timeout=_ROUND_S)
        for node_id, watched in self._nodes.items():
            if watched.asked is not None:
                self._take(node_id, watched)
        answers = {node_id: watched.answer for node_id, watched in self._nodes.items()}
        return reading_of(self._head, nodes, answers)

    def _ask(self, node_id: str) -> None:
        watched = self._nodes.get(node_id)
        now_s = time.monotonic()
        if watched is None or (watched.agent is None and now_s >= watched.again_s):
            # Nothing is reserved: it starts on a node that is busy with others' work, too.
            options = {"num_cpus": 0, "scheduling_strategy": on_node(node_id)}
            agent = ray.remote(NodeAgent).options(**options).remote()
            asked = agent.watch.remote(self._command.file)
            before = watched or _Watched(agent)
            before.agent, before.asked, before.asked_s = agent, asked, now_s
            self._nodes[node_id] = before
        elif watched.agent is not None and watched.asked is None:
            watched.asked, watched.asked_s = watched.agent.poll.remote(), now_s

    def _take(self, node_id: str, watched: _Watched) -> None:
        try:
            text = ray.get(watched.asked, timeout=0)
        except ray.exceptions.GetTimeoutError:
            limit_s = ANSWER_S if watched.report is None else _SILENT_S
            if time.monotonic() - watched.asked_s >= limit_s:
                watched.is_silent, watched.state = True, NodeState.SILENT
                watched.reason = f"it has not answered for {limit_s:.0f} s"
            return
        except ray.exceptions.RayError as error:
            if watched.report is None:
                reason = why_not(error)
            else:
                reason = _ENDED if has_died(error) else why_lost(error)
            self._give_up(watched, reason)
            return
        watched.asked = None
        try:
            self._see(node_id, watched, text)
        except ValidationError:
            self._give_up(watched, OTHER_VERSION)

    def _see(self, node_id: str, watched: _Watched, text: str) -> None:
        if watched.report is None:
            watched.report = NodeReport.model_validate_json(text)
        else:
            seen = NodeSeen.model_validate_json(text)
            if seen.is_alone:
                # Ray itself says so after half a minute.
                self._ended[node_id] = _GONE
                self._give_up(watched, _GONE, NodeState.LOST)
                return
            if seen.inventory is not None and seen.sample is not None:
                update = {"inventory": seen.inventory, "sample": seen.sample}
                watched.report = watched.report.model_copy(update=update)
        watched.is_silent, watched.state, watched.reason = False, NodeState.OK, ""

    def _give_up(self, watched: _Watched, reason: str, state: NodeState = NodeState.SILENT) -> None:
        self._kill(watched)
        watched.agent = watched.asked = watched.report = None
        watched.state, watched.reason = state, reason
        watched.again_s = time.monotonic() + _AGAIN_S

    @staticmethod
    def _kill(watched: _Watched) -> None:
        if watched.agent is not None:
            ray.kill(watched.agent)

    def _has_ended(self, wait_s: float) -> bool:
        try:
            return self._commands.get(timeout=max(0.05, wait_s)) is None
        except Empty:
            return False

    def _end_without_head(self) -> None:
        """Ray's library would wait for a minute, and say nothing."""
        self._send(Refused(problem=cluster_not_found(self._head, "it answers no more")))
        os._exit(0)
