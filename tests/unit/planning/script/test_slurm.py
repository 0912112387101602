"""The batch script, carried out by bash with stand-ins for Slurm's commands and for gpupanel.

What real daemons of Slurm make of it is seen in ``tests/slurm``.
"""

import os
import signal
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from gpupanel.domain.data import NpzData
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import SavedModel
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.sweep import SweepSettings
from gpupanel.planning.script.slurm import slurm_script

pytestmark = pytest.mark.timeout(60)

HOSTILE = (
    "a \"b\" 'c' $(touch pwned) `touch pwned` \\ ${HOME} ü 数\nEND_OF_PROFILE\n#SBATCH --wrap=x\r"
)
NAMED = DeviceSettings(visible=("GPU-a", "GPU-b"))

_SRUN = """#!/bin/bash
printf '%s\\n' "$*" >> srun.log
while [ "$1" != bash ]; do shift; done
# Before it has a child: a signal that ended this one would leave that to itself.
trap 'kill -TERM $child' TERM
"$@" & child=$!
while :; do wait $child; status=$?; kill -0 $child 2>/dev/null || exit $status; done
"""
_SCONTROL = """#!/bin/bash
printf '%s\\n' "$*" >> scontrol.log
exit "${REQUEUE_STATUS:-0}"
"""
_GPUPANEL = """#!/bin/bash
# run: waits for suspend or stop, or ends at once with $RUN_STATUS.
printf '%s\\n' "$*" >> gpupanel.log
if [ "$1" != run ]; then
    # As a run that is still starting, it hears nothing the first time.
    if [ -e heard ]; then echo "$1" > asked; else touch heard; fi
    exit 0
fi
cp "$2" profile.toml
echo "$GPUPANEL_STATE_DIR" > state
echo "$SRUN_CPUS_PER_TASK" > cpus
[ -n "$RUN_STATUS" ] && exit "$RUN_STATUS"
touch started
while [ ! -e asked ]; do sleep 0.05; done
if [ -n "$LEARNS" ]; then
    mkdir -p "$4/small-7/checkpoints/step-000000042"
else
    mkdir -p "$4/small-7/checkpoints/step-000000041-2"
fi
exit 130
"""


class Node:
    """Where the script runs, as the batch shell of job 7 does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.commands = folder / "commands"
        self.commands.mkdir()
        for name, text in (("srun", _SRUN), ("scontrol", _SCONTROL), ("gpupanel", _GPUPANEL)):
            command = self.commands / name
            command.write_text(text)
            command.chmod(command.stat().st_mode | stat.S_IXUSR)
        self._started: list[subprocess.Popen[str]] = []

    def begin(
        self, profile: Profile, nodes: int = 1, text: str = "", **variables: str
    ) -> subprocess.Popen[str]:
        script = self.folder / "train.sbatch"
        script.write_text(text or slurm_script(profile, str(self.commands / "gpupanel"), nodes))
        started = subprocess.Popen(
            ("bash", script.name),
            cwd=self.folder,
            env={
                "PATH": f"{self.commands}:{os.environ['PATH']}",
                "TMPDIR": str(self.folder),
                "SLURM_JOB_ID": "7",
                "SLURM_SUBMIT_DIR": str(self.folder),
                **variables,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._started.append(started)
        return started

    def until_it_runs(self) -> None:
        end_s = time.monotonic() + 30.0
        while not (self.folder / "started").exists():
            assert time.monotonic() < end_s
            time.sleep(0.02)

    def said_to(self, command: str) -> list[str]:
        log = self.folder / f"{command}.log"
        return log.read_text().splitlines() if log.exists() else []

    def end(self) -> None:
        for each in self._started:
            # Also what the script has left, which would hold its output open.
            with suppress(ProcessLookupError):
                os.killpg(each.pid, signal.SIGKILL)
            each.communicate()


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    node = Node(tmp_path)
    yield node
    node.end()


SMALL = Profile(name="small", devices=DeviceSettings(visible=("cpu",)))


def ended(started: subprocess.Popen[str]) -> tuple[int, str]:
    said, _ = started.communicate(timeout=40.0)
    return started.returncode, said


def test_that_whatever_a_profile_holds_arrives_as_it_is_and_runs_nothing(node: Node) -> None:
    profile = Profile(name=HOSTILE, data=NpzData(path=f"/data/{HOSTILE.replace('#', '')}"))
    status, said = ended(node.begin(profile, RUN_STATUS="0"))
    assert (status, said) == (0, "")
    assert parse_profile((node.folder / "profile.toml").read_text()) == profile
    assert not (node.folder / "pwned").exists()
    text = (node.folder / "train.sbatch").read_text()
    directives = [line for line in text.splitlines() if line.startswith("#SBATCH")]
    assert not any("wrap" in line.split("=")[0] for line in directives)
    assert "#SBATCH --job-name=a-b-c-touch-pwned-touch-pwned-home-end-o" in directives


def test_that_a_command_of_any_path_is_found(node: Node, tmp_path: Path) -> None:
    folder = tmp_path / "it's $(touch pwned) ü"
    folder.mkdir()
    (folder / "gpupanel").symlink_to(node.commands / "gpupanel")
    script = tmp_path / "other.sbatch"
    script.write_text(slurm_script(SMALL, str(folder / "gpupanel")))
    variables = {
        "PATH": f"{node.commands}:{os.environ['PATH']}",
        "SLURM_JOB_ID": "7",
        "SLURM_SUBMIT_DIR": str(tmp_path),
        "RUN_STATUS": "0",
    }
    subprocess.run(("bash", script), cwd=tmp_path, env=variables, check=True, timeout=30.0)
    assert str(folder) in node.said_to("srun")[0]
    assert not (tmp_path / "pwned").exists()


def test_that_the_run_is_named_after_the_job_and_its_folder_after_that_of_the_submission(
    node: Node,
) -> None:
    assert ended(node.begin(SMALL, RUN_STATUS="0", SLURM_CPUS_PER_TASK="3"))[0] == 0
    (run,) = node.said_to("gpupanel")
    assert run.endswith(f"--runs-dir {node.folder}/gpupanel-runs --run-name small-7 --allocated")
    assert node.said_to("srun")[0].startswith("--nodes=1 --ntasks=1 --cpus-per-task=3 bash ")
    # What is for this start only is gone with it, and the person's queue stays out.
    state = Path((node.folder / "state").read_text().strip())
    assert state.is_relative_to(node.folder)
    assert not state.parent.exists()


def test_that_another_folder_of_runs_is_taken_where_one_is_named(node: Node) -> None:
    elsewhere = f"{node.folder}/else where"
    assert ended(node.begin(SMALL, RUN_STATUS="0", GPUPANEL_RUNS_DIR=elsewhere))[0] == 0
    assert f"--runs-dir {elsewhere} --run-name" in node.said_to("gpupanel")[0]


@pytest.mark.parametrize("status", ["0", "1", "2", "130"])
def test_that_a_job_ends_as_its_run_does_and_is_not_started_again(node: Node, status: str) -> None:
    assert ended(node.begin(SMALL, RUN_STATUS=status)) == (int(status), "")
    assert node.said_to("scontrol") == []


def test_that_the_time_limits_signal_suspends_the_run_and_requeues_the_job(node: Node) -> None:
    started = node.begin(SMALL, LEARNS="1")
    node.until_it_runs()
    os.kill(started.pid, signal.SIGUSR1)
    status, said = ended(started)
    assert (status, "goes back into the queue" in said) == (0, True)
    asked = [line for line in node.said_to("gpupanel") if line.startswith("suspend")]
    assert asked == [f"suspend small-7 --runs-dir {node.folder}/gpupanel-runs"] * len(asked)
    assert len(asked) >= 2
    assert node.said_to("scontrol") == ["requeue 7"]


def test_that_a_job_that_gets_no_further_is_not_requeued_for_ever(node: Node) -> None:
    (node.folder / "gpupanel-runs/small-7/checkpoints/step-000000041").mkdir(parents=True)
    started = node.begin(SMALL)
    node.until_it_runs()
    os.kill(started.pid, signal.SIGUSR1)
    status, said = ended(started)
    assert (status, "too short" in said) == (1, True)
    assert node.said_to("scontrol") == []


def test_that_a_signal_that_comes_before_the_run_is_started_is_not_lost(node: Node) -> None:
    text = slurm_script(SMALL, str(node.commands / "gpupanel"))
    late = text.replace("\nsrun ", "\nkill -USR1 $$\nsrun ")
    assert late != text
    status, said = ended(node.begin(SMALL, text=late, LEARNS="1"))
    assert (status, "goes back into the queue" in said) == (0, True)
    assert node.said_to("scontrol") == ["requeue 7"]


def test_that_it_is_said_where_slurm_does_not_take_the_job_back(node: Node) -> None:
    started = node.begin(SMALL, LEARNS="1", REQUEUE_STATUS="1")
    node.until_it_runs()
    os.kill(started.pid, signal.SIGUSR1)
    status, said = ended(started)
    assert (status, "does not take it back" in said) == (130, True)


def test_that_scancel_stops_the_run_and_that_gpupanel_stays_until_it_has_saved(node: Node) -> None:
    started = node.begin(SMALL)
    node.until_it_runs()
    # As Slurm does: every process at once.
    os.killpg(started.pid, signal.SIGTERM)
    assert ended(started)[0] == 130
    assert any(line.startswith("stop small-7") for line in node.said_to("gpupanel"))
    assert node.said_to("scontrol") == []


def test_that_scancel_after_the_time_limits_signal_wins(node: Node) -> None:
    started = node.begin(SMALL, LEARNS="1")
    node.until_it_runs()
    os.kill(started.pid, signal.SIGUSR1)
    os.kill(started.pid, signal.SIGTERM)
    assert ended(started)[0] == 130
    assert node.said_to("scontrol") == []


def test_that_the_script_does_nothing_outside_of_a_job(node: Node) -> None:
    status, said = ended(node.begin(SMALL, SLURM_JOB_ID=""))
    assert status != 0
    assert "submit this script with sbatch" in said
    assert node.said_to("gpupanel") == []


def test_that_a_node_without_gpupanel_says_what_to_change(node: Node) -> None:
    for name in ("gpupanel", "srun"):
        (node.commands / name).unlink()
    # Whoever runs the tests may have gpupanel itself on their path.
    status, said = ended(node.begin(SMALL, PATH=f"{node.commands}:/usr/bin:/bin"))
    assert (status, "change the line gpupanel=" in said) == (127, True)


def test_that_a_command_that_is_not_here_is_looked_for_on_the_path(node: Node) -> None:
    script = slurm_script(SMALL, "/nowhere/gpupanel")
    (node.folder / "s").write_text(script)
    variables = {
        "PATH": f"{node.commands}:{os.environ['PATH']}",
        "SLURM_JOB_ID": "7",
        "SLURM_SUBMIT_DIR": str(node.folder),
        "RUN_STATUS": "0",
    }
    subprocess.run(("bash", "s"), cwd=node.folder, env=variables, check=True, timeout=30.0)
    assert node.said_to("gpupanel")


def test_that_what_saves_nothing_in_the_middle_is_not_suspended_and_begins_anew(node: Node) -> None:
    profile = SMALL.model_copy(
        update={
            "task": "evaluate",
            "model": SavedModel(path="/models/a.keras"),
            "inference": InferenceSettings(),
        }
    )
    text = slurm_script(profile, "gpupanel")
    assert "#SBATCH --no-requeue" in text
    assert "--signal" not in text
    assert ended(node.begin(profile, RUN_STATUS="0"))[0] == 0
    (run,) = node.said_to("gpupanel")
    assert run.endswith("gpupanel-runs --allocated")


@pytest.mark.parametrize(
    ("profile", "line"),
    [
        (Profile(devices=NAMED), "#SBATCH --gres=gpu:2"),
        (Profile(), "#SBATCH --gres=gpu:1"),
        (
            Profile(strategy=StrategySettings(kind=StrategyKind.MIRRORED)),
            "#SBATCH --gres=gpu:2",
        ),
        (SMALL, "##SBATCH --gres=gpu:1"),
    ],
)
def test_that_the_job_asks_for_as_many_gpus_as_the_profile_names(
    profile: Profile, line: str
) -> None:
    assert line in slurm_script(profile, "gpupanel").splitlines()


def test_that_a_sweep_is_not_part_of_one_run() -> None:
    swept = SMALL.model_copy(update={"sweep": SweepSettings(values={"training.seed": (1, 2)})})
    assert slurm_script(swept, "gpupanel") == slurm_script(SMALL, "gpupanel")


def test_that_slurm_reads_no_directive_behind_the_first_command() -> None:
    lines = slurm_script(Profile(name="a\n#SBATCH --wrap=x"), "gpupanel").splitlines()
    first_command = next(
        place for place, line in enumerate(lines) if line.strip() and not line.startswith("#")
    )
    assert all("#SBATCH" not in line[:7] for line in lines[first_command:])


WORKERS = StrategySettings(kind=StrategyKind.MULTI_WORKER)


@pytest.mark.parametrize(
    ("devices", "workers", "nodes", "tasks", "gpus"),
    [
        (("cpu",), None, 3, 1, "##SBATCH --gres=gpu:1"),
        (("cpu",), 5, 2, 3, "##SBATCH --gres=gpu:1"),
        (("GPU-a", "GPU-b", "GPU-c", "GPU-d"), None, 2, 2, "#SBATCH --gres=gpu:2"),
        (("GPU-a", "GPU-b", "GPU-c"), None, 2, 2, "#SBATCH --gres=gpu:2"),
        ((), None, 4, 1, "#SBATCH --gres=gpu:1"),
        (("GPU-a", "GPU-b"), None, 1, 1, "#SBATCH --gres=gpu:2"),
    ],
)
def test_that_a_job_of_several_nodes_has_a_task_for_each_process(
    devices: tuple[str, ...], workers: int | None, nodes: int, tasks: int, gpus: str
) -> None:
    strategy = WORKERS.model_copy(update={"workers": workers})
    profile = Profile(devices=DeviceSettings(visible=devices), strategy=strategy)
    lines = slurm_script(profile, "gpupanel", nodes).splitlines()
    assert f"#SBATCH --nodes={nodes}" in lines
    assert f"#SBATCH --ntasks-per-node={tasks}" in lines
    assert gpus in lines


def test_that_parameter_servers_and_their_coordinator_have_tasks_of_their_own() -> None:
    strategy = StrategySettings(kind=StrategyKind.PARAMETER_SERVER, workers=4, parameter_servers=3)
    profile = Profile(devices=DeviceSettings(visible=("cpu",)), strategy=strategy)
    assert "#SBATCH --ntasks-per-node=4" in slurm_script(profile, "gpupanel", 2).splitlines()


def test_that_an_evaluation_over_nodes_is_a_job_that_is_not_put_back() -> None:
    profile = Profile(task="evaluate", devices=DeviceSettings(visible=("cpu",)), strategy=WORKERS)
    lines = slurm_script(profile, "gpupanel", 2).splitlines()
    assert {"#SBATCH --nodes=2", "#SBATCH --no-requeue"} <= set(lines)


def test_that_a_profile_of_one_process_becomes_no_job_of_several_nodes() -> None:
    with pytest.raises(ProblemError) as refused:
        slurm_script(SMALL, "gpupanel", 2)
    assert refused.value.problems[0].code == "nodes_need_workers"


def test_that_a_job_of_several_nodes_starts_its_tasks_itself_and_is_suspended_alike(
    node: Node,
) -> None:
    profile = SMALL.model_copy(update={"strategy": WORKERS})
    started = node.begin(profile, nodes=2, LEARNS="1", SLURM_CPUS_PER_TASK="3")
    node.until_it_runs()
    os.kill(started.pid, signal.SIGUSR1)
    status, said = ended(started)
    assert (status, "goes back into the queue" in said) == (0, True)
    assert node.said_to("scontrol") == ["requeue 7"]
    assert node.said_to("srun") == []
    assert (node.folder / "cpus").read_text() == "3\n"


def test_that_scancel_of_several_nodes_leaves_gpupanel_until_the_run_has_saved(node: Node) -> None:
    started = node.begin(SMALL.model_copy(update={"strategy": WORKERS}), nodes=2)
    node.until_it_runs()
    os.killpg(started.pid, signal.SIGTERM)
    assert ended(started)[0] == 130
    assert node.said_to("scontrol") == []
