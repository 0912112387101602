"""GPUs that runs of other users hold, as their gpupanels say."""

from collections.abc import Iterator

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.gpu_claim import claim_words
from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.telemetry import ComputeMode, TelemetrySample
from gpupanel.planning.chosen_devices import keys_in_mode, lost_keys
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.device_fixes import on_other_gpus_here
from gpupanel.planning.other_processes import exclusive_holders


def claimed_by_others(context: PlanningContext) -> Iterator[Problem]:
    """Chosen GPUs that somebody else trains on.

    One that takes a single process, and has it, is left to the rule that says so: it names both.
    """
    sample = context.known.sample
    if sample is None:
        return
    claims = {each.key: each.claims for each in sample.readings if each.claims}
    claimed = [
        gpu for gpu in context.gpus if gpu.key in claims and not exclusive_holders(sample, gpu.key)
    ]
    if not claimed:
        return
    held = "; ".join(
        f"{context.inventory.name_of(gpu.key)} ({claim_words(claims[gpu.key], sample.time_s)})"
        for gpu in claimed
    )
    yield Problem(
        code="gpu_claimed",
        severity=Severity.WARNING,
        field="devices.visible",
        message=f"In use by another user: {held}.",
        hint="Use GPUs that are free, or wait: a run of the queue starts when they are. Two runs "
        "on one GPU share its time, and either may run out of its memory.",
        fix=_on_free_gpus(context, claimed, sample),
    )


def _on_free_gpus(
    context: PlanningContext, claimed: list[PhysicalDevice], sample: TelemetrySample
) -> Fix | None:
    """The same run on the other chosen GPUs, and on those of this machine that nobody uses."""
    if context.is_on_nodes:
        return None
    in_use = {
        each.key
        for each in sample.readings
        if each.claims or not all(process.only_draws for process in each.processes)
    }
    unusable = in_use | lost_keys(sample) | keys_in_mode(sample, ComputeMode.PROHIBITED)
    free = {gpu.key for gpu in context.inventory.gpus} - unusable
    others = {gpu.key for gpu in context.gpus if gpu not in claimed}
    # Where the profile names none it means all of these.
    visible = tuple(device.key for device in context.devices)
    devices = context.profile.devices.model_copy(update={"visible": visible})
    named = context.profile.model_copy(update={"devices": devices})
    keys = tuple(gpu.key for gpu in claimed)
    return on_other_gpus_here(named, context.inventory, keys, others | free)
