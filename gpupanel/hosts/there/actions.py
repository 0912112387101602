"""What is done on the host when a window asks: as a window of the host would do it."""

from collections.abc import Callable
from threading import Event

from gpupanel.devices.doctor.report import DoctorReport
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile_toml import profile_from_document
from gpupanel.domain.run_layout import RunLayout
from gpupanel.hosts import code
from gpupanel.hosts.operations.machine import EndWanted, SupportWanted, Word
from gpupanel.hosts.operations.operation import Nothing
from gpupanel.hosts.operations.runs import DeletionWanted, LabelWanted, RequestWanted
from gpupanel.hosts.operations.starting import HoursThere, StartOutcome, StartWanted
from gpupanel.hosts.there.followed_run import run_there
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.folder_examination import folder_problem
from gpupanel.runs.history.deleting import delete_run
from gpupanel.runs.history.label import change_label
from gpupanel.runs.launcher import launch, resume
from gpupanel.runs.locations import default_runs_dir
from gpupanel.runs.machine_settings import OutsideHoursError
from gpupanel.runs.trust.trusted import CodeNotTrustedError, trust

Say = Callable[[Nothing], None]


def start(wanted: StartWanted, _say: Say, _dropped: Event) -> StartOutcome:
    """Start a run, or start one again; what came of it.

    Raises:
        ProblemError: As :mod:`gpupanel.runs.launcher` says it.
    """
    trust([*map(code.heard, wanted.trusted)])
    changed = None
    if wanted.profile is not None and wanted.plan is not None:
        changed = profile_from_document(wanted.profile), wanted.plan
    try:
        if wanted.name:
            layout = run_there(wanted.name)
            resume(
                layout,
                changed,
                accepts_changed_data=wanted.accepts_changed_data,
                outside_hours=wanted.outside_hours,
            )
        elif changed is not None:
            layout = launch(*changed, default_runs_dir(), outside_hours=wanted.outside_hours)
        else:
            raise ProblemError(_nothing_to_start())
    except CodeNotTrustedError as error:
        return StartOutcome(untrusted=tuple(map(code.told, error.code)))
    except OutsideHoursError as error:
        (problem,) = error.problems
        hours = HoursThere(problem=problem, begin_s=error.begin_s, words=error.words)
        return StartOutcome(hours=hours)
    return StartOutcome(name=layout.root.name)


def request(wanted: RequestWanted, _say: Say, _dropped: Event) -> Nothing:
    """Ask something of a run.

    Raises:
        ProblemError: There is no such run, or its directory cannot be written.
    """
    ask(run_there(wanted.name), wanted.request)
    return Nothing()


def label(wanted: LabelWanted, _say: Say, _dropped: Event) -> Nothing:
    """Give a run another label.

    Raises:
        ProblemError: As :func:`~gpupanel.runs.history.label.change_label` says it.
    """
    changes = wanted.after.changes_of(wanted.before)
    change_label(run_there(wanted.name), **changes, before=wanted.before)
    return Nothing()


def delete(wanted: DeletionWanted, _say: Say, _dropped: Event) -> Nothing:
    """Delete a run for good.

    Raises:
        ProblemError: It goes on, or cannot be deleted.
    """
    delete_run(RunLayout(default_runs_dir() / wanted.name), None)
    return Nothing()


def support(wanted: SupportWanted, _say: Say, dropped: Event) -> GpuSupport:
    """Which GPUs TensorFlow there can use."""
    from gpupanel.devices.doctor.gpu_support import gpu_support

    return gpu_support(wanted.gpus, wanted.driver, dropped)


def end(wanted: EndWanted, _say: Say, _dropped: Event) -> Nothing:
    """End a process that holds memory of a GPU.

    Raises:
        ProblemError: It must not be ended from here, or cannot be.
    """
    from gpupanel.devices.process_ending import end_process

    end_process(wanted.process, wanted.run_processes, by_force=wanted.by_force)
    return Nothing()


def folder(_: Nothing, _say: Say, _dropped: Event) -> Word:
    """What keeps runs out of their folder."""
    return Word(problem=folder_problem(default_runs_dir()))


def tensorflow(_: Nothing, _say: Say, dropped: Event) -> Word:
    """What of elsewhere keeps TensorFlow from being imported."""
    from gpupanel.devices.doctor.spoiled_import import import_problem

    return Word(problem=import_problem(dropped))


def doctor(_: Nothing, _say: Say, dropped: Event) -> DoctorReport:
    """Examine driver, TensorFlow and GPUs."""
    from gpupanel.runs.examination import examine

    return examine(cancelled=dropped)


def _nothing_to_start() -> Problem:
    return Problem(
        code="nothing_to_start",
        message="The window named neither a profile nor a run to start.",
        hint="This is a defect of gpupanel; please report it.",
    )
