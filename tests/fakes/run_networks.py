"""The networks that processes are in, and who can connect there."""

import os
import shutil
import socket
import struct
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import psutil
import pytest

from gpupanel.devices.private_network import NetworkRefusedError, new_private_network

ANOTHER_USER = 65_534
_LISTENS = {"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"}


def plain_user() -> tuple[str, ...]:
    """What to start a program by so that it may do no more than an ordinary user's.

    Root keeps the one right without which nobody may map root's own number.
    """
    if os.geteuid() or shutil.which("setpriv") is None:
        return ()
    return ("setpriv", "--bounding-set=-all,+setfcap", "--inh-caps=-all")


def refusal() -> str:
    """Why this machine gives nobody a network namespace; empty: it does."""
    try:
        with new_private_network():
            return ""
    except NetworkRefusedError as error:
        return str(error)


def skip_without_networks() -> None:
    """Skip a test of what only a machine can do that permits namespaces."""
    if why := refusal():
        pytest.skip(f"this machine gives no network namespace: {why}")


def assert_out_of_reach(pids: Sequence[int]) -> None:
    """See that these processes listen, on loopback only, where nobody else can connect."""
    if refusal():
        found = {each for pid in pids for each in _listening_here(pid)}
    else:
        assert all(is_in_own_network(pid) for pid in pids)
        assert not {each for pid in pids for each in _listening_here(pid)}
        found = private_listeners(pids)
        assert not [port for _, port in found if can_another_user_connect(port)]
    assert len(found) >= len(pids)
    assert {address for address, _ in found} == {"127.0.0.1"}


def without_networks() -> tuple[str, ...]:
    """What to start a program by so that the kernel lets it make no network namespace."""
    script = 'echo 0 > /proc/sys/user/max_net_namespaces; exec "$@"'
    return ("unshare", "-Ur", "sh", "-c", script, "sh")


def namespace(pid: int | str, kind: str) -> int:
    """Which namespace of a kind ("net", "user") a process is in."""
    return Path(f"/proc/{pid}/ns/{kind}").stat().st_ino


def is_in_own_network(pid: int) -> bool:
    """Whether a process is in another network than this one."""
    try:
        return namespace(pid, "net") != namespace("self", "net")
    except OSError:
        return False  # it has ended


def descendants(pid: int) -> list[int]:
    try:
        process = psutil.Process(pid)
        return [pid, *(child.pid for child in process.children(recursive=True))]
    except psutil.NoSuchProcess:
        return []


def private_listeners(pids: Iterable[int]) -> set[tuple[str, int]]:
    """Addresses and ports on which anything listens in networks of these processes' own."""
    found = set()
    for pid in pids:
        if is_in_own_network(pid):
            found |= {each for kind in _LISTENS for each in _listeners(pid, kind)}
    return found


def can_another_user_connect(port: int) -> bool:
    """Whether a process of this network, of another user if there may be one, gets through."""
    command = ("bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{port}")
    user = None if os.geteuid() else ANOTHER_USER
    tried = subprocess.run(command, user=user, cwd="/", stderr=subprocess.DEVNULL, check=False)
    return tried.returncode == 0


def _listening_here(pid: int) -> Iterator[tuple[str, int]]:
    """What a process listens on in the network of this one."""
    for connection in psutil.Process(pid).net_connections("inet"):
        if connection.status == psutil.CONN_LISTEN:
            yield connection.laddr.ip.removeprefix("::ffff:"), connection.laddr.port


def _listeners(pid: int, kind: str) -> Iterator[tuple[str, int]]:
    try:
        lines = Path(f"/proc/{pid}/net/{kind}").read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return  # it has ended
    for line in lines:
        _, local, _, state, *_ = line.split()
        if state == _LISTENS[kind]:
            address, port = local.split(":")
            yield _text(address), int(port, 16)


def _text(address: str) -> str:
    """proc_pid_net(5): words of four bytes in the processor's order."""
    words = [int(address[place : place + 8], 16) for place in range(0, len(address), 8)]
    family = socket.AF_INET if len(words) == 1 else socket.AF_INET6
    text = socket.inet_ntop(family, struct.pack(f"={len(words)}I", *words))
    return text.removeprefix("::ffff:")
