"""What a training takes of each device's memory, and the largest batch that fits."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from gpupanel.domain.device import CPU_KEY, DeviceKind
from gpupanel.domain.device_memory import DeviceMemory
from gpupanel.domain.memory import CUDA_CONTEXT_MIB
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.step_memory import StepMemory
from gpupanel.domain.strategy import StrategyKind
from gpupanel.planning.context import PlanningContext

_BYTES_PER_MIB = 2**20
_TENSORFLOW_MIB = 400
"""A trainer on the host before it has a model: TensorFlow with its libraries and threads."""
_ON_THE_HOST = (StrategyKind.CENTRAL_STORAGE, StrategyKind.PARAMETER_SERVER)
"""Strategies that keep weights in the host's memory, and read them for each step."""
_FEATURES_AHEAD = 2
"""Those of a step, and of the one after it, which are placed meanwhile."""
MOST_EXAMPLES = 2**20
"""Of a global batch that is offered."""


@dataclass(frozen=True, slots=True)
class _Terms:
    """Bytes, as those of :class:`DeviceMemory`."""

    weights: int = 0
    gradients: int = 0
    optimizer: int = 0
    activations: int = 0
    examples: int = 0

    def plus(self, more: "_Terms") -> "_Terms":
        return _Terms(
            self.weights + more.weights,
            self.gradients + more.gradients,
            self.optimizer + more.optimizer,
            self.activations + more.activations,
            self.examples + more.examples,
        )


_Place = tuple[str, str]
"""The key of a physical device, and the logical one where that has a limit of its own."""


def memory_estimate(context: PlanningContext) -> tuple[DeviceMemory, ...]:
    """What the plan takes of each memory; empty where that is not known.

    Layers that are placed on several devices are not estimated: what a device holds of the
    examples depends on where its layers begin and end.
    """
    step, plan = context.step, context.plan
    if step is None or plan is None or plan.places or not context.trains:
        return ()
    return tuple(_memories(context, step, plan, plan.shares))


def largest_batch(context: PlanningContext) -> int | None:
    """The largest global batch that fits, divided as the plan divides it; ``None``: not known.

    0 where not even one example fits; the number of all examples, where these fit.
    """
    step, plan = context.step, context.plan
    memories = memory_estimate(context)
    if step is None or plan is None or not memories:
        return None
    if all(memory.room_mib is None for memory in memories):
        return None
    most = MOST_EXAMPLES
    if context.preview is not None and context.preview.trained_count:
        most = min(most, context.preview.trained_count)
    return _greatest(most, partial(_fits_with_batch, context, step, plan))


def fitting_shares(context: PlanningContext) -> tuple[int, ...] | None:
    """Shares of the same batch that fit, as near to the plan's as can be; ``None``: there are none.

    What a device has no room for goes to those that have, in proportion to their room.
    """
    step, plan = context.step, context.plan
    if step is None or plan is None or plan.strategy is StrategyKind.PARAMETER_SERVER:
        return None
    if not memory_estimate(context) or len(plan.replicas) < 2:
        return None

    def most_of(place: int) -> int:
        def fits(examples: int) -> bool:
            shares = [0] * len(plan.shares)
            shares[place] = examples
            return _fits(context, step, plan, shares, only=place)

        return _greatest(plan.global_batch_size, fits)

    most = [most_of(place) for place in range(len(plan.replicas))]
    shares = [min(pair) for pair in zip(plan.shares, most, strict=True)]
    room = [limit - share for limit, share in zip(most, shares, strict=True)]
    missing = plan.global_batch_size - sum(shares)
    if not 0 < missing <= sum(room):
        return None
    more = [missing * each // sum(room) for each in room]
    for place in sorted(range(len(room)), key=lambda place: more[place] - room[place]):
        more[place] += min(missing - sum(more), room[place] - more[place])
    shares = [share + each for share, each in zip(shares, more, strict=True)]
    return tuple(shares) if _fits(context, step, plan, shares) else None


def _fits_with_batch(
    context: PlanningContext, step: StepMemory, plan: LaunchPlan, batch: int
) -> bool:
    # Rounded up: each replica may get one example more than its part.
    shares = [-(-share * batch // plan.global_batch_size) for share in plan.shares]
    return _fits(context, step, plan, shares)


def _fits(
    context: PlanningContext,
    step: StepMemory,
    plan: LaunchPlan,
    shares: Sequence[int],
    only: int | None = None,
) -> bool:
    """Whether these shares fit everywhere, or on the device of one replica only."""
    memories = _memories(context, step, plan, shares)
    if only is None:
        return all(memory.fits for memory in memories)
    key = plan.replicas[only].device_key
    return all(memory.fits for memory in memories if memory.device == key)


def _memories(
    context: PlanningContext, step: StepMemory, plan: LaunchPlan, shares: Sequence[int]
) -> Iterator[DeviceMemory]:
    terms: dict[_Place, _Terms] = {}
    limits = _limits(plan)
    if plan.strategy in _ON_THE_HOST:
        kept = context.profile.training.numbers_beside_weights * step.trainable_bytes
        terms[CPU_KEY, ""] = _Terms(step.weight_bytes, step.trainable_bytes, kept)
    # One process leaves idle replicas out; several wait for each other all the same.
    working = [each for each in plan.replicas if shares[each.index] or plan.processes]
    for replica in working:
        limit = limits.get((replica.process, replica.logical_device))
        place = (replica.device_key, "" if limit is None else replica.logical_device)
        taken = _of_replica(context, step, plan, shares[replica.index], is_one=len(working) == 1)
        terms[place] = terms.get(place, _Terms()).plus(taken)
    limit_of = {
        (each.device_key, each.logical_device): limits.get((each.process, each.logical_device))
        for each in working
    }
    for (key, logical), found in terms.items():
        limit = limit_of.get((key, logical))
        yield DeviceMemory(
            device=key,
            logical_device=logical,
            examples=found.examples,
            weights_mib=found.weights / _BYTES_PER_MIB,
            gradients_mib=found.gradients / _BYTES_PER_MIB,
            optimizer_mib=found.optimizer / _BYTES_PER_MIB,
            activations_mib=found.activations / _BYTES_PER_MIB,
            overhead_mib=_overhead_mib(plan, key),
            room_mib=_free_mib(context, key) if limit is None else limit,
            is_limit=limit is not None,
        )


def _of_replica(
    context: PlanningContext, step: StepMemory, plan: LaunchPlan, share: int, *, is_one: bool
) -> _Terms:
    examples = -(-share // plan.accumulation_steps)
    learned = step.trainable_bytes
    activations = max(0, step.held_bytes(examples) - learned)
    activations += _FEATURES_AHEAD * examples * step.example_bytes
    gradients = learned * (2 if plan.accumulation_steps > 1 else 1)
    if not is_one:
        # The sum over replicas comes when the activations are gone.
        gradients += max(0, learned - activations)
    kept = context.profile.training.numbers_beside_weights * learned
    if plan.strategy in _ON_THE_HOST:
        kept = 0
    return _Terms(step.weight_bytes, gradients, kept, activations, examples)


def _limits(plan: LaunchPlan) -> dict[tuple[int, str], int | None]:
    """The memory limit of each logical device, by its process and TensorFlow's name there."""
    found = {}
    for process, each in enumerate(plan.gang):
        counts = {DeviceKind.GPU: 0, DeviceKind.CPU: 0}
        for device in each.devices:
            for limit in device.logical_limits_mib or (None,):
                name = f"/device:{device.kind.upper()}:{counts[device.kind]}"
                found[process, name] = limit
                counts[device.kind] += 1
    return found


def _overhead_mib(plan: LaunchPlan, key: str) -> float:
    if key != CPU_KEY:
        return CUDA_CONTEXT_MIB
    return _TENSORFLOW_MIB * len(plan.gang)


def _free_mib(context: PlanningContext, key: str) -> int | None:
    """What is free now, or all that there is where that is not known."""
    reading = None if context.sample is None else context.sample.reading(key)
    if reading is not None and reading.memory_free_mib is not None:
        return reading.memory_free_mib
    device = context.inventory.device(key)
    return None if device is None else device.memory_total_mib


def _greatest(most: int, fits: Callable[[int], bool]) -> int:
    """The greatest number up to that which fits, where all smaller ones do; 0: none."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
