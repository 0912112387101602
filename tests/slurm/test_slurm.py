"""The batch script of a profile, carried out by real daemons of Slurm on this machine."""

import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.events import CheckpointSaved, RunRestarted, TrainingResumed
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.plan_file import read_plan
from gpupanel.runs.directory.profile_file import read_run_profile
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.runs.processes.run_processes import processes_of
from tests.deaths.mortal_run import saved_weights
from tests.nvml.standin import TWO_UNEQUAL_GPUS
from tests.patience import PATIENCE_S
from tests.slurm.slurm_cluster import SlurmCluster, missing_programs, slurm_cluster
from tests.slurm.submitted_job import COMMAND, ENDLESS, SMALL, Job

pytestmark = [
    pytest.mark.skipif(
        bool(missing_programs()),
        reason=f"{', '.join(missing_programs())} not here: install slurm-wlm and munge",
    ),
    pytest.mark.timeout(2 * PATIENCE_S),
]

HOSTILE = "a \"b\" 'c' $(touch pwned) `touch pwned` ü 数\n#SBATCH --time=0\r\\"
SECOND_GPU = TWO_UNEQUAL_GPUS.gpus[1].uuid
LONG = """
name = "long"
[devices]
visible = ["cpu"]
[data]
source = "digits"
validation_fraction = 0.1
[model]
source = "mlp"
hidden = [64]
dropout = 0.2
[training]
epochs = 1500
global_batch_size = 8
seed = 5
tensorboard = false
checkpoint_every_epochs = 1500
"""
"""Some minutes, with dropout: what is random goes on where it was."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[SlurmCluster]:
    with slurm_cluster("one") as started:
        yield started


def test_that_a_job_trains_to_its_end_and_leaves_a_run_of_its_number(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    profile = parse_profile(SMALL).model_copy(update={"name": HOSTILE})
    job = Job(cluster, profile, tmp_path)
    ended = job.ended()
    assert (ended["JobState"], ended["ExitCode"], ended["Restarts"]) == ("COMPLETED", "0:0", "0")
    assert read_run_profile(job.layout).name == HOSTILE
    assert not list(tmp_path.rglob("pwned"))
    assert summarize_run(job.layout).outcome is Outcome.COMPLETED, job.log
    assert job.layout.model.is_file()
    assert not processes_of(job.layout)


@pytest.mark.slow
def test_that_the_time_limits_signal_suspends_the_run_and_that_the_job_continues_it_bit_for_bit(
    cluster: SlurmCluster, tmp_path: Path, runs_dir: Path
) -> None:
    profile = parse_profile(LONG)
    job = Job(cluster, profile, tmp_path, "--time=60", "--signal=B:USR1@115")
    job.until_it_steps()
    # Slurm looks for time limits twice a minute: the signal comes within half a minute.
    job.limit_to(job.minutes_so_far + 2)
    job.until(lambda: summarize_run(job.layout).outcome is not None)
    assert summarize_run(job.layout).outcome is Outcome.SUSPENDED, job.log
    job.until(lambda: cluster.job(job.number)["Restarts"] == "1")
    job.limit_to(60)
    undisturbed = tmp_path / "undisturbed.toml"
    undisturbed.write_text(LONG)
    alone = (COMMAND, "run", str(undisturbed), "--run-name", "alone")
    subprocess.run(alone, check=True, capture_output=True, timeout=PATIENCE_S)
    ended = job.ended()
    assert (ended["JobState"], ended["Restarts"]) == ("COMPLETED", "1"), job.log
    kinds = [type(event) for event in job.events()]
    assert (kinds.count(RunRestarted), kinds.count(TrainingResumed)) == (1, 1)
    assert CheckpointSaved in kinds[: kinds.index(RunRestarted)]
    weights, expected = map(saved_weights, (job.layout, RunLayout(runs_dir / "alone")))
    assert weights.keys() == expected.keys()
    for name, values in weights.items():
        assert np.array_equal(values, expected[name]), name


@pytest.mark.slow
def test_that_scancel_stops_the_run_which_saves(cluster: SlurmCluster, tmp_path: Path) -> None:
    job = Job(cluster, parse_profile(ENDLESS), tmp_path)
    job.until_it_steps()
    cluster.ask("scancel", job.number)
    assert job.ended()["JobState"] == "CANCELLED"
    summary = summarize_run(job.layout)
    assert summary.outcome is Outcome.STOPPED, job.log
    assert any(isinstance(event, CheckpointSaved) for event in job.events())
    assert not processes_of(job.layout)


@pytest.mark.slow
def test_that_a_run_that_fails_fails_its_job_which_does_not_start_again(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    (tmp_path / "broken.npz").write_bytes(b"no arrays")
    broken = SMALL.replace('"digits"', f'"npz"\npath = "{tmp_path / "broken.npz"}"')
    job = Job(cluster, parse_profile(broken), tmp_path)
    ended = job.ended()
    assert (ended["JobState"], ended["Restarts"]) == ("FAILED", "0")
    assert ended["ExitCode"] != "0:0"
    # A line of the log has 80 characters at most.
    assert "broken.npz" in job.log.replace("\n", "")


@pytest.mark.slow
def test_that_a_job_trains_on_the_gpu_that_slurm_gave_it(
    cluster: SlurmCluster, tmp_path: Path, nvml_environment: dict[str, str]
) -> None:
    """There is none here for TensorFlow: what is planned for it is seen, and that it is refused."""
    elsewhere = SMALL.replace('"cpu"', '"GPU-of-the-workstation"')
    profile = parse_profile(elsewhere)
    other = Job(cluster, parse_profile(ENDLESS), tmp_path, "--gres=gpu:1")
    job = Job(cluster, profile, tmp_path, variables=nvml_environment)
    assert job.ended()["JobState"] == "FAILED"
    (device,) = read_plan(job.layout).devices
    assert device.key == SECOND_GPU
    assert read_plan(job.layout).environment["CUDA_VISIBLE_DEVICES"] == SECOND_GPU
    cluster.ask("scancel", other.number)
    assert other.ended()["JobState"] == "CANCELLED"


def test_that_a_job_that_was_given_no_gpu_says_what_to_ask_for(
    cluster: SlurmCluster, tmp_path: Path, nvml_environment: dict[str, str]
) -> None:
    profile = parse_profile(SMALL.replace('"cpu"', '"GPU-of-the-workstation"'))
    job = Job(cluster, profile, tmp_path, "--gres=none", variables=nvml_environment)
    assert job.ended()["ExitCode"] == "2:0"
    assert "#SBATCH --gres=gpu:1" in job.log
    assert not job.layout.root.exists()


@pytest.mark.slow
@pytest.mark.parametrize("why", ["it is put back by somebody", "its node is taken for dead"])
def test_that_a_job_that_was_ended_and_put_back_continues_its_run(
    cluster: SlurmCluster, tmp_path: Path, why: str
) -> None:
    often = ENDLESS.replace("checkpoint_every_epochs = 0", "checkpoint_every_epochs = 20")
    job = Job(cluster, parse_profile(often), tmp_path)
    job.until(lambda: any(isinstance(event, CheckpointSaved) for event in job.events()))
    if why == "it is put back by somebody":
        cluster.ask("scontrol", "requeue", job.number)
    else:
        cluster.ask("scontrol", "update", "NodeName=one", "State=DOWN", "Reason=test")
        # By ReturnToService it may be back already, and then nothing can be resumed.
        with suppress(AssertionError):
            cluster.ask("scontrol", "update", "NodeName=one", "State=RESUME")
    job.until(lambda: any(isinstance(event, TrainingResumed) for event in job.events()))
    assert cluster.job(job.number)["Restarts"] == "1"
    cluster.ask("scancel", job.number)
    assert job.ended()["JobState"] == "CANCELLED"
    assert summarize_run(job.layout).outcome is Outcome.STOPPED, job.log
