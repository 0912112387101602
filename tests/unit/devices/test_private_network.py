"""A network of a run's own: what is in it reaches itself, and nobody else does."""

import gc
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil
import pytest

from gpupanel.devices.private_network import (
    MAKER,
    NetworkRefusedError,
    PrivateNetwork,
    new_private_network,
)
from tests.fakes.run_networks import (
    can_another_user_connect,
    is_in_own_network,
    namespace,
    plain_user,
    private_listeners,
    skip_without_networks,
    without_networks,
)
from tests.forked.processes import child_processes

INSIDE = """
import os, socket, sys
from gpupanel.trainer.private_network import enter_handed_over, handed_over
enter_handed_over()
assert handed_over() is None
server = socket.create_server(("127.0.0.1", 0))
port = server.getsockname()[1]
socket.create_connection(("127.0.0.1", port)).close()
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=5.0).close()
    reached = "reached"
except OSError:
    reached = "nobody"
print(port, reached, os.getuid(), os.getppid(), flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module", autouse=True)
def _nothing_is_collected() -> Iterator[None]:
    """What others left open is not closed meanwhile."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def open_files() -> list[Path]:
    return sorted(Path("/proc/self/fd").iterdir())


class Inside:
    """A process in a network, which listens there."""

    def __init__(self, network: PrivateNetwork, started_by: Sequence[str], outer: int) -> None:
        self.process = subprocess.Popen(
            [*started_by, sys.executable, "-P", "-c", INSIDE, str(outer)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **network.environment, "GPUPANEL_RUN": "this one"},
            pass_fds=network.descriptors,
            process_group=0,
        )
        assert self.process.stdout is not None
        port, self.reached, user, parent = self.process.stdout.readline().decode().split()
        self.port, self.user, self.parent = int(port), int(user), int(parent)

    @property
    def rights(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        (line,) = (line for line in status.splitlines() if line.startswith("CapEff:"))
        return int(line.split()[1], 16)

    @property
    def has_own_user_namespace(self) -> bool:
        return namespace(self.process.pid, "user") != namespace("self", "user")


@pytest.fixture(params=[False, True], ids=["as whoever tests", "as a plain user"])
def inside(request: pytest.FixtureRequest) -> Iterator[Inside]:
    skip_without_networks()
    started_by = plain_user() if request.param else ()
    outer = socket.create_server(("127.0.0.1", 0))
    with outer, new_private_network((*started_by, *MAKER)) as network:
        inside = Inside(network, started_by, outer.getsockname()[1])
        assert can_another_user_connect(outer.getsockname()[1])
    with inside.process:
        yield inside
        inside.process.kill()


def test_that_nobody_outside_reaches_what_listens_inside(inside: Inside) -> None:
    assert is_in_own_network(inside.process.pid)
    assert private_listeners([inside.process.pid]) == {("127.0.0.1", inside.port)}
    assert not can_another_user_connect(inside.port)


def test_that_nothing_inside_reaches_what_listens_outside(inside: Inside) -> None:
    assert inside.reached == "nobody"


def test_that_a_process_inside_is_the_same_user_with_no_more_rights(inside: Inside) -> None:
    assert inside.user == os.getuid()
    assert inside.parent == os.getpid()
    if inside.has_own_user_namespace:
        assert inside.rights == 0


def test_that_a_plain_user_gets_a_user_namespace_and_root_none() -> None:
    skip_without_networks()
    for started_by in ((), plain_user()):
        with new_private_network((*started_by, *MAKER)) as network:
            is_another = os.fstat(network.user).st_ino != namespace("self", "user")
        assert is_another == bool(started_by or os.geteuid())


def test_that_a_process_inside_is_seen_and_ended_from_outside(inside: Inside) -> None:
    pid = inside.process.pid
    assert psutil.Process(pid).environ()["GPUPANEL_RUN"] == "this one"
    os.killpg(pid, signal.SIGTERM)
    assert inside.process.wait(10.0) == -signal.SIGTERM


def test_that_nothing_is_left_of_a_network_that_was_let_go() -> None:
    skip_without_networks()
    before = open_files()
    with new_private_network():
        assert len(open_files()) == len(before) + 2
    assert open_files() == before
    assert child_processes() == []


@pytest.mark.parametrize(
    ("maker", "words"),
    [
        ((*without_networks(), *MAKER), "no more namespaces are permitted"),
        (("/nowhere/python",), "No such file or directory"),
        ((sys.executable, "-c", "raise SystemExit('seccomp says no')"), "seccomp says no"),
        ((sys.executable, "-c", ""), "vanished"),
    ],
    ids=["limited", "not started", "refused", "without a word"],
)
def test_that_a_refusal_is_reported_with_its_reason(maker: tuple[str, ...], words: str) -> None:
    before = open_files()
    with pytest.raises(NetworkRefusedError, match=words):
        new_private_network(maker)
    # A file that another test's thread had open may have been closed meanwhile.
    assert set(open_files()) <= set(before)


def test_that_another_system_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(NetworkRefusedError, match="darwin has no network namespaces"):
        new_private_network()
