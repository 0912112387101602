"""Which runs go on now, on which devices and whoever started them, and how those of entries end."""

import time
from collections.abc import Iterable
from pathlib import Path

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.value import Value
from gpupanel.files.guarded_files import status
from gpupanel.files.plan_file import plan_if_readable
from gpupanel.runs.directory.run_lock import STARTING_S, is_supervised
from gpupanel.runs.directory.start_claim import is_start_claimed
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.runs.queue.entry import EntryState, QueueEntry

_Fingerprint = tuple[int, int]


class RunningRun(Value):
    """A run that goes on, and the keys of the devices that it holds."""

    name: str
    path: Path
    device_keys: tuple[str, ...]


class RunningRuns:
    """Finds runs that go on in folders of runs; the second time is cheap.

    A run without a supervisor cannot get one unless its events change first, so a thousand past
    runs cost no more than the dates of a thousand files.
    """

    def __init__(self) -> None:
        self._over: dict[Path, _Fingerprint] = {}

    def find(self, runs_dirs: Iterable[Path]) -> tuple[RunningRun, ...]:
        """The runs that go on in these folders now."""
        found = []
        for runs_dir in dict.fromkeys(runs_dirs):
            try:
                roots = sorted(runs_dir.iterdir())
            except OSError:
                continue  # not made yet, or not readable: whoever starts a run there is shown why
            found += [running for root in roots if (running := self._running(root)) is not None]
        return tuple(found)

    def _running(self, root: Path) -> RunningRun | None:
        layout = RunLayout(root)
        fingerprint = _fingerprint(layout.events)
        if fingerprint is not None and self._over.get(root) == fingerprint:
            return None
        if goes_on(layout):
            keys = device_keys(layout)
            return RunningRun(name=layout.name, path=root, device_keys=keys)
        if fingerprint is not None:
            self._over[root] = fingerprint
        return None


def goes_on(layout: RunLayout) -> bool:
    """Whether a supervisor is there for the run, or was started for it and is about to."""
    if is_supervised(layout):
        return True
    begun_s = max(_changed_s(layout.profile), _changed_s(layout.events))
    # The clock may have been set back since.
    if abs(time.time() - begun_s) >= STARTING_S:
        return False
    # Asked again: a supervisor may have claimed it since it was asked for its lock.
    return not is_start_claimed(layout) or is_supervised(layout)


def device_keys(layout: RunLayout) -> tuple[str, ...]:
    """The devices that a run holds while it goes on, by its plan; none where it has none."""
    plan = plan_if_readable(layout)
    return () if plan is None else tuple(held_devices(plan))


def held_devices(plan: LaunchPlan) -> dict[str, str]:
    """The names of the devices that a run of a plan holds, by keys that no two devices share."""
    if not plan.is_on_nodes:
        return {device.key: device.name for device in plan.devices}
    # Each node calls its own processor "cpu".
    return {
        device.key if device.kind is DeviceKind.GPU else f"{device.key}@{process.node}": (
            f"{device.name} of {process.node}"
        )
        for process in plan.gang
        for device in process.devices
    }


def ended_entry(entry: QueueEntry) -> QueueEntry | None:
    """The entry as it is after its run has ended; ``None`` while that goes on."""
    if entry.run is None or not (entry.run / "profile.toml").exists():
        return _ended(entry, Outcome.LOST, _removed(entry))
    layout = RunLayout(entry.run)
    if goes_on(layout):
        return None
    summary = summarize_run(layout)
    if summary.is_running:
        return None
    if summary.outcome is not None:
        return _ended(entry, summary.outcome, summary.problem)
    # It is not known any more: its folder went this moment, or cannot be read.
    is_there = layout.profile.exists()
    return _ended(entry, Outcome.LOST, summary.flaw if is_there else _removed(entry))


def _ended(entry: QueueEntry, outcome: Outcome, problem: Problem | None) -> QueueEntry:
    problems = () if problem is None else (problem,)
    return entry.model_copy(
        update={"state": EntryState.ENDED, "outcome": outcome, "problems": problems}
    )


def _removed(entry: QueueEntry) -> Problem:
    return Problem(
        code="run_removed",
        message=f"The folder of “{entry.name}” was removed while the queue supervised it.",
        hint="Add its profile to the queue again; that makes a new run.",
        detail=str(entry.run or ""),
    )


def _fingerprint(events: Path) -> _Fingerprint | None:
    try:
        found = status(events)
    except OSError:
        return None
    return None if found is None else (found.st_mtime_ns, found.st_size)


def _changed_s(path: Path) -> float:
    try:
        found = status(path)
    except OSError:
        return 0.0
    return 0.0 if found is None else found.st_mtime
