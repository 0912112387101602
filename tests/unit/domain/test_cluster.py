"""What is known of the nodes of a cluster."""

import pytest
from pydantic import ValidationError

from gpupanel.domain.cluster import (
    ClusterNode,
    ClusterReading,
    ClusterSettings,
    NodeReport,
    NodeState,
    devices_of,
    sample_of,
)
from gpupanel.domain.device import CPU_KEY, DeviceInventory, DeviceLink, LinkKind
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample
from tests.fakes.devices import CPU_ONLY, RTX_3060, RTX_4090, TWO_UNEQUAL


def node(name: str, inventory: DeviceInventory | None, time_s: float = 5.0) -> ClusterNode:
    if inventory is None:
        return ClusterNode(id=name, name=name, address="10.0.0.9", state=NodeState.LOST)
    readings = tuple(DeviceReading(key=each.key) for each in inventory.devices)
    sample = TelemetrySample(time_s=time_s, readings=readings)
    report = NodeReport(
        gpupanel="1", python="3.11", clock_s=time_s, inventory=inventory, sample=sample
    )
    return ClusterNode(id=name, name=name, address="10.0.0.9", report=report)


def reading(*nodes: ClusterNode) -> ClusterReading:
    return ClusterReading(address="10.0.0.1:6379", nodes=nodes)


@pytest.mark.parametrize("address", ["auto", "head:6379", "10.0.0.1:1", "[fd00::1]:65535"])
def test_that_an_address_is_auto_or_a_host_and_a_port(address: str) -> None:
    assert ClusterSettings(address=address).address == address


@pytest.mark.parametrize(
    "address", ["", "local", "ray://head:10001", "head", "head:0", "head:65536", "a b:1", "h:1\n"]
)
def test_that_nothing_else_is_an_address(address: str) -> None:
    with pytest.raises(ValidationError):
        ClusterSettings(address=address)


def test_that_a_wrong_address_and_network_are_said_with_what_they_should_be() -> None:
    text = 'schema_version = 1\n[cluster]\naddress = "ray://x"\nnetwork = "$(reboot)"\n'
    with pytest.raises(ProblemError) as raised:
        parse_profile(text)
    address, network = raised.value.problems
    assert address.field == "cluster.address"
    assert '"10.0.0.1:6379"' in address.message
    assert network.field == "cluster.network"
    assert '"eth1"' in network.message


def test_that_devices_of_all_nodes_are_one_inventory_in_which_no_key_is_twice() -> None:
    cluster = reading(node("a", TWO_UNEQUAL), node("b", CPU_ONLY), node("gone", None))
    found = devices_of(cluster)
    assert [(device.key, device.node) for device in found.devices] == [
        (RTX_4090.key, "a"),
        (RTX_3060.key, "a"),
        ("cpu@a", "a"),
        ("cpu@b", "b"),
    ]
    assert [device.key for device in found.named(CPU_KEY)] == ["cpu@a", "cpu@b"]
    assert [device.key_on_node for device in found.devices[2:]] == [CPU_KEY, CPU_KEY]
    assert found.driver is None
    assert [each.name for each in cluster.answering] == ["a", "b"]


def test_that_the_driver_of_a_cluster_is_the_one_that_all_nodes_have() -> None:
    link = DeviceLink(keys=(RTX_4090.key, RTX_3060.key), kind=LinkKind.PCIE_SWITCH)
    linked = TWO_UNEQUAL.model_copy(update={"links": (link,)})
    found = devices_of(reading(node("a", linked)))
    assert found.driver == TWO_UNEQUAL.driver
    assert found.links == (link,)


def test_that_readings_have_the_keys_of_the_devices() -> None:
    cluster = reading(node("a", TWO_UNEQUAL, 7.0), node("b", CPU_ONLY, 9.0), node("gone", None))
    sample, inventory = sample_of(cluster), devices_of(cluster)
    assert sample.time_s == 9.0
    assert [each.key for each in sample.readings] == [each.key for each in inventory.devices]
