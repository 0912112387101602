"""From a profile and the devices of this machine to problems and the launch plan."""

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.planning.context import planning_context
from gpupanel.planning.other_processes import other_processes
from gpupanel.planning.preparation import Preparation
from gpupanel.planning.rules.registry import RULES

_ORDER = list(Severity)


def prepare(
    profile: Profile,
    inventory: DeviceInventory,
    sample: TelemetrySample | None = None,
    preview: DataPreview | None = None,
    support: GpuSupport | None = None,
) -> Preparation:
    """Everything that can be said about a profile on this machine before it starts.

    Args:
        profile: What the person chose.
        inventory: The devices of this machine.
        sample: The latest readings, for what is free now.
        preview: What the preview found in the profile's data and model file, if there was one.
        support: What TensorFlow answered about the GPUs, if somebody asked it.
    """
    context = planning_context(profile, inventory, sample, preview, support)
    problems = [problem for rule in RULES for problem in rule(context)]
    return Preparation(
        problems=tuple(sorted(problems, key=lambda problem: _ORDER.index(problem.severity))),
        plan=context.plan,
        others=other_processes(context.devices, sample),
    )
