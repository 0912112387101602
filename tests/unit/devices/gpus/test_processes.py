"""Processes of a GPU: merged from NVML's lists, named by the host."""

import os
import signal
import subprocess
import sys
import threading
from types import SimpleNamespace

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpupanel.devices.gpus.processes import ProcessNames, is_pending, merged
from gpupanel.devices.nvml import GpuProcess
from gpupanel.domain.telemetry import DeviceProcess

ENTRIES = st.lists(
    st.builds(
        GpuProcess,
        pid=st.integers(min_value=1, max_value=6),
        memory_used_mib=st.none() | st.integers(min_value=0, max_value=50_000),
    ),
    max_size=6,
)


STARTED_S = 1_700_000_000.0


class Host:
    """psutil.Process with the names that a test gives."""

    def __init__(self) -> None:
        self.names = {7: "python"}
        self.asked: list[int] = []
        self.owner = os.getuid()
        self.is_denied = False

    def __call__(self, pid: int) -> "Host":
        self.asked.append(pid)
        if pid not in self.names:
            raise psutil.NoSuchProcess(pid)
        self.pid = pid
        return self

    def name(self) -> str:
        return self.names[self.pid]

    def create_time(self) -> float:
        return STARTED_S

    def username(self) -> str:
        self._may_deny()
        return "ada"

    def cmdline(self) -> list[str]:
        self._may_deny()
        return [self.names[self.pid], "train.py", "--epochs", "3"]

    def uids(self) -> SimpleNamespace:
        self._may_deny()
        return SimpleNamespace(real=self.owner)

    def _may_deny(self) -> None:
        if self.is_denied:
            raise psutil.AccessDenied(self.pid)


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    host = Host()
    monkeypatch.setattr(psutil, "Process", host)
    return host


def test_that_the_greatest_of_several_lists_holds_and_one_lists_entries_add_up() -> None:
    compute = [GpuProcess(7, 600), GpuProcess(7, 300), GpuProcess(9, None)]
    graphics = [GpuProcess(7, 850), GpuProcess(9, 40), GpuProcess(3, None)]

    assert merged((compute, graphics, [])) == (
        GpuProcess(3, None),
        GpuProcess(7, 900),
        GpuProcess(9, 40),
    )


@given(st.lists(ENTRIES, max_size=3))
def test_that_each_process_is_there_once_in_order_and_known_memory_stays_known(
    lists: list[list[GpuProcess]],
) -> None:
    result = merged(lists)
    entries = [entry for entries in lists for entry in entries]

    assert [process.pid for process in result] == sorted({entry.pid for entry in entries})
    for process in result:
        known = [
            entry.memory_used_mib
            for entry in entries
            if entry.pid == process.pid and entry.memory_used_mib is not None
        ]
        if known:
            assert process.memory_used_mib is not None
            assert max(known) <= process.memory_used_mib <= sum(known)
        else:
            assert process.memory_used_mib is None


def test_that_the_host_is_asked_once_for_a_process_that_stays(host: Host) -> None:
    names = ProcessNames()
    for used in (100, 200):
        named = names.named(GpuProcess(7, used))
        names.forget_all_but([7])
        assert (named.name, named.user, named.memory_used_mib) == ("python", "ada", used)

    assert host.asked == [7]


def test_that_a_pid_that_comes_back_is_another_process(host: Host) -> None:
    names = ProcessNames()
    names.named(GpuProcess(7, 100))
    names.forget_all_but([])
    host.names[7] = "blender"

    assert names.named(GpuProcess(7, 100)).name == "blender"


def test_that_a_process_has_its_command_its_beginning_and_its_owner(host: Host) -> None:
    named = ProcessNames().named(GpuProcess(7, 100))

    assert (named.command, named.started_s) == ("python train.py --epochs 3", STARTED_S)
    assert named.is_mine


def test_that_a_process_of_another_user_is_not_mine(host: Host) -> None:
    host.owner += 1

    assert not ProcessNames().named(GpuProcess(7, 100)).is_mine


def test_that_a_process_that_the_host_does_not_know_has_no_name(host: Host) -> None:
    named = ProcessNames().named(GpuProcess(8, 100))

    assert named == DeviceProcess(pid=8, memory_used_mib=100)


def test_that_a_process_keeps_its_name_when_all_else_is_a_secret(host: Host) -> None:
    host.is_denied = True
    named = ProcessNames().named(GpuProcess(7, 100))

    assert (named.name, named.started_s) == ("python", STARTED_S)
    assert (named.user, named.command, named.is_mine) == (None, None, False)


def test_that_where_users_have_no_numbers_their_names_are_compared(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "getuid")
    monkeypatch.setattr(host, "username", lambda: "WORKSTATION\\ada")
    monkeypatch.setattr("getpass.getuser", lambda: "ada")

    assert ProcessNames().named(GpuProcess(7, 100)).is_mine


def test_that_the_real_host_knows_this_very_process() -> None:
    named = ProcessNames().named(GpuProcess(os.getpid(), 100))
    process = psutil.Process()

    assert named.is_mine
    assert (named.name, named.user) == (process.name(), process.username())
    assert named.command == " ".join(process.cmdline())
    assert named.started_s == pytest.approx(process.create_time(), abs=0.02)


def test_that_several_threads_may_name_while_others_are_forgotten() -> None:
    names = ProcessNames()
    pids = range(2**22 + 1, 2**22 + 60)  # above the greatest pid that Linux gives out

    def name_all() -> None:
        # An error in a thread fails the test as an unexpected warning.
        for pid in pids:
            names.named(GpuProcess(pid, None))

    threads = [threading.Thread(target=name_all) for _ in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        names.forget_all_but(pids[::2])

    assert names.named(GpuProcess(pids[0], 1)) == DeviceProcess(pid=pids[0], memory_used_mib=1)


def test_that_a_process_that_was_killed_and_stays_is_one_that_does_not_end() -> None:
    now_s, killed = [0.0], set[int]()
    names = ProcessNames(lambda _: True, lambda pid: pid in killed, lambda: now_s[0])
    process = GpuProcess(os.getpid(), 100)
    assert not names.named(process).was_killed
    killed.add(os.getpid())
    # It may be busy freeing what it holds.
    assert not names.named(process).was_killed
    now_s[0] = 4.9
    assert not names.named(process).was_killed
    now_s[0] = 5.0
    assert names.named(process).was_killed


def test_that_a_signal_that_waits_for_a_process_is_seen() -> None:
    blocks = (
        "import signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM]); "
        "print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-P", "-c", blocks], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert not is_pending(process.pid, signal.SIGTERM)
        process.terminate()
        assert is_pending(process.pid, signal.SIGTERM)
        assert not is_pending(process.pid)
        process.kill()
    assert not is_pending(process.pid)
