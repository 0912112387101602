"""Which settings a resumed run may change and still be the same training."""

from collections.abc import Iterator
from typing import Any

from gpupanel.domain.problem import Change, Problem
from gpupanel.domain.profile import Profile

_Path = tuple[str, ...]

_MAY_DIFFER: tuple[_Path, ...] = (
    ("name",),
    # When it works.
    ("hours",),
    ("devices",),
    ("memory",),
    ("strategy",),
    # On which machines it trains.
    ("cluster",),
    # A training does not depend on it.
    ("inference",),
    # Nor on what was to be tried.
    ("sweep",),
    ("script", "max_restarts"),
    # Where decoded examples are kept: they are the same.
    ("data", "cache"),
    *(
        ("training", key)
        for key in (
            "accumulation_steps",
            "mixed_precision",
            "half_precision",
            "jit_compile",
            "recompute",
            "deterministic",
            "checkpoint_every_epochs",
            "checkpoint_every_minutes",
            "checkpoints_kept",
            "keep",
            "best_metric",
            "keep_best_checkpoint",
            "max_restarts",
            "time_limit",
            "out_of_memory_retries",
        )
    ),
)
_EPOCHS: _Path = ("training", "epochs")
_DESCRIBED: _Path = ("devices", "described")
"""What devices of another machine were: no choice, and nothing that a person would call changed."""


def changes_between(before: Profile, after: Profile) -> tuple[Change, ...]:
    """What the second profile says otherwise, key by key, in the order of the profile's keys.

    Made to the first one they give the second, but for the descriptions of devices.
    """
    return tuple(
        Change(path=path, value=value)
        for path, value in _differences(
            before.model_dump(mode="json"), after.model_dump(mode="json")
        )
        if path[:2] != _DESCRIBED
    )


def resume_differences(
    started: Profile, wanted: Profile, *, may_move_data: bool = False
) -> Problem | None:
    """Why a run cannot go on with that profile: it would be another training.

    Devices, memory and strategy may differ, and what only decides how the work is carried out or
    how long it lasts; data, model, task, seed, global batch size and optimizer may not.

    Args:
        started: What the run was started with.
        wanted: What it is to go on with.
        may_move_data: Its data may be in another place: what was in it is known, and compared
            before it goes on.

    Returns:
        One problem that names each key that does not fit; ``None`` when all do.
    """
    barred = [
        change
        for change in changes_between(started, wanted)
        if not _may(change, started)
        and not (may_move_data and _moves_data(change, started, wanted))
    ]
    if not barred:
        return None
    keys = [".".join(change.path) for change in barred]
    before = started.model_dump(mode="json")
    return Problem(
        code="resume_does_not_fit",
        field=keys[0],
        message=f"The run cannot continue with this profile: {_listed(keys)} "
        f"{'differs' if len(keys) == 1 else 'differ'}, which would make it another "
        "training.",
        hint=_hint(keys),
        detail="\n".join(
            f"{key}: {_shown(_value(before, change.path))} in the run, {_shown(change.value)} here"
            for key, change in zip(keys, barred, strict=True)
        ),
    )


def with_devices_of(started: Profile, chosen: Profile) -> Profile:
    """A run's profile, carried out as another one says.

    Takes devices, machines, memory, strategy and accumulation from the other one; what is trained
    stays.
    """
    steps = chosen.training.accumulation_steps
    return started.model_copy(
        update={
            "devices": chosen.devices,
            "cluster": chosen.cluster,
            "memory": chosen.memory,
            "strategy": chosen.strategy,
            "training": started.training.model_copy(update={"accumulation_steps": steps}),
        }
    )


def _may(change: Change, started: Profile) -> bool:
    if change.path == _EPOCHS:
        return bool(change.value > started.training.epochs)
    return any(change.path[: len(path)] == path for path in _MAY_DIFFER)


def _moves_data(change: Change, started: Profile, wanted: Profile) -> bool:
    """Whether it only says where the same kind of data is; code is the run's own copy."""
    table, *keys = change.path
    has_moved = bool(change.value) and any([key] == keys for key in started.data.chosen_paths)
    is_same_kind = type(started.data) is type(wanted.data)
    return table == "data" and has_moved and is_same_kind and not started.data.is_code


def _differences(before: Any, after: Any, path: _Path = ()) -> Iterator[tuple[_Path, Any]]:  # noqa: ANN401 - documents as TOML holds them
    """Each key with another value, ``None`` where the second document has none."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        if before != after:
            yield path, after
        return
    for key in dict.fromkeys((*before, *after)):
        was, value = before.get(key), after.get(key)
        if was is None and isinstance(value, dict) and value:
            was = {}
        yield from _differences(was, value, (*path, key))


def _value(document: Any, path: _Path) -> Any:  # noqa: ANN401 - a document as TOML holds it
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def _shown(value: object) -> str:
    return "not set" if value is None else str(value)


def _listed(keys: list[str]) -> str:
    return keys[0] if len(keys) == 1 else f"{', '.join(keys[:-1])} and {keys[-1]}"


def _hint(keys: list[str]) -> str:
    if keys == [".".join(_EPOCHS)]:
        return "A run can continue for more epochs than it was started with, not for fewer."
    return "Give these keys the run's values, or start the profile as a new run."
