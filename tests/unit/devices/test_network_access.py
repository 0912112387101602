"""Whether a run gets a network of its own, asked only where somebody is there to be kept out."""

from pathlib import Path

import pytest

from gpupanel.devices.network_access import ask_network_access
from gpupanel.devices.private_network import (
    MAKER,
    NetworkRefusedError,
    PrivateNetwork,
    new_private_network,
)
from gpupanel.domain.network_access import NetworkAccess
from tests.fakes.run_networks import skip_without_networks, without_networks


def refuse() -> PrivateNetwork:
    raise NetworkRefusedError("Operation not permitted")


def two() -> tuple[str, ...]:
    return ("ann", "bob")


def test_that_on_a_machine_of_one_person_the_kernel_is_not_even_asked() -> None:
    def never() -> PrivateNetwork:
        raise AssertionError("it was asked")

    access = ask_network_access(tuple, never)
    assert access == NetworkAccess()
    assert not access.is_open_to_others


def test_that_a_network_of_its_own_keeps_others_out() -> None:
    skip_without_networks()
    access = ask_network_access(two)
    assert access == NetworkAccess(other_users=("ann", "bob"))
    assert not access.is_open_to_others


def test_that_a_machine_that_permits_no_namespace_is_open_to_others() -> None:
    access = ask_network_access(two, lambda: new_private_network((*without_networks(), *MAKER)))
    assert access.is_open_to_others
    assert access.refusal == "no more namespaces are permitted"


@pytest.mark.parametrize(
    ("setting", "value", "command"),
    [
        ("kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"),
        (
            "kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        ("user/max_user_namespaces", "0", "user.max_user_namespaces=15000"),
        ("user/max_net_namespaces", "0", "user.max_net_namespaces=15000"),
    ],
)
def test_that_the_setting_that_forbids_it_is_named(
    tmp_path: Path, setting: str, value: str, command: str
) -> None:
    file = tmp_path / "proc/sys" / setting
    file.parent.mkdir(parents=True)
    file.write_text(f"{value}\n")
    access = ask_network_access(two, refuse, tmp_path)
    assert access.allowing_command == f"sudo sysctl -w {command}"


def test_that_no_setting_is_blamed_where_none_forbids_it(tmp_path: Path) -> None:
    access = ask_network_access(two, refuse, tmp_path)
    assert (access.refusal, access.allowing_command) == ("Operation not permitted", "")
