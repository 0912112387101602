"""Which devices a run used, and how each global batch was divided."""

from typing import Final

from gpupanel.domain.change_text import memory_policy_text
from gpupanel.domain.device import DeviceKind
from gpupanel.domain.number_text import DASH, count, rate
from gpupanel.domain.plan import LaunchPlan, replica_name
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind
from gpupanel.runs.report.markup import Html, element, joined, note, section, table
from gpupanel.runs.report.material import ReportMaterial
from gpupanel.runs.report.run_events import RunEvents

_MOST_ROWS: Final = 64


def devices_section(material: ReportMaterial) -> Html:
    """A row for each device, and one for each replica."""
    plan = material.plan
    if plan is None:
        return Html()
    if material.profile is not None and material.profile.script is not None:
        return section("Devices", _devices(plan, material.profile), _seen(plan))
    return section(
        "Devices and shares",
        element("p", _sentence(plan)),
        _devices(plan, material.profile),
        _replicas(plan, material.events),
    )


def _sentence(plan: LaunchPlan) -> str:
    parts = f" in {plan.accumulation_steps:,} parts" if plan.accumulation_steps > 1 else ""
    strategy = plan.strategy.label
    return f"{strategy}; global batch of {plan.global_batch_size:,} examples{parts}."


def _devices(plan: LaunchPlan, profile: Profile | None) -> Html:
    rows: list[tuple[str, ...]] = []
    for device in plan.devices[:_MOST_ROWS]:
        memory = DASH
        if profile is not None and device.kind is DeviceKind.GPU:
            memory = memory_policy_text(profile.memory_policy(device.key).model_dump(mode="json"))
        rows.append((device.name, element("code", device.key), memory))
    rows += _and_more(len(plan.devices), 3)
    return table(("Device", "Key", "Memory"), rows, texts=3)


def _seen(plan: LaunchPlan) -> Html:
    """The devices as a program of the person's own sees them: what it does there nobody knows."""
    names = {device.key: device.name for device in plan.devices}
    rows: list[tuple[str, ...]] = [
        (names.get(each.device_key, each.device_key), element("code", each.logical_device))
        for each in plan.replicas[:_MOST_ROWS]
    ]
    rows += _and_more(len(plan.replicas), 2)
    return table(("Seen by the program", "Logical device"), rows, texts=2)


def _replicas(plan: LaunchPlan, events: RunEvents) -> Html:
    names = {device.key: device.name for device in plan.devices}
    measured = events.shares
    fits = measured is not None and len(measured.shares) == len(plan.replicas)
    shares = measured.shares if measured is not None and fits else plan.shares
    speeds = {
        each.replica: each.examples_per_second
        for each in (measured.speeds if measured is not None else ())
    }
    by_turns = plan.strategy is StrategyKind.PARAMETER_SERVER
    rows: list[tuple[str, ...]] = []
    for replica, share in list(zip(plan.replicas, shares, strict=True))[:_MOST_ROWS]:
        place = plan.gang[replica.process].name if replica.process in range(len(plan.gang)) else ""
        part = share / plan.global_batch_size
        row = (
            replica_name(replica.index, names.get(replica.device_key, replica.device_key)),
            joined(element("code", replica.logical_device), f" {place}" if plan.processes else ""),
            _bar(part),
            count(share),
            "by turns" if by_turns else f"{part * 100.0:.1f} %",
        )
        rows.append((*row, rate(speeds.get(replica.index))) if speeds else row)
    rows += _and_more(len(plan.replicas), 6 if speeds else 5)
    heads = ("Replica", "Logical device", "", "Share", "of the batch")
    chosen = note("Shares as they were measured last." if fits else "")
    return joined(chosen, table((*heads, "Measured") if speeds else heads, rows, texts=3))


def _bar(part: float) -> Html:
    width = f"width:{min(max(part, 0.0), 1.0) * 100.0:.1f}%"
    return element("span", element("span", style=width), class_="bar")


def _and_more(there: int, columns: int) -> list[tuple[str, ...]]:
    rest = there - _MOST_ROWS
    return [(f"and {rest:,} more", *[""] * (columns - 1))] if rest > 0 else []
