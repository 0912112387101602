"""A real Ray cluster whose nodes are in network namespaces, with a link that can be cut or slowed.

The head is on this machine's side of a bridge, the other node in a namespace on its other side.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.clusters import RealCluster, cluster_environment

HEAD, NODE, NETWORK = "10.213.7.1", "10.213.7.2", "10.213.7.0/24"
NAMESPACE = "gptestns"
_BRIDGE, _HERE, _THERE = "gptestbr", "gptestv0", "gptestv1"
_RAY = Path(sysconfig.get_path("scripts")) / "ray"


def can_make_networks() -> bool:
    return os.geteuid() == 0 and all(map(shutil.which, ("ip", "tc")))


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, timeout=20, capture_output=True)


def _tc(*words: str) -> None:
    subprocess.run(["tc", "qdisc", *words], check=True, timeout=20, capture_output=True)


class Link:
    """The way between the two nodes, as fast as this machine."""

    def cut(self) -> None:
        ip("link", "set", _HERE, "down")

    def limit(self, rate: str) -> None:
        """Let no more bits through in a second than that, in either direction."""
        shaped = ("root", "tbf", "rate", rate, "burst", "32kbit", "latency", "400ms")
        _tc("replace", "dev", _HERE, *shaped)
        inside = ["ip", "netns", "exec", NAMESPACE, "tc", "qdisc", "replace", "dev", _THERE]
        subprocess.run([*inside, *shaped], check=True, timeout=20, capture_output=True)

    def lift_limit(self) -> None:
        _tc("del", "dev", _HERE, "root")
        inside = ["ip", "netns", "exec", NAMESPACE, "tc", "qdisc", "del", "dev", _THERE, "root"]
        subprocess.run(inside, check=True, timeout=20, capture_output=True)


class DelayedLink(Link):
    """A link that carries everything some time later."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def delay(self, seconds: float) -> None:
        """Of each frame, in either direction."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{seconds}\n")
        self._process.stdin.flush()


@contextmanager
def direct_link() -> Iterator[Link]:
    ip("link", "add", _HERE, "type", "veth", "peer", "name", _THERE)
    try:
        yield Link()
    finally:
        subprocess.run(["ip", "link", "del", _HERE], check=False, timeout=20)


@contextmanager
def delayed_link() -> Iterator[DelayedLink]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.network_link", _HERE, _THERE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            assert process.stdout.readline() == "ready\n"
            yield DelayedLink(process)
        finally:
            process.stdin.close()
            process.wait(20)


@dataclass
class NetworkedCluster(RealCluster):
    """A cluster, and the link between its nodes."""

    link: Link | None = None


@contextmanager
def networked_cluster(
    make_link: "Callable[[], AbstractContextManager[Link]]" = direct_link,
) -> Iterator[NetworkedCluster]:
    """A cluster of alpha on this machine's side and beta on the other."""
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

    real = NetworkedCluster(folder, None, f"{HEAD}:26379")
    try:
        with _network(make_link) as real.link:
            head = [f"--node-ip-address={HEAD}", "--port=26379", "--node-name=alpha"]
            options = ["--include-dashboard=false", f"--temp-dir={folder}"]
            start(str(_RAY), "start", "--head", *head, *options)
            inside = ["ip", "netns", "exec", NAMESPACE, str(_RAY), "start"]
            joins = [f"--address={real.address}", f"--node-ip-address={NODE}"]
            start(*inside, *joins, "--node-name=beta")
            yield real
    finally:
        real.kill_all()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _network(make_link: "Callable[[], AbstractContextManager[Link]]") -> Iterator[Link]:
    ip("link", "add", _BRIDGE, "type", "bridge")
    try:
        ip("addr", "add", f"{HEAD}/24", "dev", _BRIDGE)
        ip("link", "set", _BRIDGE, "up")
        ip("netns", "add", NAMESPACE)
        # The link ends first: a namespace whose processes are just ending would keep it.
        with make_link() as link:
            ip("link", "set", _HERE, "master", _BRIDGE, "up")
            ip("link", "set", _THERE, "netns", NAMESPACE)
            ip("-n", NAMESPACE, "addr", "add", f"{NODE}/24", "dev", _THERE)
            ip("-n", NAMESPACE, "link", "set", _THERE, "up")
            ip("-n", NAMESPACE, "link", "set", "lo", "up")
            yield link
    finally:
        for words in (("netns", "del", NAMESPACE), ("link", "del", _BRIDGE)):
            subprocess.run(["ip", *words], check=False, timeout=20)
