"""The batch script of a profile, submitted to a cluster, and the run that comes of it."""

import subprocess
import sysconfig
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import psutil

from gpupanel.domain.events import Event, StepsDone, decode_event
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.run_name import slug
from gpupanel.planning.script.slurm import slurm_script
from gpupanel.runs.processes.run_processes import processes_of
from tests.patience import PATIENCE_S
from tests.slurm.slurm_cluster import SlurmCluster

COMMAND: Final = str(Path(sysconfig.get_path("scripts")) / "gpupanel")

SMALL: Final = """
name = "small"
[devices]
visible = ["cpu"]
[data]
source = "digits"
[model]
source = "mlp"
hidden = [16]
[training]
epochs = 2
seed = 5
tensorboard = false
"""
ENDLESS: Final = SMALL.replace("epochs = 2", "epochs = 1000000\ncheckpoint_every_epochs = 0")


class Job:
    """A job that was submitted, and its run."""

    def __init__(
        self,
        cluster: SlurmCluster,
        profile: Profile,
        folder: Path,
        *options: str,
        nodes: int = 1,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.cluster, self._folder = cluster, folder
        script = folder / "train.sbatch"
        script.write_text(slurm_script(profile, COMMAND, nodes))
        small = ("--cpus-per-task=1", "--mem=1000", "--output=%j.log", *options)
        self.number = cluster.submit(script, *small, variables=variables)
        self.layout = RunLayout(folder / "runs" / f"{slug(profile.name)}-{self.number}")

    @property
    def log(self) -> str:
        """What the script and the run have said."""
        return (self._folder / f"{self.number}.log").read_text()

    def events(self) -> tuple[Event, ...]:
        """What the run has reported so far."""
        lines = self.layout.events.read_bytes().splitlines() if self.layout.events.exists() else ()
        return tuple(decode_event(line) for line in lines)

    def until_it_steps(self) -> None:
        """Wait until the run has learned something."""
        self.until(lambda: any(isinstance(event, StepsDone) for event in self.events()))

    def until(self, is_so: Callable[[], bool]) -> None:
        """Wait for something."""
        end_s = time.monotonic() + PATIENCE_S
        while not is_so():
            assert time.monotonic() < end_s, self.log
            time.sleep(0.2)

    @property
    def minutes_so_far(self) -> int:
        """Whole minutes that the job has run since it was started the last time."""
        hours, minutes, _ = self.cluster.job(self.number)["RunTime"].split(":")
        return 60 * int(hours) + int(minutes)

    def limit_to(self, minutes: int) -> None:
        """Give the job another time limit."""
        self.cluster.ask("scontrol", "update", f"JobId={self.number}", f"TimeLimit={minutes}")

    def trainers(self) -> list[psutil.Process]:
        """The processes that train, on all nodes, which are this machine."""
        command = ["-P", "-m", "gpupanel.trainer"]
        return [each for each in processes_of(self.layout) if each.cmdline()[1:4] == command]

    def ask(self, verb: str, *options: str) -> None:
        """Ask something of the run, as from the login node."""
        runs_dir = str(self.layout.root.parent)
        words = (COMMAND, verb, self.layout.root.name, "--runs-dir", runs_dir, *options)
        answer = subprocess.run(words, check=False, capture_output=True, timeout=PATIENCE_S)
        assert answer.returncode == 0, answer.stderr

    def ended(self, longest_s: float = PATIENCE_S) -> dict[str, str]:
        """Wait for its end; gives what Slurm knows of it."""
        states = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL")
        return self.cluster.until_state(self.number, *states, longest_s=longest_s)
