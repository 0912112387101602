"""A host as a window works on it: its devices, its runs, and what is asked there."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from typing import Final

from gpupanel.devices.child_process import ChildAnswer, ChildEnd
from gpupanel.devices.doctor.report import DoctorReport
from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.telemetry import DeviceProcess
from gpupanel.hosts import code
from gpupanel.hosts.here.copies import HostCopies
from gpupanel.hosts.here.devices import HostDevices
from gpupanel.hosts.here.exports import HostExports
from gpupanel.hosts.here.files import HostFiles
from gpupanel.hosts.here.link import Link
from gpupanel.hosts.here.link_state import LinkCondition, LinkState
from gpupanel.hosts.here.mirror import Mirror
from gpupanel.hosts.here.paths import CopiedPaths
from gpupanel.hosts.here.queue import HostQueue
from gpupanel.hosts.here.ssh import PROGRAM
from gpupanel.hosts.here.sweeps import HostSweeps
from gpupanel.hosts.here.tools import HostTools
from gpupanel.hosts.operations.machine import (
    CHILD,
    DOCTOR,
    END,
    FOLDER,
    IMPORT,
    SUPPORT,
    ChildOutput,
    ChildWanted,
    EndWanted,
    SupportWanted,
)
from gpupanel.hosts.operations.operation import Nothing
from gpupanel.hosts.operations.runs import (
    DELETE,
    LABEL,
    REQUEST,
    DeletionWanted,
    LabelWanted,
    RequestWanted,
)
from gpupanel.hosts.operations.starting import START, StartWanted
from gpupanel.runs.history.label import RunLabel
from gpupanel.runs.locations import RUNS_DIR_VARIABLE, STATE_DIR_VARIABLE
from gpupanel.runs.machine_settings import OutsideHoursError
from gpupanel.runs.sweeps.sweep_layout import SWEEPS
from gpupanel.runs.trust.trusted import CodeNotTrustedError
from gpupanel.runs.trust.user_code import UserCode

_MODULE_AT: Final = 3
"""Where the module stands in what ``python_module_command`` gives."""


class OtherMachine:
    """What a window asks of another machine; every method but :meth:`start` may wait for it.

    Args:
        name: As the person gives it to ``ssh``.
        heard: Called with each :class:`~gpupanel.hosts.here.link.LinkState`, in another thread.
        runs_changed: Called when the copied runs have changed, in another thread: whether all
            that there are have been told.
        program: The command of gpupanel there.
        command: As :class:`~gpupanel.hosts.here.link.Link` takes it.

    Raises:
        ProblemError: Too many windows work on it already.
        OSError: No copies can be kept here.
    """

    def __init__(
        self,
        name: str,
        heard: Callable[[LinkState], object],
        runs_changed: Callable[[bool], object],
        program: str = PROGRAM,
        command: tuple[str, ...] | None = None,
    ) -> None:
        self.host = name
        self.mirror = Mirror(name)
        self.link = Link(name, heard, program, command)
        self.paths = CopiedPaths(self.link, self.mirror.runs_dir)
        self.copies = HostCopies(self.link, self.mirror, runs_changed)
        self.devices = HostDevices(self.link)
        self.exports = HostExports(self.link, self.paths)
        self.tools = HostTools(self.link, self.paths)
        self.files = HostFiles(self.link)
        sweeps = self.mirror.runs_dir / SWEEPS
        self._sweeps = HostSweeps(self.link, self.paths, sweeps, self._take_trusted)
        self._queue = HostQueue(self.link, self.paths, self._take_trusted)
        self._trusted: tuple[UserCode, ...] = ()

    @property
    def runs_dir(self) -> Path:
        """The folder of the copied runs."""
        return self.mirror.runs_dir

    def start(self) -> None:
        """Connect, and have devices and runs told from then on."""
        self.devices.begin()
        self._queue.begin()
        self.copies.begin()
        self.link.start()

    def end(self) -> None:
        """Let the connection go; what is copied stays for the next window."""
        self.copies.stop_waiting()
        self.devices.stop_waiting()
        self.link.end()
        self.mirror.close()

    def path_of(self, path: Path) -> str:
        """The path by which the host knows a file of a run, by that of its copy."""
        return self.paths.there(str(path))

    def device_source(self, _folder: Path | None) -> "HostDevices":
        """The devices there; samples report how full the disk of the runs there is."""
        return self.devices

    # Runs.

    def open_copy(self, layout: RunLayout) -> Callable[[], None]:
        """As :meth:`HostCopies.open_copy`."""
        return self.copies.open_copy(layout)

    def launch(
        self, profile: Profile, plan: LaunchPlan, _runs_dir: Path, *, outside_hours: bool = False
    ) -> RunLayout:
        """Start a run in the host's folder of runs; the place of its copy.

        Raises:
            CodeNotTrustedError: The profile names Python code there that nobody trusted yet.
            OutsideHoursError: Its hours have not begun there.
            ProblemError: As :func:`gpupanel.runs.launcher.launch` says it; or there is no
                connection, or it was lost before the answer.
        """
        document = self.paths.document(profile)
        return self._start(StartWanted(profile=document, plan=plan, outside_hours=outside_hours))

    def resume(
        self,
        layout: RunLayout,
        changed: tuple[Profile, LaunchPlan] | None = None,
        *,
        accepts_changed_data: bool = False,
        outside_hours: bool = False,
    ) -> None:
        """Start a run there again, as :func:`gpupanel.runs.launcher.resume` does here."""
        profile, plan = (None, None) if changed is None else changed
        wanted = StartWanted(
            name=layout.root.name,
            profile=None if profile is None else self.paths.document(profile),
            plan=plan,
            accepts_changed_data=accepts_changed_data,
            outside_hours=outside_hours,
        )
        self._start(wanted)

    def trust(self, trusted: tuple[UserCode, ...]) -> None:
        """Have the host remember, with the next order, that the person trusts this code."""
        self._trusted = trusted

    def ask(self, layout: RunLayout, request: Request) -> None:
        """Ask something of a run there."""
        wanted = RequestWanted(name=layout.root.name, request=request)
        self.link.call(REQUEST, wanted)

    def change_label(self, layout: RunLayout, before: RunLabel, after: RunLabel) -> None:
        """Give a run there another label."""
        wanted = LabelWanted(name=layout.root.name, before=before, after=after)
        self.link.call(LABEL, wanted)

    def delete(self, layout: RunLayout, move_to_bin: Callable[[Path], bool] | None) -> bool:
        """Delete a run there for good; there is no bin."""
        if move_to_bin is not None:
            return False
        self.link.call(DELETE, DeletionWanted(name=layout.root.name))
        self.mirror.forget(layout.root.name)
        return True

    def queue(self, _folder: Path) -> HostQueue:
        """The person's queue there."""
        return self._queue

    def sweeps(self, _runs_dir: Path) -> HostSweeps:
        """The person's sweeps there."""
        return self._sweeps

    def folder_problem(self, _folder: Path) -> Problem | None:
        """What keeps runs out of their folder there."""
        if self.link.state.kind is not LinkCondition.CONNECTED:
            return None  # that is said where the connection is shown
        return self.link.call(FOLDER, Nothing()).problem

    def _start(self, wanted: StartWanted) -> RunLayout:
        trusted = tuple(map(code.told, self._take_trusted()))
        started = self.link.call(START, wanted.model_copy(update={"trusted": trusted}))
        if started.untrusted:
            raise CodeNotTrustedError([*map(code.heard, started.untrusted)])
        if started.hours is not None:
            hours = started.hours
            raise OutsideHoursError(hours.problem, hours.begin_s, hours.words)
        return RunLayout(self.runs_dir / started.name)

    def _take_trusted(self) -> tuple[UserCode, ...]:
        trusted, self._trusted = self._trusted, ()
        return trusted

    # The machine.

    def ask_child(
        self,
        command: Sequence[str],
        time_limit_s: float,
        cancelled: Event | None = None,
        environment: dict[str, str] | None = None,
        question: bytes = b"",
        *,
        on_output: Callable[[bytes], None] | None = None,
        grace_s: float = 0.0,
    ) -> ChildAnswer:
        """Ask a module of gpupanel there; as :func:`gpupanel.devices.child_process.ask_child`."""
        module = command[_MODULE_AT]
        output = bytearray()

        def take(part: ChildOutput) -> None:
            content = part.output.encode("latin-1")
            output.extend(content)
            if on_output is not None:
                on_output(content)

        wanted = ChildWanted(
            module=module,
            arguments=tuple(map(self.paths.there, command[_MODULE_AT + 1 :])),
            question=self.paths.there(question.decode("latin-1")),
            variables=environment or {},
            limit_s=time_limit_s if math.isfinite(time_limit_s) else None,
            grace_s=grace_s,
        )
        ended = self.link.call(CHILD, wanted, on_part=take, cancelled=cancelled)
        return ChildAnswer(ChildEnd[ended.end], bytes(output), ended.exit_code, ended.log)

    def gpu_support(
        self, gpus: tuple[PhysicalDevice, ...], driver: str | None, cancelled: Event
    ) -> GpuSupport:
        """Which GPUs TensorFlow there can use."""
        wanted = SupportWanted(gpus=gpus, driver=driver)
        return self.link.call(SUPPORT, wanted, cancelled=cancelled)

    def import_problem(self, cancelled: Event) -> Problem | None:
        """What of elsewhere keeps TensorFlow there from being imported."""
        return self.link.call(IMPORT, Nothing(), cancelled=cancelled).problem

    def examine(self, cancelled: Event) -> DoctorReport:
        """Examine driver, TensorFlow and GPUs there."""
        return self.link.call(DOCTOR, Nothing(), cancelled=cancelled)

    def end_process(
        self, process: DeviceProcess, run_processes: frozenset[int], *, by_force: bool = False
    ) -> None:
        """End a process there that holds memory of a GPU."""
        wanted = EndWanted(process=process, run_processes=run_processes, by_force=by_force)
        self.link.call(END, wanted)

    def variables(self) -> dict[str, str]:
        """What this process is to find its folders by, while it works on the host."""
        return {
            RUNS_DIR_VARIABLE: str(self.mirror.runs_dir),
            STATE_DIR_VARIABLE: str(self.mirror.state_dir),
        }
