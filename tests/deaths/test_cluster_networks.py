"""Nodes of a real Ray cluster in network namespaces: where they listen, a network that breaks."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpupanel.domain.events import ProblemReported, TrainerStarted
from gpupanel.files.plan_file import read_plan
from tests.clusters import RealCluster, cluster_environment
from tests.deaths.test_deaths_on_a_cluster import (
    completed_after_a_restart,
    events_of,
    has_trained,
    profile_on,
    started,
    until,
)

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow]

_BRIDGE, _NAMESPACE = "gptestbr", "gptestns"
_HEAD, _NODE = "10.213.7.1", "10.213.7.2"
_RAY = Path(sysconfig.get_path("scripts")) / "ray"


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, timeout=20, capture_output=True)


@dataclass
class NetworkedCluster(RealCluster):
    """The head on this machine's side of a bridge, a node in a namespace on its other side."""

    @staticmethod
    def cut() -> None:
        ip("link", "set", "gptestv0", "down")


@contextmanager
def _network() -> Iterator[None]:
    ip("link", "add", _BRIDGE, "type", "bridge")
    try:
        ip("addr", "add", f"{_HEAD}/24", "dev", _BRIDGE)
        ip("link", "set", _BRIDGE, "up")
        ip("netns", "add", _NAMESPACE)
        ip("link", "add", "gptestv0", "type", "veth", "peer", "name", "gptestv1")
        ip("link", "set", "gptestv0", "master", _BRIDGE, "up")
        ip("link", "set", "gptestv1", "netns", _NAMESPACE)
        ip("-n", _NAMESPACE, "addr", "add", f"{_NODE}/24", "dev", "gptestv1")
        ip("-n", _NAMESPACE, "link", "set", "gptestv1", "up")
        ip("-n", _NAMESPACE, "link", "set", "lo", "up")
        yield
    finally:
        # The pair first: a namespace whose processes are just ending would keep it.
        for words in (("link", "del", "gptestv0"), ("netns", "del", _NAMESPACE)):
            subprocess.run(["ip", *words], check=False, timeout=20)
        subprocess.run(["ip", "link", "del", _BRIDGE], check=False, timeout=20)


@pytest.fixture
def cluster() -> Iterator[NetworkedCluster]:
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("making network namespaces needs root and iproute2")
    folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
    environment = os.environ | cluster_environment(folder)
    common = ["--num-cpus=4", "--num-gpus=0", f"--object-store-memory={80 * 2**20}"]

    def start(*words: str) -> None:
        # Its daemons are no children of the test: ray start ends and leaves them.
        with (folder / "start.log").open("ab") as log:
            subprocess.run(
                [*words, *common],
                check=True,
                timeout=120,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    real = NetworkedCluster(folder, None, f"{_HEAD}:26379")
    try:
        with _network():
            head = [f"--node-ip-address={_HEAD}", "--port=26379", "--node-name=alpha"]
            options = ["--include-dashboard=false", f"--temp-dir={folder}"]
            start(str(_RAY), "start", "--head", *head, *options)
            inside = ["ip", "netns", "exec", _NAMESPACE, str(_RAY), "start"]
            joins = [f"--address={real.address}", f"--node-ip-address={_NODE}"]
            start(*inside, *joins, "--node-name=beta")
            yield real
    finally:
        real.kill_all()
        shutil.rmtree(folder, ignore_errors=True)


_LISTENING = """
import sys, psutil
for each in psutil.Process(int(sys.argv[1])).net_connections("tcp"):
    if each.status == psutil.CONN_LISTEN:
        print(each.laddr.ip.removeprefix("::ffff:"))
"""


def listening(pid: int, *inside: str) -> set[str]:
    """The addresses on which a process listens; the kernel says it within its network only."""
    command = [*inside, sys.executable, "-c", _LISTENING, str(pid)]
    found = subprocess.run(command, check=True, timeout=60, capture_output=True, text=True)
    return set(found.stdout.split())


def test_that_processes_listen_on_the_network_alone_and_that_its_break_is_survived(
    cluster: NetworkedCluster, tmp_path: Path, runs_dir: Path
) -> None:
    profile = profile_on(tmp_path / "p.toml", cluster, epochs=300)
    text = profile.read_text()
    profile.write_text(f'{text}network = "10.213.7.0/24"\n')
    layout = started(profile, runs_dir)
    events = until(layout, has_trained)
    first, second = (event.pid for event in events if isinstance(event, TrainerStarted))
    assert listening(first) == {_HEAD}
    assert listening(second, "ip", "netns", "exec", _NAMESPACE) == {_NODE}
    ports = next(
        event.problem
        for event in events
        if isinstance(event, ProblemReported) and event.problem.code == "cluster_ports_open"
    )
    assert _HEAD in ports.detail
    assert _NODE in ports.detail

    cluster.cut()
    cut_s = time.time()
    found = completed_after_a_restart(layout)
    lost = next(
        event
        for event in found
        if isinstance(event, ProblemReported) and event.problem.code == "node_lost"
    )
    assert "beta" in lost.problem.message
    assert lost.time_s - cut_s < 30.0
    assert {process.node for process in read_plan(layout).gang} == {"alpha"}
    assert events_of(layout)
    # Nothing but the agent there could end those that were cut off.
    cluster.until_no_trainer_is_left(10.0)
