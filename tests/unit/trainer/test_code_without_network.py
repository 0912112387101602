"""Python code of one's own that wants the network, in a run that has one that leads nowhere."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpupanel.devices.private_network import new_private_network
from tests.fakes.run_networks import skip_without_networks

ASKED = """
import sys
from pathlib import Path
from gpupanel.trainer.private_network import enter_handed_over, leads_nowhere
enter_handed_over()
from gpupanel.trainer.user_code import user_code_problem
from tests.fakes.checked_files import trusted
try:
    trusted("data.path", "mine.py", Path(sys.argv[1])).function("load")()
except Exception as error:
    print(leads_nowhere(), user_code_problem(error).hint)
"""
DOWNLOADS = """
import urllib.request
def load():
    return urllib.request.urlopen("http://192.0.2.1/data.npz", timeout=5)
"""
RESOLVES = """
import socket
def load():
    return socket.create_connection(("data.example", 80))
"""
FAILS = """
def load():
    return 1 / 0
"""


def hint(code: Path, **started: object) -> str:
    command = [sys.executable, "-P", "-c", ASKED, code]
    return subprocess.run(
        command, capture_output=True, text=True, check=True, **started
    ).stdout.strip()


@pytest.mark.parametrize(
    ("code", "is_of_network"),
    [(DOWNLOADS, True), (RESOLVES, True), (FAILS, False)],
    ids=["downloads", "asks for a name", "fails otherwise"],
)
def test_that_code_that_reaches_nothing_is_reported_why(
    tmp_path: Path, code: str, is_of_network: bool
) -> None:
    skip_without_networks()
    (tmp_path / "mine.py").write_text(code)
    with new_private_network() as network:
        inside = {**os.environ, **network.environment}
        said = hint(tmp_path / "mine.py", env=inside, pass_fds=network.descriptors)
    assert said.startswith("True ")
    assert ("have a network of their own" in said) == is_of_network


def test_that_in_the_network_of_the_machine_nothing_of_it_is_said(tmp_path: Path) -> None:
    code = tmp_path / "mine.py"
    code.write_text("import socket\ndef load():\n    socket.create_connection(('127.0.0.1', 9))\n")
    assert hint(code).startswith("False Fix it")
