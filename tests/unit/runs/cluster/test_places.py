"""Where a run's processes listen on a node, which GPUs are theirs there, and names of nodes."""

import pytest

from gpupanel.domain.problem import ProblemError
from gpupanel.runs.cluster.listening import address_in
from gpupanel.runs.cluster.node_names import names_of, returned
from gpupanel.runs.cluster.reserved_gpus import check_reserved, reserved_gpus
from tests.fakes.devices import RTX_3060, RTX_4090, TWO_UNEQUAL

INTERFACES = {
    "lo": ["127.0.0.1"],
    "eth0": ["192.0.2.7"],
    "eth1": ["10.0.0.7", "10.1.0.7"],
    "down": [],
}


@pytest.mark.parametrize(
    ("network", "expected"),
    [
        ("", ("192.0.2.7", "eth0")),
        ("eth1", ("10.0.0.7", "eth1")),
        ("10.1.0.0/16", ("10.1.0.7", "eth1")),
        ("10.0.0.1/24", ("10.0.0.7", "eth1")),
    ],
)
def test_that_processes_listen_in_the_network_that_is_named(
    network: str, expected: tuple[str, str]
) -> None:
    assert address_in(network, "192.0.2.7", INTERFACES) == expected


@pytest.mark.parametrize("network", ["eth9", "172.16.0.0/12", "fd00::/8", "down", "10.0.0.7/99"])
def test_that_a_network_that_a_node_lacks_is_no_reason_to_listen_elsewhere(network: str) -> None:
    with pytest.raises(ProblemError) as raised:
        address_in(network, "192.0.2.7", INTERFACES)
    (problem,) = raised.value.problems
    assert problem.code == "cluster_network_missing"
    assert "eth1 10.0.0.7 10.1.0.7" in problem.detail


def test_that_numbers_and_uuids_of_rays_name_gpus() -> None:
    assert reserved_gpus("1", TWO_UNEQUAL) == (RTX_3060.key,)
    assert reserved_gpus(f"{RTX_3060.key}, {RTX_4090.key}", TWO_UNEQUAL) == (
        RTX_3060.key,
        RTX_4090.key,
    )
    assert reserved_gpus("", TWO_UNEQUAL) == ()
    assert reserved_gpus("7,GPU-other,-1", TWO_UNEQUAL) == ()


def test_that_a_gpu_that_is_not_reserved_for_the_run_is_not_used() -> None:
    check_reserved([RTX_3060.key], [RTX_4090.key, RTX_3060.key], "a")
    with pytest.raises(ProblemError) as raised:
        check_reserved([RTX_3060.key], [RTX_4090.key], "a")
    assert raised.value.problems[0].code == "cluster_gives_other_gpus"


def test_that_a_lost_node_that_is_there_again_is_not_lost() -> None:
    alive = [("3", "beta", "10.0.0.2", "host-b"), ("4", "10.0.0.4", "10.0.0.4", "host-d")]
    lost = [
        ("1", "beta", "10.0.0.2", "host-b"),
        ("2", "gamma", "10.0.0.3", "host-c"),
        ("5", "10.0.0.9", "10.0.0.9", "host-d"),
    ]
    assert returned(lost, alive) == {"1", "5"}


def test_that_of_a_node_that_was_lost_twice_only_the_last_is_listed() -> None:
    lost = [("1", "beta", "10.0.0.2", "h"), ("2", "beta", "10.0.0.2", "h")]
    assert returned(lost, []) == {"1"}


def test_that_every_node_has_a_name_of_its_own() -> None:
    nodes = [
        ("0123456789", "10.0.0.1", "10.0.0.1", "host"),
        ("abcdefghij", "10.0.0.1", "10.0.0.1", "host"),
        ("klmnopqrst", "big", "10.0.0.2", "other\x1b[2J"),
        ("uvwxyz", "", "10.0.0.3", "other\x1b[2J"),
    ]
    assert names_of(nodes) == {
        "0123456789": "host-012345",
        "abcdefghij": "host-abcdef",
        "klmnopqrst": "big",
        "uvwxyz": r"other\x1b[2J",
    }
