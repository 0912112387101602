"""A gang whose processes are tasks of a job: started by srun, read, and none of them left."""

import json
import stat
import sys
from pathlib import Path

import psutil
import pytest

from gpupanel.domain.events import RunEnded
from gpupanel.domain.job_node import JobNode
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.process_environment import LISTEN_VARIABLE
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.planning.job_nodes import on_nodes, with_addresses
from gpupanel.planning.prepare import prepare
from gpupanel.runs.cluster.environments import process_environments
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.launcher import create_run
from gpupanel.runs.processes.run_processes import processes_of
from gpupanel.runs.slurm.task_command import exit_code_of_task, task_command
from gpupanel.runs.supervision.checked_run import CheckedRun
from gpupanel.runs.supervision.supervisor import Supervisor
from gpupanel.runs.supervision.watchdogs import Patience
from tests.fakes.devices import CPU_ONLY

FAKES = Path(__file__).parents[3] / "fakes"


PROFILE = Profile(
    devices=DeviceSettings(visible=("cpu",)),
    strategy=StrategySettings(kind=StrategyKind.MULTI_WORKER),
)


def plan_on_nodes() -> LaunchPlan:
    nodes = [
        JobNode(
            name=name,
            address=address,
            visible_devices=None,
            inventory=CPU_ONLY,
            sample=TelemetrySample(time_s=0.0, readings=()),
        )
        for name, address in (("one", "10.0.0.1"), ("two", "10.0.0.2"))
    ]
    moved, inventory, _ = on_nodes(PROFILE, nodes)
    plan = prepare(moved, inventory).plan
    assert plan is not None
    return with_addresses(plan, nodes)


@pytest.fixture
def srun_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This process is in a job, and srun is on its path."""
    commands = tmp_path / "commands"
    commands.mkdir()
    srun = commands / "srun"
    srun.write_text(f'#!/bin/sh\nexec {sys.executable} {FAKES / "srun.py"} "$@"\n')
    srun.chmod(srun.stat().st_mode | stat.S_IXUSR)
    log = tmp_path / "srun.log"
    monkeypatch.setenv("PATH", f"{commands}:/usr/bin:/bin")
    monkeypatch.setenv("SRUN_LOG", str(log))
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    return log


class GangOfTasks:
    def __init__(self, runs_dir: Path) -> None:
        self.layout = create_run(PROFILE, plan_on_nodes(), runs_dir)

    def run(self, *modes: str) -> RunEnded:
        command = (sys.executable, str(FAKES / "gang_trainer.py"), ",".join(modes))
        Supervisor(self.layout, command, Patience(cause_s=1.0)).run()
        left = processes_of(self.layout)
        psutil.wait_procs(left, timeout=5.0)
        assert not [each for each in left if each.is_running()]
        end = RunFollower(self.layout).poll().events[-1]
        assert isinstance(end, RunEnded)
        return end


def test_that_each_process_is_a_task_on_its_node_and_that_one_that_waits_is_ended(
    srun_log: Path, runs_dir: Path
) -> None:
    gang = GangOfTasks(runs_dir)
    end = gang.run("complete", "wait")
    assert (end.outcome, end.exit_code) == (Outcome.COMPLETED, 0)
    assert gang.layout.process_log(1).read_text() == "place 1 does wait\n"
    # Others report what the devices of the nodes do.
    asked = [line for line in srun_log.read_text().splitlines() if "gang_trainer" in line]
    options = "--overlap --nodes=1 --ntasks=1 --nodelist"
    assert sorted(line.split(" env ")[0] for line in asked) == [
        f"{options}=one",
        f"{options}=two",
    ]
    # What Slurm would set for a task otherwise, and what it may not hand on.
    assert all(" env CUDA_VISIBLE_DEVICES=-1 " in line for line in asked)
    checked = CheckedRun(gang.layout)
    checked.plan(), checked.profile()
    assert all(f" GPUPANEL_CHECKED={checked.files.model_dump_json()} " in line for line in asked)


def test_that_a_signal_that_kills_a_task_is_named(srun_log: Path, runs_dir: Path) -> None:
    end = GangOfTasks(runs_dir).run("lose_a_peer", "kill_itself")
    assert (end.outcome, end.exit_code) == (Outcome.LOST, -9)
    assert end.problem is not None
    assert end.problem.message == "Worker 1 on two was killed by SIGKILL (signal 9)."


def test_that_a_run_for_nodes_asks_for_no_job_where_it_is_in_none(
    srun_log: Path, runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SLURM_JOB_ID")
    gang = GangOfTasks(runs_dir)
    Supervisor(gang.layout, (sys.executable, "-c", "")).run()
    end = RunFollower(gang.layout).poll().events[-1]
    assert isinstance(end, RunEnded)
    assert end.outcome is Outcome.FAILED
    assert end.problem is not None
    assert "nodes of a Slurm job (one)" in end.problem.message
    assert not srun_log.exists()


@pytest.mark.parametrize("node", ["", "-x", "--wrap=id", "a b", "a\n", "a,b", "a" * 256])
def test_that_no_node_is_asked_for_that_no_job_can_have(
    node: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert "--nodelist=gpu-01.cluster_a" in task_command("gpu-01.cluster_a", ["python"], {})
    with pytest.raises(ValueError, match="no node of a job is called"):
        task_command(node, ["python"], {})


def test_that_each_process_knows_the_addresses_of_all_and_its_own() -> None:
    one, two = process_environments(plan_on_nodes())
    workers = json.loads(one["TF_CONFIG"])["cluster"]["worker"]
    assert [worker.split(":")[0] for worker in workers] == ["10.0.0.1", "10.0.0.2"]
    assert json.loads(two["TF_CONFIG"])["cluster"]["worker"] == workers
    assert (one[LISTEN_VARIABLE], two[LISTEN_VARIABLE]) == ("10.0.0.1", "10.0.0.2")
    assert one["no_grpc_proxy"] == "10.0.0.1,10.0.0.2"
    # Loopback leads to no other node.
    assert "NCCL_SOCKET_IFNAME" not in one


def test_that_processes_of_one_machine_stay_on_loopback() -> None:
    strategy = StrategySettings(kind=StrategyKind.MULTI_WORKER, workers=2)
    plan = prepare(PROFILE.model_copy(update={"strategy": strategy}), CPU_ONLY).plan
    assert plan is not None
    for environment in process_environments(plan):
        assert LISTEN_VARIABLE not in environment
        assert environment["NCCL_SOCKET_IFNAME"] == "lo"
        assert "127.0.0.1:" in environment["TF_CONFIG"]


def test_that_an_address_without_a_node_opens_no_port_to_a_network() -> None:
    """As in the plan of a run that came from somebody else."""
    plan = plan_on_nodes()
    processes = tuple(each.model_copy(update={"node": None}) for each in plan.processes)
    for environment in process_environments(plan.model_copy(update={"processes": processes})):
        assert LISTEN_VARIABLE not in environment
        assert "10.0.0." not in environment["TF_CONFIG"]


def test_that_only_what_slurm_sets_is_set_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    variables = {"CUDA_VISIBLE_DEVICES": "GPU-a", "TF_CONFIG": "{}"}
    assert task_command("one", ("python", "-x"), variables)[5:] == [
        "env",
        "CUDA_VISIBLE_DEVICES=GPU-a",
        "python",
        "-x",
    ]
    assert task_command("one", ("python",), {})[5:] == ["env", "python"]


@pytest.mark.parametrize(
    ("status", "code"), [(None, None), (0, 0), (1, 1), (75, 75), (128, 128), (137, -9), (-9, -9)]
)
def test_that_the_exit_code_of_a_task_is_as_of_a_process_here(
    status: int | None, code: int | None
) -> None:
    assert exit_code_of_task(status) == code
