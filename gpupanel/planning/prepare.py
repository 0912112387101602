"""From a profile and the devices of this machine to problems and the launch plan."""

from gpupanel.domain.device import DeviceInventory, TelemetrySample
from gpupanel.domain.plan import LaunchPlan, PlannedReplica
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind
from gpupanel.planning.chosen_devices import (
    absent_devices,
    chosen_devices,
    lost_devices,
    mixed_kinds,
)
from gpupanel.planning.data_rules import data_problems
from gpupanel.planning.device_layout import (
    all_reduce,
    environment,
    logical_devices,
    planned_devices,
)
from gpupanel.planning.memory_rules import memory_problems
from gpupanel.planning.preparation import Preparation
from gpupanel.planning.session_rules import (
    accumulation_problems,
    batch_norm_problems,
    session_problems,
)
from gpupanel.planning.strategy_rules import TRAINABLE_KINDS, shares_of, strategy_problems

_ORDER = list(Severity)


def prepare(
    profile: Profile,
    inventory: DeviceInventory,
    sample: TelemetrySample | None = None,
    preview: DataPreview | None = None,
) -> Preparation:
    """Everything that can be said about a profile on this machine before it starts.

    Args:
        profile: What the person chose.
        inventory: The devices of this machine.
        sample: The latest readings, for what is free now.
        preview: What a look at the profile's data found, if somebody looked.
    """
    devices = chosen_devices(profile, inventory, sample)
    planned = planned_devices(profile, devices)
    logical = logical_devices(planned)
    on_gpus = any(device.is_gpu for device in devices)
    problems = [
        *absent_devices(profile, inventory),
        *lost_devices(profile, inventory, sample),
        *mixed_kinds(devices),
        *memory_problems(profile, devices, inventory, sample),
        *data_problems(profile, preview),
        *session_problems(profile, devices),
    ]
    if not logical:
        return Preparation(problems=_sorted(problems))
    problems += strategy_problems(profile, len(logical), on_gpus=on_gpus)
    if profile.strategy.kind not in TRAINABLE_KINDS:
        return Preparation(problems=_sorted(problems))
    if profile.strategy.kind is StrategyKind.ONE_DEVICE:
        # The others stay hidden: TensorFlow would make a context on each that it sees.
        devices, logical = devices[:1], logical[:1]
        planned = planned_devices(profile, devices)
    shares = shares_of(profile, len(logical))
    if shares is None:
        return Preparation(problems=_sorted(problems))
    problems += accumulation_problems(profile, shares)
    problems += batch_norm_problems(profile, len(logical))
    plan = LaunchPlan(
        environment=environment(profile, devices),
        devices=planned,
        strategy=profile.strategy.kind,
        all_reduce=all_reduce(profile, planned),
        replicas=tuple(
            PlannedReplica(index=index, device_key=key, logical_device=name, share=share)
            for index, ((key, name), share) in enumerate(zip(logical, shares, strict=True))
        ),
        global_batch_size=profile.training.global_batch_size,
        accumulation_steps=profile.training.accumulation_steps,
    )
    return Preparation(problems=_sorted(problems), plan=plan)


def _sorted(problems: list[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(problems, key=lambda problem: _ORDER.index(problem.severity)))
