"""From a profile and the devices of this machine to problems and the launch plan."""

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.planning.batches import planned_batch_size
from gpupanel.planning.chosen_devices import (
    absent_devices,
    chosen_devices,
    lost_devices,
    mixed_kinds,
)
from gpupanel.planning.device_layout import all_reduce, logical_devices, planned_devices
from gpupanel.planning.layout import Layout, lay_out
from gpupanel.planning.others import held_by_others
from gpupanel.planning.preparation import Preparation
from gpupanel.planning.rules.all_reduce_rules import all_reduce_problems
from gpupanel.planning.rules.build_rules import build_problems, refused_by_build
from gpupanel.planning.rules.data_rules import data_problems, model_file_problems
from gpupanel.planning.rules.gpu_support_rules import gpu_support_problems
from gpupanel.planning.rules.growth_rules import growth_problems
from gpupanel.planning.rules.memory_rules import memory_problems
from gpupanel.planning.rules.mig_rules import instance_problems, partitioned_gpus
from gpupanel.planning.rules.model_size_rules import model_size_problems
from gpupanel.planning.rules.network_rules import network_problems
from gpupanel.planning.rules.placement_rules import placement_problems
from gpupanel.planning.rules.process_rules import process_problems
from gpupanel.planning.rules.python_rules import python_problems
from gpupanel.planning.rules.session_rules import (
    accumulation_problems,
    batch_norm_problems,
    session_problems,
)
from gpupanel.planning.rules.share_rules import shares_of
from gpupanel.planning.rules.strategy_rules import is_balanced, strategy_problems

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
        preview: What a look at the profile's data and model file found, if somebody looked.
        support: What TensorFlow answered about the GPUs, if somebody asked it.
    """
    devices = chosen_devices(profile, inventory, sample)
    others = held_by_others(devices, sample)
    problems = [
        *absent_devices(profile, inventory),
        *lost_devices(profile, inventory, sample),
        *partitioned_gpus(profile, inventory),
        *mixed_kinds(devices),
        *memory_problems(profile, devices, inventory, sample),
        *data_problems(profile, preview),
        *model_file_problems(profile, preview),
        *session_problems(profile, devices),
        *python_problems(profile),
        *build_problems(profile, devices, support),
        *gpu_support_problems(
            profile,
            devices,
            support,
            told=refused_by_build(devices, None if support is None else support.build),
        ),
    ]
    if not devices:
        return Preparation(problems=_sorted(problems), others=others)
    layout = lay_out(profile, devices)
    logical_count = len(logical_devices(planned_devices(profile, devices)))
    problems += growth_problems(profile, devices)
    problems += instance_problems(profile, devices)
    problems += strategy_problems(profile, devices, layout, logical_count)
    problems += network_problems(profile, devices, inventory.network)
    shares = shares_of(profile, len(layout.spots))
    working = len(layout.spots) if shares is None else sum(share > 0 for share in shares)
    problems += all_reduce_problems(profile, devices, working)
    if shares is None:
        return Preparation(problems=_sorted(problems), others=others)
    if profile.task == "train":
        problems += accumulation_problems(profile, shares)
        # Idle replicas are left out of one process; workers stay.
        taking_part = len(layout.spots) if layout.processes else working
        problems += batch_norm_problems(profile, taking_part)
        problems += placement_problems(profile, layout.places)
    plan = _plan(profile, layout, shares)
    problems += process_problems(profile, plan, inventory, sample)
    problems += model_size_problems(profile, plan, inventory, preview)
    return Preparation(problems=_sorted(problems), plan=plan, others=others)


def _plan(profile: Profile, layout: Layout, shares: tuple[int, ...]) -> LaunchPlan:
    trains = profile.task == "train"
    return LaunchPlan(
        environment=layout.environment,
        devices=layout.devices,
        strategy=profile.strategy.kind,
        all_reduce=all_reduce(profile, layout.devices, shares),
        replicas=layout.replicas(shares),
        places=layout.places,
        global_batch_size=planned_batch_size(profile),
        accumulation_steps=profile.training.accumulation_steps if trains else 1,
        balanced=trains and is_balanced(profile, len(shares)),
        processes=layout.processes,
    )


def _sorted(problems: list[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(problems, key=lambda problem: _ORDER.index(problem.severity)))
