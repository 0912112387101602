"""The input of a setting, by the kind of its value."""

import math

from PySide6.QtWidgets import QWidget

from gpupanel.domain.choice import Choice
from gpupanel.domain.setting import Bounds, PathKind, Setting, SettingType
from gpupanel.ui.inputs.choice_box import ChoiceBox
from gpupanel.ui.inputs.choice_or_input import ChoiceOrInput
from gpupanel.ui.inputs.counter import GREATEST, Counter, OptionalCounter
from gpupanel.ui.inputs.files_edit import FilesEdit
from gpupanel.ui.inputs.name_choices import NameChoices
from gpupanel.ui.inputs.named_choices_edit import NamedChoicesEdit
from gpupanel.ui.inputs.named_lists_edit import NamedListsEdit
from gpupanel.ui.inputs.names_edit import NamesEdit
from gpupanel.ui.inputs.number_list_edit import NumberListEdit
from gpupanel.ui.inputs.optional_choice import OptionalChoiceBox
from gpupanel.ui.inputs.optional_real import OptionalReal
from gpupanel.ui.inputs.real_spin_box import RealRange, RealSpinBox
from gpupanel.ui.inputs.size_input import SizeInput
from gpupanel.ui.inputs.switch import CheckBox
from gpupanel.ui.inputs.text_input import PathEdit, TextInput
from gpupanel.ui.inputs.time_edits import DurationEdit, HoursEdit
from gpupanel.ui.widgets.tips import teach

_FRACTION_STEP = 0.05
"""What an arrow adds to a number that lies below 1."""


def input_for(setting: Setting) -> QWidget:
    """An :class:`~gpupanel.ui.inputs.input.Input` for the values of a setting.

    Raises:
        TypeError: The setting needs an input of its own.
    """
    match setting.type:
        case SettingType.SWITCH:
            return CheckBox(setting.title)
        case SettingType.COUNT:
            return optional_counter_for(setting) if setting.is_optional else counter_for(setting)
        case SettingType.NUMBER:
            return _number(setting)
        case SettingType.CHOICE if setting.is_optional:
            return OptionalChoiceBox(setting.choices, off=setting.off)
        case SettingType.CHOICE:
            return ChoiceBox(setting.choices)
        case SettingType.CHOICE_OR_COUNT:
            another = setting.prefix.strip().capitalize() or "A number"
            return _choice_or(setting, f"{another}…", counter_for(setting))
        case SettingType.CHOICE_OR_NAMES:
            return _choice_or_names(setting)
        case SettingType.CHOICE_OR_COUNTS:
            another = setting.prefix.strip().capitalize() or "Numbers"
            return _choice_or(setting, f"{another}…", _counts(setting))
        case SettingType.COUNTS:
            return _counts(setting)
        case SettingType.SIZE:
            return SizeInput(
                title=setting.title,
                tip=setting.description,
                least=_least(setting.bounds),
                most=_most(setting.bounds),
                unit=setting.unit,
            )
        case SettingType.NAMED_CHOICES:
            return NamedChoicesEdit(
                setting.choices,
                placeholder=setting.off,
                most_length=setting.lengths[1] or GREATEST,
            )
        case SettingType.NAMED_LISTS:
            return NamedListsEdit(
                placeholder=setting.off, most_length=setting.lengths[1] or GREATEST
            )
        case SettingType.NAMES:
            return NameChoices(
                off=setting.off, is_optional=setting.is_optional, may_be_one=setting.may_be_one
            )
        case SettingType.TEXT if setting.is_optional:
            return OptionalChoiceBox((), off=setting.off)
        case SettingType.TEXT:
            return TextInput()
        case SettingType.DURATION:
            return DurationEdit(off=setting.off)
        case SettingType.HOURS:
            return HoursEdit(off=setting.off)
        case SettingType.PATH if setting.choices:
            return _choice_or(setting, "A file…", _path(setting))
        case SettingType.PATH:
            return _path(setting)
        case SettingType.FILES:
            return _files(setting)
    raise TypeError(f"{setting.name} needs an input of its own")


def _choice_or(setting: Setting, another: str, typed: QWidget) -> ChoiceOrInput:
    teach(typed, setting.title, setting.description)
    return ChoiceOrInput(setting.choices, Choice("", another), typed)


def _choice_or_names(setting: Setting) -> ChoiceOrInput:
    example = setting.examples[0] if setting.examples else ()
    assert isinstance(example, tuple | list)
    most = setting.lengths[1] or GREATEST
    names = NamesEdit(placeholder=", ".join(example), most_length=most)
    return _choice_or(setting, f"{setting.prefix.strip().capitalize()}…", names)


def counter_for(setting: Setting) -> Counter:
    """The input of a whole number."""
    counter = Counter(
        _least(setting.bounds), zero=setting.off, before=setting.prefix, unit=setting.unit
    )
    counter.setMaximum(_most(setting.bounds))
    return counter


def optional_counter_for(setting: Setting) -> OptionalCounter:
    """The input of a whole number that may be left out.

    Raises:
        TypeError: 1 is not allowed, which comes after 0, the place of none.
    """
    if _least(setting.bounds) > 1:
        raise TypeError(f"{setting.name} needs an input of its own")
    counter = OptionalCounter(zero=setting.off, before=setting.prefix, unit=setting.unit)
    counter.setMaximum(_most(setting.bounds))
    return counter


def _least(bounds: Bounds) -> int:
    return round(bounds.least or 0) + bounds.above_least


def _most(bounds: Bounds) -> int:
    most = GREATEST if bounds.most is None else round(bounds.most) - bounds.below_most
    return min(GREATEST, most)


def _number(setting: Setting) -> QWidget:
    numbers = range_within(setting.bounds)
    if not setting.is_optional:
        is_fraction = setting.bounds.most is not None and setting.bounds.most <= 1.0
        return RealSpinBox(numbers, step=_FRACTION_STEP if is_fraction else None, zero=setting.off)
    (first,) = setting.examples[:1] or (1.0,)
    assert isinstance(first, int | float)
    return OptionalReal(
        numbers,
        first=float(first),
        name=setting.title,
        tip=setting.description,
        off=setting.off,
        unit=f"{setting.unit}s" if setting.unit else "",
    )


def range_within(bounds: Bounds) -> RealRange:
    """Which real numbers a field takes."""
    below = math.inf
    if bounds.most is not None:
        below = bounds.most if bounds.below_most else math.nextafter(bounds.most, math.inf)
    lowest = -math.inf if bounds.least is None else bounds.least
    return RealRange(lowest, not bounds.above_least, below)


def _counts(setting: Setting) -> NumberListEdit:
    least, most = setting.lengths
    assert most is not None
    example = setting.examples[0] if setting.examples else ()
    assert isinstance(example, tuple | list)
    placeholder = setting.off or ", ".join(map(str, example))
    return NumberListEdit(placeholder=placeholder, least_length=least, most_length=most)


def _files(setting: Setting) -> FilesEdit:
    kind = setting.path
    assert kind is not None
    return FilesEdit(file_filter=_filter(kind), off=setting.off, title=kind.title)


def _filter(kind: PathKind) -> str:
    patterns = " ".join(f"*{suffix}" for suffix in kind.suffixes)
    return f"{kind.name} ({patterns})" if patterns else ""


def _path(setting: Setting) -> PathEdit:
    kind = setting.path
    assert kind is not None
    endings = " or ".join(kind.suffixes)
    dropped = setting.off or (f"drop a {endings} file" if endings else "drop a folder")
    return PathEdit(
        file_filter=_filter(kind),
        placeholder=f"a folder, or a {endings} file" if kind.may_be_folder else dropped,
        title=kind.title,
        may_be_folder=kind.may_be_folder,
    )
