"""Power limits that together pass what the person said the power supply gives."""

from collections.abc import Iterator

from gpupanel.domain.machine import MachineSettings
from gpupanel.domain.power import LimitedGpu, fitting_limits, limit_command, limited_gpus
from gpupanel.domain.problem import Problem, Severity
from gpupanel.planning.context import PlanningContext


def limits_above_supply(context: PlanningContext) -> Iterator[Problem]:
    """Chosen GPUs whose limits together the power supply does not give."""
    if context.is_on_nodes:
        return  # what their machines have for a supply nobody said
    chosen = {gpu.parent_key or gpu.key for gpu in context.gpus}
    boards = (each for each in context.inventory.numbered().devices if each.key in chosen)
    gpus = limited_gpus(boards, context.known.sample)
    problem = supply_problem(gpus, context.known.machine)
    if problem is not None:
        yield problem


def supply_problem(gpus: tuple[LimitedGpu, ...], machine: MachineSettings) -> Problem | None:
    """That the limits of GPUs together pass what the supply has left for them; ``None``: not so."""
    supply_w, rest_w = machine.supply_w, machine.rest_w or 0.0
    together_w = sum(gpu.limit_w for gpu in gpus)
    if supply_w is None or not gpus or together_w + rest_w <= supply_w:
        return None
    each = ", ".join(f"{gpu.name} {gpu.limit_w:.0f} W" for gpu in gpus)
    total = (
        f"With {rest_w:.0f} W for the rest of the machine that is {together_w + rest_w:.0f} W"
        if rest_w
        else f"That is {together_w:.0f} W, the rest of the machine not counted"
    )
    limits = fitting_limits(gpus, supply_w - rest_w)
    fitting = zip(gpus, limits or (), strict=False)
    return Problem(
        code="power_above_supply",
        severity=Severity.WARNING,
        field="devices.visible",
        message=f"The GPUs may take more than the power supply gives: their power limits are "
        f"{each}. {total}, and the supply gives {supply_w:.0f} W.",
        hint=_hint(gpus, limits),
        command=" && ".join(limit_command(gpu.key, limit_w) for gpu, limit_w in fitting),
    )


def _hint(gpus: tuple[LimitedGpu, ...], limits: tuple[int, ...] | None) -> str:
    if limits is None:
        return "Not even their least limits fit: use fewer GPUs at once, or a stronger supply."
    named = ", ".join(f"{gpu.name} {limit_w} W" for gpu, limit_w in zip(gpus, limits, strict=True))
    return (
        f"Limits that fit: {named}. gpupanel power GPU WATTS sets one where you may, and the "
        "administrator as below; what it costs in speed gpupanel power says, where it was measured."
    )
