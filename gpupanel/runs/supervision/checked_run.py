"""Profile and plan of a run as its supervisor uses them: as checked, or as it changed them."""

import time
from collections.abc import Callable

from gpupanel.domain.checked_files import CheckedFiles, digest_of
from gpupanel.domain.device import CPU_KEY, DeviceInventory, DeviceKind, PhysicalDevice
from gpupanel.domain.events import Event, ProblemReported
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import read_file
from gpupanel.files.plan_file import plan_in
from gpupanel.files.process_log import write_to_process_log
from gpupanel.runs.directory.amendments import amend
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.profile_file import profile_in, read_profile_content

ReportFailure = Callable[[str, OSError | ProblemError], None]
"""Called with what the run was to be ("tried with less memory"), and why it is not."""


class CheckedRun:
    """Reads profile and plan of a run, and changes them, for as long as its supervisor lives.

    Each is what it was when it was first used here, to the end: whoever writes into the run's
    folder meanwhile changes nothing that this run does.

    Args:
        layout: The run, whose lock is held.
        files: What was checked of it when it was started. A profile or a plan that is not among
            them is taken as it is read first.

    Attributes:
        layout: The run.
        files: What holds now; it is handed to each process of the run.
    """

    def __init__(self, layout: RunLayout, files: CheckedFiles | None = None) -> None:
        self.layout = layout
        self.files = files or CheckedFiles()
        self._profile: Profile | None = None

    def profile(self) -> Profile:
        """What was chosen for the run.

        Raises:
            ProblemError: It cannot be read, holds no profile, or is not what was checked.
        """
        if self._profile is None:
            path = self.layout.profile
            content = read_profile_content(path)
            self.files.check(path.name, content)
            self._profile = profile_in(content, path)
            self._note(path.name, content)
        return self._profile

    def plan(self) -> LaunchPlan:
        """What was decided from it when the run was started.

        Raises:
            OSError: It cannot be read.
            ValueError: It is damaged, or of a newer version.
            ProblemError: It is not what was checked.
        """
        path = self.layout.plan
        content = read_file(path)
        self.files.check(path.name, content)
        plan = plan_in(content)
        self._note(path.name, content)
        return plan

    def amend(self, profile: Profile, plan: LaunchPlan) -> None:
        """Let the run continue with that profile and plan; its folder has them then.

        Raises:
            OSError: They cannot be written; both are the former ones.
            ProblemError: A change that was begun before is damaged.
        """
        self.files = self.files.and_of(amend(self.layout, profile, plan))
        self._profile = profile

    def _note(self, name: str, content: bytes) -> None:
        self.files = self.files.and_of(CheckedFiles(digests={name: digest_of(content)}))


class FailedChanges:
    """Reports changes of a run before its next start that could not be written, as on a full disk.

    Each is reported once: a run that is started again may fail to change each time.

    Args:
        layout: The run.
        report: Writes an event of the supervisor's.
    """

    def __init__(self, layout: RunLayout, report: Callable[[Event], None]) -> None:
        self._layout = layout
        self._report = report
        self._reported: set[str] = set()

    def report(self, wanted: str, error: OSError | ProblemError) -> None:
        """Report that the run was not changed; see :data:`ReportFailure`."""
        write_to_process_log(f"supervisor: not {wanted}: {error}")
        if isinstance(error, ProblemError):
            cause = error.problems[0]
        else:
            cause = disk_problem(error, self._layout.root)
        message = f"The run was not {wanted}, though it was to be. {cause.message}"
        if message in self._reported:
            return
        self._reported.add(message)
        problem = Problem(
            code="run_not_changed",
            severity=Severity.WARNING,
            message=message,
            hint=cause.hint,
            detail=cause.detail,
        )
        self._report(ProblemReported(time_s=time.time(), problem=problem))


def inventory_of(profile: Profile, plan: LaunchPlan) -> DeviceInventory:
    """The devices that a run knows of, where those of the machine are not known."""
    planned = {
        device.key: PhysicalDevice(
            key=device.key, kind=device.kind, name=device.name, pci_bus_id=device.pci_bus_id
        )
        for device in plan.devices
    }
    for key in profile.devices.visible:
        kind = DeviceKind.CPU if key == CPU_KEY else DeviceKind.GPU
        planned.setdefault(key, PhysicalDevice(key=key, kind=kind, name=key))
    planned.setdefault(CPU_KEY, PhysicalDevice(key=CPU_KEY, kind=DeviceKind.CPU, name="the CPU"))
    return DeviceInventory(devices=tuple(planned.values()))
