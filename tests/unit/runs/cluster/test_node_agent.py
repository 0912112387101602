"""What works on a node, here without Ray: a process that is asked and answers."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpupanel.files.bounded_log import BoundedLog
from gpupanel.runs.cluster import node_agent
from gpupanel.runs.cluster.messages import AgentCommand, AgentReady, NodeSeen, ProcessStart
from gpupanel.runs.cluster.node_agent import NodeAgent


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[NodeAgent]:
    (tmp_path / "profile.toml").touch()
    agent = NodeAgent()
    order = AgentCommand(root=str(tmp_path), network="lo", address="127.0.0.1", count=2)
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


def test_that_the_log_of_a_process_on_a_node_is_bounded(
    tmp_path: Path, agent: NodeAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its supervisor, on another machine, could not give back what stands on this disk."""
    monkeypatch.setattr(node_agent, "BoundedLog", lambda path: BoundedLog(path, 2**16, 2**16))
    monkeypatch.setattr(
        node_agent, "python_module_command", lambda *_: (sys.executable, "-c", _TALKS)
    )
    start = ProcessStart(place=1, environment={})
    agent.start(AgentCommand(root=str(tmp_path), starts=(start,)).model_dump_json())
    exit_code = None
    while exit_code is None:
        (seen,) = NodeSeen.model_validate_json(agent.poll()).processes
        exit_code = seen.exit_code
        time.sleep(0.01)
    agent.end()
    log = (tmp_path / "trainer-1.log").read_text()
    assert "bytes of this log are left out here]" in log
    assert len(log) < 2**19
    assert log.endswith("the last word\n")


_TALKS = """
import sys, time
for _ in range(20):
    sys.stdout.write(("a" * 127 + "\\n") * 512)
    sys.stdout.flush()
    time.sleep(0.02)
print("the last word")
"""
