"""What a run on a real Ray cluster comes to when something of it is killed."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import psutil
import pytest

from gpupanel.domain.events import (
    EpochDone,
    Event,
    ModelReady,
    ProblemReported,
    RunEnded,
    RunRestarted,
    RunStarted,
    TrainerStarted,
    TrainingResumed,
)
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.plan_file import read_plan
from gpupanel.runs.following.follower import RunFollower
from tests.clusters import RealCluster, real_cluster
from tests.deaths.mortal_run import saved_weights
from tests.e2e.test_terminal import gpupanel
from tests.forked.terminal import gpupanel as forked
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow]

_EPOCHS = 150
_PROFILE = """
schema_version = 1
name = "mortal"
[devices]
visible = ["cpu"]
[strategy]
{strategy}
[model]
source = "mlp"
hidden = [16]
[training]
epochs = {epochs}
optimizer = "sgd"
learning_rate = 0.01
max_restarts = 2
{cluster}
"""


@pytest.fixture(scope="module")
def lasting() -> Iterator[RealCluster]:
    """A cluster whose nodes stay."""
    with real_cluster("alpha", "beta") as real:
        yield real


@pytest.fixture
def mortal() -> Iterator[RealCluster]:
    """A cluster of whose nodes one is killed."""
    with real_cluster("alpha", "beta") as real:
        yield real


def profile_on(
    path: Path, cluster: RealCluster | None, kind: str = "multi_worker", epochs: int = _EPOCHS
) -> Path:
    table = "" if cluster is None else f'[cluster]\naddress = "{cluster.address}"'
    strategy = "" if cluster is None else f'kind = "{kind}"'
    path.write_text(_PROFILE.format(strategy=strategy, cluster=table, epochs=epochs))
    return path


def started(profile: Path, runs_dir: Path) -> RunLayout:
    before = set(runs_dir.iterdir()) if runs_dir.exists() else set()
    answer = gpupanel("run", profile, "--detach")
    assert answer.returncode == 0, answer.stderr
    (root,) = set(runs_dir.iterdir()) - before
    return RunLayout(root)


def events_of(layout: RunLayout) -> list[Event]:
    return list(RunFollower(layout).poll().events)


def until(layout: RunLayout, holds: Callable[[list[Event]], bool]) -> list[Event]:
    end_s = time.monotonic() + PATIENCE_S
    while not holds(events := events_of(layout)):
        assert time.monotonic() < end_s, events[-5:]
        time.sleep(0.1)
    return events


def has_trained(events: list[Event]) -> bool:
    return sum(isinstance(event, EpochDone) for event in events) >= 5


def has_ended(events: list[Event]) -> bool:
    return any(isinstance(event, RunEnded) for event in events)


def pids_of(events: list[Event]) -> list[int]:
    return [event.pid for event in events if isinstance(event, TrainerStarted)]


def kill(pid: int) -> None:
    psutil.Process(pid).kill()


def driver_of(events: list[Event]) -> psutil.Process:
    (supervisor,) = (event.supervisor_pid for event in events if isinstance(event, RunStarted))
    return next(
        child
        for child in psutil.Process(supervisor).children()
        if "gpupanel.runs.cluster.driver" in child.cmdline()
    )


def completed_after_a_restart(layout: RunLayout) -> list[Event]:
    events = until(layout, has_ended)
    (ended,) = (event for event in events if isinstance(event, RunEnded))
    assert ended.outcome is Outcome.COMPLETED, ended.problem
    assert any(isinstance(event, TrainingResumed) for event in events)
    return events


def codes_of_restarts(events: list[Event]) -> list[str]:
    return [
        event.problem.code
        for event in events
        if isinstance(event, RunRestarted) and event.problem is not None
    ]


def assert_close(layout: RunLayout, expected: RunLayout) -> None:
    weights, wanted = saved_weights(layout), saved_weights(expected)
    assert weights.keys() == wanted.keys()
    for name, each in wanted.items():
        np.testing.assert_allclose(weights[name], each, rtol=1e-4, atol=1e-5, err_msg=name)


@pytest.fixture(scope="module")
def undisturbed(lasting: RealCluster, tmp_path_factory: pytest.TempPathFactory) -> RunLayout:
    """The run as nothing happened to it."""
    folder = tmp_path_factory.mktemp("undisturbed")
    profile = profile_on(folder / "profile.toml", lasting)
    answer = gpupanel("run", profile, "--runs-dir", folder / "runs")
    assert answer.returncode == 0, answer.stderr
    (root,) = (folder / "runs").iterdir()
    return RunLayout(root)


@pytest.mark.parametrize("place", [0, 1], ids=["the leader", "another worker"])
def test_that_a_killed_worker_is_replaced_from_the_checkpoint_to_the_last_bit(
    lasting: RealCluster, undisturbed: RunLayout, tmp_path: Path, runs_dir: Path, place: int
) -> None:
    layout = started(profile_on(tmp_path / "p.toml", lasting), runs_dir)
    kill(pids_of(until(layout, has_trained))[place])
    events = completed_after_a_restart(layout)
    assert codes_of_restarts(events) == ["trainer_killed"]
    expected = saved_weights(undisturbed)
    for name, weights in saved_weights(layout).items():
        np.testing.assert_array_equal(weights, expected[name], err_msg=name)
    lasting.until_no_trainer_is_left(10.0)


def test_that_the_death_of_an_agent_is_the_loss_of_its_node_and_the_run_restarts(
    lasting: RealCluster, undisturbed: RunLayout, tmp_path: Path, runs_dir: Path
) -> None:
    layout = started(profile_on(tmp_path / "p.toml", lasting), runs_dir)
    agent = psutil.Process(pids_of(until(layout, has_trained))[1]).parent()
    assert agent is not None
    agent.kill()
    events = completed_after_a_restart(layout)
    assert codes_of_restarts(events) == ["node_lost"]
    assert_close(layout, undisturbed)
    lasting.until_no_trainer_is_left(10.0)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_that_a_driver_that_ends_or_freezes_is_replaced(
    lasting: RealCluster, tmp_path: Path, runs_dir: Path, number: signal.Signals
) -> None:
    layout = started(profile_on(tmp_path / "p.toml", lasting, epochs=1500), runs_dir)
    driver_of(until(layout, has_trained)).send_signal(number)
    events = until(layout, lambda found: any(isinstance(each, RunRestarted) for each in found))
    assert codes_of_restarts(events) == ["cluster_lost"]
    until(layout, lambda found: any(isinstance(each, TrainingResumed) for each in found))
    assert gpupanel("stop", layout.root).returncode == 0
    until(layout, has_ended)
    lasting.until_no_trainer_is_left(10.0)


def test_that_a_driver_that_ends_before_anything_was_started_is_replaced(
    lasting: RealCluster, tmp_path: Path, runs_dir: Path
) -> None:
    layout = started(profile_on(tmp_path / "p.toml", lasting, epochs=2), runs_dir)
    events = until(layout, lambda found: any(isinstance(each, RunStarted) for each in found))
    end_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < end_s:
        with suppress(StopIteration, psutil.Error):
            driver_of(events).kill()
            break
    events = until(layout, has_ended)
    assert codes_of_restarts(events) == ["cluster_lost"]
    assert isinstance(events[-1], RunEnded)
    assert events[-1].outcome is Outcome.COMPLETED, events[-1].problem
    assert len(pids_of(events)) == 2
    lasting.until_no_trainer_is_left(10.0)


def test_that_nothing_is_left_of_a_run_whose_supervisor_is_killed_and_that_it_resumes(
    lasting: RealCluster, undisturbed: RunLayout, tmp_path: Path, runs_dir: Path
) -> None:
    layout = started(profile_on(tmp_path / "p.toml", lasting), runs_dir)
    events = until(layout, has_trained)
    (supervisor,) = (event.supervisor_pid for event in events if isinstance(event, RunStarted))
    kill(supervisor)
    lasting.until_no_trainer_is_left(30.0)
    answer = gpupanel("resume", layout.root)
    assert answer.returncode == 0, answer.stderr
    assert_close(layout, undisturbed)


def test_that_a_killed_raylet_is_named_and_the_run_continues_on_the_other_node(
    mortal: RealCluster, undisturbed: RunLayout, tmp_path: Path, runs_dir: Path
) -> None:
    layout = started(profile_on(tmp_path / "p.toml", mortal), runs_dir)
    until(layout, has_trained)
    mortal.raylets["beta"].kill()
    killed_s = time.time()
    events = completed_after_a_restart(layout)
    named = next(
        event
        for event in events
        if isinstance(event, ProblemReported) and event.problem.code == "node_lost"
    )
    assert "beta" in named.problem.message
    assert named.time_s - killed_s < 10.0
    assert codes_of_restarts(events) == ["node_lost"]
    assert {process.node for process in read_plan(layout).gang} == {"alpha"}
    assert_close(layout, undisturbed)
    mortal.until_no_trainer_is_left(10.0)


@pytest.mark.parametrize("returns", [True, False], ids=["which returns", "which stays away"])
def test_that_a_run_that_waits_for_a_node_that_is_lost_starts_all_the_same(
    mortal: RealCluster, undisturbed: RunLayout, tmp_path: Path, runs_dir: Path, returns: bool
) -> None:
    # It has all processors of both nodes, until one is lost.
    strategy = 'kind = "multi_worker"\nworkers = 8'
    holding_it = profile_on(tmp_path / "first.toml", mortal, epochs=100_000)
    text = holding_it.read_text().replace("max_restarts = 2", "max_restarts = 0")
    holding_it.write_text(text.replace('kind = "multi_worker"', strategy))
    holding = started(holding_it, runs_dir)
    until(holding, lambda found: len(pids_of(found)) == 8)
    layout = started(profile_on(tmp_path / "second.toml", mortal), runs_dir)
    until(layout, lambda found: "cluster_waiting" in codes_of_reports(found))
    mortal.raylets["beta"].kill()
    if returns:
        mortal.add("beta")
    until(holding, has_ended)
    events = until(layout, has_ended)
    assert isinstance(events[-1], RunEnded)
    assert events[-1].outcome is Outcome.COMPLETED, events[-1].problem
    assert codes_of_restarts(events) == ([] if returns else ["node_not_in_cluster"])
    nodes = {process.node for process in read_plan(layout).gang}
    assert nodes == ({"alpha", "beta"} if returns else {"alpha"})
    assert_close(layout, undisturbed)
    mortal.until_no_trainer_is_left(10.0)


def codes_of_reports(events: list[Event]) -> list[str]:
    return [event.problem.code for event in events if isinstance(event, ProblemReported)]


def test_that_a_killed_head_is_named_within_seconds(
    mortal: RealCluster, tmp_path: Path, runs_dir: Path
) -> None:
    layout = started(profile_on(tmp_path / "p.toml", mortal, epochs=100_000), runs_dir)
    until(layout, has_trained)
    assert mortal.head is not None
    mortal.head.kill()
    killed_s = time.time()
    events = until(
        layout,
        lambda found: any(
            isinstance(each, ProblemReported) and each.problem.code == "cluster_head_silent"
            for each in found
        ),
    )
    assert events[-1].time_s - killed_s < 15.0
    assert gpupanel("stop", layout.root).returncode == 0
    until(layout, has_ended)
    mortal.until_no_trainer_is_left(20.0)


def test_that_a_run_goes_from_a_cluster_to_one_machine_and_back(
    lasting: RealCluster, undisturbed: RunLayout, tmp_path: Path, runs_dir: Path
) -> None:
    there = profile_on(tmp_path / "there.toml", lasting)
    here = profile_on(tmp_path / "here.toml", None)
    layout = started(there, runs_dir)
    for wanted in (here, there):
        trained = len(until(layout, has_trained))
        assert gpupanel("suspend", layout.root).returncode == 0
        events = until(layout, lambda found: has_ended(found[-3:]))
        assert len(events) >= trained
        answer = gpupanel("resume", layout.root, "--with", wanted, "--detach")
        assert answer.returncode == 0, answer.stderr
        before = len(events)
        until(layout, lambda found, before=before: has_trained(found[before:]))
    events = until(layout, lambda found: has_ended(found[-3:]))
    assert isinstance(events[-1], RunEnded)
    assert events[-1].outcome is Outcome.COMPLETED
    assert_close(layout, undisturbed)


def test_that_one_device_comes_to_the_same_weights(
    undisturbed: RunLayout, tmp_path: Path, runs_dir: Path
) -> None:
    assert forked("run", profile_on(tmp_path / "p.toml", None), "--json").returncode == 0
    (root,) = runs_dir.iterdir()
    assert_close(RunLayout(root), undisturbed)


def test_that_parameter_servers_and_workers_of_several_nodes_train_together(
    lasting: RealCluster, tmp_path: Path, runs_dir: Path
) -> None:
    profile = profile_on(tmp_path / "p.toml", lasting, "parameter_server", epochs=3)
    answer = gpupanel("run", profile)
    assert answer.returncode == 0, answer.stderr
    (root,) = runs_dir.iterdir()
    names = [each.name for each in events_of(RunLayout(root)) if isinstance(each, TrainerStarted)]
    assert names == [
        *("the coordinator on alpha", "worker 0 on alpha", "worker 1 on beta"),
        "parameter server 0 on alpha",
    ]
    lasting.until_no_trainer_is_left(10.0)


_INFERENCE = """
schema_version = 1
name = "predicting"
task = "predict"
[devices]
visible = ["cpu"]
[strategy]
kind = "{kind}"
[model]
source = "saved"
path = "{model}"
[training]
max_restarts = 1
{cluster}
"""


def test_that_a_prediction_whose_worker_is_killed_begins_again_and_is_complete(
    lasting: RealCluster, undisturbed: RunLayout, tmp_path: Path, runs_dir: Path
) -> None:
    model, profile = undisturbed.model, tmp_path / "p.toml"
    table = f'[cluster]\naddress = "{lasting.address}"'
    profile.write_text(_INFERENCE.format(kind="multi_worker", model=model, cluster=table))
    layout = started(profile, runs_dir)
    # As of a start that ended before: what stands there is not taken for outputs of this one.
    layout.process_outputs(1).write_bytes(b"old")
    second = until(layout, lambda found: len(pids_of(found)) == 2)
    kill(pids_of(second)[1])
    events = until(layout, has_ended)
    assert isinstance(events[-1], RunEnded)
    assert events[-1].outcome is Outcome.COMPLETED, events[-1].problem
    assert codes_of_restarts(events) == ["trainer_killed"]
    profile.write_text(_INFERENCE.format(kind="one_device", model=model, cluster=""))
    here = tmp_path / "here"
    assert forked("run", profile, "--json", "--runs-dir", here).returncode == 0
    (alone,) = here.iterdir()
    with (
        np.load(layout.predictions("npz")) as found,
        np.load(RunLayout(alone).predictions("npz")) as expected,
    ):
        np.testing.assert_array_equal(found["predicted"], expected["predicted"])
        np.testing.assert_allclose(found["probabilities"], expected["probabilities"], rtol=1e-4)
    assert not list(layout.root.glob("outputs-*"))
    lasting.until_no_trainer_is_left(10.0)


def test_that_an_evaluation_whose_other_worker_stands_still_hears_a_stop(
    lasting: RealCluster, undisturbed: RunLayout, tmp_path: Path, runs_dir: Path
) -> None:
    profile = tmp_path / "p.toml"
    table = f'[cluster]\naddress = "{lasting.address}"'
    text = _INFERENCE.format(kind="multi_worker", model=undisturbed.model, cluster=table)
    profile.write_text(text.replace('"predict"', '"evaluate"'))
    layout = started(profile, runs_dir)
    events = until(layout, lambda found: len(pids_of(found)) == 2)
    psutil.Process(pids_of(events)[1]).suspend()
    until(layout, lambda found: any(isinstance(each, ModelReady) for each in found))
    time.sleep(1.0)
    assert not has_ended(events_of(layout))
    assert gpupanel("stop", layout.root).returncode == 0
    ended = until(layout, has_ended)[-1]
    assert isinstance(ended, RunEnded)
    assert ended.outcome is Outcome.STOPPED
    lasting.until_no_trainer_is_left(10.0)
