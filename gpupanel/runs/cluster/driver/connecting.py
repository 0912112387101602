"""Joins a Ray cluster as a driver, within seconds and with a reason where that cannot be."""

import logging
import os
import socket
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gpupanel.domain.cluster import AUTO
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.runs.cluster.cluster_problems import (
    cluster_not_found,
    cluster_refused,
    cluster_versions_differ,
    machine_not_in_cluster,
    ray_not_installed,
)

_KNOCK_S: Final = 4.0
"""How long a head may take to accept a connection; Ray itself tries for two minutes."""
_REQUEST_S: Final = "15"
"""How long Ray tries to find out which of its nodes this machine is, a minute by its default."""
_NAMESPACE: Final = "gpupanel"
_OWN_VARIABLES: Final[Mapping[str, str]] = {
    # A driver that "uv run" started would have Ray copy its working directory to every node.
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS": "0",
}
"""Set before Ray's library is loaded, which reads them. RAY_ADDRESS, RAY_AUTH_MODE and the like are
the person's own, and stay."""


_NOT_A_NODE: Final = ("no node info found", "found no raylet", "expects this ip address")
"""What Ray 2.49 to 2.60 says on a machine that is none of the cluster's."""


def connect(address: str) -> str:
    """Join the cluster at an address.

    Returns:
        The address of its head, ``host:port``.

    Raises:
        ProblemError: Ray is not installed, nobody answers there, this machine is no node of that
            cluster, or the versions differ.
    """
    os.environ.update(_OWN_VARIABLES)
    os.environ.setdefault("RAY_gcs_server_request_timeout_seconds", _REQUEST_S)
    try:
        import ray
    except ImportError as error:
        raise ProblemError(ray_not_installed(str(error))) from error
    head = _head_of(address)
    if head:
        _check_joined(address, head)
        _knock(address, head)
    try:
        ray.init(
            address=head or address,
            namespace=_NAMESPACE,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    except (Exception, SystemExit) as error:
        raise ProblemError(refusal(head or address, error)) from error
    return head or address


def _head_of(address: str) -> str:
    """``host:port`` of what ``auto`` means here; empty where Ray does not say it before."""
    try:
        from ray._private.services import canonicalize_bootstrap_address_or_die as find
    except ImportError:
        return "" if address == AUTO else address
    try:
        return str(find(address))
    except (ConnectionError, ValueError, OSError) as error:
        # Ray's words for it are about an option of its own commands.
        is_none = address == AUTO and type(error) is ConnectionError
        why = "none was started here" if is_none else _first_line(error)
        raise ProblemError(cluster_not_found(address, why)) from error


def _knock(address: str, head: str) -> None:
    host, _, port = head.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _KNOCK_S).close()
    except (OSError, ValueError) as error:
        why = "no answer" if isinstance(error, TimeoutError) else _first_line(error)
        raise ProblemError(cluster_not_found(head if address == AUTO else address, why)) from error


def _check_joined(address: str, head: str) -> None:
    """See that this machine is a node of that cluster, as its own processes show.

    Nothing was sent to the head before. An address may stand in a stranger's profile, which a
    window asks as soon as it is opened, or in a file of /tmp that Ray reads; and its library loads
    what a head sends by pickle, which can run code.
    """
    try:
        from ray._private.services import find_gcs_addresses
    except ImportError as error:
        raise ProblemError(cluster_refused(str(error))) from error
    joined = sorted(find_gcs_addresses())
    # Of no cluster: then not even the head's name is looked up.
    if not joined or not any(_endpoints(head) & _endpoints(each) for each in joined):
        listed = f"It belongs to {', '.join(joined)}." if joined else "It belongs to none."
        raise ProblemError(machine_not_in_cluster(address, listed))


def _endpoints(address: str) -> set[tuple[str, str]]:
    """The addresses, as numbers, and the port of ``host:port``."""
    host, _, port = address.rpartition(":")
    try:
        found = socket.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return set()
    return {(str(each[4][0]), port) for each in found}


def refusal(address: str, error: BaseException) -> Problem:
    """Why Ray's library did not join a cluster, from what it raised."""
    text = "\n".join(f"{type(each).__name__}: {each}" for each in _chain(error))
    lower = text.lower()
    if "version mismatch" in lower:
        return cluster_versions_differ(text)
    if any(words in lower for words in _NOT_A_NODE):
        return machine_not_in_cluster(address, text)
    if isinstance(error, SystemExit):
        return cluster_not_found(address, "what answers there does not speak as Ray does")
    if isinstance(error, ConnectionError):
        return cluster_not_found(address, _first_line(error))
    return cluster_refused(text)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what it came from, which Ray's own message may leave out."""
    found: BaseException | None = error
    while found is not None:
        yield found
        found = found.__cause__ or found.__context__


def _first_line(error: Any) -> str:  # noqa: ANN401 - whatever was raised
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
