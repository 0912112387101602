"""Whose turn it is: which waiting entries start now, and what the others wait for."""

from collections.abc import Mapping, Sequence

from gpupanel.domain.value import Value


class Candidate(Value):
    """A waiting entry that could start if its devices were free.

    Attributes:
        devices: Names of the physical devices that it needs, by their keys.
        obstacle: What keeps it from starting even so for a while; empty when nothing does.
    """

    entry_id: str
    name: str
    devices: dict[str, str]
    obstacle: str = ""


def whose_turn(candidates: Sequence[Candidate], held: Mapping[str, str]) -> dict[str, str]:
    """Why each entry waits, by its id; an empty reason means that it starts now.

    A later entry passes earlier ones only where their devices do not meet: else one that needs
    two devices would wait for ever behind those that need one.

    Args:
        candidates: In the order in which they are to be started.
        held: Names of the runs that go on, by the keys of their devices.
    """
    reasons: dict[str, str] = {}
    taken = dict(held)
    awaited: dict[str, str] = {}
    for candidate in candidates:
        reason = _reason(candidate, taken, awaited)
        reasons[candidate.entry_id] = reason
        claimed = awaited if reason else taken
        for key in candidate.devices:
            claimed.setdefault(key, candidate.name)
    return reasons


def _reason(candidate: Candidate, taken: Mapping[str, str], awaited: Mapping[str, str]) -> str:
    for key, device in candidate.devices.items():
        if key in taken:
            return f"Waits for {device}: “{taken[key]}” runs on it."
    for key, device in candidate.devices.items():
        if key in awaited:
            return f"Waits for {device}: “{awaited[key]}” is before it."
    return candidate.obstacle
