"""Nodes of a real Ray cluster in network namespaces: where they listen, a network that breaks."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.events import EpochDone, ProblemReported, RunEnded, TrainerStarted
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.plan_file import read_plan
from tests.cluster_networks import (
    HEAD,
    NAMESPACE,
    NETWORK,
    NODE,
    DelayedLink,
    NetworkedCluster,
    can_make_networks,
    delayed_link,
    networked_cluster,
)
from tests.deaths.mortal_run import saved_weights
from tests.deaths.test_deaths_on_a_cluster import (
    completed_after_a_restart,
    events_of,
    has_trained,
    profile_on,
    started,
    until,
)

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow]


@pytest.fixture
def cluster() -> Iterator[NetworkedCluster]:
    if not can_make_networks():
        pytest.skip(_NEEDS)
    with networked_cluster() as real:
        yield real


@pytest.fixture
def slow_cluster() -> Iterator[NetworkedCluster]:
    if not can_make_networks() or not Path("/dev/net/tun").exists():
        pytest.skip(f"{_NEEDS}, and /dev/net/tun")
    with networked_cluster(delayed_link) as real:
        yield real


_NEEDS = "making network namespaces needs root and iproute2"
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
    profile.write_text(f'{text}network = "{NETWORK}"\n')
    layout = started(profile, runs_dir)
    events = until(layout, has_trained)
    first, second = (event.pid for event in events if isinstance(event, TrainerStarted))
    assert listening(first) == {HEAD}
    assert listening(second, "ip", "netns", "exec", NAMESPACE) == {NODE}
    ports = next(
        event.problem
        for event in events
        if isinstance(event, ProblemReported) and event.problem.code == "cluster_ports_open"
    )
    assert HEAD in ports.detail
    assert NODE in ports.detail

    assert cluster.link is not None
    cluster.link.cut()
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


_STEPS = """
schema_version = 1
name = "slow link"
[devices]
visible = ["cpu"]
[strategy]
kind = "multi_worker"
[data]
source = "digits"
validation_fraction = 0.0
[model]
source = "mlp"
hidden = [256]
[training]
epochs = 2
global_batch_size = 128
optimizer = "sgd"
learning_rate = 0.1
[cluster]
address = "{address}"
network = "{network}"
"""


def trained(profile: Path, runs_dir: Path) -> tuple[RunLayout, float]:
    """A run that came to its end, and the seconds from its first epoch's end to its last one's."""
    layout = started(profile, runs_dir)
    events = until(layout, lambda found: any(isinstance(each, RunEnded) for each in found))
    ended = events[-1]
    assert isinstance(ended, RunEnded)
    assert ended.outcome is Outcome.COMPLETED, ended.problem
    assert not ended.restarts
    codes = [each.problem.code for each in events if isinstance(each, ProblemReported)]
    assert "node_lost" not in codes
    epochs = [event.time_s for event in events if isinstance(event, EpochDone)]
    return layout, epochs[-1] - epochs[0]


def test_that_a_slow_link_changes_the_time_and_not_a_bit_and_that_no_node_is_lost(
    slow_cluster: NetworkedCluster, tmp_path: Path, runs_dir: Path
) -> None:
    link = slow_cluster.link
    assert isinstance(link, DelayedLink)
    profile = tmp_path / "p.toml"
    profile.write_text(_STEPS.format(address=slow_cluster.address, network=NETWORK))
    undisturbed, quick_s = trained(profile, runs_dir)
    expected = saved_weights(undisturbed)
    # A step exchanges 76 kB of gradients: 0.15 s at this rate.
    link.limit("4mbit")
    narrow, narrow_s = trained(profile, runs_dir)
    link.lift_limit()
    link.delay(0.1)
    far, far_s = trained(profile, runs_dir)
    link.delay(0.0)
    print(f"epoch: {quick_s:.2f} s, with 4 Mbit/s {narrow_s:.2f} s, 100 ms away {far_s:.2f} s")
    for layout in (narrow, far):
        for name, weights in saved_weights(layout).items():
            np.testing.assert_array_equal(weights, expected[name], err_msg=name)
    # An epoch is 15 steps: of 0.15 s at least, and of 0.2 s there and back at least.
    assert narrow_s > max(quick_s, 15 * 0.15)
    assert far_s > max(quick_s, 15 * 0.2)
    slow_cluster.until_no_trainer_is_left(15.0)
