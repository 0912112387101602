"""What people read of each setting of a profile, declared once, where the setting is.

``setting`` is pydantic's ``Field`` with the words that a setting needs; ``settings_of`` reads them
back. From them come its row in the window, the published JSON schema, the table of keys in the
documentation and the sentence about a value that is not allowed.
"""

import enum
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen
from pydantic import Field
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from gpupanel.domain.choice import Choice, ChoiceEnum
from gpupanel.domain.duration import IsDuration
from gpupanel.domain.hours import IsHours
from gpupanel.domain.value import Value

WORDS: Final = "gpupanel"
"""The key of these words in the JSON schema, beside what the standard has."""


Meant = tuple[str | bool | tuple[()] | Mapping[str, str], ...]
"""The values of another setting beside which one means something; empty ones: it says nothing."""


class SettingType(enum.Enum):
    """What kind of value a setting has."""

    SWITCH = enum.auto()
    COUNT = enum.auto()
    """A whole number."""
    NUMBER = enum.auto()
    """A real number."""
    CHOICE = enum.auto()
    CHOICE_OR_COUNT = enum.auto()
    """One of a few values, or a whole number."""
    CHOICE_OR_NAMES = enum.auto()
    """One of a few values, or a list of texts."""
    CHOICE_OR_COUNTS = enum.auto()
    """One of a few values, or a list of whole numbers."""
    COUNTS = enum.auto()
    """A list of whole numbers, of any length."""
    SIZE = enum.auto()
    """Height and width."""
    TEXT = enum.auto()
    DURATION = enum.auto()
    """A time, written as ``1h30m``."""
    HOURS = enum.auto()
    """Hours of the day or the week, written as ``22:00-07:00``."""
    NAMED_CHOICES = enum.auto()
    """One of a few values for each of some names."""
    NAMED_LISTS = enum.auto()
    """A list of texts for each of some names."""
    NAMES = enum.auto()
    """A list of texts, or a single one."""
    PATH = enum.auto()
    FILES = enum.auto()
    """Files by name, a list of texts."""
    TABLE = enum.auto()
    """Settings of its own."""
    OTHER = enum.auto()
    """What needs an editor of its own."""


_CHOICE_OR_MORE: Final = (
    SettingType.CHOICE_OR_COUNT,
    SettingType.CHOICE_OR_NAMES,
    SettingType.CHOICE_OR_COUNTS,
)


@dataclass(frozen=True, slots=True)
class PathKind:
    """What a path leads to.

    Attributes:
        suffixes: Of the files' names (``.npz``); none: a folder.
        name: What such files are called ("NumPy files").
        title: Of the dialog that asks for one.
        within: The setting whose path a relative one is meant from; empty: the profile's folder.
        may_be_folder: It may lead to a folder as well as to such a file.
    """

    suffixes: tuple[str, ...]
    name: str
    title: str
    within: str = ""
    may_be_folder: bool = False


@dataclass(frozen=True, slots=True)
class Bounds:
    """Which numbers are allowed; ``None``: no bound on that side.

    Attributes:
        least: The lower bound.
        most: The upper bound.
        above_least: The lower bound itself is not allowed.
        below_most: The upper bound itself is not allowed.
    """

    least: float | None = None
    most: float | None = None
    above_least: bool = False
    below_most: bool = False


EVERY: Final = "every "
"""A prefix that needs no number before one of what it counts: "every epoch"."""


def within_words(title: str) -> str:
    """A title as it stands inside a sentence: "learning rate", but "XLA" and "TensorBoard"."""
    first = title.partition(" ")[0]
    return f"{title[:1].lower()}{title[1:]}" if first[1:].islower() else title


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a table of the profile.

    Attributes:
        name: Its key.
        type: What kind of value it has.
        title: What people call it, in few words.
        description: One or two sentences that teach what it does.
        default: Its value where a profile does not say.
        is_required: A profile must say it.
        is_optional: It may be left out: ``None``.
        unit: Of a number, in the singular ("epoch").
        prefix: Shown before a number ("every ").
        off: What leaving it out, or 0, means ("never").
        advanced: Few need it.
        bounds: Of a number, or of each of several.
        lengths: Of a list: least and greatest length.
        choices: The values, or those of each name, where there are few; of a path, what may stand
            in its place.
        path: Of a path, or of each of several files.
        examples: Values that make sense.
        applies: It means something only where another setting has one of these values.
        needs: It means something only where these other settings say something.
        is_offered: A preview of the data finds what can be chosen.
        may_be_one: Of a list of texts: a single text says the same as a list of it.
    """

    name: str
    type: SettingType
    title: str
    description: str
    default: object
    is_required: bool = False
    is_optional: bool = False
    unit: str = ""
    prefix: str = ""
    off: str = ""
    advanced: bool = False
    bounds: Bounds = Bounds()
    lengths: tuple[int, int | None] = (0, None)
    choices: tuple[Choice, ...] = ()
    path: PathKind | None = None
    examples: tuple[object, ...] = ()
    applies: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    is_offered: bool = False
    may_be_one: bool = False

    def applies_in(self, values: Value) -> bool:
        """Whether it means something beside the other values of its table."""
        return self.hindered_by(values) is None

    def hindered_by(self, values: Value) -> str | None:
        """The other setting that leaves it without a meaning; ``None``: it means something."""
        for key, meant in self.applies.items():
            if getattr(values, key) not in meant:
                return key
        return next((key for key in self.needs if not getattr(values, key)), None)


def setting(
    title: str,
    description: str,
    *,
    default: Any = PydanticUndefined,  # noqa: ANN401 - as pydantic's
    unit: str = "",
    prefix: str = "",
    off: str = "",
    advanced: bool = False,
    choices: Iterable[Choice] = (),
    path: PathKind | None = None,
    applies: Mapping[str, Meant] | None = None,
    needs: tuple[str, ...] = (),
    is_offered: bool = False,
    **field_arguments: Any,  # noqa: ANN401 - as pydantic's
) -> Any:  # noqa: ANN401 - as pydantic's
    """Declare a field of a value; :class:`Setting` says what each word means.

    Args:
        title: See :class:`Setting`.
        description: See :class:`Setting`.
        default: Left out: a profile must say it.
        unit: See :class:`Setting`.
        prefix: See :class:`Setting`.
        off: See :class:`Setting`.
        advanced: See :class:`Setting`.
        choices: Of a ``Literal``; a :class:`~gpupanel.domain.choice.ChoiceEnum` has them itself.
        path: See :class:`Setting`.
        applies: See :class:`Setting`.
        needs: See :class:`Setting`.
        is_offered: See :class:`Setting`.
        field_arguments: Bounds and the like, as pydantic's ``Field`` takes them.
    """
    words: dict[str, Any] = {
        "unit": unit,
        "prefix": prefix,
        "off": off,
        "advanced": advanced,
        "choices": [asdict(choice) for choice in choices],
        "path": asdict(path) if path is not None else None,
        "applies": {key: list(values) for key, values in (applies or {}).items()},
        "needs": list(needs),
        "is_offered": is_offered,
    }
    said = {key: value for key, value in words.items() if value}
    return Field(
        default,
        title=title,
        description=description,
        json_schema_extra={WORDS: said} if said else None,
        **field_arguments,
    )


@cache
def settings_of(values: type[Value]) -> tuple[Setting, ...]:
    """The settings of a table, in the order in which they are declared.

    Fields without a title, such as the ``source`` that says which table it is, are none.
    """
    fields = values.model_fields.items()
    settings = [_setting(name, info) for name, info in fields if info.title is not None]
    # What it alone has comes before what it shares with others.
    return tuple(sorted(settings, key=lambda each: each.name not in values.__annotations__))


def setting_of(values: type[Value], name: str) -> Setting:
    """The setting of that name.

    Raises:
        KeyError: There is none.
    """
    return {each.name: each for each in settings_of(values)}[name]


def _setting(name: str, info: FieldInfo) -> Setting:
    annotation, is_optional = _without_none(info.annotation)
    inner, metadata = _without_metadata(annotation)
    metadata = [*info.metadata, *metadata]
    kind, bounded = _type(inner)
    if any(isinstance(each, IsDuration) for each in metadata):
        kind = SettingType.DURATION
    if any(isinstance(each, IsHours) for each in metadata):
        kind = SettingType.HOURS
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    words: dict[str, Any] = dict(extra.get(WORDS) or {})  # type: ignore[arg-type]
    path = words.get("path")
    choices = tuple(Choice(**choice) for choice in words.get("choices", ()))
    return Setting(
        name=name,
        type=_path_type(kind) if path else kind,
        title=info.title or name,
        description=info.description or "",
        default=None if info.is_required() else info.get_default(call_default_factory=True),
        is_required=info.is_required(),
        is_optional=is_optional,
        unit=words.get("unit", ""),
        prefix=words.get("prefix", ""),
        off=words.get("off", ""),
        advanced=words.get("advanced", False),
        bounds=_bounds(bounded or metadata),
        lengths=_lengths([*metadata, *bounded]),
        choices=choices or _choices(inner),
        path=PathKind(**{**path, "suffixes": tuple(path["suffixes"])}) if path else None,
        examples=tuple(info.examples or ()),
        applies={key: tuple(meant) for key, meant in words.get("applies", {}).items()},
        needs=tuple(words.get("needs", ())),
        is_offered=words.get("is_offered", False),
        may_be_one=kind is SettingType.NAMES and get_origin(inner) is not tuple,
    )


def _path_type(kind: SettingType) -> SettingType:
    return SettingType.FILES if kind is SettingType.NAMES else SettingType.PATH


def _without_none(annotation: object) -> tuple[object, bool]:
    if get_origin(annotation) in (Union, UnionType):
        members = [each for each in get_args(annotation) if each is not NoneType]
        if len(members) < len(get_args(annotation)):
            return Union[tuple(members)], True  # noqa: UP007 - of one it is that
    return annotation, False


def _without_metadata(annotation: object) -> tuple[object, list[object]]:
    """The type inside ``Annotated``, and what stands beside it, that of ``Field`` unpacked."""
    if get_origin(annotation) is not Annotated:
        return annotation, []
    inner, *beside = get_args(annotation)
    metadata = [
        each for one in beside for each in (one.metadata if isinstance(one, FieldInfo) else [one])
    ]
    return inner, metadata


def _type(annotation: object) -> tuple[SettingType, list[object]]:
    """What kind of value that is; of a list, the bounds of each of its numbers, too."""
    simple = {
        bool: SettingType.SWITCH,
        int: SettingType.COUNT,
        float: SettingType.NUMBER,
        str: SettingType.TEXT,
    }
    if isinstance(annotation, type) and annotation in simple:
        return simple[annotation], []
    if isinstance(annotation, type) and issubclass(annotation, Value):
        return SettingType.TABLE, []
    is_enum = isinstance(annotation, type) and issubclass(annotation, ChoiceEnum)
    if is_enum or get_origin(annotation) is Literal:
        return SettingType.CHOICE, []
    if get_origin(annotation) is dict:
        return _type_of_table(annotation), []
    if get_origin(annotation) is tuple:
        first, *more = get_args(annotation)
        each, bounds = _without_metadata(first)
        if each is int and more in ([...], [first]):
            return SettingType.COUNTS if more == [...] else SettingType.SIZE, bounds
        if each is str and more == [...]:
            return SettingType.NAMES, bounds
    if get_origin(annotation) in (Union, UnionType):
        parts = [_without_metadata(each) for each in get_args(annotation)]
        kinds = [_type(inner)[0] for inner, _ in parts]
        if kinds == [SettingType.TEXT, SettingType.NAMES]:
            return SettingType.NAMES, []
        if kinds == [SettingType.CHOICE, SettingType.COUNT]:
            return SettingType.CHOICE_OR_COUNT, parts[1][1]
        if kinds == [SettingType.CHOICE, SettingType.NAMES]:
            return SettingType.CHOICE_OR_NAMES, parts[1][1]
        if kinds == [SettingType.CHOICE, SettingType.COUNTS]:
            return SettingType.CHOICE_OR_COUNTS, [*_type(parts[1][0])[1], *parts[1][1]]
    return SettingType.OTHER, []


def _type_of_table(annotation: object) -> SettingType:
    """What kind of table that is, by the values of its names."""
    each = get_args(annotation)[1]
    if _choices(each):
        return SettingType.NAMED_CHOICES
    return SettingType.NAMED_LISTS if _type(each)[0] is SettingType.NAMES else SettingType.OTHER


def _choices(annotation: object) -> tuple[Choice, ...]:
    if isinstance(annotation, type) and issubclass(annotation, ChoiceEnum):
        return tuple(member.choice for member in annotation)
    if get_origin(annotation) is Literal:
        return tuple(Choice(str(value), str(value)) for value in get_args(annotation))
    if get_origin(annotation) is dict:
        return _choices(get_args(annotation)[1])
    if _type(annotation)[0] in _CHOICE_OR_MORE:
        return _choices(get_args(annotation)[0])
    return ()


def _bounds(metadata: Iterable[object]) -> Bounds:
    bounds = Bounds()
    for each in metadata:
        match each:
            case Ge(ge=int() | float() as least):
                bounds = replace(bounds, least=least, above_least=False)
            case Gt(gt=int() | float() as least):
                bounds = replace(bounds, least=least, above_least=True)
            case Le(le=int() | float() as most):
                bounds = replace(bounds, most=most, below_most=False)
            case Lt(lt=int() | float() as most):
                bounds = replace(bounds, most=most, below_most=True)
    return bounds


def _lengths(metadata: Iterable[object]) -> tuple[int, int | None]:
    least, most = 0, None
    for each in metadata:
        if isinstance(each, MinLen):
            least = each.min_length
        elif isinstance(each, MaxLen):
            most = each.max_length
    return least, most
