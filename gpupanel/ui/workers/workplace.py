"""Where what a window orders is done: on this machine, or on a host that it is connected to.

A window works on one machine as long as it is there, and so does its process. What reads devices
and folders, starts runs and asks for them goes through here; what is on the screen is the same.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Protocol

from gpupanel.domain.device import DeviceInventory, PhysicalDevice
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.model_export import ModelExport, ModelExportRequest
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.telemetry import DeviceProcess, TelemetrySample
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.folder_examination import folder_problem
from gpupanel.runs.history.deleting import delete_run
from gpupanel.runs.history.label import RunLabel, change_label
from gpupanel.runs.launcher import launch, resume
from gpupanel.runs.questions.question import OnProgress
from gpupanel.runs.queue.entry import QueueEntry
from gpupanel.runs.queue.orders import RemovedEntry
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.runs.tools.export.export_format import ExportFormat
from gpupanel.runs.tools.export.model_export import write_model
from gpupanel.runs.trust.trusted import trust
from gpupanel.runs.trust.user_code import UserCode
from gpupanel.runs.user_queue import UserQueue

if TYPE_CHECKING:
    from gpupanel.devices.doctor.report import DoctorReport
    from gpupanel.hosts.operations.machine import FolderListing


class DeviceSource(Protocol):
    """What is asked: :class:`gpupanel.devices.sampler.DeviceSampler`, or a stand-in of it."""

    def inventory(self) -> DeviceInventory:
        """The devices with what does not change about them."""
        ...

    def sample(self) -> TelemetrySample:
        """What they report now."""
        ...

    def wake(self) -> None:
        """Ask sleeping GPUs, too, the next time."""
        ...

    def stop_waiting(self) -> None:
        """Wait for nothing slow any more; called in another thread, before the end."""
        ...

    def close(self) -> None:
        """Let the driver go."""
        ...


class Queue(Protocol):
    """The queue of a machine: :class:`gpupanel.runs.user_queue.UserQueue`, or its like."""

    def fingerprint(self) -> object:
        """Something that differs after each change; ``None`` while there is no queue."""
        ...

    def read(self) -> WaitingLine:
        """The queue as it is now."""
        ...

    def problems(self, line: WaitingLine) -> tuple[Problem, ...]:
        """What keeps it from working."""
        ...

    def wake(self) -> None:
        """See to it that what waits is started."""
        ...

    def profile(self, entry_id: str) -> tuple[int, Profile]:
        """The revision and the profile of an entry."""
        ...

    def add(self, profile: Profile, runs_dir: Path) -> QueueEntry | None:
        """Let a run of the profile wait behind all others."""
        ...

    def continue_run(self, layout: RunLayout, profile: Profile | None) -> QueueEntry | None:
        """Let a run wait that is to go on."""
        ...

    def edit(self, entry_id: str, profile: Profile, revision: int) -> QueueEntry | None:
        """Give a waiting entry another profile."""
        ...

    def move(self, entry_id: str, place: int) -> None:
        """Put a waiting entry at another place, counted from 1."""
        ...

    def take_out(self, entry_id: str) -> RemovedEntry | None:
        """Take an entry out; ``None``: it cannot be put back."""
        ...

    def put_back(self, removed: RemovedEntry) -> None:
        """Let an entry that was taken out stand where it stood."""
        ...

    def set_paused(self, *, paused: bool) -> None:
        """Start nothing any more, or go on."""
        ...

    def clear(self) -> None:
        """Take those out that have ended."""
        ...


class Exports(Protocol):
    """What is written of runs for other programs, always at a place of this machine."""

    def write_model(
        self, request: ModelExportRequest, *, cancelled: Event, on_progress: OnProgress
    ) -> ModelExport:
        """Write a model."""
        ...

    def write_run(
        self, layout: RunLayout, wanted: ExportFormat, output: Path, cancelled: Event
    ) -> None:
        """Write a report, a notebook or a script of a run, whole or not at all."""
        ...

    def write_curve_table(
        self, output: Path, layouts: Sequence[RunLayout], cancelled: Event
    ) -> int:
        """Write all values of runs into a table, whole or not at all; how many there are."""
        ...


class Workplace(Protocol):
    """A machine to work on; every method may take its time, and is called by workers alone.

    Attributes:
        host: What the person calls it; empty: it is this machine.
    """

    host: str

    @property
    def exports(self) -> Exports:
        """Write what is made of its runs."""
        ...

    def device_source(self, folder: Path | None) -> DeviceSource:
        """Its devices; samples report how full the disk of the folder of runs is."""
        ...

    def open_copy(self, layout: RunLayout) -> Callable[[], None]:
        """See to it that the files of a run are here, and grow; what ends that."""
        ...

    def launch(
        self, profile: Profile, plan: LaunchPlan, runs_dir: Path, *, outside_hours: bool = False
    ) -> RunLayout:
        """Start a run, as :func:`gpupanel.runs.launcher.launch` does."""
        ...

    def resume(
        self,
        layout: RunLayout,
        changed: tuple[Profile, LaunchPlan] | None = None,
        *,
        accepts_changed_data: bool = False,
        outside_hours: bool = False,
    ) -> None:
        """Start a run again, as :func:`gpupanel.runs.launcher.resume` does."""
        ...

    def trust(self, trusted: tuple[UserCode, ...]) -> None:
        """Remember that the person trusts this code."""
        ...

    def ask(self, layout: RunLayout, request: Request) -> None:
        """Ask something of a run."""
        ...

    def change_label(self, layout: RunLayout, before: RunLabel, after: RunLabel) -> None:
        """Give a run another label, as far as it was changed."""
        ...

    def delete(self, layout: RunLayout, move_to_bin: Callable[[Path], bool] | None) -> bool:
        """Delete a run, as :func:`gpupanel.runs.history.deleting.delete_run` does."""
        ...

    def queue(self, folder: Path) -> Queue:
        """The person's queue; of this machine that in the folder."""
        ...

    def folder_problem(self, folder: Path) -> Problem | None:
        """What keeps runs out of their folder."""
        ...

    def gpu_support(
        self, gpus: tuple[PhysicalDevice, ...], driver: str | None, cancelled: Event
    ) -> GpuSupport:
        """Which GPUs TensorFlow can use there."""
        ...

    def import_problem(self, cancelled: Event) -> Problem | None:
        """What of elsewhere keeps TensorFlow from being imported there."""
        ...

    def end_process(
        self, process: DeviceProcess, run_processes: frozenset[int], *, by_force: bool
    ) -> None:
        """End a process that holds memory of a GPU."""
        ...

    def examine(self, cancelled: Event) -> "DoctorReport":
        """Examine driver, TensorFlow and GPUs."""
        ...

    def folder(self, path: str) -> "FolderListing":
        """What is in a folder of a host; of this machine a dialog of the system shows it."""
        ...


class ExportsHere:
    """What is written of the runs of this machine."""

    def write_model(
        self, request: ModelExportRequest, *, cancelled: Event, on_progress: OnProgress
    ) -> ModelExport:
        """Write a model."""
        return write_model(request, cancelled=cancelled, on_progress=on_progress)

    def write_run(
        self, layout: RunLayout, wanted: ExportFormat, output: Path, cancelled: Event
    ) -> None:
        """Write a report, a notebook or a script of a run."""
        # Here and in what follows: a window that starts needs none of it.
        from gpupanel.runs.tools.export.exported_run import write_run

        write_run(layout, wanted, output, cancelled)

    def write_curve_table(
        self, output: Path, layouts: Sequence[RunLayout], cancelled: Event
    ) -> int:
        """Write all values of runs into a table."""
        from gpupanel.runs.history.curve_table import write_curve_table

        try:
            return write_curve_table(output, layouts, cancelled.is_set)
        except OSError as error:
            raise ProblemError(disk_problem(error, output)) from error


class ThisMachine:
    """The machine that the window is on."""

    host = ""

    @property
    def exports(self) -> ExportsHere:
        """Write what is made of its runs."""
        return ExportsHere()

    def device_source(self, folder: Path | None) -> DeviceSource:
        """Its devices."""
        # Here and not above: it is the worker's thread that waits for the import.
        from gpupanel.devices.machine_devices import machine_devices

        return machine_devices(folder)

    def open_copy(self, _layout: RunLayout) -> Callable[[], None]:
        """Nothing: they are here."""
        return _nothing

    def launch(
        self, profile: Profile, plan: LaunchPlan, runs_dir: Path, *, outside_hours: bool = False
    ) -> RunLayout:
        """Start a run."""
        return launch(profile, plan, runs_dir, outside_hours=outside_hours)

    def resume(
        self,
        layout: RunLayout,
        changed: tuple[Profile, LaunchPlan] | None = None,
        *,
        accepts_changed_data: bool = False,
        outside_hours: bool = False,
    ) -> None:
        """Start a run again."""
        resume(
            layout,
            changed,
            accepts_changed_data=accepts_changed_data,
            outside_hours=outside_hours,
        )

    def trust(self, trusted: tuple[UserCode, ...]) -> None:
        """Remember that the person trusts this code."""
        trust(trusted)

    def ask(self, layout: RunLayout, request: Request) -> None:
        """Ask something of a run."""
        ask(layout, request)

    def change_label(self, layout: RunLayout, before: RunLabel, after: RunLabel) -> None:
        """Write what was changed of a run's label."""
        change_label(layout, **after.changes_of(before), before=before)

    def delete(self, layout: RunLayout, move_to_bin: Callable[[Path], bool] | None) -> bool:
        """Move a run to the bin, or delete it for good."""
        return delete_run(layout, move_to_bin)

    def queue(self, folder: Path) -> Queue:
        """The queue in a folder."""
        return UserQueue(folder)

    def folder_problem(self, folder: Path) -> Problem | None:
        """What keeps runs out of their folder."""
        return folder_problem(folder)

    def gpu_support(
        self, gpus: tuple[PhysicalDevice, ...], driver: str | None, cancelled: Event
    ) -> GpuSupport:
        """Which GPUs TensorFlow can use here."""
        from gpupanel.devices.doctor.gpu_support import gpu_support

        return gpu_support(gpus, driver, cancelled)

    def import_problem(self, cancelled: Event) -> Problem | None:
        """What of elsewhere keeps TensorFlow from being imported here."""
        from gpupanel.devices.doctor.spoiled_import import import_problem

        return import_problem(cancelled)

    def end_process(
        self, process: DeviceProcess, run_processes: frozenset[int], *, by_force: bool
    ) -> None:
        """End a process."""
        from gpupanel.devices.process_ending import end_process

        end_process(process, run_processes, by_force=by_force)

    def examine(self, cancelled: Event) -> "DoctorReport":
        """Examine this machine."""
        from gpupanel.runs.examination import examine

        return examine(cancelled=cancelled)

    def folder(self, path: str) -> "FolderListing":
        """Nothing asks this machine so: its dialogs are the system's."""
        raise NotImplementedError(path)


_place: list[Workplace] = [ThisMachine()]


def check_is_here(what: str) -> None:
    """Refuse what cannot be done over a connection.

    Args:
        what: Begins the sentence ("The queue").

    Raises:
        ProblemError: The window works on another machine.
    """
    host = workplace().host
    if host:
        raise ProblemError(only_there(what, host))


def only_there(what: str, host: str) -> Problem:
    """The problem of what cannot be done over a connection yet."""
    return Problem(
        code="not_over_connection",
        message=f"{what} cannot be used over the connection to {host} yet.",
        hint=f"Use it on {host} itself: `ssh {host}`, then gpupanel there.",
    )


def workplace() -> Workplace:
    """The machine that this process works on."""
    return _place[0]


def work_on(place: Workplace) -> None:
    """Work on that machine from now on; said before there is a window."""
    _place[0] = place


def _nothing() -> None:
    """Nothing needs to be ended."""
