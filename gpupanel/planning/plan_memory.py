"""What a plan takes of each device's memory, with any shares of its batch."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from gpupanel.domain.data_on_device import fits_on_device
from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.device_memory import DeviceMemory
from gpupanel.domain.memory import CUDA_CONTEXT_MIB
from gpupanel.domain.placement import LayerSize, place_layers
from gpupanel.domain.plan import LaunchPlan, LogicalPlace
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.step_memory import MeasuredStep, StepMemory
from gpupanel.domain.strategy import AllReduce, StrategyKind
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.data_on_gpu import data_on_gpu_bytes, streamed_data_bytes
from gpupanel.planning.device_layout import logical_devices
from gpupanel.planning.memory_room import free_mib, rest_mib, room_mib
from gpupanel.planning.stage_memory import held_at_once, stage_steps

_BYTES_PER_MIB: Final = 2**20
_NUMBER_BYTES: Final = 4
TENSORFLOW_MIB: Final = 400
"""A trainer on the host before it has a model: TensorFlow with its libraries and threads."""
ON_THE_HOST: Final = (StrategyKind.CENTRAL_STORAGE, StrategyKind.PARAMETER_SERVER)
"""Strategies that keep weights in the host's memory, and read them for each step."""
_FEATURES_AHEAD: Final = 2
"""Batches of features on a device: of the current step and of the next one."""


@dataclass(frozen=True, slots=True)
class _Terms:
    """Bytes, as those of :class:`DeviceMemory`."""

    weights: int = 0
    gradients: int = 0
    optimizer: int = 0
    activations: int = 0
    update: int = 0
    data: int = 0
    examples: int = 0

    def plus(self, more: "_Terms") -> "_Terms":
        return _Terms(
            self.weights + more.weights,
            self.gradients + more.gradients,
            self.optimizer + more.optimizer,
            self.activations + more.activations,
            self.update + more.update,
            self.data + more.data,
            self.examples + more.examples,
        )


_Place = tuple[str, str]
"""The key of a physical device, and the logical one where that has a limit of its own."""


def plan_memory(context: PlanningContext) -> "PlanMemory | None":
    """Of the context's plan; ``None`` where it is not known what a step holds."""
    step, plan = context.step, context.plan
    if step is None or plan is None or not context.trains:
        return None
    if not plan.places:
        spots = [
            (
                each.process,
                LogicalPlace(device_key=each.device_key, logical_device=each.logical_device),
            )
            for each in plan.replicas
        ]
        return PlanMemory(context, plan, spots, (step,) * len(spots), plan.shares)
    steps = _placed_steps(context, step, plan)
    return placed_memory(context, plan, steps) if steps else None


def placed_memory(
    context: PlanningContext, plan: LaunchPlan, steps: Sequence[StepMemory]
) -> "PlanMemory":
    """Of a plan whose layers are on several places, with the part of a step on each of a replica.

    Args:
        context: Of the profile.
        plan: Of it.
        steps: As many as each replica has places.
    """
    spots = [(0, each) for each in plan.places]
    # All examples of a replica pass each of its places.
    shares = [share for share in plan.shares for _ in steps]
    return PlanMemory(context, plan, spots, [*steps] * len(plan.replicas), shares)


def planned_placement(
    context: PlanningContext, step: StepMemory, plan: LaunchPlan
) -> tuple[int, ...]:
    """The place of each layer of a step; empty where they are not known, or wrongly placed."""
    sizes = [
        LayerSize(each.name, each.weight_bytes // _NUMBER_BYTES, each.outputs)
        for each in step.layers
    ]
    if not sizes or not plan.places:
        return ()
    try:
        return place_layers(
            sizes,
            context.profile.strategy.placement,
            places=plan.stage_count,
            batch_size=plan.global_batch_size,
        )
    except ProblemError:
        return ()  # the run is refused for it


def _placed_steps(
    context: PlanningContext, step: StepMemory, plan: LaunchPlan
) -> tuple[StepMemory, ...]:
    """The part of a step on each place of a replica; empty where the layers are not known."""
    placed, profile = planned_placement(context, step, plan), context.profile
    if not placed:
        return ()
    count, pipelined = plan.stage_count, profile.strategy.pipeline
    at_once = held_at_once(count, plan.accumulation_steps, pipelined=pipelined)
    mixed = profile.training.mixed_precision
    return stage_steps(step, placed, at_once, mixed_precision=mixed)


class PlanMemory:
    """What a plan takes with any shares.

    Attributes:
        plan: Of the profile.
        shares: The examples of each step that pass each replica, or each stage.
        steps: What a step holds there.
    """

    def __init__(
        self,
        context: PlanningContext,
        plan: LaunchPlan,
        spots: Sequence[tuple[int, LogicalPlace]],
        steps: Sequence[StepMemory],
        shares: Sequence[int],
    ) -> None:
        """Works out what does not depend on shares.

        Args:
            context: Of the profile.
            plan: Of it.
            spots: The process and the logical device of each replica, or of each stage.
            steps: What a step holds there.
            shares: The examples of each step that pass there.
        """
        self.plan = plan
        self.shares = shares
        self.steps = tuple(steps)
        self._on_the_host = plan.strategy in ON_THE_HOST
        self._jit_compile = context.profile.training.jit_compile
        self._copies_in_update = context.profile.training.numbers_held_in_update
        training = context.profile.training
        beside, of_optimizer = training.numbers_beside_weights, training.optimizer_numbers
        self._is_divided = plan.optimizer_quotas is not None
        self._parts = (1.0,) * len(spots) if plan.places else plan.optimizer_parts
        # Numbers beside each weight: a place has a part of those of the optimizer.
        self._kept = [beside - of_optimizer + of_optimizer * part for part in self._parts]
        self._data = data_on_gpu_bytes(context)
        self._carried = streamed_data_bytes(context, plan)
        limits = limits_of(plan)
        self._limit = [limits.get((process, each.logical_device)) for process, each in spots]
        self._places: list[_Place] = [
            (each.device_key, "" if limit is None else each.logical_device)
            for (_, each), limit in zip(spots, self._limit, strict=True)
        ]
        keys = {CPU_KEY, *(each.device_key for _, each in spots)}
        self._overhead: dict[_Place, int] = {}
        self._room: dict[_Place, int | None] = {}
        for key in keys:
            self._overhead[key, ""] = overhead_mib(context, plan, key)
            self._room[key, ""] = room_of(context, plan, key)
        left = {key: rest_mib(context, key) for key in keys}
        for place, limit in dict(zip(self._places, self._limit, strict=True)).items():
            if limit is None:
                continue
            # Parts of a split are in one process, which has one context; the last is given what
            # the others leave.
            key, rest = place[0], left[place[0]]
            is_first = key not in {each for each, logical in self._room if logical}
            self._overhead[place] = CUDA_CONTEXT_MIB if is_first else 0
            self._room[place] = limit if rest is None else min(limit, rest)
            left[key] = None if rest is None else rest - min(limit, rest)

    @property
    def knows_room(self) -> bool:
        """Whether it is known of some memory how much there is."""
        return any(memory.room_mib is not None for memory in self.memories(self.shares))

    def memories(self, shares: Sequence[int]) -> tuple[DeviceMemory, ...]:
        """Each memory with those shares, first the host's where weights are there."""
        terms: dict[_Place, _Terms] = {}
        limits: dict[_Place, int | None] = {}
        if self._on_the_host:
            step = self.steps[0]
            kept = round(self._kept[0] * step.trainable_bytes)
            terms[CPU_KEY, ""] = _Terms(step.weight_bytes, step.trainable_bytes, kept)
        # One process leaves idle replicas out; several wait for each other all the same.
        working = [place for place, share in enumerate(shares) if share or self.plan.processes]
        for number in working:
            place = self._places[number]
            taken = self._of_replica(number, shares[number], is_one=self._is_one(len(working)))
            terms[place] = terms.get(place, _Terms()).plus(taken)
            limits[place] = self._limit[number]
        return tuple(self._memory(place, each, limits.get(place)) for place, each in terms.items())

    def fits(self, shares: Sequence[int]) -> bool:
        """Whether there is room for those shares everywhere."""
        return all(memory.fits for memory in self.memories(shares))

    def fits_with_step(self, number: int, step: StepMemory) -> bool:
        """Whether that place has room where its part of a step is this one."""
        is_one = self._is_one(len(self._places))
        taken = self._of_step(number, step, self.shares[number], is_one=is_one)
        return self._memory(self._places[number], taken, self._limit[number]).fits

    def fits_with_batch(self, batch: int) -> bool:
        """Whether a global batch fits, divided as the plan divides its own."""
        # Rounded up: each replica may get one example more than its part.
        whole = self.plan.global_batch_size
        return self.fits([-(-share * batch // whole) for share in self.shares])

    def fits_alone(self, number: int, share: int) -> bool:
        """Whether a replica fits with that share, if no other was on its device."""
        place = self._places[number]
        taken = self._of_replica(number, share, is_one=self._is_one(len(self._places)))
        return self._memory(place, taken, self._limit[number]).fits

    def _is_one(self, working: int) -> bool:
        """Whether nothing is summed over replicas."""
        return working == 1 or len(self.plan.replicas) == 1

    def _memory(self, place: _Place, terms: _Terms, limit_mib: int | None) -> DeviceMemory:
        key, logical = place
        room = self._room[place]
        return DeviceMemory(
            device=key,
            logical_device=logical,
            examples=terms.examples,
            weights_mib=terms.weights / _BYTES_PER_MIB,
            gradients_mib=terms.gradients / _BYTES_PER_MIB,
            optimizer_mib=terms.optimizer / _BYTES_PER_MIB,
            activations_mib=terms.activations / _BYTES_PER_MIB,
            update_mib=terms.update / _BYTES_PER_MIB,
            data_mib=terms.data / _BYTES_PER_MIB,
            overhead_mib=self._overhead[place],
            room_mib=room,
            is_limit=limit_mib is not None and room == limit_mib,
            is_measured=self._is_measured(key),
        )

    def _measured(self, key: str) -> MeasuredStep | None:
        return self.steps[0].measured_on(key, jit_compile=self._jit_compile)

    def _is_measured(self, key: str) -> bool:
        measured = self._measured(key)
        return measured is not None and not measured.is_least

    def _ratio(self, key: str) -> float:
        """What activations take over what is estimated for them."""
        measured = self._measured(key)
        return 1.0 if measured is None else measured.ratio

    def keeps_data(self, replica: int) -> bool:
        """Whether a replica's GPU, the first of several, gets a copy of all examples."""
        number = replica * self.plan.stage_count
        is_one = self._is_one(len(self._places))
        return self._keeps_data(
            number, self._of_replica(number, self.shares[number], is_one=is_one)
        )

    def _keeps_data(self, number: int, taken: _Terms) -> bool:
        """Whether a copy of all examples goes to a place which a step takes so much of."""
        planned = self.plan.replicas[number // self.plan.stage_count].data_on_host
        if planned is not None:
            return not planned
        place = self._places[number]
        if place[0] == CPU_KEY or not self._data:
            return False
        room = self._room[place]
        if room is None:
            return True
        learned = self.steps[number].trainable_bytes
        left = room * _BYTES_PER_MIB - (taken.weights + learned + taken.optimizer)
        beside = taken.gradients - learned + taken.activations + taken.update
        return fits_on_device(self._data, left, beside)

    def _of_replica(self, number: int, share: int, *, is_one: bool) -> _Terms:
        return self._of_step(number, self.steps[number], share, is_one=is_one)

    def _of_step(self, number: int, step: StepMemory, share: int, *, is_one: bool) -> _Terms:
        steps = self.plan.accumulation_steps
        examples = -(-share // steps)
        learned = step.trainable_bytes
        activations = max(0, step.held_bytes(examples) - learned)
        activations += _FEATURES_AHEAD * examples * step.example_bytes
        activations = round(activations * (self._ratio(self._places[number][0])))
        gradients = learned * (2 if steps > 1 else 1)
        if self._on_the_host and steps == 1:
            gradients = step.largest_weight_bytes  # each goes to the host as soon as it is there
        elif not is_one:
            # The sum over replicas comes when the activations are gone.
            gradients += max(0, learned - activations)
        kept = 0 if self._on_the_host else round(self._kept[number] * learned)
        # Of a sum over replicas they are counted already.
        freed = activations if is_one else max(activations, learned)
        update = max(0, self._held_in_update(number, step, is_one=is_one) - freed)
        if not is_one and self.plan.all_reduce is AllReduce.HIERARCHICAL_COPY:
            # The first of a group of replicas packs all gradients, and holds the packed sums.
            update = max(update, step.largest_weight_bytes + learned)
        taken = _Terms(step.weight_bytes, gradients, kept, activations, update, 0, examples)
        if number % self.plan.stage_count or self._places[number][0] == CPU_KEY:
            return taken  # examples come to the first of several stages
        return replace(taken, data=self._data if self._keeps_data(number, taken) else self._carried)

    def _held_in_update(self, number: int, step: StepMemory, *, is_one: bool) -> int:
        """What an update holds for a moment beside weights, gradients and what is kept.

        The largest weight's squares for the norm, and anew the weight itself that is still read;
        and what is calculated of all weights side by side. A second sum of gradients makes room for
        one of these. Where the state is divided, it is calculated of a part only, and the weights
        come anew: the own ones to be handed out, and all of them, from other processes twice.
        """
        if self._on_the_host:
            return 0
        copies = float(self._copies_in_update)
        if self._is_divided:
            copies = (copies + 1) * self._parts[number] + (2 if self.plan.processes else 1)
        copies = max(0.0, copies - (self.plan.accumulation_steps > 1))
        return (1 + is_one) * step.largest_weight_bytes + round(copies * step.trainable_bytes)


def limits_of(plan: LaunchPlan) -> dict[tuple[int, str], int | None]:
    """The memory limit of each logical device, by its process and TensorFlow's name there."""
    return {
        (process, name): limit
        for process, each in enumerate(plan.gang)
        for _, name, limit in logical_devices(each.devices)
    }


def overhead_mib(context: PlanningContext, plan: LaunchPlan, key: str) -> int:
    """What goes of a device without a memory limit that the training cannot have."""
    if key == CPU_KEY:
        return TENSORFLOW_MIB * len(plan.gang)
    rest, room = rest_mib(context, key), room_mib(context, key)
    return CUDA_CONTEXT_MIB + (0 if rest is None or room is None else rest - room)


def room_of(context: PlanningContext, plan: LaunchPlan, key: str) -> int | None:
    """What the training can have of a device without a memory limit; ``None``: not known."""
    if key != CPU_KEY:
        return room_mib(context, key)
    free = free_mib(context, key)
    return None if free is None else max(0, free - overhead_mib(context, plan, key))
