"""Which values a setting may have, in words."""

from gpupanel.domain import duration, hours
from gpupanel.domain.setting import Bounds, Setting, SettingType


def allowed_values(setting: Setting) -> str:
    """What a profile may say there, to stand behind "must be"; empty where words do not do."""
    match setting.type:
        case SettingType.SWITCH:
            return "true or false"
        case SettingType.COUNT:
            return f"a whole number {_count_bounds(setting.bounds)}".rstrip()
        case SettingType.NUMBER:
            return f"a number {_bounds(setting.bounds)}".rstrip()
        case SettingType.CHOICE:
            return f"one of {_choices(setting)}"
        case SettingType.CHOICE_OR_COUNT:
            return _choices_or(setting, f"a whole number {_count_bounds(setting.bounds)}".rstrip())
        case SettingType.CHOICE_OR_NAMES:
            return _choices_or(setting, "a list of names")
        case SettingType.CHOICE_OR_COUNTS:
            return _choices_or(setting, _counts(setting))
        case SettingType.COUNTS:
            return _counts(setting)
        case SettingType.SIZE:
            return f"[height, width], two whole numbers{_each(setting.bounds)}"
        case SettingType.TEXT:
            length = _length(setting.lengths)
            return f"text in quotes, {length}characters" if length else "text in quotes"
        case SettingType.NAMED_CHOICES:
            return f"a table of names, each with one of {_choices(setting)}"
        case SettingType.NAMED_LISTS:
            return "a table of names, each with a list of texts"
        case SettingType.DURATION:
            return duration.ALLOWED
        case SettingType.HOURS:
            return hours.ALLOWED
        case SettingType.PATH:
            endings = " or ".join(setting.path.suffixes) if setting.path is not None else ""
            path = f"the path of a {endings} file, in quotes" if endings else "a path, in quotes"
            return _choices_or(setting, path)
    return ""


def _choices_or(setting: Setting, another: str) -> str:
    return " or ".join(filter(None, [_choices(setting), another]))


def _choices(setting: Setting) -> str:
    return ", ".join(f'"{choice.value}"' for choice in setting.choices)


def _counts(setting: Setting) -> str:
    return f"a list of {_length(setting.lengths)}whole numbers{_each(setting.bounds)}"


def _each(bounds: Bounds) -> str:
    words = _count_bounds(bounds)
    return f", each {words}" if words else ""


def _count_bounds(bounds: Bounds) -> str:
    least, most = bounds.least, bounds.most
    return _bounds(
        Bounds(
            least=None if least is None else round(least) + bounds.above_least,
            most=None if most is None else round(most) - bounds.below_most,
        )
    )


def _bounds(bounds: Bounds) -> str:
    has_both = bounds.least is not None and bounds.most is not None
    if has_both and not bounds.above_least and not bounds.below_most:
        return f"from {_shown(bounds.least)} to {_shown(bounds.most)}"
    words = []
    if bounds.least is not None:
        words.append(f"{'above' if bounds.above_least else 'of at least'} {_shown(bounds.least)}")
    if bounds.most is not None:
        words.append(f"{'below' if bounds.below_most else 'at most'} {_shown(bounds.most)}")
    return " and ".join(words)


def _shown(number: float | None) -> str:
    # Whole numbers in full: those of 32 bits have more digits than "g" writes.
    return f"{number:g}" if isinstance(number, float) else str(number)


def _length(lengths: tuple[int, int | None]) -> str:
    least, most = lengths
    if most is None:
        return f"at least {least} " if least else ""
    return f"{least} to {most} " if least else f"up to {most} "
