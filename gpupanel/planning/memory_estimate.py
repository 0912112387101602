"""What a training takes of each device's memory, and the largest batch that fits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from gpupanel.domain.data_on_device import fits_on_device
from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.device_memory import DeviceMemory
from gpupanel.domain.memory import CUDA_CONTEXT_MIB
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.step_memory import StepMemory
from gpupanel.domain.strategy import AllReduce, StrategyKind
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.data_on_gpu import data_on_gpu_bytes, streamed_data_bytes
from gpupanel.planning.device_layout import logical_devices
from gpupanel.planning.memory_room import free_mib, rest_mib, room_mib

_BYTES_PER_MIB = 2**20
TENSORFLOW_MIB = 400
"""A trainer on the host before it has a model: TensorFlow with its libraries and threads."""
ON_THE_HOST = (StrategyKind.CENTRAL_STORAGE, StrategyKind.PARAMETER_SERVER)
"""Strategies that keep weights in the host's memory, and read them for each step."""
_FEATURES_AHEAD = 2
"""Batches of features on a device: of the current step and of the next one."""
_MOST_REPLICAS = 128
"""Of more no batch and no shares are looked for: each change of a session would take long."""
MOST_EXAMPLES = 2**20
"""The largest global batch that is offered."""


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


def memory_estimate(context: PlanningContext) -> tuple[DeviceMemory, ...]:
    """What the plan takes of each memory; empty where that is not known.

    Layers that are placed on several devices are not estimated: what a device holds of the
    examples depends on where its layers begin and end.
    """
    estimator = _estimator(context)
    return () if estimator is None else estimator.memories(estimator.plan.shares)


def largest_batch(context: PlanningContext) -> int | None:
    """The largest global batch that fits, divided as the plan divides it; ``None``: not known.

    0 where not even one example fits; the number of all examples, where these fit.
    """
    estimator = _estimator(context)
    if estimator is None or not estimator.knows_room:
        return None
    if len(estimator.plan.replicas) > _MOST_REPLICAS:
        return None
    most = MOST_EXAMPLES
    if context.known.preview is not None and context.known.preview.trained_count:
        most = min(most, context.known.preview.trained_count)
    return greatest(most, estimator.fits_with_batch)


def fitting_shares(context: PlanningContext) -> tuple[int, ...] | None:
    """Shares of the same batch that fit, as near to the plan's as can be; ``None``: there are none.

    What a device has no room for goes to those that have, in proportion to their room.
    """
    estimator = _estimator(context)
    if estimator is None or not 1 < len(estimator.plan.replicas) <= _MOST_REPLICAS:
        return None
    plan = estimator.plan
    if plan.strategy is StrategyKind.PARAMETER_SERVER:
        return None
    most = [
        greatest(plan.global_batch_size, partial(estimator.fits_alone, place))
        for place in range(len(plan.replicas))
    ]
    shares = [min(pair) for pair in zip(plan.shares, most, strict=True)]
    room = [limit - share for limit, share in zip(most, shares, strict=True)]
    missing = plan.global_batch_size - sum(shares)
    if not 0 < missing <= sum(room):
        return None
    more = [missing * each // sum(room) for each in room]
    rest = missing - sum(more)
    for place in sorted(range(len(room)), key=lambda place: more[place] - room[place]):
        given = min(rest, room[place] - more[place])
        more[place] += given
        rest -= given
    shares = [share + each for share, each in zip(shares, more, strict=True)]
    return tuple(shares) if estimator.fits(shares) else None


def replica_memory(context: PlanningContext, share: int) -> DeviceMemory | None:
    """What the first replica takes with so many examples of a step; ``None``: not known."""
    estimator = _estimator(context)
    if estimator is None:
        return None
    others = len(estimator.plan.replicas) - 1
    return estimator.memories((share, *[0] * others))[-1]


def room_of_places(context: PlanningContext, plan: LaunchPlan) -> tuple[int | None, ...]:
    """What TensorFlow may take, in MiB, where layers are placed; ``None``: not known of one."""
    limits, rooms = limits_of(plan), list[int | None]()
    for place in plan.places:
        limit, free = limits.get((0, place.logical_device)), free_mib(context, place.device_key)
        if limit is None and free is not None:
            limit = max(0, free - overhead_mib(context, plan, place.device_key))
        elif limit is not None and (rest := rest_mib(context, place.device_key)) is not None:
            limit = min(limit, rest)
        rooms.append(limit)
    return tuple(rooms)


def _estimator(context: PlanningContext) -> "_Estimator | None":
    step, plan = context.known.step, context.plan
    if step is None or plan is None or plan.places or not context.trains:
        return None
    return _Estimator(context, step, plan)


class _Estimator:
    """What a plan takes with any shares."""

    def __init__(self, context: PlanningContext, step: StepMemory, plan: LaunchPlan) -> None:
        self.plan = plan
        self._step = step
        self._on_the_host = plan.strategy in ON_THE_HOST
        self._jit_compile = context.profile.training.jit_compile
        self._copies_in_update = context.profile.training.numbers_held_in_update
        self._kept = context.profile.training.numbers_beside_weights * step.trainable_bytes
        self._data = data_on_gpu_bytes(context)
        self._carried = streamed_data_bytes(context, plan)
        limits = limits_of(plan)
        self._limit = [limits.get((each.process, each.logical_device)) for each in plan.replicas]
        self._places: list[_Place] = [
            (each.device_key, "" if limit is None else each.logical_device)
            for each, limit in zip(plan.replicas, self._limit, strict=True)
        ]
        keys = {CPU_KEY, *(each.device_key for each in plan.replicas)}
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
        return any(memory.room_mib is not None for memory in self.memories(self.plan.shares))

    def memories(self, shares: Sequence[int]) -> tuple[DeviceMemory, ...]:
        """Each memory with those shares, first the host's where weights are there."""
        terms: dict[_Place, _Terms] = {}
        limits: dict[_Place, int | None] = {}
        if self._on_the_host:
            step = self._step
            terms[CPU_KEY, ""] = _Terms(step.weight_bytes, step.trainable_bytes, self._kept)
        # One process leaves idle replicas out; several wait for each other all the same.
        working = [place for place, share in enumerate(shares) if share or self.plan.processes]
        for number in working:
            place = self._places[number]
            taken = self._of_replica(number, shares[number], is_one=len(working) == 1)
            terms[place] = terms.get(place, _Terms()).plus(taken)
            limits[place] = self._limit[number]
        return tuple(self._memory(place, each, limits.get(place)) for place, each in terms.items())

    def fits(self, shares: Sequence[int]) -> bool:
        """Whether there is room for those shares everywhere."""
        return all(memory.fits for memory in self.memories(shares))

    def fits_with_batch(self, batch: int) -> bool:
        """Whether a global batch fits, divided as the plan divides its own."""
        # Rounded up: each replica may get one example more than its part.
        whole = self.plan.global_batch_size
        return self.fits([-(-share * batch // whole) for share in self.plan.shares])

    def fits_alone(self, number: int, share: int) -> bool:
        """Whether a replica fits with that share, if no other was on its device."""
        place = self._places[number]
        taken = self._of_replica(number, share, is_one=len(self._places) == 1)
        return self._memory(place, taken, self._limit[number]).fits

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
            is_measured=self._ratio(key) is not None,
        )

    def _ratio(self, key: str) -> float | None:
        return self._step.measured_ratio(key, jit_compile=self._jit_compile)

    def keeps_data(self, number: int) -> bool:
        """Whether a replica's GPU gets a copy of all examples."""
        planned = self.plan.replicas[number].data_on_host
        if planned is not None:
            return not planned
        place = self._places[number]
        if place[0] == CPU_KEY or not self._data:
            return False
        room = self._room[place]
        if room is None:
            return True
        step = self._step
        stays = step.weight_bytes + step.trainable_bytes + (0 if self._on_the_host else self._kept)
        return fits_on_device(self._data, room * _BYTES_PER_MIB - stays)

    def _of_replica(self, number: int, share: int, *, is_one: bool) -> _Terms:
        step, steps = self._step, self.plan.accumulation_steps
        examples = -(-share // steps)
        learned = step.trainable_bytes
        activations = max(0, step.held_bytes(examples) - learned)
        activations += _FEATURES_AHEAD * examples * step.example_bytes
        activations = round(activations * (self._ratio(self._places[number][0]) or 1.0))
        gradients = learned * (2 if steps > 1 else 1)
        if not is_one:
            # The sum over replicas comes when the activations are gone.
            gradients += max(0, learned - activations)
        kept = 0 if self._on_the_host else self._kept
        # Of a sum over replicas they are counted already.
        freed = activations if is_one else max(activations, learned)
        update = max(0, self._held_in_update(is_one=is_one) - freed)
        if not is_one and self.plan.all_reduce is AllReduce.HIERARCHICAL_COPY:
            # The first of a group of replicas packs all gradients, and holds the packed sums.
            update = max(update, step.largest_weight_bytes + learned)
        data = self._data if self.keeps_data(number) else 0
        data += 0 if self._places[number][0] == CPU_KEY else self._carried
        return _Terms(step.weight_bytes, gradients, kept, activations, update, data, examples)

    def _held_in_update(self, *, is_one: bool) -> int:
        """What an update holds for a moment beside weights, gradients and what is kept.

        The largest weight's squares for the norm, and anew the weight itself that is still read;
        and what is calculated of all weights side by side. A second sum of gradients makes room for
        one of these.
        """
        if self._on_the_host:
            return 0
        step, copies = self._step, self._copies_in_update
        copies = max(0, copies - (self.plan.accumulation_steps > 1))
        return (1 + is_one) * step.largest_weight_bytes + copies * step.trainable_bytes


def data_on_gpu_mib(context: PlanningContext, number: int) -> int:
    """What all sets take, in MiB, of the GPU of that replica; 0: they are not copied to it."""
    estimator = _estimator(context)
    keeps = estimator is not None and estimator.keeps_data(number)
    return -(-data_on_gpu_bytes(context) // _BYTES_PER_MIB) if keeps else 0


def with_data_placed(context: PlanningContext) -> LaunchPlan | None:
    """The plan, which says of each replica whether its examples stay on the host."""
    plan, estimator = context.plan, _estimator(context)
    if plan is None or estimator is None or not data_on_gpu_bytes(context):
        return plan
    replicas = tuple(
        each.model_copy(update={"data_on_host": not estimator.keeps_data(number)})
        if each.device_key != CPU_KEY
        else each
        for number, each in enumerate(plan.replicas)
    )
    return plan.model_copy(update={"replicas": replicas})


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


def greatest(most: int, fits: Callable[[int], bool]) -> int:
    """The greatest number up to that which fits, where all smaller ones do; 0: none."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
