"""What the supervisor does about a run that ran out of memory: explains it, or tries with less."""

from gpupanel.domain.device import CPU_KEY, DeviceKind
from gpupanel.domain.events import MemoryExhausted
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Change, ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.process_log import write_to_process_log
from gpupanel.planning.out_of_memory import with_less_at_a_time
from gpupanel.planning.resuming import changes_between
from gpupanel.runs.directory.amendments import amend
from gpupanel.runs.directory.profile_file import read_run_profile
from gpupanel.runs.supervision.exit_reading import Ending
from gpupanel.runs.supervision.memory_shortage import ShortageContext, shortage_problem
from gpupanel.runs.supervision.memory_watch import MemoryWatch
from gpupanel.runs.supervision.telemetry import TelemetryRecorder


class ShortageCare:
    """Explains endings for lack of memory, and changes the run so that it needs less.

    Args:
        layout: The run, whose lock is held.
        memory: Knows what other processes hold of its GPUs.
        telemetry: Knows the devices of the machine.
    """

    def __init__(
        self, layout: RunLayout, memory: MemoryWatch, telemetry: TelemetryRecorder
    ) -> None:
        self._layout = layout
        self._memory = memory
        self._telemetry = telemetry
        self._retries = 0

    def explained(
        self, ending: Ending, shortage: MemoryExhausted | None, process: str, plan: LaunchPlan
    ) -> Ending:
        """The ending with a problem that says whose memory it was and what to try.

        Args:
            ending: As its processes report it.
            shortage: Of the process to blame; ``None``: memory was not what it lacked.
            process: Its name for people.
            plan: Of the run.
        """
        if shortage is None:
            return ending
        try:
            profile = read_run_profile(self._layout)
        except ProblemError:
            return ending  # it was there when the run began; what the process said remains
        held = self._memory.of_other_processes(shortage.device_key or "")
        context = ShortageContext(self._telemetry.inventory, self._memory.sample, *held)
        detail = "" if ending.problem is None else ending.problem.detail
        problem = shortage_problem(shortage, process, profile, plan, context, detail)
        return ending.model_copy(update={"problem": problem})

    def try_with_less(
        self, shortage: MemoryExhausted | None, plan: LaunchPlan
    ) -> tuple[LaunchPlan, tuple[Change, ...]] | None:
        """Change profile and plan of the run so that it takes half as much at a time.

        Returns:
            The new plan and what the profile says otherwise; ``None`` where the person did not
            ask for that, as often as it was done, or it would not help.
        """
        if shortage is None or _is_beside_the_work(shortage, plan):
            return None
        try:
            profile = read_run_profile(self._layout)
            less = with_less_at_a_time(profile, plan)
            if less is None or self._retries >= profile.training.out_of_memory_retries:
                return None
            amend(self._layout, *less)
        except (OSError, ProblemError) as error:
            write_to_process_log(f"supervisor: not tried with less memory: {error}")
            return None
        self._retries += 1
        return less[1], changes_between(profile, less[0])


def _is_beside_the_work(shortage: MemoryExhausted, plan: LaunchPlan) -> bool:
    """Whether it is the host's memory that a run on GPUs lacked: what it computes is not there."""
    on_gpus = any(device.kind is DeviceKind.GPU for device in plan.devices)
    return on_gpus and shortage.device_key == CPU_KEY
