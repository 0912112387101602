"""Whether a change gives a run enough that ran out of memory, as far as that can be estimated."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.device_memory import DeviceMemory
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.profile import Profile
from gpupanel.domain.step_memory import GREATEST_RATIO, MeasuredStep, StepMemory, StepVariant
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.planning.context import Known, PlanningContext, planning_context
from gpupanel.planning.memory_estimate import memory_estimate, room_of_places

_BYTES_PER_MIB = 2**20
_LEAST_RECOMPUTED = 5
"""The least part of the activations that a step held whose blocks were computed again: see
``bench_recompute.py``."""
_BEYOND = 1.02
"""A run that was refused memory takes so much of what there is at least: gaps between what is held
make less of it than all, and a change that gives hardly anything back does not help."""


@dataclass(frozen=True, slots=True)
class Shortage:
    """What is known of a run that ran out of memory.

    Attributes:
        device_key: Whose memory was not enough; ``None``: not known.
        logical_device: TensorFlow's name of the logical one there; ``None``: not known.
        needed_bytes: What was held and asked for at once; ``None``: not known.
        asked_bytes: What was asked for, of it; ``None``: not known.
        limit_bytes: The most that could be had; ``None``: not known.
        in_step: Whether it had begun with steps: before that a smaller step helps nothing.
        step: What a step holds; ``None``: not known.
        preview: How many examples there are, and how large; ``None``: not known.
        variants: What a step holds computed in other ways, where that is known.
    """

    device_key: str | None = None
    logical_device: str | None = None
    needed_bytes: int | None = None
    asked_bytes: int | None = None
    limit_bytes: int | None = None
    in_step: bool = True
    step: StepMemory | None = None
    preview: DataPreview | None = None
    variants: tuple[StepVariant, ...] = ()


class Prospect(IntEnum):
    """What can be expected of a change, the best first."""

    FITS = 0
    """The estimate fits with its margin."""
    UNKNOWN = 1
    """It is not estimated, or fits without that margin only."""
    NONE = 2
    """Not even the minimum of the run fits."""


class Prospects:
    """Estimates changes of one run.

    Where the estimate was too small for what was seen it is too small for a changed run, too: by as
    much on every GPU.
    """

    def __init__(
        self,
        profile: Profile,
        inventory: DeviceInventory,
        sample: TelemetrySample | None,
        shortage: Shortage,
    ) -> None:
        """Estimates the run as it was.

        Args:
            profile: Of the run.
            inventory: The devices of this machine.
            sample: Readings of them, without what the run held.
            shortage: What it came to.
        """
        self._profile = profile
        self._shortage = shortage
        known = Known(sample, shortage.preview, step=shortage.step, variants=shortage.variants)
        self._context = planning_context(profile, inventory, known)
        self._missed_mib = self._missed()

    def of(self, changed: Profile) -> Prospect:
        """What can be expected of the run with that profile."""
        if not self._shortage.in_step and self._is_only_another_step(changed):
            return Prospect.NONE
        context = self._with(changed)
        memories = _least(context)
        if not memories:
            return Prospect.UNKNOWN if _may_be_placed(context) else Prospect.NONE
        least = [each.counted_mib + self._missed_of(each) for each in memories]
        if any(
            each.room_mib is not None and taken > each.room_mib
            for each, taken in zip(memories, least, strict=True)
        ):
            return Prospect.NONE
        is_known = bool(context.known.variants) or context.step == self._context.step
        fits = all(each.fits_beside(self._missed_of(each)) for each in memories)
        return Prospect.FITS if fits and is_known else Prospect.UNKNOWN

    @property
    def measured(self) -> MeasuredStep | None:
        """What the shortage has shown of the estimate of that device; ``None``: nothing new."""
        memory = next(self._of_the_full_device(), None)
        if memory is None or self._missed_mib == 0.0 or memory.activations_mib < 1.0:
            return None
        jit_compile = self._profile.training.jit_compile
        step = self._context.step
        before = None if step is None else step.measured_on(memory.device, jit_compile=jit_compile)
        ratio = (memory.activations_mib + self._missed_mib) / memory.activations_mib
        ratio *= 1.0 if before is None else before.ratio
        return MeasuredStep(
            device=memory.device,
            jit_compile=jit_compile,
            ratio=round(min(ratio, GREATEST_RATIO), 4),
            is_least=True,
        )

    def _is_only_another_step(self, changed: Profile) -> bool:
        """Whether each device has the same memory, and in it what is there before a step."""
        before, after = self._profile, changed
        return (
            (before.devices, before.memory, before.data)
            == (after.devices, after.memory, after.data)
        ) and before.strategy.kind is after.strategy.kind

    def _with(self, changed: Profile) -> PlanningContext:
        context = self._context.with_profile(changed)
        if context.known.variants:
            return context
        step = context.step
        before, after = self._profile.training, changed.training
        # At best every activation takes so much less; weights stay what they are.
        part = 2 if after.mixed_precision != before.mixed_precision else 1
        part *= _LEAST_RECOMPUTED if after.recompute != before.recompute else 1
        if step is None or part == 1:
            return context
        peaks = tuple(
            each.model_copy(update={"bytes_per_example": each.bytes_per_example // part})
            for each in step.peaks
        )
        less = step.model_copy(update={"peaks": peaks})
        return planning_context(changed, context.inventory, replace(context.known, step=less))

    def _missed(self) -> float:
        """MiB by which the estimate of the run is below what was measured."""
        memory = next(self._of_the_full_device(), None)
        if memory is None or memory.device == CPU_KEY or memory.room_mib is None:
            return 0.0
        counted = memory.total_mib - memory.overhead_mib
        seen = memory.room_mib - (0.0 if memory.is_limit else memory.overhead_mib)
        seen *= _BEYOND
        if self._shortage.needed_bytes is not None:
            seen = max(seen, self._shortage.needed_bytes / _BYTES_PER_MIB)
        return max(0.0, seen - counted)

    def _of_the_full_device(self) -> Iterator[DeviceMemory]:
        for memory in _least(self._context):
            is_there = memory.device == self._shortage.device_key
            logical = self._shortage.logical_device
            if is_there and (logical is None or memory.logical_device in ("", logical)):
                yield memory

    def _missed_of(self, memory: DeviceMemory) -> float:
        return 0.0 if memory.device == CPU_KEY else self._missed_mib


def _least(context: PlanningContext) -> tuple[DeviceMemory, ...]:
    """The estimate without what an update holds at the most.

    What was seen of the run has that in it, as far as it was so.
    """
    return tuple(each.model_copy(update={"update_mib": 0.0}) for each in memory_estimate(context))


def _may_be_placed(context: PlanningContext) -> bool:
    """Whether the weights may fit that are divided over the plan's places, each of them whole."""
    plan, step = context.plan, context.step
    if plan is None or step is None or not plan.places:
        return True
    rooms, count = room_of_places(context, plan), plan.stage_count
    of_replicas = (rooms[begin : begin + count] for begin in range(0, len(rooms), count))
    return all(_may_be_divided(context, step, each) for each in of_replicas)


def _may_be_divided(
    context: PlanningContext, step: StepMemory, rooms: Sequence[int | None]
) -> bool:
    """The same of the places of one replica; ``None``: the room of one is not known."""
    if None in rooms:
        return True
    known = [room for room in rooms if room is not None]
    copies = 2 + context.profile.training.numbers_beside_weights  # the weights, and gradients
    fixed = step.weight_bytes - step.trainable_bytes
    return (
        min(known) > 0  # each place has a layer
        and copies * step.largest_weight_bytes <= max(known) * _BYTES_PER_MIB
        and fixed + copies * step.trainable_bytes <= sum(known) * _BYTES_PER_MIB
    )
