"""Runs of a queue without processes: the test itself is their supervisor."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

from gpupanel.domain.events import RunEnded, RunStarted, encode_event
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.line_log import LineLog
from gpupanel.planning.context import Known
from gpupanel.planning.prepare import Preparation, prepare
from gpupanel.runs.directory.start_claim import claim_start
from gpupanel.runs.readiness import Machine
from tests.fakes.devices import TWO_UNEQUAL

if TYPE_CHECKING:
    from filelock import FileLock

MACHINE = Machine(TWO_UNEQUAL)
GPU_A, GPU_B = "GPU-4090", "GPU-3060"


def profile_on(*keys: str, name: str = "queued") -> Profile:
    """A profile that trains on these devices."""
    devices = ", ".join(f'"{key}"' for key in keys)
    kind = "mirrored" if len(keys) > 1 else "one_device"
    return parse_profile(
        f'schema_version = 1\nname = "{name}"\n[devices]\nvisible = [{devices}]\n'
        f'[strategy]\nkind = "{kind}"\n'
    )


def prepare_without_build(machine: Machine, profile: Profile) -> Preparation:
    """What would happen, whatever TensorFlow is installed."""
    return prepare(profile, machine.inventory, Known(machine.sample))


class QueuedRuns:
    """Takes each run up that is started, and holds it until the test ends it."""

    def __init__(self) -> None:
        self.started: list[Path] = []
        self._locks: dict[Path, FileLock] = {}

    def start(self, layout: RunLayout, *_: object) -> None:
        self._locks[layout.root] = claim_start(layout)
        self.started.append(layout.root)
        self._write(layout, RunStarted(time_s=time.time(), supervisor_pid=1))

    def end(self, root: Path, outcome: Outcome = Outcome.COMPLETED) -> None:
        self._write(RunLayout(root), RunEnded(time_s=time.time(), outcome=outcome))
        self.vanish(root)

    def vanish(self, root: Path) -> None:
        """Let go of the run without a word, as a supervisor does that is killed."""
        self._locks.pop(root).release()

    def _write(self, layout: RunLayout, event: RunStarted | RunEnded) -> None:
        log = LineLog(layout.events)
        log.append(encode_event(event))
        log.close()
