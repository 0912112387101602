"""Who else could reach the ports that a run's processes open to each other."""

from collections.abc import Iterator

from gpupanel.domain.network_access import NetworkAccess
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.strategy import GANG_KINDS, StrategyKind
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.layout import worker_count
from gpupanel.planning.rules.growth_rules import growth_differs
from gpupanel.planning.rules.mig_rules import instance_not_alone

_MOST_NAMES = 3


def port_open_to_other_users(context: PlanningContext) -> Iterator[Problem]:
    """Other users who can log in, where a run of several processes gets no network of its own."""
    network = context.inventory.network
    in_gang = context.profile.strategy.kind in GANG_KINDS
    if network is None or not in_gang or context.layout is None:
        return
    problem = port_open(network)
    if problem is not None:
        yield problem.model_copy(update={"fix": _mirrored(context)})


def port_open(network: NetworkAccess) -> Problem | None:
    """A problem: other users can reach the ports; ``None`` if nobody can."""
    if not network.is_open_to_others:
        return None
    return Problem(
        code="port_open_to_other_users",
        severity=Severity.WARNING,
        field="strategy.kind",
        message="The processes of this run communicate over ports without authentication, and "
        f"{_names(network.other_users)} can log in to this machine: whoever connects can "
        "end the run, or read and write files as you. The system refuses the run a "
        f"network of its own ({network.refusal}).",
        hint="Use a strategy of one process, such as mirrored, or have an administrator permit "
        "user and network namespaces.",
        command=network.allowing_command,
    )


def _names(users: tuple[str, ...]) -> str:
    *before, last = users if len(users) <= _MOST_NAMES else (*users[:2], f"{len(users) - 2} more")
    return f"{', '.join(before)} and {last}" if before else last


def _mirrored(context: PlanningContext) -> Fix | None:
    """The same devices in one process; ``None`` where one process cannot have them so."""
    profile, devices = context.profile, context.devices
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
    mirrored = context.with_profile(apply_fix(profile, fix))
    obstacles = (*growth_differs(mirrored), *instance_not_alone(mirrored))
    return None if obstacles else fix
