"""Servers of a run are for this machine only."""

import json
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from gpupanel.devices.packages import tensorflow_package
from gpupanel.devices.private_network import new_private_network
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.process_environment import LISTEN_VARIABLE
from gpupanel.trainer.strategies import loopback
from tests.fakes.run_networks import skip_without_networks

READ_VERSIONS = ("2.21",)
"""Of TensorFlow, whose ``grpc_server_lib.cc`` and import tables were looked into."""

# sockaddr_in and sockaddr_in6: family, port in network order, then the address.
ANY_4 = struct.pack("=H", socket.AF_INET) + b"\x12\x34" + bytes(4) + bytes(8)
ANY_6 = struct.pack("=H", socket.AF_INET6) + b"\x12\x34" + bytes(4) + bytes(16) + bytes(4)


def test_that_every_address_becomes_loopback() -> None:
    narrowed = loopback._narrowed(ANY_4)
    assert narrowed == ANY_4[:4] + bytes([127, 0, 0, 1]) + ANY_4[8:]
    narrowed = loopback._narrowed(ANY_6)
    assert socket.inet_ntop(socket.AF_INET6, narrowed[8:24]) == "::ffff:127.0.0.1"
    assert (narrowed[:8], narrowed[24:]) == (ANY_6[:8], ANY_6[24:])


@pytest.mark.parametrize(
    "address",
    [
        ANY_4[:4] + bytes([10, 0, 0, 1]) + ANY_4[8:],
        ANY_6[:8] + socket.inet_pton(socket.AF_INET6, "fe80::1") + ANY_6[24:],
        struct.pack("=H", socket.AF_UNIX) + b"/run/socket\0",
    ],
)
def test_that_other_addresses_stay(address: bytes) -> None:
    assert loopback._narrowed(address) == address


def test_that_a_process_that_listens_elsewhere_does_not_go_on() -> None:
    loopback.check_listening()
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        loopback.check_listening()
    with socket.socket() as server:
        server.bind(("0.0.0.0", 0))
        server.listen()
        with pytest.raises(ProblemError, match="open to the network") as caught:
            loopback.check_listening()
    (problem,) = caught.value.problems
    assert problem.code == "not_on_loopback"


def test_that_it_is_refused_where_it_cannot_be_done(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ProblemError, match="do not import bind"):
        loopback.listen_on_loopback_only()  # TensorFlow is not imported here
    monkeypatch.setattr(loopback.sys, "platform", "darwin")
    with pytest.raises(ProblemError, match="no way to prevent it on darwin"):
        loopback.listen_on_loopback_only()


def test_that_this_tensorflow_is_one_whose_servers_were_read() -> None:
    package = tensorflow_package()
    assert package is not None
    name, version = package
    assert version.startswith(tuple(f"{each}." for each in READ_VERSIONS)), (
        f"loopback.py was written for {name} {' and '.join(READ_VERSIONS)}; {version} is installed."
        " Look in grpc_server_lib.cc whether AddListeningPort still takes every address, and"
        " whether anything else listens there; then add the version to READ_VERSIONS."
    )


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_a_server_of_this_tensorflow_takes_every_address_and_is_kept_from_it() -> None:
    skip_without_networks()
    script = Path(__file__).with_name("listening_servers.py")
    with new_private_network() as network:
        answer = subprocess.run(
            [sys.executable, "-P", script],
            env={**os.environ, **network.environment, "CUDA_VISIBLE_DEVICES": "-1"},
            pass_fds=network.descriptors,
            capture_output=True,
            text=True,
            check=False,
        )
    assert answer.returncode == 0, (
        "TensorFlow's server could not be kept on loopback: it does not import bind any more as "
        f"loopback.py expects, or does not start. {answer.stderr[-2000:]}"
    )
    found = json.loads(answer.stdout)
    assert found["before"] in (["::"], ["0.0.0.0"]), (
        f"TensorFlow's server listens on {found['before']} by itself: loopback.py may not be "
        "needed any more."
    )
    assert found["entries"] > 0
    assert found["after"] == ["127.0.0.1"], (
        f"TensorFlow's server listens on {found['after']} in spite of loopback.py: what it calls "
        "is not the bind of its import tables any more."
    )


def test_that_a_server_between_nodes_listens_on_the_address_of_its_node_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(LISTEN_VARIABLE, "10.0.0.7")
    assert loopback._narrowed(ANY_4) == ANY_4[:4] + bytes([10, 0, 0, 7]) + ANY_4[8:]
    narrowed = loopback._narrowed(ANY_6)
    assert socket.inet_ntop(socket.AF_INET6, narrowed[8:24]) == "::ffff:10.0.0.7"
    for address, is_own in (("10.0.0.7", True), ("::ffff:10.0.0.7", True), ("0.0.0.0", False)):
        assert loopback._is_permitted(address) is is_own
    assert not loopback._is_permitted("10.0.0.70")
