"""Which ways a training fits in, and what each costs."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.device_memory import DeviceMemory
from gpupanel.domain.ladder import Ladder, Rung
from gpupanel.domain.profile import Profile
from gpupanel.domain.step_memory import MemoryPeak, StepMemory, StepVariant
from gpupanel.planning.balanced_stages import balanced_placement
from gpupanel.planning.context import Known, PlanningContext, planning_context
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.ladder.parts import (
    WayPart,
    accumulated,
    fix_of,
    in_steps,
    on_devices,
    placed,
    title_of,
    with_shares,
)
from gpupanel.planning.memory_estimate import (
    fitting_shares,
    greatest,
    largest_batch,
    memory_estimate,
)
from gpupanel.planning.prepare import prepare
from gpupanel.planning.step_time import step_seconds

_MOST_FITTING, _MOST_LACKING = 6, 6
_STEPS_A_STAGE: Final = 4
"""Micro-batches of a pipeline for each of its devices; more of them hardly make it quicker."""
_LARGEST_SIDE: Final = 4096
_IMAGE_AXES: Final = 3


@dataclass(frozen=True, slots=True)
class _Way:
    """Some parts together, and what follows from them."""

    parts: tuple[WayPart, ...]
    context: PlanningContext
    memory: tuple[DeviceMemory, ...]
    seconds: float | None

    @property
    def fits(self) -> bool:
        return bool(self.memory) and all(each.fits for each in self.memory)

    @property
    def titles(self) -> frozenset[str]:
        return frozenset(part.title for part in self.parts)


def ladder(profile: Profile, inventory: DeviceInventory, known: Known) -> Ladder:
    """The ways for a profile on this machine; no rungs where it is not known what a step holds.

    Args:
        profile: That trains.
        inventory: The devices of this machine.
        known: With what a step holds computed in every way.
    """
    context = planning_context(profile, inventory, known)
    as_it_is = _way(context, ())
    if context.step is None or context.plan is None:
        return Ladder()
    found = [way for way in _ways(as_it_is) if way.parts]
    fitting = _quickest([way for way in found if way.fits])
    alone = [way for way in found if len(way.parts) == 1 and way.memory and not way.fits]
    lacking = sorted(alone, key=_lacking_mib)[:_MOST_LACKING]
    rungs = [_rung(way, as_it_is) for way in (as_it_is, *fitting, *lacking)]
    first = next((way for way in (as_it_is, *fitting) if way.fits), None)
    return Ladder(
        rungs=tuple(rungs),
        largest_side=None if first is None else _largest_side(first.context),
        device_names={each.key: each.name for each in context.inventory.devices},
    )


def _way(context: PlanningContext, parts: tuple[WayPart, ...]) -> _Way:
    """The training of a context with those parts."""
    if parts:
        context = context.with_profile(apply_fix(context.profile, fix_of(parts)))
    return _Way(parts, context, memory_estimate(context), step_seconds(context))


def _ways(as_it_is: _Way) -> Iterator[_Way]:
    """Each combination of devices and of what a step computes, with the fewest micro-batches."""
    context = as_it_is.context
    lacking = [each for each in as_it_is.memory if not each.fits]
    smallest = min(lacking, key=lambda each: each.room_mib or 0, default=None)
    too_small = None if smallest is None else context.inventory.device(smallest.device)
    profile, sample = context.profile, context.known.sample
    for there in on_devices(profile, context.inventory, context.devices, too_small, sample):
        divided = apply_fix(profile, fix_of(there)) if there else profile
        for within in in_steps(divided):
            yield from _with_less_at_a_time(context, (*there, *within))


def _with_less_at_a_time(context: PlanningContext, parts: tuple[WayPart, ...]) -> Iterator[_Way]:
    """With as few micro-batches as fit, or shares that do; without where none does."""
    begin = _way(context, parts)
    plan = begin.context.plan
    if plan is None or plan.places:
        yield from _as_stages(context, parts, begin)
        return
    steps = profile_steps = context.profile.training.accumulation_steps
    most = min((share for share in plan.shares if share), default=1)
    way = begin
    while True:
        if way.fits:
            yield way
            return
        shares = fitting_shares(way.context)
        if shares is not None and all(shares) >= all(plan.shares):
            yield _way(context, (*way.parts, with_shares(shares)))
            return
        steps *= 2
        if steps > most or not way.memory:
            break
        way = _way(context, (*parts, accumulated(context.profile, steps)))
    yield begin
    if steps > 2 * profile_steps and not parts:
        yield way


def _as_stages(context: PlanningContext, parts: tuple[WayPart, ...], begin: _Way) -> Iterator[_Way]:
    """Layers placed anew where they have room, with as many micro-batches as are quickest."""
    plan = begin.context.plan
    replicas, stages = (1, 1) if plan is None else (len(plan.replicas), plan.stage_count)
    steps = first = context.profile.training.accumulation_steps
    examples = context.profile.training.global_batch_size // replicas
    most = min(examples, _STEPS_A_STAGE * stages)
    if begin.fits and not parts:
        yield begin
    ways = []
    while steps <= max(most, first):
        unplaced = placed(context.profile, {}, (replicas, stages), steps)
        placement = balanced_placement(_way(context, (*parts, unplaced)).context)
        if placement is not None:
            there = placed(context.profile, placement, (replicas, stages), steps)
            way = _way(context, (*parts, there))
            ways += [way] if way.fits else []
        steps *= 2
    yield min(ways, key=_seconds, default=begin)


def _quickest(ways: list[_Way]) -> list[_Way]:
    """The quickest first, without those that another one is in which is as quick.

    Of those that nearly are, first what changes less; of each kind of change one at least.
    """
    kept: list[_Way] = []
    kinds: set[str] = set()
    for way in sorted(ways, key=lambda way: (round(_seconds(way), 3), len(way.parts))):
        is_new = not kinds.issuperset(part.kind for part in way.parts)
        if len(kept) >= _MOST_FITTING and not is_new:
            continue
        if any(other.titles <= way.titles for other in kept):
            continue
        if prepare(way.context.profile, way.context.inventory, way.context.known).is_startable:
            kept.append(way)
            kinds.update(part.kind for part in way.parts)
    return kept


def _seconds(way: _Way) -> float:
    return float("inf") if way.seconds is None else way.seconds


def _lacking_mib(way: _Way) -> float:
    return max(each.counted_mib - (each.room_mib or 0) for each in way.memory)


def _rung(way: _Way, as_it_is: _Way) -> Rung:
    title = title_of(way.parts)
    results = dict.fromkeys(part.result for part in way.parts if part.result)
    time = None
    if way.seconds is not None and as_it_is.seconds:
        time = round(way.seconds / as_it_is.seconds, 2)
    return Rung(
        title=title[:1].upper() + title[1:] if title else "As it is",
        result=", ".join(results),
        fix=fix_of(way.parts) if way.parts else None,
        memory=way.memory,
        time=time,
        fits=way.fits,
        largest_batch=largest_batch(way.context),
    )


def _largest_side(context: PlanningContext) -> int | None:
    """Of images whose activations grow with their area, as those of convolutions do."""
    preview, step = context.known.preview, context.step
    shape = () if preview is None else preview.feature_shape
    if step is None or len(shape) != _IMAGE_AXES or shape[0] != shape[1]:
        return None
    profile = context.profile
    model = profile.model
    is_given = model.stack is not None or model.is_saved or model.is_code
    if is_given or not hasattr(profile.data, "image_size"):
        return None

    def fits(side: int) -> bool:
        area = (side / shape[0]) ** 2
        variant = StepVariant(
            mixed_precision=profile.training.mixed_precision,
            recomputes=profile.training.recomputes,
            step=_scaled(step, area),
        )
        known = replace(context.known, variants=(variant,))
        memory = memory_estimate(planning_context(profile, context.inventory, known))
        return bool(memory) and all(each.fits for each in memory)

    return greatest(_LARGEST_SIDE, fits) or None


def _scaled(step: StepMemory, area: float) -> StepMemory:
    """A step whose examples are so much larger."""
    peaks = tuple(
        MemoryPeak(
            fixed_bytes=peak.fixed_bytes, bytes_per_example=round(peak.bytes_per_example * area)
        )
        for peak in step.peaks
    )
    return step.model_copy(
        update={"peaks": peaks, "example_bytes": round(step.example_bytes * area), "layers": ()}
    )
