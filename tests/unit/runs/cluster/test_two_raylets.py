"""A real Ray cluster of two raylets: its devices, and a run on both."""

import json
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.cluster import NodeState, devices_of, sample_of
from gpupanel.domain.events import ProblemReported, RunEnded, TrainerStarted
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.telemetry import DeviceState, TelemetrySample
from gpupanel.runs.cluster.reading import read_cluster
from gpupanel.runs.following.follower import RunFollower
from tests.clusters import RealCluster, real_cluster
from tests.deaths.mortal_run import saved_weights
from tests.e2e.test_terminal import gpupanel, wait_for_event
from tests.forked.processes import run_forked
from tests.forked.terminal import answered, verb
from tests.forked.terminal import gpupanel as forked
from tests.nvml.standin import RTX_3060, RTX_4090, Standin, StandinState
from tests.sessions.both import furthest, weights

pytestmark = pytest.mark.tensorflow


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


@pytest.mark.long
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


def test_that_the_doctor_asks_each_node(cluster: RealCluster) -> None:
    answer = gpupanel("doctor", "--cluster", cluster.address, "--json")
    document = json.loads(answer.stdout)
    assert answer.returncode == 0, document["problems"]
    assert document["ok"]
    skews = [abs(node["clock_skew_s"]) for node in document["nodes"]]
    assert len(skews) == 2
    assert max(skews) < 5.0
    assert document["nodes"][1]["tensorflow"]


PROFILE = """
schema_version = 1
name = "two nodes"
[devices]
visible = ["cpu"]
[strategy]
{strategy}
[model]
source = "mlp"
hidden = [16]
[training]
epochs = 2
optimizer = "sgd"
learning_rate = 0.1
{cluster}
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> RunLayout:
    """The training on one device."""
    folder = tmp_path_factory.mktemp("alone")
    one = folder / "one.toml"
    one.write_text(PROFILE.format(strategy="", cluster=""))
    assert forked("run", one, "--json", "--runs-dir", folder / "runs").returncode == 0
    (root,) = (folder / "runs").iterdir()
    return RunLayout(root)


def trained_on_both(cluster: RealCluster, folder: Path) -> RunLayout:
    two = folder / "two.toml"
    table = f'[cluster]\naddress = "{cluster.address}"'
    strategy = 'kind = "multi_worker"\nshares = [50, 14]'
    two.write_text(PROFILE.format(strategy=strategy, cluster=table))
    answer = gpupanel("run", two, "--json")
    assert answer.returncode == 0, answer.stderr
    return RunLayout(Path(json.loads(answer.stdout)["run"]))


@pytest.mark.long
def test_that_a_run_on_two_nodes_has_the_weights_of_one_device(
    cluster: RealCluster, alone: RunLayout, tmp_path: Path
) -> None:
    layout = trained_on_both(cluster, tmp_path)
    events = list(RunFollower(layout).poll().events)
    started = [event.name for event in events if isinstance(event, TrainerStarted)]
    assert started == ["worker 0 on alpha", "worker 1 on beta"]
    expected, found = saved_weights(alone), saved_weights(layout)
    assert expected.keys() == found.keys()
    for name, wanted in expected.items():
        np.testing.assert_allclose(found[name], wanted, rtol=1e-5, atol=1e-6, err_msg=name)
    lines = layout.telemetry.read_bytes().splitlines()
    keys = {each.key for each in TelemetrySample.model_validate_json(lines[-1]).readings}
    assert keys == {"cpu@alpha", "cpu@beta", RTX_4090.uuid, RTX_3060.uuid}
    assert layout.process_log(1).exists()
    # The agents are there no longer, either.
    cluster.until_no_trainer_is_left(10.0)


@pytest.mark.slow
def test_that_a_run_on_two_nodes_is_listed_reported_and_exported_as_any_other(
    cluster: RealCluster, alone: RunLayout, tmp_path: Path
) -> None:
    layout = trained_on_both(cluster, tmp_path)
    (listed,) = answered(verb("runs", "--json"))["runs"]
    assert (listed["name"], listed["outcome"]) == (layout.name, "completed")
    report = tmp_path / "report.html"
    assert verb("export", layout.root, "-o", report).returncode == 0
    written = report.read_text()
    assert "alpha" in written
    assert "beta" in written
    # A script has one process, and the same mathematics.
    script = tmp_path / "script" / "train.py"
    script.parent.mkdir()
    assert verb("export", layout.root, "-o", script).returncode == 0
    done = run_forked(
        [sys.executable, str(script)], cwd=script.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    model = script.parent / "model.keras"
    assert furthest(weights(layout.model), weights(model)) < 1e-5
    assert furthest(weights(alone.model), weights(model)) < 1e-5


INFERENCE = """
schema_version = 1
name = "{task} on nodes"
task = "{task}"
[devices]
visible = ["cpu"]
[strategy]
{strategy}
[model]
source = "saved"
path = "{model}"
[inference]
batch_size = 64
{table}
"""


def inferred(
    task: str, model: Path, folder: Path, cluster: RealCluster | None, strategy: str = ""
) -> tuple[RunLayout, dict[str, Any]]:
    """A run of that task, on nodes or on one device, and what the terminal says of it."""
    folder.mkdir()
    path = folder / "profile.toml"
    table = "" if cluster is None else f'[cluster]\naddress = "{cluster.address}"'
    path.write_text(INFERENCE.format(task=task, strategy=strategy, model=model, table=table))
    run = gpupanel if cluster is not None else forked
    answer = run("run", path, "--json", "--runs-dir", folder / "runs")
    assert answer.returncode == 0, answer.stderr + answer.stdout
    (root,) = (folder / "runs").iterdir()
    return RunLayout(root), json.loads(answer.stdout)


def assert_same_arrays(found: Path, expected: Path) -> None:
    with np.load(found) as got, np.load(expected) as wanted:
        assert sorted(got.files) == sorted(wanted.files)
        for name in wanted.files:
            assert got[name].dtype == wanted[name].dtype, name
            if wanted[name].dtype.kind == "f":
                np.testing.assert_allclose(got[name], wanted[name], rtol=1e-5, err_msg=name)
            else:
                np.testing.assert_array_equal(got[name], wanted[name], err_msg=name)


@pytest.mark.slow
def test_that_nodes_evaluate_together_what_one_device_evaluates(
    cluster: RealCluster, alone: RunLayout, tmp_path: Path
) -> None:
    workers = 'kind = "multi_worker"\nshares = [50, 14]'
    layout, said = inferred("evaluate", alone.model, tmp_path / "two", cluster, workers)
    one, expected = inferred("evaluate", alone.model, tmp_path / "one", None)
    assert said["metrics"].keys() == expected["metrics"].keys()
    figures = {name: each for name, each in expected["metrics"].items() if each is not None}
    assert {"loss", "accuracy"} <= figures.keys()
    for name, figure in figures.items():
        assert said["metrics"][name] == pytest.approx(figure, rel=1e-6), name
    assert_same_arrays(layout.confusion, one.confusion)
    events = list(RunFollower(layout).poll().events)
    started = [event.name for event in events if isinstance(event, TrainerStarted)]
    assert started == ["worker 0 on alpha", "worker 1 on beta"]
    # No port is open, and nothing is left of what one handed to the other.
    # The one hint says that each evaluates its part of what the training held out.
    problems = [each.problem.code for each in events if isinstance(each, ProblemReported)]
    assert problems == ["evaluates_what_was_held_out"]
    assert not list(layout.root.glob("outputs-*"))
    cluster.until_no_trainer_is_left(10.0)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, 3])
def test_that_nodes_predict_together_what_one_device_predicts(
    cluster: RealCluster, alone: RunLayout, tmp_path: Path, workers: int
) -> None:
    strategy = f'kind = "multi_worker"\nworkers = {workers}'
    layout, _ = inferred("predict", alone.model, tmp_path / "two", cluster, strategy)
    one, _ = inferred("predict", alone.model, tmp_path / "one", None)
    assert_same_arrays(layout.predictions("npz"), one.predictions("npz"))
    cluster.until_no_trainer_is_left(10.0)


@pytest.mark.slow
def test_that_a_run_waits_for_its_place_and_hears_a_stop_meanwhile(
    cluster: RealCluster, tmp_path: Path, runs_dir: Path
) -> None:
    first, second = tmp_path / "first.toml", tmp_path / "second.toml"
    table = f'max_restarts = 1\n[cluster]\naddress = "{cluster.address}"'
    strategy = 'kind = "multi_worker"\nworkers = 6'
    text = PROFILE.format(strategy=strategy, cluster=table)
    first.write_text(text.replace("epochs = 2", "epochs = 100000"))
    second.write_text(text)
    assert gpupanel("run", first, "--detach").returncode == 0
    (holding,) = map(RunLayout, runs_dir.iterdir())
    wait_for_event(holding, TrainerStarted)
    assert gpupanel("run", second, "--detach").returncode == 0
    waiting = RunLayout(next(each for each in runs_dir.iterdir() if each != holding.root))
    reported = wait_for_event(waiting, ProblemReported)
    assert reported.problem.code == "cluster_waiting"
    assert "3 CPUs of alpha, which has 1 free" in reported.problem.message
    for layout in (waiting, holding):
        assert gpupanel("stop", layout.root).returncode == 0
        assert wait_for_event(layout, RunEnded).outcome is Outcome.STOPPED
    cluster.until_no_trainer_is_left(10.0)


def test_that_nothing_is_said_to_a_head_whose_cluster_this_machine_is_not_in() -> None:
    # A stranger's profile can name it, and Ray would load by pickle what it answers.
    with socket.create_server(("", 0)) as server:
        with pytest.raises(ProblemError) as raised:
            read_cluster(f"127.0.0.1:{server.getsockname()[1]}")
        server.settimeout(0.5)
        with pytest.raises(TimeoutError):
            server.accept()
    (problem,) = raised.value.problems
    assert problem.code == "machine_not_in_cluster"


def test_that_a_cluster_that_answers_late_is_a_problem_when_the_time_is_up(
    cluster: RealCluster,
) -> None:
    with pytest.raises(ProblemError) as raised:
        read_cluster(cluster.address, limit_s=0.05)
    (problem,) = raised.value.problems
    assert problem.code == "cluster_too_slow"


@pytest.mark.slow
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
