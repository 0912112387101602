"""The node of CUDA's memory is made while setuid programs still can."""

import os
from pathlib import Path

import pytest

from gpupanel.devices.memory_node import make_memory_node


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a stand-in for nvidia-modprobe notes what it is asked."""
    calls, tool = tmp_path / "calls", tmp_path / "bin" / "nvidia-modprobe"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\necho "$@" >> {calls}\nexit 1\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    (tmp_path / "dev").mkdir()
    return calls


def test_that_a_missing_node_is_made_where_a_driver_is(tmp_path: Path, calls: Path) -> None:
    (tmp_path / "dev/nvidiactl").touch()
    make_memory_node(tmp_path)
    assert calls.read_text() == "-u -c=0\n"


@pytest.mark.parametrize("nodes", [(), ("nvidiactl", "nvidia-uvm")], ids=["no driver", "there"])
def test_that_nobody_is_asked_where_there_is_nothing_to_make(
    tmp_path: Path, calls: Path, nodes: tuple[str, ...]
) -> None:
    for node in nodes:
        (tmp_path / "dev" / node).touch()
    make_memory_node(tmp_path)
    assert not calls.exists()


def test_that_a_tool_that_is_missing_or_broken_stops_nothing(
    tmp_path: Path, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dev/nvidiactl").touch()
    (tmp_path / "bin/nvidia-modprobe").write_text("no program")
    make_memory_node(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    make_memory_node(tmp_path)
    assert not calls.exists()
