"""The doctor's report with the folders that runs are kept in, which devices know nothing of."""

from threading import Event

from gpupanel.devices.doctor.examination import examine as examine_devices
from gpupanel.devices.doctor.report import DoctorReport
from gpupanel.runs.folder_examination import examined_folders


def examine(cancelled: Event | None = None) -> DoctorReport:
    """Examine driver, GPUs, TensorFlow, packages and folders; takes seconds: call from a worker.

    Args:
        cancelled: Set, by any thread, when the report is not wanted any more.
    """
    report = examine_devices(cancelled=cancelled)
    if cancelled is not None and cancelled.is_set():
        return report
    return report.with_folders(examined_folders())
