"""The devices of a real Ray cluster of two raylets."""

import json
import socket
from collections.abc import Iterator

import pytest

from gpupanel.domain.cluster import NodeState, devices_of, sample_of
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.telemetry import DeviceState
from gpupanel.runs.cluster.reading import read_cluster
from tests.clusters import RealCluster, real_cluster
from tests.e2e.test_terminal import gpupanel
from tests.nvml.standin import RTX_3060, RTX_4090, Standin, StandinState


@pytest.fixture(scope="module")
def standins(nvml_library: object, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Standin]:
    folder = tmp_path_factory.mktemp("states")
    return {
        "alpha": Standin(nvml_library, folder / "alpha.txt", StandinState(gpus=(RTX_4090,))),
        "beta": Standin(nvml_library, folder / "beta.txt", StandinState(gpus=(RTX_3060,))),
    }


@pytest.fixture(scope="module")
def cluster(standins: dict[str, Standin]) -> Iterator[RealCluster]:
    environments = {name: standin.environment for name, standin in standins.items()}
    with real_cluster("alpha", "beta", environments=environments) as real:
        yield real


def test_that_each_node_lists_its_own_gpus_with_their_readings(cluster: RealCluster) -> None:
    reading = read_cluster(cluster.address)
    assert [node.name for node in reading.nodes] == ["alpha", "beta"]
    assert {node.state for node in reading.nodes} == {NodeState.OK}
    inventory, sample = devices_of(reading), sample_of(reading)
    assert [(gpu.name, gpu.node) for gpu in inventory.gpus] == [
        (RTX_4090.name, "alpha"),
        (RTX_3060.name, "beta"),
    ]
    for device in inventory.devices:
        found = sample.reading(device.key)
        assert found is not None, device.key
        assert found.state is DeviceState.OK
        assert found.memory_used_mib is not None


def test_that_the_terminal_prints_nodes_and_devices_and_no_word_of_rays(
    cluster: RealCluster,
) -> None:
    answer = gpupanel("devices", "--cluster", cluster.address, "--json")
    assert answer.returncode == 0, answer.stderr
    document = json.loads(answer.stdout)
    assert [node["name"] for node in document["nodes"]] == ["alpha", "beta"]
    assert document["nodes"][0]["id"] == document["here"]
    names = [[each["name"] for each in node["devices"]] for node in document["nodes"]]
    assert [each[0] for each in names] == [RTX_4090.name, RTX_3060.name]
    assert answer.stderr == ""
    shown = gpupanel("devices", "--cluster", cluster.address)
    assert "beta" in shown.stdout
    assert RTX_3060.name in shown.stdout


def test_that_a_head_that_does_not_answer_is_a_problem_within_seconds() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(ProblemError) as raised:
        read_cluster(f"127.0.0.1:{port}")
    (problem,) = raised.value.problems
    assert problem.code == "cluster_not_found"


def test_that_a_server_that_is_no_head_is_a_problem_when_the_time_is_up() -> None:
    # On every address: Ray takes loopback for the address of the machine.
    with socket.create_server(("", 0)) as server, pytest.raises(ProblemError) as raised:
        read_cluster(f"127.0.0.1:{server.getsockname()[1]}", limit_s=3.0)
    (problem,) = raised.value.problems
    assert problem.code == "cluster_too_slow"


def test_that_a_lost_node_is_listed_as_lost(cluster: RealCluster) -> None:
    cluster.add("gamma")
    cluster.raylets["gamma"].kill()
    reading = read_cluster(cluster.address)
    gamma = next(node for node in reading.nodes if node.name == "gamma")
    assert gamma.state is not NodeState.OK
    assert gamma.report is None
    assert gamma.reason


def test_that_an_address_that_is_none_is_refused_before_anybody_is_asked() -> None:
    with pytest.raises(ProblemError) as raised:
        read_cluster("ray://nobody")
    assert raised.value.problems[0].code == "cluster_address_wrong"
