"""One comparison of devices at a time, on devices that nobody of the same person uses.

While it goes on it holds a lock, and a file says on which devices: the queue starts nothing there.
"""

import json
import logging
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from filelock import Timeout
from pydantic import TypeAdapter

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import read_file
from gpupanel.files.locks import is_lock_held, lock_in_folder
from gpupanel.files.whole_files import write_whole
from gpupanel.runs.directory.disk_problems import disk_problem, space_problem
from gpupanel.runs.directory.private_files import make_private_folder
from gpupanel.runs.locations import bench_dir, default_runs_dir, queue_dir
from gpupanel.runs.processes.run_processes import end_processes_of
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.queue.running_runs import RunningRuns
from gpupanel.runs.queue.waiting_line import WaitingLine

HOLDER: Final = "a comparison of devices"
"""What the queue's entries wait for."""
_RUNS: Final = "runs-"
_MOST_BYTES: Final = 2**16
_KEYS: Final = TypeAdapter(tuple[str, ...])
_LOG = logging.getLogger(__name__)

_GOES_ON: Final = Problem(
    code="bench_goes_on",
    message="Devices are being compared already.",
    hint="Wait for its end, or cancel it where it was started.",
)


@contextmanager
def claimed(devices: dict[str, str], runs_dir: Path | None = None) -> Iterator[Path]:
    """Keep the devices for one comparison; gives a folder for its runs, which is removed.

    What a comparison that was killed has left is ended and removed first.

    Args:
        devices: What they are called, by their keys.
        runs_dir: A folder whose runs count, too, beside that of the user.

    Raises:
        ProblemError: Another comparison goes on, a run or an entry of the queue uses a device, or
            nothing can be written.
    """
    folder = bench_dir()
    try:
        make_private_folder(folder, parents=True)
        lock = lock_in_folder(_lock(folder), 0.0)
        lock.acquire()
    except Timeout as error:
        raise ProblemError(_GOES_ON) from error
    except OSError as error:
        raise ProblemError(disk_problem(error, folder)) from error
    try:
        for left in folder.glob(f"{_RUNS}*"):
            _remove(left)
        _check_unused(devices, runs_dir)
        runs = _make(folder, tuple(devices))
        try:
            yield runs
        finally:
            _remove(runs)
            with suppress(OSError):
                _devices_file(folder).unlink()
    finally:
        lock.release()


def benched_devices() -> tuple[str, ...]:
    """The keys of the devices that are being compared now; none where nobody does."""
    try:
        folder = bench_dir()
        if not is_lock_held(_lock(folder)):
            return ()
        return _KEYS.validate_json(read_file(_devices_file(folder), folder, _MOST_BYTES))
    except (OSError, ValueError, ProblemError):
        return ()


def _lock(folder: Path) -> Path:
    return folder / "bench.lock"


def _devices_file(folder: Path) -> Path:
    return folder / "devices.json"


def _make(folder: Path, keys: tuple[str, ...]) -> Path:
    try:
        problem = space_problem(folder)
        if problem is not None:
            raise ProblemError(problem)
        write_whole(_devices_file(folder), json.dumps(keys), private=True)
        return Path(tempfile.mkdtemp(prefix=_RUNS, dir=folder))
    except OSError as error:
        raise ProblemError(disk_problem(error, folder)) from error


def _remove(runs: Path) -> None:
    """End what still goes on in a folder of runs, and remove it."""
    if runs.is_symlink() or not runs.is_dir():
        return
    with suppress(OSError):
        for root in runs.iterdir():
            end_processes_of(RunLayout(root))
    try:
        shutil.rmtree(runs)
    except OSError as error:
        _LOG.debug("What was compared leaves files behind: %s", error)


def _check_unused(devices: dict[str, str], runs_dir: Path | None) -> None:
    line = QueueFiles(queue_dir()).read()
    folders = [default_runs_dir(), *(entry.runs_dir for entry in line.entries)]
    if runs_dir is not None:
        folders.append(runs_dir)
    for run in RunningRuns().find(folders):
        used = [name for key, name in devices.items() if key in run.device_keys]
        if used:
            raise ProblemError(_used(run.name, used[0]))
    waiting = _waits_for(line, devices.values())
    if waiting:
        raise ProblemError(_awaited(waiting))


def _waits_for(line: WaitingLine, names: Collection[str]) -> str:
    """The name of an entry that may be started on one of these devices; empty: there is none."""
    if line.paused:
        return ""
    if line.sweeps:
        return line.sweeps[0].name
    for entry in line.waiting:
        # Which devices it needs is noted when the scheduler has planned it first.
        if not entry.devices or set(entry.devices) & set(names):
            return entry.name
    return ""


def _used(run: str, device: str) -> Problem:
    return Problem(
        code="bench_device_in_use",
        field="devices.visible",
        message=f"The run {run} uses {device}: both would be slower, and the speed would be wrong.",
        hint="Compare the devices when it has ended.",
    )


def _awaited(entry: str) -> Problem:
    return Problem(
        code="bench_queue_waits",
        field="devices.visible",
        message=f"“{entry}” waits in the queue, and may start at any time on the same devices.",
        hint="Compare the devices when the queue is empty, or pause it first.",
        command="gpupanel queue pause",
    )
