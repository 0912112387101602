"""Processes of a GPU: merged from NVML's lists, named by the host."""

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpupanel.devices.gpu_processes import GpuProcess, ProcessNames, merged

ENTRIES = st.lists(
    st.builds(
        GpuProcess,
        pid=st.integers(min_value=1, max_value=6),
        memory_used_mib=st.none() | st.integers(min_value=0, max_value=50_000),
    ),
    max_size=6,
)


class Host:
    """psutil.Process with the names that a test gives."""

    def __init__(self) -> None:
        self.names = {7: "python"}
        self.asked: list[int] = []
        self.is_denied = False

    def __call__(self, pid: int) -> "Host":
        self.asked.append(pid)
        if pid not in self.names:
            raise psutil.NoSuchProcess(pid)
        self.pid = pid
        return self

    def name(self) -> str:
        return self.names[self.pid]

    def username(self) -> str:
        if self.is_denied:
            raise psutil.AccessDenied(self.pid)
        return "ada"


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
        names.forget_others([7])
        assert (named.name, named.user, named.memory_used_mib) == ("python", "ada", used)

    assert host.asked == [7]


def test_that_a_pid_that_comes_back_is_another_process(host: Host) -> None:
    names = ProcessNames()
    names.named(GpuProcess(7, 100))
    names.forget_others([])
    host.names[7] = "blender"

    assert names.named(GpuProcess(7, 100)).name == "blender"


def test_that_a_process_that_the_host_does_not_know_has_no_name(host: Host) -> None:
    named = ProcessNames().named(GpuProcess(8, 100))

    assert (named.pid, named.name, named.user, named.memory_used_mib) == (8, None, None, 100)


def test_that_a_process_keeps_its_name_when_its_user_is_a_secret(host: Host) -> None:
    host.is_denied = True
    named = ProcessNames().named(GpuProcess(7, 100))

    assert (named.name, named.user) == ("python", None)
