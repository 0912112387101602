"""What a window orders where it works on the machine that it is on."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.model_export import ModelExport, ModelExportRequest
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.telemetry import DeviceProcess
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.directory.run_folder import check_outside_of_runs
from gpupanel.runs.folder_examination import folder_problem
from gpupanel.runs.history.deleting import delete_run
from gpupanel.runs.history.label import RunLabel, change_label
from gpupanel.runs.launcher import launch, resume
from gpupanel.runs.questions.question import OnProgress
from gpupanel.runs.tools.export.export_format import ExportFormat
from gpupanel.runs.tools.export.model_export import write_model
from gpupanel.runs.trust.trusted import trust
from gpupanel.runs.trust.user_code import UserCode
from gpupanel.runs.user_queue import UserQueue
from gpupanel.runs.user_sweeps import UserSweeps

if TYPE_CHECKING:
    from gpupanel.devices.doctor.report import DoctorReport
    from gpupanel.planning.own_data import Pretrained
    from gpupanel.runs.tools.tracing.tracing import RunTraces


from gpupanel.domain.batch_fit import BatchFit
from gpupanel.domain.bench import Bench
from gpupanel.files.guarded_files import open_to_read
from gpupanel.files.whole_files import whole_file
from gpupanel.runs.readiness import Machine
from gpupanel.runs.tools.prediction.predictor import Predictor
from gpupanel.ui.workers.device_source import DeviceSource


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

    def write_predictions(
        self, layout: RunLayout, name: str, output: Path, _cancelled: Event
    ) -> None:
        """Copy what a run has predicted, whole or not at all."""
        if output.exists():
            check_outside_of_runs(output)
        try:
            with (
                open_to_read(layout.root / name, layout.root) as file,
                whole_file(output) as written,
            ):
                shutil.copyfileobj(file, written)
        except OSError as error:
            raise ProblemError(disk_problem(error, output)) from error

    def write_curve_table(
        self, output: Path, layouts: Sequence[RunLayout], cancelled: Event
    ) -> int:
        """Write all values of runs into a table."""
        from gpupanel.runs.history.curve_table import write_curve_table

        try:
            return write_curve_table(output, layouts, cancelled.is_set)
        except OSError as error:
            raise ProblemError(disk_problem(error, output)) from error


class ToolsHere:
    """What is tried and measured on this machine."""

    def predictor(self) -> Predictor:
        """What asks models about single examples."""
        return Predictor()

    def find_batches(
        self, profile: Profile, machine: Machine, *, cancelled: Event, on_progress: OnProgress
    ) -> BatchFit:
        """Try which batches fit."""
        # Here and in what follows: most windows use none of these.
        from gpupanel.runs.tools.batch_search.search import find_batches

        return find_batches(profile, machine, cancelled=cancelled, on_progress=on_progress)

    def compare_devices(
        self,
        profile: Profile,
        machine: Machine,
        runs_dir: Path,
        *,
        recalls: bool,
        cancelled: Event,
        on_progress: OnProgress,
    ) -> Bench:
        """Compare the devices, or recall what that showed before."""
        from gpupanel.runs.tools.bench.bench import compared_or_recalled

        return compared_or_recalled(
            profile,
            machine,
            runs_dir,
            recalls=recalls,
            cancelled=cancelled,
            on_progress=on_progress,
        )

    def pretrained_at_hand(self) -> "Pretrained | None":
        """The pretrained network that can be had."""
        from gpupanel.runs.questions.pretrained_weights import pretrained_at_hand

        return pretrained_at_hand()

    def set_power_limit(self, device: PhysicalDevice, limit_w: float) -> None:
        """Set the power limit of a GPU."""
        from gpupanel.devices.power_limits import set_power_limit

        set_power_limit(device, limit_w)

    def traces(self, layout: RunLayout) -> "RunTraces":
        """Which traces there are of a run."""
        from gpupanel.runs.tools.tracing.tracing import traces_of

        return traces_of(layout)

    def take_trace(
        self,
        layout: RunLayout,
        steps: int,
        process: int | None,
        *,
        cancelled: Event,
        on_progress: OnProgress,
    ) -> "RunTraces":
        """Have the next steps of a run traced."""
        from gpupanel.runs.tools.tracing.tracing import take_trace, traces_of

        trace = take_trace(layout, steps, process, cancelled=cancelled, on_progress=on_progress)
        return traces_of(layout, trace)

    def read_trace(self, layout: RunLayout, number: int, *, cancelled: Event) -> "RunTraces":
        """Have a trace of a run read again."""
        from gpupanel.runs.tools.tracing.tracing import read_trace, traces_of

        return traces_of(layout, read_trace(layout, number, cancelled=cancelled))


class ThisMachine:
    """The machine that the window is on."""

    host: str = ""

    def __init__(self) -> None:
        self.exports = ExportsHere()
        self.tools = ToolsHere()

    def path_of(self, path: Path) -> str:
        """The path by which the machine knows a file of a run."""
        return str(path)

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

    def queue(self, folder: Path) -> UserQueue:
        """The queue in a folder."""
        return UserQueue(folder)

    def sweeps(self, runs_dir: Path) -> UserSweeps:
        """The person's sweeps beside the runs of a folder."""
        return UserSweeps(runs_dir)

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


def _nothing() -> None:
    """Nothing needs to be ended."""
