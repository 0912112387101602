"""Whether what a training takes of a device's memory fits, as far as it was estimated."""

from collections.abc import Iterator

from gpupanel.domain.device_memory import DeviceMemory
from gpupanel.domain.number_text import memory_size
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.data_on_gpu import data_on_gpu_bytes
from gpupanel.planning.memory_estimate import (
    fitting_shares,
    largest_batch,
    memory_estimate,
)
from gpupanel.planning.shares import proportional_shares


def estimate_above_memory(context: PlanningContext) -> Iterator[Problem]:
    """The first device whose memory is too small for its examples: other shares, or fewer."""
    for memory in memory_estimate(context):
        if not memory.fits:
            yield _problem(context, memory)
            return


def data_left_on_host(context: PlanningContext) -> Iterator[Problem]:
    """The first GPU that has no room for a copy of all examples."""
    plan = context.plan
    on_host = () if plan is None else (each for each in plan.replicas if each.data_on_host)
    key = next((each.device_key for each in on_host), None)
    if key is None:
        return
    data = memory_size(data_on_gpu_bytes(context) / 2**20)
    yield Problem(
        code="data_left_on_host",
        severity=Severity.HINT,
        field="devices.visible",
        message=f"The examples stay in the host's memory: a copy takes {data}, too much of what "
        f"weights leave of {context.inventory.name_of(key)}.",
        hint="Each step brings its own examples, which is slower where steps are short. A higher "
        "memory limit, or a GPU with more memory, lets them be copied.",
    )


def _problem(context: PlanningContext, memory: DeviceMemory) -> Problem:
    device = context.inventory.device(memory.device)
    name = memory.device if device is None else device.name
    is_one = memory.examples == 1
    examples = f"{memory.examples:,} {'example' if is_one else 'examples'} at a time"
    there = "its limit is" if memory.is_limit else "what can be had there is"
    fixes = tuple(_fixes(context))
    return Problem(
        code="estimate_above_memory",
        severity=Severity.WARNING,
        field="training.global_batch_size",
        message=f"With {examples}, training is estimated to take "
        f"{memory_size(memory.counted_mib)} of {name}, and {there} "
        f"{memory_size(memory.room_mib or 0)}.",
        hint="Take fewer examples at a time (a smaller global batch, or accumulation), or a "
        "smaller model.",
        fix=fixes[0] if fixes else None,
        alternatives=fixes[1:],
    )


def _fixes(context: PlanningContext) -> Iterator[Fix]:
    shares = fitting_shares(context)
    if shares is not None:
        label = f"Use shares {' + '.join(f'{share:,}' for share in shares)}"
        yield Fix.of(label, "strategy.shares", list(shares))
    batch = largest_batch(context)
    if not batch:
        return
    changes = [Change(path=("training", "global_batch_size"), value=batch)]
    given = context.profile.strategy.shares
    if isinstance(given, tuple):
        fitting = list(proportional_shares(batch, given))
        changes.append(Change(path=("strategy", "shares"), value=fitting))
    yield Fix(label=f"Use a global batch of {batch:,}", changes=tuple(changes))
