"""Sweeps over the arguments of a program of the person's own: ``{lr}`` stands for a value."""

from collections.abc import Iterator, Mapping

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.script import ScriptSettings
from gpupanel.domain.setting import Setting, SettingType
from gpupanel.domain.sweep import SweepSettings, SweptRange, SweptValue


def swept_argument(profile: Profile, script: ScriptSettings, key: str) -> Setting | None:
    """What stands for a setting where an argument is swept; ``None``: no argument has that name."""
    if key not in script.placeholders:
        return None
    swept = None if profile.sweep is None else profile.sweep.values.get(key)
    kind = SettingType.OTHER
    if isinstance(swept, SweptRange):
        are_whole = all(float(end).is_integer() for end in (swept.low, swept.high))
        kind = SettingType.COUNT if are_whole and not swept.log else SettingType.NUMBER
    words = f"What {{{key}}} stands for in the arguments of {script.name}."
    return Setting(name=key, type=kind, title=key, description=words, default=None)


def with_arguments(
    profile: Profile, script: ScriptSettings, values: Mapping[str, SweptValue]
) -> Profile:
    """The profile of one run with other values in its arguments.

    Raises:
        ProblemError: A value is a list, which is no argument.
    """
    lists = [key for key, value in values.items() if isinstance(value, tuple)]
    if lists:
        raise ProblemError(_no_argument(lists[0]))
    filled = script.model_copy(update={"values": {**script.values, **values}})
    return profile.for_one_run.model_copy(update={"script": filled})


def program_mistakes(sweep: SweepSettings) -> Iterator[Problem]:
    """What a sweep asks for that a program cannot be given."""
    for field, is_wrong, what in (
        ("sweep.seeds", sweep.seeds > 1, "takes no seeds: name one in its arguments, and sweep it"),
        ("sweep.folds", sweep.folds > 1, "holds out its examples itself"),
        (
            "sweep.stopping_rule",
            sweep.halves,
            "cannot be paused after an epoch that a sweep names",
        ),
    ):
        if is_wrong:
            yield Problem(
                code="script_sweep",
                field=field,
                message=f"A program of your own {what}.",
                hint=f"Leave {field} out.",
            )


def _no_argument(key: str) -> Problem:
    return Problem(
        code="sweep_values_invalid",
        field=f"sweep.values.{key}",
        message=f"{key} has a list among its values, which is no argument.",
        hint="Write it as the text that the program is to be given.",
    )
