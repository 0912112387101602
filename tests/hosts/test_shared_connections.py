"""The person has ``ssh`` share a connection (``ControlMaster``): it is used, and not relied on."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from threading import Event, Thread

import pytest

from gpupanel.domain.run_layout import RunLayout
from gpupanel.hosts.here import connection, link
from gpupanel.hosts.here.file_copy import CopyProgress, measured
from gpupanel.hosts.here.link import Link
from gpupanel.hosts.here.link_state import LinkCondition
from gpupanel.hosts.lines import PROTOCOL, Hello, encoded
from gpupanel.hosts.operations.machine import FILES, FolderWanted
from tests.hosts.conftest import Lab
from tests.hosts.runs_there import followed_run, lines_of, long_run
from tests.hosts.sshd import HOST
from tests.patience import wait_until


@pytest.fixture
def shared(lab: Lab) -> Iterator[Lab]:
    """A lab that the person is connected to already, in a terminal."""
    with tempfile.TemporaryDirectory() as folder:  # the path of a socket has to be short
        with (lab.folder / "keys" / "ssh_config").open("a") as config:
            config.write(f"  ControlMaster auto\n  ControlPath {folder}/%C\n")
        subprocess.run(["ssh", "-MNf", HOST], check=True, stderr=subprocess.DEVNULL)
        yield lab
        for host in lab.hosts:
            host.end()
        subprocess.run(["ssh", "-O", "exit", HOST], capture_output=True, timeout=10)


def shorten_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "KEEP_ALIVE_S", 0.3)
    monkeypatch.setattr(connection, "GONE_S", 4.0)


def test_that_a_window_goes_through_the_connection_of_a_terminal(shared):
    assert shared.relay.connections == 1
    host = shared.connected()
    assert host.files.folder("").entries is not None
    assert shared.relay.connections == 1
    assert host.link.shares


@pytest.mark.alone
def test_that_a_million_events_come_as_quickly_through_it(shared):
    layout = long_run(shared.runs_dir, 1_000_000)
    shared.relay.bytes_per_s, shared.relay.delay_s = 10e6 / 8.0, 0.02
    host = shared.connected()
    copy = RunLayout(host.runs_dir / layout.root.name)
    wait_until(lambda: copy.profile.exists())
    begun_s = time.monotonic()
    end = host.open_copy(copy)
    took_s = time.monotonic() - begun_s
    end()
    assert lines_of(copy.events)[-1] == lines_of(layout.events)[-1]
    assert took_s < 3.0


def test_that_a_host_that_has_nothing_to_say_is_not_taken_to_be_gone(shared, monkeypatch):
    shorten_waits(monkeypatch)
    found = Link(HOST, shared.states.append, str(shared.sshd.command))
    found.start()
    wait_until(lambda: found.state.kind is LinkCondition.CONNECTED)
    time.sleep(6.0)
    found.end()
    assert [state.kind for state in shared.states] == ["connecting", "connected"]


def test_that_who_tries_again_and_again_does_not_end_what_is_just_being_made(shared):
    found = Link(HOST, shared.states.append, str(shared.sshd.command))
    found.start()
    until_s = time.monotonic() + 3.0
    while found.state.kind is LinkCondition.CONNECTING and time.monotonic() < until_s:
        found.try_again()
        time.sleep(0.05)
    kind = found.state.kind
    found.end()
    assert kind is LinkCondition.CONNECTED
    assert [state.kind for state in shared.states] == ["connecting", "connected"]


def test_that_a_try_that_hangs_is_given_up_for_another_one(shared, monkeypatch):
    monkeypatch.setattr(link, "_HANGS_S", 0.0)
    shared.relay.freeze_connections()
    found = Link(HOST, shared.states.append, str(shared.sshd.command))
    found.start()
    wait_until(lambda: found._connection is not None)
    begun = found._connection
    found.try_again()
    wait_until(lambda: found._connection not in (None, begun))
    found.end()


def test_that_a_shared_connection_that_is_gone_is_noticed_and_replaced_by_one_of_its_own(
    shared, monkeypatch
):
    shorten_waits(monkeypatch)
    with followed_run(shared) as (run, host, copy):
        shared.relay.freeze_connections()
        run.grow(50)
        wait_until(lambda: host.link.state.kind is LinkCondition.CUT)
        wait_until(lambda: host.link.state.kind is LinkCondition.CONNECTED)
        assert not host.link.shares
        assert shared.relay.connections == 2
        wait_until(lambda: lines_of(copy.events) == lines_of(run.layout.events))


def test_that_a_shared_connection_that_was_gone_before_does_not_keep_a_window_out(
    shared, monkeypatch
):
    monkeypatch.setattr(link, "_HELLO_S", 1.0)
    shared.relay.freeze_connections()
    host = shared.connected()
    assert not host.link.shares
    assert {state.kind for state in shared.states} == {"connecting", "connected"}


@pytest.mark.skipif(shutil.which("rsync") is None, reason="rsync is not installed")
def test_that_a_copy_over_a_shared_connection_that_is_gone_goes_on(shared, monkeypatch):
    shorten_waits(monkeypatch)
    picture = shared.folder / "laptop" / "large.png"
    picture.parent.mkdir()
    picture.write_bytes(os.urandom(3 * 2**20))
    shared.relay.bytes_per_s = 2**20
    host, told = shared.connected(), list[CopyProgress]()
    size, place = measured((picture,), Event(), lambda _: None), shared.folder / "there" / "data"
    copying = Thread(
        target=host.files.copy, args=((picture,), str(place), size, Event(), told.append)
    )
    copying.start()
    wait_until(lambda: any(each.bytes_done for each in told))
    shared.relay.freeze_connections()
    shared.relay.bytes_per_s = 0.0
    copying.join(60.0)
    assert not copying.is_alive()
    assert (place / "large.png").read_bytes() == picture.read_bytes()


def test_that_nobody_waits_for_a_host_that_does_not_read():
    hello = encoded(Hello("9.9", PROTOCOL, "/runs", time.time())).decode()
    found = Link("lab", lambda _: None, command=("sh", "-c", f"echo '{hello}'; exec sleep 60"))
    found.start()
    wait_until(lambda: found.state.kind is LinkCondition.CONNECTED)
    wanted, begun_s = FolderWanted(path="x" * 1_000), time.monotonic()
    for _ in range(200):  # more than a pipe holds
        found.follow(FILES, lambda: wanted, lambda _: None, lambda _: None)
    assert time.monotonic() - begun_s < 1.0
    found.end()
