"""What runs were started with differently, profiles and plans, and what they took."""

import json
import re
from collections.abc import Iterator, Sequence

from gpupanel.domain.number_text import watt_hours
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import document_of
from gpupanel.domain.strategy import StrategyKind
from gpupanel.domain.value import Value
from gpupanel.runs.history.run_summary import RunSummary

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_NO_CHOICE = ("schema_version", "devices.described")
"""Keys that nobody chooses: the format, and what names of devices mean."""


class Difference(Value):
    """One key that is not the same in all runs.

    Attributes:
        key: Dotted, as in a profile: ``training.learning_rate``; those that begin with ``plan.``
            are of the plan: what was made of the profile on that machine. ``time.computing`` and
            its like are parts of a training's time, ``energy.watt_hours`` what its devices took.
        values: One for each run, as TOML writes it, without the quotes of a text; ``None`` where
            a run has no such key, or cannot be read any more.
    """

    key: str
    values: tuple[str | None, ...]


def differences(
    profiles: Sequence[Profile | None], plans: Sequence[LaunchPlan | None]
) -> tuple[Difference, ...]:
    """Every key in which the runs differ, in the order of the profile's tables, plans last.

    Args:
        profiles: One for each run; ``None``: it cannot be read, and makes no difference.
        plans: The same for the plans.
    """
    chosen = [None if profile is None else _chosen(profile) for profile in profiles]
    planned = _planned(plans)
    for profile, values in zip(profiles, planned, strict=True):
        if profile is not None and profile.script is not None and values is not None:
            values.pop("plan.shares", None)  # which a program does not have
    return (*_differing(chosen), *_differing(planned))


def taken(runs: Sequence[RunSummary]) -> tuple[Difference, ...]:
    """How each run spent its time, and its energy, as far as any run reports them."""
    return tuple(_differing([_taken_by(run) for run in runs]))


def _taken_by(run: RunSummary) -> dict[str, str]:
    fractions = {} if run.time_spent is None else run.time_spent.fractions()
    found = {f"time.{each.value}": f"{100 * part:.0f} %" for each, part in fractions.items()}
    if run.energy is not None:
        found["energy.watt_hours"] = watt_hours(run.energy.watt_hours)
        for name, value in (
            ("per_epoch", run.energy.per_epoch_wh),
            ("per_million_examples", run.energy.per_million_examples_wh),
        ):
            if value is not None:
                found[f"energy.{name}"] = watt_hours(value)
    return found


def _differing(runs: Sequence[dict[str, str] | None]) -> Iterator[Difference]:
    known = [run for run in runs if run is not None]
    for key in dict.fromkeys(key for run in known for key in run):
        if len({run.get(key) for run in known}) > 1:
            values = tuple(None if run is None else run.get(key) for run in runs)
            yield Difference(key=key, values=values)


def _chosen(profile: Profile) -> dict[str, str]:
    return dict(_leaves(document_of(profile), ""))


def _leaves(node: object, path: str) -> Iterator[tuple[str, str]]:
    if path in _NO_CHOICE or node is None:
        return
    if not isinstance(node, dict):
        yield path, node if isinstance(node, str) else json.dumps(node, ensure_ascii=False)
        return
    for name, value in node.items():
        key = name if _BARE_KEY.fullmatch(name) else json.dumps(name, ensure_ascii=False)
        yield from _leaves(value, f"{path}.{key}" if path else key)


def _planned(plans: Sequence[LaunchPlan | None]) -> list[dict[str, str] | None]:
    names = {_names(plan) for plan in plans if plan is not None}
    keys = {_keys(plan) for plan in plans if plan is not None}
    # Two GPUs of one name are distinguished by their keys, which are long, and only then.
    with_keys = len(keys) > len(names)
    return [None if plan is None else _planned_for(plan, with_keys=with_keys) for plan in plans]


def _planned_for(plan: LaunchPlan, *, with_keys: bool) -> dict[str, str]:
    devices = _names(plan)
    if with_keys:
        devices = tuple(f"{device.name} ({device.key})" for device in plan.devices)
    planned = {"plan.devices": ", ".join(devices)}
    if plan.strategy is StrategyKind.PARAMETER_SERVER:
        planned["plan.workers"] = str(len(plan.replicas))
    else:
        planned["plan.shares"] = " + ".join(str(share) for share in plan.shares)
    return planned


def _names(plan: LaunchPlan) -> tuple[str, ...]:
    return tuple(device.name for device in plan.devices)


def _keys(plan: LaunchPlan) -> tuple[str, ...]:
    return tuple(device.key for device in plan.devices)
