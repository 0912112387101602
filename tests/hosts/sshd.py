"""A real sshd on loopback, with keys of its own, and an ``ssh`` that knows it as ``lab``."""

import os
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HOST = "lab"
_SSHD_CONFIG = """
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
PidFile none
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
PermitRootLogin yes
PermitUserEnvironment no
SetEnv {variables}
"""
_SSH_CONFIG = """
Host {host}
  HostName 127.0.0.1
  Port {port}
  User {user}
  IdentityFile {folder}/user_key
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  StrictHostKeyChecking accept-new
  LogLevel ERROR
"""


def sshd_program() -> str | None:
    """Where sshd is; ``None``: it is not installed."""
    return shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Sshd:
    """One that listens.

    Attributes:
        port: On loopback.
        bin: A folder whose ``ssh`` knows it; first in ``PATH``.
        command: gpupanel's command there.
    """

    process: "subprocess.Popen[bytes]"
    port: int
    bin: Path
    command: Path

    def end(self) -> None:
        """End it, and what it has started."""
        self.process.terminate()
        self.process.wait(10)


def start_sshd(folder: Path, variables: dict[str, str], through_port: int | None = None) -> Sshd:
    """Start one, whose sessions have these variables.

    Args:
        folder: Of its keys.
        variables: Where runs and states are there; no spaces.
        through_port: Where ``ssh`` connects instead, as to a relay; ``None``: to sshd itself.
    """
    program = sshd_program()
    assert program is not None
    Path("/run/sshd").mkdir(exist_ok=True)
    for name in ("host_key", "user_key"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True
        )
    port = free_port()
    text = " ".join(f"{name}={value}" for name, value in variables.items())
    (folder / "sshd_config").write_text(
        _SSHD_CONFIG.format(port=port, folder=folder, variables=text)
    )
    user = os.environ.get("USER") or "root"
    (folder / "ssh_config").write_text(
        _SSH_CONFIG.format(host=HOST, port=through_port or port, folder=folder, user=user)
    )
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    ssh = bin_folder / "ssh"
    ssh.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/ssh_config "$@"\n')
    command = bin_folder / "gpupanel-there"
    root = Path(__file__).resolve().parents[2]
    home = folder.with_name("there")  # no test writes into that of whoever runs it
    command.write_text(
        f'#!/bin/sh\nHOME={home} PYTHONPATH={root} exec {sys.executable} -P -m gpupanel "$@"\n'
    )
    for each in (ssh, command):
        each.chmod(0o755)
    with (folder / "sshd.log").open("wb") as log:
        process = subprocess.Popen(
            [program, "-D", "-e", "-f", str(folder / "sshd_config")], stderr=log
        )
    until_s = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except OSError:
            assert time.monotonic() < until_s, (folder / "sshd.log").read_text()
            time.sleep(0.05)
    return Sshd(process, port, bin_folder, command)
