"""Whether a model, and the examples of a step, can fit into memory at all.

What is reckoned here is the least that they take: who passes may still run out of memory, who does
not pass certainly would.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from gpupanel.domain.data import DataCache
from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.number_text import gibibytes
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.layers import model_layers

_FLOAT_BYTES = 4
"""Weights, gradients and what an optimizer keeps are float32, with mixed precision too."""
_BYTES_PER_MIB = 2**20
_DATA_COPIES = 2
_SEVERITIES = tuple(Severity)


@dataclass(frozen=True, slots=True)
class _Holder:
    """A memory, and how many copies of the weights and of the optimizer's state stand in it."""

    name: str
    memory_mib: int
    copies: int
    states: float
    is_host: bool = False


def model_above_memory(context: PlanningContext) -> Iterator[Problem]:
    """Weights that cannot fit where they would stand: the worst of what is found."""
    if context.plan is None or not context.trains:
        return
    weights = _weights_mib(context.profile, context.known.preview)
    images = 0 if list(data_above_memory(context)) else _images_mib(context)
    found = (
        _model_problem(context.profile, weights, holder, images if holder.is_host else 0)
        for holder in _holders(context.plan, context.inventory)
    )
    yield from sorted(filter(None, found), key=lambda each: _SEVERITIES.index(each.severity))[:1]


def step_above_memory(context: PlanningContext) -> Iterator[Problem]:
    """What layers hold of the examples of a step, as float32: the first memory too small."""
    shape = _feature_shape(context.profile, context.known.preview)
    if context.plan is None or not context.trains or not shape:
        return
    examples = _examples_at_a_time(context.plan, context.known.preview)
    held = context.profile.model.least_activations(shape)
    needed = examples * held * _FLOAT_BYTES // _BYTES_PER_MIB
    for holder in _holders(context.plan, context.inventory):
        if needed > holder.memory_mib:
            yield Problem(
                code="step_above_memory",
                field="training.global_batch_size",
                message=f"The {examples:,} examples that a replica takes at a time need "
                f"{_gib(needed)} at least, and {holder.name} has {_gib(holder.memory_mib)}.",
                hint="Use a smaller global batch, more accumulation steps, or smaller examples.",
            )
            return


def data_above_memory(context: PlanningContext) -> Iterator[Problem]:
    """Images that are kept in memory: once as they are read, once more as TensorFlow's constant."""
    preview, host = context.known.preview, context.inventory.device(CPU_KEY)
    memory = None if host is None else host.memory_total_mib
    if context.plan is None or not context.trains:
        return
    if host is None or memory is None or preview is None:
        return
    needed = _images_mib(context)
    if needed > memory:
        height, width, *_ = context.profile.data.chosen_shape
        yield Problem(
            code="data_above_memory",
            field="data.cache",
            message=f"{preview.example_count:,} images of {height:,}x{width:,} pixels take "
            f"{_gib(needed)} in memory, and {host.name} has {_gib(memory)}.",
            hint="Cache them on disk, or scale them to a smaller size.",
            fix=Fix.of("Cache them on disk", "data.cache", DataCache.DISK.value),
        )


def least_parameters(
    profile: Profile, shape: tuple[int, ...] = (), outputs: int | None = None
) -> int:
    """How many numbers a model to be built holds at least; 0 for one that code or a file makes.

    Args:
        profile: What the person chose.
        shape: Of one example; empty while it is not known: one number is the least.
        outputs: Of the last layer; ``None`` while it is not known.
    """
    stack, tokens = profile.model.stack, profile.data.token_count
    if stack is None:
        return profile.model.least_weights(shape or (1,), outputs or 1, tokens)
    if stack.filters and len(shape) not in (2, 3):
        shape = (stack.smallest_side, stack.smallest_side, 1)
    layers = model_layers(profile.model, shape or (1,), outputs or 1, tokens)
    return sum(layer.parameters or 0 for layer in layers)


def _weights_mib(profile: Profile, preview: DataPreview | None) -> int:
    shape = _feature_shape(profile, preview)
    outputs = profile.data.chosen_class_count
    if preview is not None:
        outputs = preview.output_count or outputs
    return least_parameters(profile, shape, outputs) * _FLOAT_BYTES // _BYTES_PER_MIB


def _feature_shape(profile: Profile, preview: DataPreview | None) -> tuple[int, ...]:
    if preview is not None and preview.feature_shape:
        return preview.feature_shape
    return profile.data.chosen_shape


def _holders(plan: LaunchPlan, inventory: DeviceInventory) -> Iterator[_Holder]:
    """Each memory that copies of the weights stand in."""
    memory = {device.key: device.memory_total_mib for device in inventory.devices}
    names = {device.key: device.name for device in inventory.devices}
    if plan.strategy in (StrategyKind.CENTRAL_STORAGE, StrategyKind.PARAMETER_SERVER):
        copies, states = Counter({CPU_KEY: 1}), {CPU_KEY: 1.0}
    else:
        copies, states = Counter[str](), dict[str, float]()
        for each, part in zip(plan.replicas, plan.optimizer_parts, strict=True):
            if each.share or plan.processes:
                copies[each.device_key] += 1
                states[each.device_key] = states.get(each.device_key, 0.0) + part
    if plan.places:
        keys = tuple(dict.fromkeys(place.device_key for place in plan.places))
        together = [memory.get(key) for key in keys]
        known = [each for each in together if each is not None]
        if len(known) == len(keys):
            whole = len(plan.without_idle_replicas().replicas)
            yield _Holder(" + ".join(names[key] for key in keys), sum(known), whole, whole)
        return
    for key, count in copies.items():
        size = memory.get(key)
        if size is not None:
            yield _Holder(names[key], size, count, states[key], is_host=key == CPU_KEY)


def _model_problem(
    profile: Profile, weights_mib: int, holder: _Holder, images_mib: int
) -> Problem | None:
    """What stays there for the whole run must fit; with the gradients of a step it should."""
    optimizer = profile.training.optimizer
    training = profile.training
    averages = training.numbers_beside_weights - training.optimizer_numbers
    numbers = (1 + averages) * holder.copies + training.optimizer_numbers * holder.states
    kept = round(weights_mib * numbers) + images_mib
    with_gradients = kept + weights_mib * holder.copies
    if with_gradients <= holder.memory_mib:
        return None
    is_certain = kept > holder.memory_mib
    needed = kept if is_certain else with_gradients
    copies = f" in {holder.copies} copies" if holder.copies > 1 else ""
    what = f"the state of {optimizer}" if is_certain else f"gradients and the state of {optimizer}"
    what += " and the images" if images_mib else ""
    return Problem(
        code="model_above_memory",
        severity=Severity.ERROR if is_certain else Severity.WARNING,
        field=f"model.{'hidden' if 'hidden' in type(profile.model).model_fields else 'source'}",
        message=f"The model's weights take {_gib(weights_mib)} at least, with {what}{copies} "
        f"{_gib(needed)}, and {holder.name} has {_gib(holder.memory_mib)}.",
        hint="Use fewer or smaller layers.",
    )


def _examples_at_a_time(plan: LaunchPlan, preview: DataPreview | None) -> int:
    """The most that a replica takes at a time."""
    largest = max(plan.shares)
    if preview is not None and preview.example_count:
        largest = min(largest, preview.example_count)
    return -(-largest // plan.accumulation_steps)


def _images_mib(context: PlanningContext) -> int:
    """What images that are kept in memory take there; 0 for all else."""
    data, preview = context.profile.data, context.known.preview
    if preview is None or not data.is_decoded or data.cache is not DataCache.MEMORY:
        return 0
    numbers = preview.example_count * prod(preview.feature_shape)
    # Beside other inputs a pixel is a float.
    size_bytes = numbers if preview.form.is_plain else 4 * numbers
    return _DATA_COPIES * size_bytes // _BYTES_PER_MIB


def _gib(size_mib: int) -> str:
    return f"{gibibytes(size_mib)} GiB"
