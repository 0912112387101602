"""The doctor's report with the folders that runs are kept in, which devices know nothing of."""

from threading import Event

from gpupanel.devices.doctor.examination import examine as examine_devices
from gpupanel.devices.doctor.report import DoctorReport
from gpupanel.domain.power import limited_gpus
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.planning.rules.power_rules import supply_problem
from gpupanel.runs.folder_examination import examined_folders
from gpupanel.runs.machine_settings import MACHINE_FILE


def examine(cancelled: Event | None = None) -> DoctorReport:
    """Examine driver, GPUs, TensorFlow, packages and folders; takes seconds: call from a worker.

    Args:
        cancelled: Set, by any thread, when the report is not wanted any more.
    """
    report = examine_devices(cancelled=cancelled)
    if cancelled is not None and cancelled.is_set():
        return report
    return report.with_folders(examined_folders()).with_problems(_of_the_supply(report))


def _of_the_supply(report: DoctorReport) -> tuple[Problem, ...]:
    """Power limits that together pass what the person said the supply gives."""
    try:
        settings = MACHINE_FILE.read()
    except ProblemError as error:
        return error.problems
    problem = supply_problem(limited_gpus(report.gpus, None), settings)
    return () if problem is None else (problem,)
