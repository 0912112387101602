"""What can be changed of a training that does not fit: each alone, and with the others."""

from collections.abc import Iterator
from dataclasses import dataclass

from gpupanel.domain.device import DeviceInventory, PhysicalDevice
from gpupanel.domain.problem import Change, Fix
from gpupanel.domain.profile import Profile
from gpupanel.domain.setting import setting_of
from gpupanel.domain.strategy import OptimizerState, StrategyKind, StrategySettings
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.domain.training import Recompute
from gpupanel.planning.optimizer_quotas import divides_optimizer_state
from gpupanel.planning.other_strategies import other_strategies

ROUNDED = "rounds to 16 bits"
OTHER_STATISTICS = "batch normalisation over smaller parts"


@dataclass(frozen=True, slots=True)
class WayPart:
    """One thing that is changed.

    Attributes:
        title: In a few words, in lower case.
        changes: Of the profile.
        result: How what is learned differs; empty: it does not.
    """

    title: str
    changes: tuple[Change, ...]
    result: str = ""

    @property
    def kind(self) -> str:
        """The same of all parts that change the same thing."""
        first = self.changes[0]
        of_strategy = first.path == ("strategy", "kind")
        return ".".join((*first.path, str(first.value) if of_strategy else ""))


def in_steps(profile: Profile) -> Iterator[tuple[WayPart, ...]]:
    """Each combination of what makes a step hold less, none of it first."""
    ways: list[tuple[WayPart, ...]] = [()]
    training = profile.training
    if training.recompute is Recompute.NONE and not profile.model.is_code:
        change = Change(path=("training", "recompute"), value=Recompute.BLOCKS.value)
        again = WayPart("recomputed activations", (change,))
        ways += [(*way, again) for way in ways]
    if not training.mixed_precision:
        change = Change(path=("training", "mixed_precision"), value=True)
        mixed = WayPart("mixed precision", (change,), ROUNDED)
        ways += [(*way, mixed) for way in ways]
    strategy = profile.strategy
    can_divide = setting_of(StrategySettings, "optimizer_state").applies_in(strategy)
    if can_divide and training.optimizer_numbers and not divides_optimizer_state(profile):
        value = OptimizerState.SHARDED.value
        change = Change(path=("strategy", "optimizer_state"), value=value)
        divided = WayPart("optimizer state divided", (change,))
        ways += [(*way, divided) for way in ways]
    yield from ways


def on_devices(
    profile: Profile,
    inventory: DeviceInventory,
    chosen: tuple[PhysicalDevice, ...],
    too_small: PhysicalDevice | None,
    sample: TelemetrySample | None,
) -> Iterator[tuple[WayPart, ...]]:
    """Each other way to divide the work over devices, the present one first."""
    yield ()
    for fix in other_strategies(profile, inventory, chosen, too_small, sample):
        yield (WayPart(_title(fix), fix.changes),)


def accumulated(profile: Profile, steps: int) -> WayPart:
    """The batch in so many parts."""
    change = Change(path=("training", "accumulation_steps"), value=steps)
    result = OTHER_STATISTICS if profile.normalises_batches else ""
    return WayPart(f"{steps:,} accumulation steps", (change,), result)


def with_shares(shares: tuple[int, ...]) -> WayPart:
    """The same batch divided otherwise."""
    change = Change(path=("strategy", "shares"), value=list(shares))
    return WayPart(f"shares {' + '.join(f'{share:,}' for share in shares)}", (change,))


def placed(
    profile: Profile, placement: dict[str, int], devices: tuple[int, int], steps: int
) -> WayPart:
    """Layers where they have room; as a pipeline where there are micro-batches.

    Args:
        profile: Of the training.
        placement: The place of each layer.
        devices: How many replicas there are, and devices of each.
        steps: Micro-batches.
    """
    replicas, stages = devices
    over = f"over {stages} devices" if replicas == 1 else f"over {replicas} x {stages} devices"
    changes = [Change(path=("strategy", "placement"), value=placement)]
    changes.append(Change(path=("strategy", "pipeline"), value=steps > 1))
    if steps != profile.training.accumulation_steps:
        changes += accumulated(profile, steps).changes
    if steps == 1:
        return WayPart(f"layers {over}", tuple(changes))
    result = OTHER_STATISTICS if profile.normalises_batches else ""
    title = f"pipeline {over}, {steps:,} micro-batches"
    return WayPart(title, tuple(changes), result)


def fix_of(parts: tuple[WayPart, ...]) -> Fix:
    """All of them together; a later change of a key counts."""
    changes = {change.path: change for part in parts for change in part.changes}
    return Fix(label=f"Use {title_of(parts)}", changes=tuple(changes.values()))


def title_of(parts: tuple[WayPart, ...]) -> str:
    """What they are, in their order."""
    return " + ".join(part.title for part in parts if part.title)


def _title(fix: Fix) -> str:
    """Of another strategy: what it does, and on which devices."""
    kinds = [each.value for each in fix.changes if each.path == ("strategy", "kind")]
    wanted = fix.label.removeprefix("Use ")
    if wanted != fix.label or not kinds:
        return wanted
    kind = StrategyKind(kinds[0])
    if kind is StrategyKind.MODEL_PARALLEL:
        return ""  # where the layers go says it
    name = kind.choice.name
    return name[:1].lower() + name[1:]
