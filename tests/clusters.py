"""A real Ray cluster for tests: several raylets on this machine, and nothing of it afterwards."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.patience import PATIENCE_S

CLUSTER_VARIABLE = "GPUPANEL_TEST_CLUSTER"
"""In the environment of everything that belongs to a cluster, and of what that starts."""


@dataclass
class RealCluster:
    """Its raylets by the names of their nodes.

    Attributes:
        head: The process whose end ends the cluster.
    """

    folder: Path
    host: "subprocess.Popen[str] | None"
    address: str = ""
    head: psutil.Process | None = None
    raylets: dict[str, psutil.Process] = field(default_factory=dict)

    def add(self, name: str, environment: Mapping[str, str] | None = None, cpus: int = 4) -> None:
        assert self.host is not None
        assert self.host.stdin is not None
        assert self.host.stdout is not None
        wanted = {"node_name": name, "num_cpus": cpus, "num_gpus": 0}
        self.host.stdin.write(json.dumps({**wanted, "env_vars": dict(environment or {})}) + "\n")
        self.host.stdin.flush()
        line = self.host.stdout.readline()
        assert line, f"no raylet: {(self.folder / 'host.log').read_text()[-3000:]}"
        answer = json.loads(line)
        self.address = answer["address"]
        self.raylets[name] = psutil.Process(answer["raylet"])
        if answer["head"] is not None:
            self.head = psutil.Process(answer["head"])

    def processes(self) -> list[psutil.Process]:
        """Everything of it that runs, and what that has started."""
        # Not by psutil, which reads to the first gap: Ray writes titles of processes over it.
        mark, found = f"{CLUSTER_VARIABLE}={self.folder}".encode(), []
        for process in psutil.process_iter():
            try:
                is_of_it = mark in Path(f"/proc/{process.pid}/environ").read_bytes()
                if is_of_it and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except (OSError, psutil.Error):
                continue
        return found

    def kill_all(self) -> None:
        """Nothing of it is left, also of what is just starting."""
        until_s = time.monotonic() + 10.0
        while (left := self.processes()) and time.monotonic() < until_s:
            for process in left:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            psutil.wait_procs(left, timeout=2.0)

    def trainers(self) -> list[psutil.Process]:
        """Processes of runs on its nodes."""
        return [process for process in self.processes() if "gpupanel.trainer" in _command(process)]

    def until_no_trainer_is_left(self, timeout_s: float) -> None:
        until_s = time.monotonic() + timeout_s
        while (left := self.trainers()) and time.monotonic() < until_s:
            time.sleep(0.2)
        assert not left, f"still running: {left}"


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def cluster_environment(folder: Path) -> dict[str, str]:
    """What makes everything of a cluster known, and keeps it out of a person's own /tmp/ray."""
    (folder / "ray").mkdir()  # where Ray notes which cluster is the current one
    return {
        CLUSTER_VARIABLE: str(folder),
        "RAY_TMPDIR": str(folder),
        "RAY_USAGE_STATS_ENABLED": "0",
    }


@contextmanager
def real_cluster(
    *names: str, environments: Mapping[str, Mapping[str, str]] | None = None
) -> Iterator[RealCluster]:
    """A cluster of one raylet a name, the first one with the head."""
    # Short: a socket's path has 107 characters at most.
    folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
    with (folder / "host.log").open("wb") as log:
        host = subprocess.Popen(
            [sys.executable, "-m", "tests.cluster_host", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=os.environ | cluster_environment(folder),
            text=True,
        )
    real = RealCluster(folder, host)
    try:
        host.wait(PATIENCE_S)
        for name in names:
            real.add(name, (environments or {}).get(name))
        yield real
    finally:
        for stream in (host.stdin, host.stdout):
            if stream is not None:
                stream.close()
        psutil.wait_procs(real.processes(), timeout=15.0)
        real.kill_all()
        shutil.rmtree(folder, ignore_errors=True)
