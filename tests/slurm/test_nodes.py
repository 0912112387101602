"""A run over several nodes of a cluster: two real daemons of nodes on this machine."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.events import (
    CheckpointSaved,
    RunRestarted,
    StepsDone,
    TrainerStarted,
    TrainingResumed,
)
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.files.plan_file import read_plan
from gpupanel.files.trace_files import trace_records
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.runs.processes.run_processes import processes_of
from tests.deaths.mortal_run import saved_weights
from tests.patience import PATIENCE_S
from tests.slurm.slurm_cluster import SlurmCluster, missing_programs, slurm_cluster
from tests.slurm.submitted_job import ENDLESS, SMALL, Job

pytestmark = [
    pytest.mark.skipif(
        bool(missing_programs()),
        reason=f"{', '.join(missing_programs())} not here: install slurm-wlm and munge",
    ),
    pytest.mark.timeout(2 * PATIENCE_S),
    pytest.mark.slow,
]

WORKERS = '\n[strategy]\nkind = "multi_worker"\n'
SERVERS = '\n[strategy]\nkind = "parameter_server"\n'


@pytest.fixture(scope="module")
def cluster() -> Iterator[SlurmCluster]:
    with slurm_cluster("one", "two") as started:
        yield started


def test_that_each_process_of_a_run_is_a_task_on_its_node_and_that_they_train_as_one(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    over_nodes = Job(cluster, parse_profile(SMALL + WORKERS), tmp_path, nodes=2)
    ended = over_nodes.ended()
    assert (ended["JobState"], ended["NumNodes"]) == ("COMPLETED", "2"), over_nodes.log
    assert summarize_run(over_nodes.layout).outcome is Outcome.COMPLETED, over_nodes.log
    processes = read_plan(over_nodes.layout).processes
    assert [process.node for process in processes] == ["one", "two"]
    assert not processes_of(over_nodes.layout)
    samples = [*map(TelemetrySample.model_validate_json, telemetry_lines(over_nodes.layout))]
    assert {each.key for each in samples[-1].readings} == {"cpu@one", "cpu@two"}
    # The same in one task on one node, whose processes the run starts by itself.
    inside = Job(cluster, parse_profile(SMALL + WORKERS), tmp_path)
    assert inside.ended()["JobState"] == "COMPLETED", inside.log
    assert [process.node for process in read_plan(inside.layout).processes] == [None, None]
    weights, expected = saved_weights(over_nodes.layout), saved_weights(inside.layout)
    assert weights.keys() == expected.keys()
    for name, values in weights.items():
        assert np.array_equal(values, expected[name]), name


def telemetry_lines(layout: RunLayout) -> list[str]:
    return layout.telemetry.read_text().splitlines()


def test_that_a_saved_model_is_evaluated_and_predicts_over_nodes_as_on_one(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    trained = Job(cluster, parse_profile(SMALL), tmp_path)
    assert trained.ended()["JobState"] == "COMPLETED", trained.log
    model = f'source = "saved"\npath = "{trained.layout.model}"'
    saved = SMALL.replace('source = "mlp"\nhidden = [16]', model)
    for task in ("evaluate", "predict"):
        profile = parse_profile(f'task = "{task}"{saved}')
        workers = parse_profile(f'task = "{task}"{saved}{WORKERS}')
        alone = run_in(tmp_path / f"{task}-alone", cluster, profile)
        spread = run_in(tmp_path / task, cluster, workers, nodes=2)
        assert [process.node for process in read_plan(spread).processes] == ["one", "two"]
        assert not list(spread.root.glob("outputs-*"))
        if task == "evaluate":
            found, expected = summarize_run(spread).metrics, summarize_run(alone).metrics
            assert found.accuracy == expected.accuracy
            assert found.loss == pytest.approx(expected.loss, rel=1e-5)
        else:
            with (
                np.load(spread.predictions("npz")) as found,
                np.load(alone.predictions("npz")) as expected,
            ):
                np.testing.assert_array_equal(found["predicted"], expected["predicted"])


def run_in(folder: Path, cluster: SlurmCluster, profile: Profile, nodes: int = 1) -> RunLayout:
    """The run of a job with a folder of runs of its own."""
    folder.mkdir()
    runs = folder / "runs"
    job = Job(cluster, profile, folder, nodes=nodes, variables={"GPUPANEL_RUNS_DIR": str(runs)})
    assert job.ended()["JobState"] == "COMPLETED", job.log
    (root,) = runs.iterdir()
    assert summarize_run(RunLayout(root)).outcome is Outcome.COMPLETED, job.log
    return RunLayout(root)


def test_that_parameter_servers_and_workers_are_tasks_on_the_nodes(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    job = Job(cluster, parse_profile(SMALL + SERVERS), tmp_path, nodes=2)
    assert job.ended()["JobState"] == "COMPLETED", job.log
    started = [each.name for each in job.events() if isinstance(each, TrainerStarted)]
    assert started == [
        *("the coordinator on one", "worker 0 on one", "worker 1 on two"),
        "parameter server 0 on one",
    ]
    assert summarize_run(job.layout).outcome is Outcome.COMPLETED, job.log


def test_that_a_worker_on_another_node_is_traced_while_it_trains(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    job = Job(cluster, parse_profile(ENDLESS + WORKERS), tmp_path, nodes=2)
    job.until_it_steps()
    job.ask("trace", "--worker", "1", "--steps", "5")
    (record,) = trace_records(job.layout).values()
    assert (record.process, record.problem) == (1, None)
    cluster.ask("scancel", job.number)
    assert job.ended()["JobState"] == "CANCELLED"


def test_that_scancel_stops_a_run_over_nodes_which_saves(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    job = Job(cluster, parse_profile(ENDLESS + WORKERS), tmp_path, nodes=2)
    job.until_it_steps()
    cluster.ask("scancel", job.number)
    assert job.ended()["JobState"] == "CANCELLED"
    assert summarize_run(job.layout).outcome is Outcome.STOPPED, job.log
    assert any(isinstance(event, CheckpointSaved) for event in job.events())
    job.until(lambda: not processes_of(job.layout))


def test_that_the_gang_starts_again_where_a_process_on_a_node_dies(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    restarting = ENDLESS.replace("seed = 5", "seed = 5\nmax_restarts = 1")
    job = Job(cluster, parse_profile(restarting + WORKERS), tmp_path, nodes=2)
    job.until_it_steps()
    (victim,) = (each for each in job.trainers() if each.environ()["SLURMD_NODENAME"] == "two")
    victim.kill()
    job.until(lambda: sum(isinstance(each, TrainerStarted) for each in job.events()) == 4)
    job.until(lambda: len(job.trainers()) == 2)
    assert victim not in job.trainers()
    job.until(lambda: isinstance(job.events()[-1], StepsDone))
    job.ask("suspend")
    ended = job.ended()
    assert summarize_run(job.layout).outcome is Outcome.SUSPENDED, job.log
    assert ended["JobState"] == "FAILED"  # 130: nobody but the time limit puts it back


def test_that_a_job_over_nodes_is_suspended_put_back_and_continues_on_its_nodes(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    job = Job(cluster, parse_profile(ENDLESS + WORKERS), tmp_path, nodes=2)
    job.until_it_steps()
    # As the time limit does it.
    cluster.ask("scancel", "--batch", "--signal=USR1", job.number)
    job.until(lambda: summarize_run(job.layout).outcome is Outcome.SUSPENDED)
    job.until(lambda: any(isinstance(event, TrainingResumed) for event in job.events()))
    (restarted,) = (event for event in job.events() if isinstance(event, RunRestarted))
    assert restarted.changes == ()
    assert cluster.job(job.number)["Restarts"] == "1"
    job.until(lambda: len(job.trainers()) == 2)
    cluster.ask("scancel", job.number)
    assert job.ended()["JobState"] == "CANCELLED"
    assert summarize_run(job.layout).outcome is Outcome.STOPPED, job.log
