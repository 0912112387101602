"""Shares that a run has measured, in words and as segments of a bar."""

from collections.abc import Sequence

from gpupanel.domain.event_details import ReplicaSpeed
from gpupanel.domain.plan import LaunchPlan, replica_name
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui import formatting
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.widgets.share_segment import ShareSegment

NOT_MEASURED_YET = "Measured when training starts: it begins with equal shares."


def fits(status: RunStatus | None, plan: LaunchPlan) -> bool:
    """Whether what a run has measured is about the replicas and the batch of this plan."""
    return (
        status is not None
        and plan.balanced
        and len(status.shares) == len(plan.replicas)
        and sum(status.shares) == plan.global_batch_size
    )


def as_measured(plan: LaunchPlan, status: RunStatus | None) -> LaunchPlan:
    """The plan with the shares that a run has measured for it; as it is where none has."""
    if status is None or not fits(status, plan):
        return plan
    replicas = tuple(
        replica.model_copy(update={"share": share})
        for replica, share in zip(plan.replicas, status.shares, strict=True)
    )
    return plan.model_copy(update={"replicas": replicas})


def segments(
    plan: LaunchPlan,
    shares: Sequence[int],
    speeds: Sequence[ReplicaSpeed],
    device_labels: DeviceLabels,
) -> list[ShareSegment]:
    """A segment for each replica, with its speed where one was measured."""
    rates = {speed.replica: speed.examples_per_second for speed in speeds}
    return [
        ShareSegment(
            share=share,
            name=replica_name(
                replica.index, device_labels.together(plan.devices_of_replica(number))
            ),
            color=device_labels.color(replica.device_key),
            note=formatting.rate(rates[replica.index]) if replica.index in rates else "",
        )
        for number, (replica, share) in enumerate(zip(plan.replicas, shares, strict=True))
    ]


def last_change(status: RunStatus) -> str:
    """The last word about shares: when they were measured or adjusted, and from which ones."""
    chosen = status.shares_chosen
    if chosen is None:
        return NOT_MEASURED_YET
    if chosen.reason == "measured":
        return "Measured before the first step."
    before = " + ".join(formatting.count(share) for share in status.shares_before)
    after = " + ".join(formatting.count(share) for share in chosen.shares)
    change = f": {before} became {after}" if before and before != after else ""
    return f"Adjusted at step {formatting.count(chosen.step)}{change}."


def memory_ends(plan: LaunchPlan, status: RunStatus, device_labels: DeviceLabels) -> str:
    """Which device cannot take the whole global batch, and how much it can; empty if all can."""
    limited = [speed for speed in status.speeds if speed.largest_share is not None]
    return " ".join(
        f"Memory of {device_labels.label(plan.replicas[speed.replica].device_key)}: at most "
        f"{formatting.count(speed.largest_share)} examples."
        for speed in limited
        if speed.replica < len(plan.replicas)
    )
