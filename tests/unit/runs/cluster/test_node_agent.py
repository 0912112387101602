"""What works on a node, here without Ray: a process that is asked and answers."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpupanel.runs.cluster.messages import AgentOrder, AgentReady, NodeSeen
from gpupanel.runs.cluster.node_agent import NodeAgent


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[NodeAgent]:
    (tmp_path / "profile.toml").touch()
    agent = NodeAgent()
    order = AgentOrder(root=str(tmp_path), network="lo", address="127.0.0.1", count=2)
    ready = AgentReady.model_validate_json(agent.make_ready(order.model_dump_json()))
    assert ready.problem is None
    assert len(ready.ports) == 2
    yield agent
    agent.end()


def polled(agent: NodeAgent) -> NodeSeen:
    """The next answer that has a sample."""
    until_s = time.monotonic() + 20.0
    while time.monotonic() < until_s:
        seen = NodeSeen.model_validate_json(agent.poll())
        if seen.sample is not None:
            return seen
        time.sleep(0.1)
    raise AssertionError("no sample was sent")


def test_that_a_node_says_which_devices_it_has_once_and_what_they_report_again(
    agent: NodeAgent,
) -> None:
    first, second = polled(agent), polled(agent)
    assert first.inventory is not None
    assert "cpu" in [device.key for device in first.inventory.devices]
    assert second.inventory is None
    assert second.sample is not None
    assert second.sample.reading("cpu") is not None
