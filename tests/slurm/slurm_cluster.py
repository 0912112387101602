"""A Slurm of a test's own: slurmctld, slurmd and munged in a folder and on ports of theirs."""

import ctypes
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import psutil

_LIBC: Final = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG: Final = 1

PROGRAMS: Final = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scancel", "scontrol")
_SYSTEM_FOLDERS: Final = "/usr/sbin:/usr/local/sbin:/sbin"
"""Where Debian has the daemons; not on everybody's ``PATH``."""
_IN_PLACE_OF_GPUS: Final = ("/dev/null", "/dev/zero")
"""Slurm wants devices, counts them, and says to a job which of them are its own."""
_START_S: Final = 60.0
_END_S: Final = 60.0
_TAKEN_BACK_S: Final = 5
"""Slurm starts a job again when its last credential has expired: after two minutes by default."""

_CONFIGURATION: Final = """\
ClusterName=gpupanel
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket,cred_expire={taken_back_s}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=60
MailProg=/bin/true
GresTypes=gpu
{nodes}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
_NODE: Final = (
    "NodeName={name} NodeAddr=127.0.0.1 NodeHostname={host} Port={port} CPUs=8 RealMemory=64000 "
    "Gres=gpu:2 State=UNKNOWN"
)


def missing_programs() -> tuple[str, ...]:
    """Those of Slurm and munge that this machine does not have."""
    return tuple(each for each in PROGRAMS if _program(each) is None)


class SlurmCluster:
    """Asks the cluster as a person does, by its commands.

    Attributes:
        folder: Where all that it writes stands.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.variables = {"SLURM_CONF": str(folder / "slurm.conf")}

    def submit(
        self, script: Path, *options: str, variables: Mapping[str, str] | None = None
    ) -> str:
        """Submit a batch script from its folder; gives the job's number."""
        words = ("sbatch", "--parsable", *options, str(script))
        return self.ask(*words, folder=script.parent, variables=variables).strip()

    def ask(
        self, *words: str, folder: Path | None = None, variables: Mapping[str, str] | None = None
    ) -> str:
        """What a command of Slurm's answers."""
        answer = subprocess.run(
            words,
            cwd=folder or self.folder,
            env={**os.environ, **self.variables, **(variables or {})},
            capture_output=True,
            text=True,
            timeout=60.0,
            check=False,
        )
        assert answer.returncode == 0, f"{words}: {answer.stderr}"
        return answer.stdout

    def job(self, number: str) -> dict[str, str]:
        """What the controller knows of a job."""
        shown = self.ask("scontrol", "--oneliner", "show", "job", number)
        return dict(word.split("=", 1) for word in shown.split() if "=" in word)

    def until_state(self, number: str, *states: str, longest_s: float) -> dict[str, str]:
        """Wait until a job is in one of these states; gives what is known of it then."""
        job: dict[str, str] = {}

        def is_there() -> bool:
            job.update(self.job(number))
            return job["JobState"] in states

        _until(is_there, longest_s, lambda: f"job {number} is {job.get('JobState')}: {self.logs()}")
        return job

    def logs(self) -> str:
        """The ends of what the daemons said."""
        return "\n".join(
            f"{log.name}: " + "\n".join(log.read_text(errors="replace").splitlines()[-15:])
            for log in sorted(self.folder.glob("*.log"))
        )


@contextmanager
def slurm_cluster(*nodes: str) -> Iterator[SlurmCluster]:
    """A cluster of such nodes on this machine; no process of it is left, whatever happens."""
    # munged and Slurm have sockets there, whose paths must be short.
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    cluster = SlurmCluster(folder)
    daemons: list[subprocess.Popen[bytes]] = []
    try:
        _write_configuration(folder, nodes)
        daemons.append(_start(cluster, "munged", *_munged_options(folder)))
        _until((folder / "munge.socket").exists, _START_S, cluster.logs)
        daemons.append(_start(cluster, "slurmctld", "-D", "-c"))
        daemons += [_start(cluster, "slurmd", "-D", "-N", node) for node in nodes]
        _until(lambda: _idle_nodes(cluster) == len(nodes), _START_S, cluster.logs)
        yield cluster
    finally:
        if len(daemons) > 2:
            _end_jobs(cluster)
        for daemon in reversed(daemons):
            daemon.terminate()
        for daemon in daemons:
            with suppress(subprocess.TimeoutExpired):
                daemon.wait(10.0)
            daemon.kill()
            daemon.wait()
        # Each step has a process of Slurm's above it, which is nobody's child.
        left = [each for each in psutil.process_iter() if _belongs_to(each, cluster)]
        for process in left:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(left, timeout=10.0)
        shutil.rmtree(folder, ignore_errors=True)


def _write_configuration(folder: Path, nodes: tuple[str, ...]) -> None:
    host = socket.gethostname().split(".")[0]
    controller_port, *ports = _free_ports(1 + len(nodes))
    lines = (
        _NODE.format(name=node, host=host, port=port)
        for node, port in zip(nodes, ports, strict=True)
    )
    text = _CONFIGURATION.format(
        host=host,
        controller_port=controller_port,
        user=pwd.getpwuid(os.getuid()).pw_name,
        folder=folder,
        taken_back_s=_TAKEN_BACK_S,
        nodes="\n".join(lines),
    )
    (folder / "slurm.conf").write_text(text)
    described = "".join(f"Name=gpu File={device}\n" for device in _IN_PLACE_OF_GPUS)
    (folder / "gres.conf").write_text(described)
    for name in ("state", *(f"spool-{node}" for node in nodes)):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(64))
    key.chmod(0o400)


def _munged_options(folder: Path) -> tuple[str, ...]:
    """``--force``: its folder is nobody else's, which munged takes for a mistake."""
    files = ("key-file=munge.key", "socket=munge.socket", "pid-file=munged.pid", "seed-file=seed")
    named = (each.split("=") for each in files)
    return ("--foreground", "--force", *(f"--{option}={folder / name}" for option, name in named))


def _start(cluster: SlurmCluster, program: str, *options: str) -> subprocess.Popen[bytes]:
    name = "-".join((program, *options[-1:])).replace("/", "-")
    path = _program(program)
    assert path is not None
    with (cluster.folder / f"{name[:40]}.log").open("wb") as log:
        return subprocess.Popen(
            (path, *options),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=cluster.folder,
            env={**os.environ, **cluster.variables},
            preexec_fn=_end_with_parent,
        )


def _end_with_parent() -> None:
    """Also where the tests are killed, and nobody ends the daemons any more (prctl(2))."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _program(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path=_SYSTEM_FOLDERS)


def _idle_nodes(cluster: SlurmCluster) -> int:
    try:
        return cluster.ask("sinfo", "--noheader", "--Node", "--format=%t").split().count("idle")
    except AssertionError:
        return 0  # the controller does not answer yet


def _end_jobs(cluster: SlurmCluster) -> None:
    with suppress(AssertionError, subprocess.TimeoutExpired):
        numbers = cluster.ask("squeue", "--noheader", "--format=%i").split()
        if numbers:
            cluster.ask("scancel", *numbers)
        _until(lambda: not cluster.ask("squeue", "--noheader").strip(), _END_S, cluster.logs)


def _belongs_to(process: psutil.Process, cluster: SlurmCluster) -> bool:
    with suppress(psutil.Error):
        own = process.pid == os.getpid()
        return not own and process.environ().get("SLURM_CONF") == cluster.variables["SLURM_CONF"]
    return False


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def _until(is_so: Callable[[], bool], longest_s: float, why_not: Callable[[], str]) -> None:
    end_s = time.monotonic() + longest_s
    while not is_so():
        assert time.monotonic() < end_s, why_not()
        time.sleep(0.2)
