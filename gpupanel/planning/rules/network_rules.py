"""Who else could reach the ports that a run's processes open to each other."""

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.network_access import NetworkAccess
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import GANG_KINDS, StrategyKind
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.rules.growth_rules import growth_problems
from gpupanel.planning.rules.mig_rules import instance_problems
from gpupanel.planning.workers import worker_count

_MOST_NAMES = 3


def network_problems(
    profile: Profile, devices: tuple[PhysicalDevice, ...], network: NetworkAccess | None
) -> list[Problem]:
    """Other users who can log in, where a run of several processes gets no network of its own."""
    if network is None or profile.strategy.kind not in GANG_KINDS:
        return []
    problem = port_open(network)
    if problem is None:
        return []
    return [problem.model_copy(update={"fix": _mirrored(profile, devices)})]


def port_open(network: NetworkAccess) -> Problem | None:
    """That others can reach the ports; ``None`` where nobody else is there, or none can."""
    if not network.is_open_to_others:
        return None
    return Problem(
        code="port_open_to_other_users",
        severity=Severity.WARNING,
        field="strategy.kind",
        message="The processes of this run talk over ports that ask nobody for a password, and "
        f"{_names(network.other_users)} can log in to this machine: whoever connects can end the "
        "run, or read and write files as you. The system refuses the run a network of its own "
        f"({network.refusal}).",
        hint="Use a strategy of one process, such as mirrored, or have an administrator permit "
        "user and network namespaces.",
        command=network.allowing_command,
    )


def _names(users: tuple[str, ...]) -> str:
    *before, last = users if len(users) <= _MOST_NAMES else (*users[:2], f"{len(users) - 2} more")
    return f"{', '.join(before)} and {last}" if before else last


def _mirrored(profile: Profile, devices: tuple[PhysicalDevice, ...]) -> Fix | None:
    """The same devices in one process; ``None`` where one process cannot have them so."""
    kind = Change(path=("strategy", "kind"), value=StrategyKind.MIRRORED.value)
    unused = [
        Change(path=("strategy", key))
        for key in ("workers", "parameter_servers")
        if getattr(profile.strategy, key) is not None
    ]
    replicas = [
        Change(path=("devices", "cpu_replicas"), value=worker_count(profile, devices))
        for device in devices
        if not device.is_gpu
    ]
    fix = Fix(label="Use mirrored", changes=(kind, *unused, *replicas))
    changed = apply_fix(profile, fix)
    impossible = growth_problems(changed, devices) or instance_problems(changed, devices)
    return None if impossible else fix
