"""The doctor: can this machine train, on which devices, and what would have to be installed."""

from gpupanel.devices.doctor.examination import examine
from gpupanel.devices.doctor.report import DoctorReport

__all__ = ["DoctorReport", "examine"]
