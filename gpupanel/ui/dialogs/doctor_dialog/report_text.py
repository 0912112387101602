"""The doctor's report as plain text, to be pasted into a message or a bug report."""

from gpupanel.devices.doctor import DoctorReport
from gpupanel.devices.doctor.report import FactGroup
from gpupanel.domain.problem_text import problem_text

_MARKS = {True: "ok", False: "!!", None: ""}
_NAME_WIDTH = 28


def report_text(report: DoctorReport) -> str:
    """Problems first, then all that was seen."""
    parts = [problem_text(problem) for problem in report.problems]
    if report.command:
        parts.append(f"To fix it:\n{report.command}")
    parts += [_group(group) for group in report.groups()]
    return "\n\n".join(parts) + "\n"


def _group(group: FactGroup) -> str:
    lines = (
        f"{_MARKS[fact.is_well]:<3}{fact.name:<{_NAME_WIDTH}} {fact.value}" for fact in group.facts
    )
    return "\n".join((group.title, *lines))
