"""The queue and a sweep whose runs train on the nodes of a real Ray cluster."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.plan_file import read_plan
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.queue.waking import scheduler_lives
from tests.clusters import RealCluster, real_cluster
from tests.e2e.test_terminal import gpupanel
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow]

_PROFILE = """
schema_version = 1
name = "{name}"
[devices]
visible = ["cpu"]
[strategy]
kind = "multi_worker"
[model]
source = "mlp"
hidden = [8]
[training]
epochs = 1
optimizer = "sgd"
[cluster]
address = "{address}"
{sweep}
"""
_SWEEP = """
[sweep]
method = "grid"
[sweep.values]
"training.learning_rate" = [0.1, 0.01]
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[RealCluster]:
    with real_cluster("alpha", "beta") as real:
        yield real


@pytest.fixture(autouse=True)
def _no_scheduler_is_left() -> Iterator[None]:
    yield
    until_s = time.monotonic() + PATIENCE_S
    while scheduler_lives(queue_dir()) and time.monotonic() < until_s:
        time.sleep(0.2)


def asked(*words: str | Path) -> dict[str, Any]:
    answer = gpupanel(*words, "--json")
    assert answer.returncode == 0, answer.stderr + answer.stdout
    document: dict[str, Any] = json.loads(answer.stdout)
    return document


def test_that_queue_and_sweep_train_on_the_nodes_one_after_the_other(
    cluster: RealCluster, tmp_path: Path, runs_dir: Path
) -> None:
    queued, swept = tmp_path / "queued.toml", tmp_path / "swept.toml"
    queued.write_text(_PROFILE.format(name="queued", address=cluster.address, sweep=""))
    swept.write_text(_PROFILE.format(name="swept", address=cluster.address, sweep=_SWEEP))
    asked("queue", "add", queued)
    assert asked("sweep", swept)["trials"] == 2
    until_s = time.monotonic() + 2 * PATIENCE_S
    while (entries := asked("queue")["entries"]) and time.monotonic() < until_s:
        ended = [each for each in entries if each["state"] in ("ended", "refused")]
        if len(ended) == 3:
            break
        time.sleep(0.5)
    assert [each["outcome"] for each in entries] == ["completed"] * 3, entries
    roots = [Path(each["run"]) for each in entries]
    for root in roots:
        layout = RunLayout(root)
        assert {each.node for each in read_plan(layout).gang} == {"alpha", "beta"}
        assert summarize_run(layout).outcome is Outcome.COMPLETED
    (found,) = (runs_dir / "sweeps").iterdir()
    assert asked("sweep", found.name)["best"] in (1, 2)
    cluster.until_no_trainer_is_left(10.0)


def test_that_devices_of_a_cluster_are_not_compared(cluster: RealCluster, tmp_path: Path) -> None:
    profile = tmp_path / "p.toml"
    profile.write_text(_PROFILE.format(name="p", address=cluster.address, sweep=""))
    answer = gpupanel("bench", profile, "--json")
    assert answer.returncode == 1
    assert [each["code"] for each in json.loads(answer.stdout)["problems"]] == ["bench_on_cluster"]
