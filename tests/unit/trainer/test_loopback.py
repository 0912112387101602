"""Servers of a run are for this machine only."""

import socket
import struct

import pytest

from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.strategies import loopback

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
