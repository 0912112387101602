"""Global batches, their shares and speeds, calculated from what fitted on each device."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from gpupanel.domain.batch_fit import BatchFit, BatchSpeed, DeviceBatch, fastest_of, fastest_trial
from gpupanel.domain.batch_search import BatchTrial, SearchEnd, most_that_fit
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem
from gpupanel.domain.step_memory import GREATEST_RATIO, LEAST_RATIO, MeasuredStep
from gpupanel.domain.strategy import StrategyKind
from gpupanel.planning.batch_targets import BatchTarget
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.memory_estimate import MOST_EXAMPLES, greatest, replica_memory
from gpupanel.planning.shares import equal_shares, proportional_shares

_LEAST_ACTIVATIONS = 0.2
"""The least part of a step's memory that is activations: below, the ratio is unreliable."""


def device_batch(
    target: BatchTarget,
    trials: tuple[BatchTrial, ...],
    stopped: SearchEnd,
    seconds: float = 0.0,
    problems: tuple[Problem, ...] = (),
) -> DeviceBatch:
    """What was found on one device, beside what was estimated."""
    largest = most_that_fit(trials)
    peak = next((each.peak_mib for each in trials if each.fits and each.examples == largest), None)
    memory = replica_memory(target.context, largest) if largest else None
    estimated = None if memory is None else memory.gradients_mib + memory.activations_mib
    return DeviceBatch(
        device=target.device,
        logical_device=target.logical_device,
        replicas=len(target.replicas),
        room_mib=target.room_mib,
        trials=trials,
        largest=largest,
        fastest=fastest_trial(trials),
        peak_mib=peak,
        estimated_mib=None if estimated is None else round(estimated, 1),
        ratio=round(peak / estimated, 3) if peak and estimated else None,
        seconds=round(seconds, 1),
        stopped=stopped,
        problems=problems,
    )


def measured_step(target: BatchTarget, found: DeviceBatch) -> MeasuredStep | None:
    """The measured memory of a step, to correct its estimate; ``None``: not measured.

    Gradients are exact, so that what a step held beside these are activations.
    """
    memory = replica_memory(target.context, found.largest) if found.largest else None
    if memory is None or not found.peak_mib or not memory.activations_mib:
        return None
    activations = found.peak_mib - memory.gradients_mib
    ratio = activations / memory.activations_mib
    says_much = activations >= _LEAST_ACTIVATIONS * found.peak_mib
    if not says_much or not LEAST_RATIO <= ratio <= GREATEST_RATIO:
        return None
    jit_compile = target.context.profile.training.jit_compile
    return MeasuredStep(device=target.device, jit_compile=jit_compile, ratio=round(ratio, 4))


def batch_fit(
    context: PlanningContext,
    targets: Sequence[BatchTarget],
    found: Sequence[DeviceBatch],
    example_count: int | None = None,
) -> BatchFit:
    """What follows for global batches.

    Args:
        context: Of the profile.
        targets: What was tried.
        found: On each of them.
        example_count: How many training examples there are; ``None``: not known.
    """
    plan = context.plan
    tried = [each for each in found if each.trials]
    if plan is None or len(tried) < len(targets) or not targets:
        return BatchFit(devices=tuple(found))
    batches = _Batches(context, plan, targets, found)
    most = min(MOST_EXAMPLES, example_count or MOST_EXAMPLES)
    largest = greatest(most, batches.fits)
    uneven = _uneven(context, batches.limits, largest, most)
    speeds = batches.speeds(largest)
    return BatchFit(
        devices=tuple(found),
        largest_batch=largest,
        shares=batches.divided(largest) if largest else (),
        fastest_batch=fastest_of(speeds),
        speeds=speeds,
        uneven_batch=sum(uneven) or None,
        uneven_shares=uneven,
    )


@dataclass(frozen=True, slots=True)
class _Speed:
    """Seconds of a step for numbers of examples, on a line between those that were tried."""

    points: tuple[tuple[int, float], ...]

    def seconds(self, examples: int) -> float | None:
        """``None``: far from what was tried."""
        if not examples:
            return 0.0
        for tried, seconds in self.points:
            if tried == examples:
                return seconds
        for (some, less), (many, more) in pairwise(self.points):
            if some <= examples <= many:
                return less + (more - less) * (examples - some) / (many - some)
        return None


class _Batches:
    """Global batches of a plan, by what each of its replicas was seen to hold."""

    def __init__(
        self,
        context: PlanningContext,
        plan: LaunchPlan,
        targets: Sequence[BatchTarget],
        found: Sequence[DeviceBatch],
    ) -> None:
        self._plan = plan
        self._are_given = isinstance(context.profile.strategy.shares, tuple)
        limits, speeds = [0] * len(plan.replicas), [_Speed(())] * len(plan.replicas)
        for target, each in zip(targets, found, strict=True):
            for number in target.replicas:
                limits[number], speeds[number] = each.largest, _speed(each)
        self.limits, self._speeds = tuple(limits), tuple(speeds)

    def divided(self, batch: int) -> tuple[int, ...]:
        """Shares of another global batch, as the profile divides its own."""
        plan = self._plan
        if plan.strategy is StrategyKind.PARAMETER_SERVER:
            return (batch,) * len(plan.replicas)
        if self._are_given:
            return proportional_shares(batch, plan.shares)
        return equal_shares(batch, len(plan.replicas))

    def fits(self, batch: int) -> bool:
        """Whether each replica was seen to hold its share; of few examples none goes without."""
        least = [min(1, share) for share in self._plan.shares]
        shares = self.divided(batch)
        if not self._are_given:
            shares = (max(shares),) * len(shares)  # so that the largest is divided without a rest
        shares = tuple(map(max, least, shares))
        return all(share <= most for share, most in zip(shares, self.limits, strict=True))

    def speeds(self, largest: int) -> tuple[BatchSpeed, ...]:
        """Speeds of batches that give each replica a size that was tried on its device."""
        whole = self._plan.global_batch_size
        batches = {largest}
        for share, speed in zip(self._plan.shares, self._speeds, strict=True):
            if share:
                batches.update(examples * whole // share for examples, _ in speed.points)
        fitting = sorted(each for each in batches if 0 < each <= largest)
        known = ((batch, self._rate(batch)) for batch in fitting)
        return tuple(
            BatchSpeed(global_batch_size=batch, examples_per_second=round(rate, 1))
            for batch, rate in known
            if rate is not None
        )

    def _rate(self, batch: int) -> float | None:
        shares = self.divided(batch)
        seconds = [speed.seconds(share) for share, speed in zip(shares, self._speeds, strict=True)]
        known = [each for each in seconds if each is not None]
        if len(known) < len(seconds) or not max(known):
            return None
        if self._plan.strategy is StrategyKind.PARAMETER_SERVER:
            return sum(batch / each for each in known)  # none waits for another
        return batch / max(known)


def _speed(found: DeviceBatch) -> _Speed:
    known = {
        each.examples: each.step_seconds
        for each in found.trials
        if each.fits and each.step_seconds is not None
    }
    return _Speed(tuple(sorted(known.items())))


def _uneven(
    context: PlanningContext, limits: tuple[int, ...], largest: int, most: int
) -> tuple[int, ...]:
    """Shares of a larger batch than the largest with the plan's; empty: there are none."""
    together = min(most, sum(limits))
    if not context.profile.strategy.divides_batches or together <= largest:
        return ()
    return proportional_shares(together, limits)
