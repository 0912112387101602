"""How a run that ran out of memory may get by: changes of its profile that planning accepts."""

import math
from collections.abc import Iterable, Iterator, Sequence

from gpupanel.domain.data import DataCache
from gpupanel.domain.device import DeviceInventory, PhysicalDevice
from gpupanel.domain.memory import (
    CUDA_CONTEXT_MIB,
    Allocator,
    GrowingMemory,
    LimitedMemory,
    SplitMemory,
    available_mib,
)
from gpupanel.domain.number_text import mebibytes
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Change, Fix
from gpupanel.domain.profile import Profile
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.domain.training import Recompute
from gpupanel.planning.chosen_devices import chosen_devices
from gpupanel.planning.context import Known
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.other_strategies import other_strategies
from gpupanel.planning.prepare import prepare
from gpupanel.planning.shares import proportional_shares
from gpupanel.planning.shortage import Prospect, Prospects, Shortage

_WORTH_RAISING = 1.1
"""A limit that is raised by less than a tenth rarely lets a run through that stood against it."""


def out_of_memory_fixes(
    profile: Profile,
    inventory: DeviceInventory,
    shortage: Shortage,
    sample: TelemetrySample | None = None,
) -> tuple[Fix, ...]:
    """What to try next, each of them alone; with each the run can start on this machine.

    First what the estimate gives enough, then what it cannot say; nothing that it denies. Among
    equals first what gives the same weights: half the examples at a time, a smaller share for the
    device that is too small, or activations that are computed again; then what costs something.

    Args:
        profile: Of the run.
        inventory: The devices of this machine.
        shortage: What it came to.
        sample: Readings of them, without what the run held: a device that is lost is not proposed.
    """
    key = shortage.device_key
    device = None if key is None else inventory.device(key)
    chosen = chosen_devices(profile, inventory, sample)
    of_host = device is not None and not device.is_gpu
    # Of what can be done more or less of, the least that is enough.
    candidates = list[Iterable[Fix]]()
    works_there = not of_host or not any(each.is_gpu for each in chosen)
    if works_there:
        candidates.append(_fewer_at_a_time(profile, shortage))
    if device is not None and not of_host:
        candidates.append(_smaller_shares(profile, inventory, device))
        candidates.append(_more_of_the_gpu(profile, inventory, device, sample))
    if of_host:
        candidates.append(_data_on_disk(profile))
    if works_there:
        # A run on GPUs does not become smaller in the host's memory by any of these.
        candidates.append(_recompute(profile))
        candidates.append(_mixed_precision(profile))
        others = other_strategies(profile, inventory, chosen, device, sample)
        candidates += ([fix] for fix in others)
    prospects = Prospects(profile, inventory, sample, shortage)
    hopeful = list[tuple[Prospect, Fix]]()
    for ladder in candidates:
        best: tuple[Prospect, Fix] | None = None
        for fix in ladder:
            changed = apply_fix(profile, fix)
            prospect = prospects.of(changed)
            if prospect >= (Prospect.NONE if best is None else best[0]):
                continue
            if prepare(changed, inventory, Known(sample)).is_startable:
                best = prospect, fix
            if prospect is Prospect.FITS:
                break
        if best is not None:
            hopeful.append(best)
    hopeful.sort(key=lambda each: each[0])
    return tuple(fix for _, fix in hopeful)


def with_less_at_a_time(
    profile: Profile, plan: LaunchPlan, prospects: Prospects | None = None
) -> tuple[Profile, LaunchPlan] | None:
    """Profile and plan of the same training with more accumulation steps.

    Nothing else of the plan changes, so the run goes on where it ran.

    Args:
        profile: Of the run.
        plan: Of the run.
        prospects: What may be enough: twice as many steps, or the least that may; without it twice
            as many.

    Returns:
        ``None`` where that is not to be had: a share has too few examples, the run does not
        train, batch normalisation would see other batches, which is another training, or no
        number of steps makes it little enough.
    """
    if profile.task != "train" or profile.normalises_batches:
        return None
    best, most = Prospect.NONE, min(filter(None, plan.shares))
    steps, found = 2 * profile.training.accumulation_steps, None
    while steps <= most and best is not Prospect.FITS:
        training = profile.training.model_copy(update={"accumulation_steps": steps})
        less = profile.model_copy(update={"training": training})
        prospect = Prospect.FITS if prospects is None else prospects.of(less)
        if prospect < best:
            best = prospect
            found = less, plan.model_copy(update={"accumulation_steps": steps})
        steps *= 2
    return found


def halved_shares(shares: Sequence[int], replicas: Sequence[int]) -> tuple[int, ...] | None:
    """The shares with half for those replicas, the rest going to the others as they have shares.

    Returns:
        ``None`` where there are no others with a share, or one of them has less than 2 examples.
    """
    others = [index for index in range(len(shares)) if index not in replicas and shares[index]]
    if not others or min((shares[index] for index in replicas), default=0) <= 1:
        return None
    halved = list(shares)
    for index in replicas:
        halved[index] //= 2
    freed = sum(shares) - sum(halved)
    more = proportional_shares(freed, [shares[index] for index in others])
    for index, examples in zip(others, more, strict=True):
        halved[index] += examples
    return tuple(halved)


def _fewer_at_a_time(profile: Profile, shortage: Shortage) -> Iterator[Fix]:
    """Twice as many accumulation steps, or more; of an evaluation half the batch, or less."""
    if profile.task != "train":
        batch = profile.inference.batch_size
        parts = 2 ** max(1, _halvings(shortage))
        if smaller := batch // parts:
            label = "Halve the batch size" if parts == 2 else f"Use a batch size of {smaller:,}"
            yield Fix.of(label, "inference.batch_size", smaller)
        return
    path, before = "training.accumulation_steps", profile.training.accumulation_steps
    yield Fix.of("Double the accumulation steps", path, 2 * before)
    steps = 4 * before
    while steps <= profile.training.global_batch_size:
        yield Fix.of(f"Use {steps:,} accumulation steps", path, steps)
        steps *= 2


def _halvings(shortage: Shortage) -> int:
    """How often what was asked for has to be halved, to have room beside what was held."""
    needed, asked, limit = shortage.needed_bytes, shortage.asked_bytes, shortage.limit_bytes
    if needed is None or not asked or limit is None or needed - asked >= limit:
        return 0
    return max(0, math.ceil(math.log2(asked / (limit - needed + asked))))


def _smaller_shares(
    profile: Profile, inventory: DeviceInventory, device: PhysicalDevice
) -> Iterator[Fix]:
    """Examples go from the device that is too small to the others; the sum stays the same."""
    plan = prepare(profile, inventory).plan
    if plan is None or plan.balanced or not profile.strategy.divides_batches:
        return
    replicas = plan.replicas_on(device.key)
    shares = halved_shares(plan.shares, replicas)
    label = f"Give {inventory.name_of(device.key)} half its share"
    while shares is not None:
        yield Fix.of(label, "strategy.shares", list(shares))
        shares = halved_shares(shares, replicas)
        label = f"Use shares {' + '.join(f'{share:,}' for share in shares or ())}"


def _more_of_the_gpu(
    profile: Profile,
    inventory: DeviceInventory,
    device: PhysicalDevice,
    sample: TelemetrySample | None,
) -> Iterator[Fix]:
    """All that others leave of it: a limit takes also what TensorFlow keeps aside without one."""
    policy = profile.memory_policy(device.key)
    reading = None if sample is None else sample.reading(device.key)
    plan = prepare(profile, inventory).plan
    if reading is None or reading.memory_free_mib is None or plan is None:
        return
    if profile.devices.allocator is not Allocator.BFC:
        return
    sharing = sum(any(one.key == device.key for one in each.devices) for each in plan.gang)
    # Several processes on one GPU have a context each, and the same limit.
    free_mib = reading.memory_free_mib // max(1, sharing)
    room_mib = free_mib - CUDA_CONTEXT_MIB
    given: LimitedMemory | SplitMemory
    if isinstance(policy, SplitMemory):
        more_mib = (room_mib - sum(policy.split_mib)) // len(policy.split_mib)
        label, taken_mib = f"Give each part {mebibytes(more_mib)} more", sum(policy.split_mib)
        parts = tuple(max(1, part + more_mib) for part in policy.split_mib)
        given = SplitMemory(split_mib=parts)
    elif isinstance(policy, LimitedMemory):
        label, taken_mib = f"Raise the limit to {mebibytes(room_mib)}", policy.limit_mib
        given = policy.model_copy(update={"limit_mib": max(1, room_mib)})
    else:
        label = f"Set a limit of {mebibytes(room_mib)}, more than TensorFlow takes without one"
        taken_mib = available_mib(policy, Allocator.BFC, free_mib, device.compute_capability)
        growth = isinstance(policy, GrowingMemory)
        given = LimitedMemory(limit_mib=max(1, room_mib), growth=growth)
    if room_mib >= _WORTH_RAISING * max(1, taken_mib):
        change = Change(path=("memory", device.key), value=given.model_dump(mode="json"))
        yield Fix(label=label, changes=(change,))


def _data_on_disk(profile: Profile) -> Iterator[Fix]:
    if profile.data.is_decoded and profile.data.cache is DataCache.MEMORY:
        yield Fix.of("Cache the images on disk", "data.cache", DataCache.DISK.value)


def _recompute(profile: Profile) -> Iterator[Fix]:
    is_known = profile.task == "train" and not profile.model.is_code
    if is_known and profile.training.recompute is Recompute.NONE:
        label = "Compute activations again, block by block"
        yield Fix.of(label, "training.recompute", Recompute.BLOCKS.value)


def _mixed_precision(profile: Profile) -> Iterator[Fix]:
    if profile.task == "train" and not profile.training.mixed_precision:
        yield Fix.of("Use mixed precision", "training.mixed_precision", value=True)
