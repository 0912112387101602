"""A run on eight nodes of a real Ray cluster, of which one is lost."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.plan_file import read_plan
from tests.clusters import RealCluster, real_cluster
from tests.deaths.test_deaths_on_a_cluster import (
    assert_close,
    codes_of_restarts,
    completed_after_a_restart,
    has_trained,
    profile_on,
    started,
    until,
)
from tests.forked.terminal import gpupanel as forked

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow]

NODES = ("a", "b", "c", "d", "e", "f", "g", "h")
EPOCHS = 60


@pytest.fixture
def cluster() -> Iterator[RealCluster]:
    with real_cluster(*NODES) as real:
        yield real


def test_that_eight_nodes_and_after_a_loss_seven_come_to_the_weights_of_one_device(
    cluster: RealCluster, tmp_path: Path, runs_dir: Path
) -> None:
    layout = started(profile_on(tmp_path / "p.toml", cluster, epochs=EPOCHS), runs_dir)
    until(layout, has_trained)
    assert [process.node for process in read_plan(layout).gang] == [*NODES]
    cluster.raylets["e"].kill()
    events = completed_after_a_restart(layout)
    assert codes_of_restarts(events) == ["node_lost"]
    assert [process.node for process in read_plan(layout).gang] == [
        node for node in NODES if node != "e"
    ]
    alone = tmp_path / "alone"
    profile = profile_on(tmp_path / "alone.toml", None, epochs=EPOCHS)
    assert forked("run", profile, "--json", "--runs-dir", alone).returncode == 0
    (root,) = alone.iterdir()
    assert_close(layout, RunLayout(root))
    cluster.until_no_trainer_is_left(10.0)
