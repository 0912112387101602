"""A run on a real Ray cluster of which something is killed at random moments, again and again.

``GPUPANEL_CLUSTER_DEATHS`` says how often, ``GPUPANEL_CLUSTER_SEED`` which moments.
"""

import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import psutil
import pytest

from gpupanel.domain.events import Event, RunEnded, RunRestarted, RunStarted, TrainerStarted
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.run_folder import has_checkpoint
from gpupanel.runs.history.summaries import summarize_run
from tests.clusters import RealCluster, real_cluster
from tests.deaths.mortal_run import saved_weights
from tests.deaths.test_deaths_on_a_cluster import assert_close, events_of, started
from tests.e2e.test_terminal import gpupanel
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow]

DEATHS = int(os.environ.get("GPUPANEL_CLUSTER_DEATHS", "4"))
SEED = int(os.environ.get("GPUPANEL_CLUSTER_SEED", "1"))
_WITHIN_S = 9.0
_PROFILE = """
schema_version = 1
name = "mortal"
[devices]
visible = ["cpu"]
[strategy]
kind = "multi_worker"
[model]
source = "mlp"
hidden = [16]
[training]
epochs = {epochs}
optimizer = "sgd"
learning_rate = 0.01
max_restarts = 100
checkpoint_every_epochs = 5
tensorboard = false
[cluster]
address = "{address}"
"""


@pytest.fixture
def cluster() -> Iterator[RealCluster]:
    with real_cluster("alpha", "beta") as real:
        yield real


def begun(cluster: RealCluster, folder: Path, runs_dir: Path, epochs: int) -> RunLayout:
    profile = folder / "profile.toml"
    profile.write_text(_PROFILE.format(address=cluster.address, epochs=epochs))
    return started(profile, runs_dir)


def present(events: list[Event]) -> list[psutil.Process]:
    """The supervisor's process and the trainers', as the run reports them now."""
    pids: list[int] = []
    for event in events:
        if isinstance(event, RunStarted):
            pids = [event.supervisor_pid]
        elif isinstance(event, RunRestarted):
            pids = pids[:1]
        elif isinstance(event, TrainerStarted):
            pids.append(event.pid)
    found = []
    for pid in pids:
        with suppress(psutil.NoSuchProcess):
            found.append(psutil.Process(pid))
    return found


def victim(kind: str, events: list[Event], dice: random.Random) -> psutil.Process | None:
    """What is killed; ``None``: there is none of that kind now."""
    processes = present(events)
    supervisors = [each for each in processes if "supervisor" in " ".join(words(each))]
    trainers = [each for each in processes if "gpupanel.trainer" in words(each)]
    with suppress(psutil.Error):
        if kind == "supervisor":
            return supervisors[0] if supervisors else None
        if kind == "driver":
            children = [child for each in supervisors for child in each.children()]
            drivers = [each for each in children if "gpupanel.runs.cluster.driver" in words(each)]
            return drivers[0] if drivers else None
        if trainers:
            chosen = dice.choice(trainers)
            return chosen if kind == "trainer" else chosen.parent()
    return None


def words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def is_over(layout: RunLayout) -> bool:
    return not summarize_run(layout).is_running


def until_over_or(layout: RunLayout, seconds: float) -> None:
    until_s = time.monotonic() + seconds
    while time.monotonic() < until_s and not is_over(layout):
        time.sleep(0.3)


def killed(layout: RunLayout, kind: str, dice: random.Random) -> bool:
    """Kill one of that kind at a random moment; whether there was one before the run's end."""
    until_over_or(layout, dice.uniform(0.0, _WITHIN_S))
    end_s = time.monotonic() + PATIENCE_S
    while not is_over(layout):
        assert time.monotonic() < end_s, f"no {kind}"
        found = victim(kind, events_of(layout), dice)
        if found is not None:
            with suppress(psutil.NoSuchProcess):
                found.kill()
                return True
        time.sleep(0.05)
    return False


def resumed_where_it_ended(layout: RunLayout) -> bool:
    """Resume a run that has ended before its end; whether it has."""
    if not is_over(layout) or summarize_run(layout).outcome is Outcome.COMPLETED:
        return False
    ended = summarize_run(layout)
    # Stopped: a supervisor before the last one was killed, and the last one, which was killed as it
    # started, had just taken in that the trainers saved and ended for that.
    was_alone = ended.problem is not None and ended.problem.code == "supervisor_gone"
    assert ended.outcome in (Outcome.FAILED, Outcome.LOST) or was_alone, ended
    answer = gpupanel("resume", layout.root, "--detach")
    assert answer.returncode == 0, answer.stderr
    return True


def disturbed(layout: RunLayout, kinds: tuple[str, ...], dice: random.Random) -> Counter[str]:
    """Kill, and see it continue, until it was killed often enough or has come to its end."""
    deaths: Counter[str] = Counter()
    while deaths.total() < DEATHS:
        kind = dice.choice(kinds)
        if not killed(layout, kind, dice):
            break
        deaths[kind] += 1
        # Whatever it comes to takes a moment to be known.
        until_over_or(layout, 2.0)
        resumed_where_it_ended(layout)
    end_s = time.monotonic() + 4 * PATIENCE_S
    while time.monotonic() < end_s:
        until_over_or(layout, PATIENCE_S)
        if not resumed_where_it_ended(layout):
            break
    ended = next(each for each in reversed(events_of(layout)) if isinstance(each, RunEnded))
    assert ended.outcome is Outcome.COMPLETED, ended.problem
    return deaths


def test_that_a_run_of_which_anything_is_killed_at_any_moment_ends_with_the_same_bits(
    cluster: RealCluster, tmp_path: Path, runs_dir: Path
) -> None:
    # As long as it takes to be killed so often: some seconds of training between two deaths.
    epochs = 100 + 100 * DEATHS
    undisturbed = begun(cluster, tmp_path, runs_dir, epochs)
    until_over_or(undisturbed, 4 * PATIENCE_S)
    assert summarize_run(undisturbed).outcome is Outcome.COMPLETED
    layout = begun(cluster, tmp_path, runs_dir, epochs)
    # Without one a run whose supervisor is killed has nothing to resume from.
    while not has_checkpoint(layout) and not is_over(layout):
        time.sleep(0.05)
    deaths = disturbed(layout, ("trainer", "agent", "driver", "supervisor"), random.Random(SEED))
    restarts = sum(isinstance(each, RunRestarted) for each in events_of(layout))
    print(f"seed {SEED}: {dict(deaths)}, {restarts} restarts")
    assert deaths
    expected = saved_weights(undisturbed)
    if any(each.changes for each in events_of(layout) if isinstance(each, RunRestarted)):
        # A node had not answered in time, so that it was trained by fewer for a while.
        assert_close(layout, undisturbed)
    else:
        for name, weights in saved_weights(layout).items():
            np.testing.assert_array_equal(weights, expected[name], err_msg=name)
    cluster.until_no_trainer_is_left(30.0)


def test_that_a_run_whose_other_raylet_is_killed_and_comes_back_ends_with_the_same_weights(
    cluster: RealCluster, tmp_path: Path, runs_dir: Path
) -> None:
    dice = random.Random(SEED)
    undisturbed = begun(cluster, tmp_path, runs_dir, 300)
    until_over_or(undisturbed, 4 * PATIENCE_S)
    layout = begun(cluster, tmp_path, runs_dir, 300)
    # From its start on: at whatever it is then.
    until_over_or(layout, dice.uniform(0.0, 2 * _WITHIN_S))
    cluster.raylets["beta"].kill()
    until_over_or(layout, dice.uniform(0.0, _WITHIN_S))
    cluster.add("beta")
    end_s = time.monotonic() + 4 * PATIENCE_S
    while time.monotonic() < end_s:
        until_over_or(layout, PATIENCE_S)
        if not resumed_where_it_ended(layout):
            break
    assert summarize_run(layout).outcome is Outcome.COMPLETED
    assert_close(layout, undisturbed)
    cluster.until_no_trainer_is_left(30.0)
