"""How the optimizer's state is divided among replicas: by their memory, or by given quotas."""

from collections import Counter
from collections.abc import Callable, Sequence

from gpupanel.domain.profile import Profile
from gpupanel.domain.setting import setting_of
from gpupanel.domain.strategy import OptimizerState, StrategySettings
from gpupanel.planning.device_layout import logical_devices
from gpupanel.planning.layout import Layout

_BY_MEMORY_MIB = 64
"""Quotas count so many MiB: a little more or less that is free makes no other plan."""


def divides_optimizer_state(profile: Profile) -> bool:
    """Whether the profile has the optimizer's state divided, and its strategy can."""
    strategy = profile.strategy
    setting = setting_of(StrategySettings, "optimizer_state")
    is_divided = strategy.optimizer_state is not OptimizerState.REPLICATED
    return profile.task == "train" and is_divided and setting.applies_in(strategy)


def optimizer_quotas(
    profile: Profile,
    layout: Layout,
    shares: tuple[int, ...],
    room_mib: Callable[[str], int | None],
) -> tuple[int, ...] | None:
    """What each replica keeps of the optimizer's state, in proportion.

    Args:
        profile: Says whether it is divided, and how.
        layout: Of its devices.
        shares: Of each replica; in one process one without a share takes no part.
        room_mib: What TensorFlow can have of a device, by its key; ``None``: not known.

    Returns:
        ``None`` where each keeps all of it: that is wanted, one replica works, or the quotas that
        are given do not fit the replicas.
    """
    works = [bool(share or layout.processes) for share in shares]
    if not divides_optimizer_state(profile) or sum(works) < 2:
        return None
    given = profile.strategy.optimizer_state
    if isinstance(given, tuple) and len(given) != len(works):
        return None
    quotas = given if isinstance(given, tuple) else _by_memory(layout, works, room_mib)
    # A replica that takes no part keeps nothing.
    kept = tuple(quota * works_here for quota, works_here in zip(quotas, works, strict=True))
    return kept if any(kept) else None


def _by_memory(
    layout: Layout, works: Sequence[bool], room_mib: Callable[[str], int | None]
) -> tuple[int, ...]:
    """In proportion to the memory of each replica; equal where that of one is not known."""
    processes = [each.devices for each in layout.processes] or [layout.devices]
    limits = {
        (process, name): limit
        for process, devices in enumerate(processes)
        for _, name, limit in logical_devices(devices)
    }
    working = Counter(
        place.device_key
        for (_, place), is_working in zip(layout.spots, works, strict=True)
        if is_working
    )
    rooms = []
    for (process, place), is_working in zip(layout.spots, works, strict=True):
        room = room_mib(place.device_key)
        limit = limits[process, place.logical_device]
        if limit is not None:
            room = limit if room is None else min(limit, room)
        elif room is not None and is_working:
            # Replicas without limits on one device share it.
            room //= working[place.device_key]
        rooms.append(room)
    known = [0 if room is None else round(room / _BY_MEMORY_MIB) for room in rooms]
    has_room = all(room for room, is_working in zip(known, works, strict=True) if is_working)
    return tuple(known) if has_room else (1,) * len(works)
