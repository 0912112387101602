"""Waiting for the end of processes."""

import os
import subprocess
import sys
import time

import pytest

from gpupanel.runs.processes import process_ends
from gpupanel.runs.processes.process_ends import wait_for_end


def _waited_s(pids: list[int], timeout_s: float) -> float:
    begun_s = time.monotonic()
    wait_for_end(pids, timeout_s)
    return time.monotonic() - begun_s


def test_that_the_end_of_one_of_several_processes_is_seen_at_once() -> None:
    command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE) as stays,
        subprocess.Popen(command, stdin=subprocess.PIPE) as ends,
    ):
        assert _waited_s([stays.pid, ends.pid], 0.05) >= 0.05
        ends.kill()
        assert _waited_s([stays.pid, ends.pid], 60.0) < 30.0
        stays.kill()


def test_that_it_waits_where_the_kernel_has_no_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(pid: int) -> int:
        raise OSError(38, f"no descriptor of {pid}")

    monkeypatch.setattr(process_ends.os, "pidfd_open", refused)
    assert 0.05 <= _waited_s([os.getpid()], 0.05) < 30.0
