"""A host on loopback for the tests of connections, with folders of its own; and one that lies."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from gpupanel.hosts.here.host import OtherMachine
from gpupanel.hosts.here.link_state import LinkCondition, LinkState
from gpupanel.hosts.lines import PROTOCOL
from tests.hosts.relay import Relay
from tests.hosts.sshd import HOST, Sshd, sshd_program, start_sshd
from tests.patience import wait_until

FOLDERS = ("CACHE", "CONFIG", "RUNS", "STATE")
HELLO = {
    "type": "hello",
    "version": "9.9",
    "protocol": PROTOCOL,
    "runs_dir": "/runs",
    "time_s": time.time(),
}
Answers = dict[str, Sequence[dict[str, object]]]


class Lab:
    """A host, the relay that leads to it, and the connections that were made."""

    def __init__(self, folder: Path, relay: Relay, sshd: Sshd) -> None:
        self.folder, self.relay, self.sshd = folder, relay, sshd
        self.runs_dir = folder / "there" / "runs"
        self.states: list[LinkState] = []
        self.hosts: list[OtherMachine] = []
        self._opened = ExitStack()

    def connected(self) -> OtherMachine:
        """A connection; waited for."""
        host = self.connecting()
        wait_until(lambda: host.link.state.kind is LinkCondition.CONNECTED)
        return host

    def connecting(self, program: str = "") -> OtherMachine:
        """A connection that is being made."""
        command = program or str(self.sshd.command)
        host = OtherMachine(HOST, self.states.append, lambda _: None, command)
        self._opened.callback(host.end)
        self.hosts.append(host)
        host.start()
        return host

    def end(self) -> None:
        """End all connections, and the host."""
        self._opened.close()
        self.relay.end()
        self.sshd.end()


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """A host that ``ssh`` knows as ``lab``."""
    if sshd_program() is None:
        pytest.skip("no sshd is installed (openssh-server)")
    there = tmp_path / "there"
    (there / "runs").mkdir(parents=True)
    for name in FOLDERS:
        monkeypatch.setenv(f"GPUPANEL_{name}_DIR", str(tmp_path / "here" / name.lower()))
    relay = Relay()
    keys = tmp_path / "keys"
    keys.mkdir()
    variables = {f"GPUPANEL_{name}_DIR": str(there / name.lower()) for name in FOLDERS}
    sshd = start_sshd(keys, variables, relay.port)
    relay.target = sshd.port
    monkeypatch.setenv("PATH", f"{sshd.bin}{os.pathsep}{os.environ['PATH']}")
    found = Lab(tmp_path, relay, sshd)
    yield found
    found.end()


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., OtherMachine]]:
    """Connects to a host that says these lines, and answers so; see ``fake_host.py``."""
    for name in FOLDERS:
        monkeypatch.setenv(f"GPUPANEL_{name}_DIR", str(tmp_path / "here" / name.lower()))
    opened = []

    def tell(*lines: object, raw: bytes = b"", answers: Answers | None = None) -> OtherMachine:
        script, asked = tmp_path / "script", tmp_path / "answers"
        text = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in lines]
        script.write_bytes(b"".join(each + b"\n" for each in text) + raw)
        asked.write_text(json.dumps(answers or {}))
        program = str(Path(__file__).with_name("fake_host.py"))
        command = (sys.executable, "-P", program, str(script), str(asked))
        host = OtherMachine("lab", lambda _: None, lambda _: None, command=command)
        opened.append(host)
        host.start()
        return host

    yield tell
    for host in opened:
        host.end()
