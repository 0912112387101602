"""Everything that can be said about a profile on this machine before it starts."""

from dataclasses import replace

from pydantic import Field

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.device_memory import DeviceMemory
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.stages import Stage
from gpupanel.domain.value import Value
from gpupanel.planning.balanced_stages import balanced_placement, planned_stages
from gpupanel.planning.context import NOTHING_KNOWN, Known, planning_context
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.memory_estimate import largest_batch, memory_estimate, with_data_placed
from gpupanel.planning.memory_room import room_mib
from gpupanel.planning.other_processes import OtherProcesses, other_processes
from gpupanel.planning.rules.registry import rules_of

_ORDER = list(Severity)
_MOST_FIXES = 50


class Preparation(Value):
    """What would happen.

    Attributes:
        problems: Errors first, then warnings, then hints.
        plan: What would be launched; ``None`` when an error leaves nothing to plan.
        other_processes: Those on the chosen GPUs now.
        memory: What it is estimated to take; empty while that is not known.
        largest_batch: The largest global batch that fits; ``None`` while that is not known.
        stages: The layers on each device, where they follow each other and are known.
        balanced_placement: Where each of them would stand so that the slowest device computes
            least; ``None`` where that is not known.
        hours: In which the run may work, of the profile and of the machine, as they were written;
            it works in those that all of them have; none: at any time.
        device_names: What each device of the plan is called, by its key: equal ones have a number.
    """

    problems: tuple[Problem, ...] = ()
    plan: LaunchPlan | None = None
    other_processes: tuple[OtherProcesses, ...] = ()
    memory: tuple[DeviceMemory, ...] = ()
    largest_batch: int | None = None
    stages: tuple[Stage, ...] = ()
    balanced_placement: dict[str, int] | None = None
    hours: tuple[str, ...] = ()
    device_names: dict[str, str] = Field(default_factory=dict)

    @property
    def is_startable(self) -> bool:
        """Whether a run may start."""
        return self.plan is not None and not any(problem.is_error for problem in self.problems)


def prepare(
    profile: Profile, inventory: DeviceInventory, known: Known = NOTHING_KNOWN
) -> Preparation:
    """Everything that can be said about a profile on this machine before it starts.

    Args:
        profile: What the person chose.
        inventory: The devices of this machine.
        known: What else is known of it and of the run.
    """
    context = planning_context(profile, inventory, known)
    context = replace(context, plan=with_data_placed(context))
    problems = [problem for rule in rules_of(context) for problem in rule(context)]
    rooms = {gpu.key_on_node: room_mib(context, gpu.key) for gpu in context.gpus}
    available = {key: room for key, room in rooms.items() if room is not None}
    return Preparation(
        problems=tuple(sorted(problems, key=lambda problem: _ORDER.index(problem.severity))),
        plan=None if context.plan is None else context.plan.with_available(available),
        other_processes=other_processes(context.devices, known.sample),
        memory=memory_estimate(context),
        largest_batch=largest_batch(context),
        stages=planned_stages(context),
        balanced_placement=balanced_placement(context),
        hours=tuple(dict.fromkeys(filter(None, (profile.hours, known.machine.hours)))),
        device_names={device.key_on_node: device.name for device in context.devices},
    )


def mended(profile: Profile, inventory: DeviceInventory, known: Known = NOTHING_KNOWN) -> Profile:
    """Apply the fix of the first error or warning until none has one; hints stay as they are.

    One fix may bring another problem to light, so the profile is prepared again after each, with
    the same that :func:`prepare` takes.
    """
    for _ in range(_MOST_FIXES):
        fixes = (
            problem.fix
            for problem in prepare(profile, inventory, known).problems
            if problem.severity is not Severity.HINT and problem.fix is not None
        )
        fix = next(fixes, None)
        if fix is None:
            break
        profile = apply_fix(profile, fix)
    return profile
