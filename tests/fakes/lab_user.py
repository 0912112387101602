"""What a user of a shared machine does, in a process of theirs.

``python -m tests.fakes.lab_user train GPU`` trains on a GPU until its run directory, which it
prints, has a file :data:`~tests.fakes.trainer.ENOUGH`. ``attack RUN_DIR CLAIM PID`` tries what
nobody may do with the run, the claim and the process of another, and prints what of it worked.
"""

import errno
import fcntl
import json
import os
import signal
import struct
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from gpupanel.devices.sampler import PATIENT_S, DeviceSampler
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.planning.prepare import prepare
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.history.deleting import delete_run
from gpupanel.runs.launcher import create_run
from gpupanel.runs.locations import default_runs_dir
from gpupanel.runs.supervision.process import supervise
from gpupanel.runs.supervision.supervisor import Supervisor

TRAINER = Path(__file__).with_name("trainer.py")


def train(gpu: str) -> int:
    """Train on a GPU, with a trainer without TensorFlow."""
    with DeviceSampler(wait_s=PATIENT_S) as sampler:
        inventory = sampler.inventory()
    profile = Profile(devices=DeviceSettings(visible=(gpu,)))
    plan = prepare(profile, inventory).plan
    assert plan is not None
    layout = create_run(profile, plan, default_runs_dir())
    print(layout.root, flush=True)
    command = (sys.executable, "-P", str(TRAINER), "train_to_an_end")
    return supervise(layout, lambda run: Supervisor(run, command))


def attack(run: Path, claim: Path, pid: int) -> list[str]:
    """What a stranger can do: it should be to read the claim, and nothing else."""
    layout = RunLayout(run)
    attempts: Mapping[str, Callable[[], object]] = {
        "read the claim": claim.read_bytes,
        "list the run": lambda: list(run.iterdir()),
        "read the profile": layout.profile.read_bytes,
        "read the events": layout.events.read_bytes,
        "stop the run": lambda: ask(layout, Request.STOP),
        "delete the run": lambda: delete_run(layout, None),
        "write into the run": lambda: (run / "enough").touch(),
        "end its supervisor": lambda: os.kill(pid, signal.SIGTERM),
        "kill its supervisor": lambda: os.kill(pid, signal.SIGKILL),
        "remove the claim": claim.unlink,
        "rename the claim": lambda: claim.rename(claim.with_name("mine.claim")),
        "replace the claim": lambda: _made(claim.parent / "new.claim").rename(claim),
        "write the claim": lambda: claim.write_bytes(b"{}"),
        "make the claim private": lambda: claim.chmod(0o600),
        "lock the claim": lambda: _lock(claim),
        "give a claim to another": lambda: os.chown(
            _made(claim.parent / "forged.claim"), claim.stat().st_uid, -1
        ),
        "make the folder one's own": lambda: claim.parent.chmod(0o777),
        "rename the folder": lambda: claim.parent.rename(claim.parent.with_name("other")),
    }
    return [name for name, attempt in attempts.items() if _works(attempt)]


def _works(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except (OSError, ProblemError):
        return False
    return True


def _made(path: Path) -> Path:
    path.touch()
    return path


def _lock(claim: Path) -> None:
    lock = struct.pack("@hhqqi0q", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    for flags in (os.O_RDWR, os.O_RDONLY):
        with suppress(PermissionError):
            descriptor = os.open(claim, flags)
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, lock)
            return
    raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(claim))


if __name__ == "__main__":
    verb, *arguments = sys.argv[1:]
    if verb == "train":
        sys.exit(train(*arguments))
    run_dir, claim_file, supervisor_pid = arguments
    print(json.dumps(attack(Path(run_dir), Path(claim_file), int(supervisor_pid))))
