"""The keys of a profile as a page of Markdown, made of what their settings declare.

A table is one value, one of several kinds of value (then a key says which), or a table of such
tables under keys of the person's choice.
"""

import json
import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import NoneType, UnionType
from typing import Annotated, Final, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from gpupanel.domain.allowed_values import allowed_values
from gpupanel.domain.choice import Choice, ChoiceEnum
from gpupanel.domain.document_bounds import OF_A_PROFILE
from gpupanel.domain.profile import SCHEMA_VERSION, Profile
from gpupanel.domain.profile_schema import first_paragraph
from gpupanel.domain.setting import Setting, SettingType, settings_of
from gpupanel.domain.value import MOST_PLACES, Value

_ANY_KEY: Final = "KEY"
"""Stands for a key of the person's choice."""
_INTRODUCTION: Final = f"""\
<!-- Written by `make docs` from where the settings are declared: changes here are lost. -->

# The keys of a profile

A profile is a TOML file; the format of these keys is `schema_version = {SCHEMA_VERSION}`. A key may
be left out unless it is *required*, and one that is not known is refused. `gpupanel check PROFILE`
reports the mistakes of one, each with what is allowed; `gpupanel schema` prints the format as JSON
schema, for editors.

A profile has at most 1 MiB, {MOST_PLACES:,} devices, {OF_A_PROFILE.entries:,} entries in any
other list or table, {OF_A_PROFILE.characters:,} characters in a text, and tables nested
{OF_A_PROFILE.depth} deep; whole numbers have 64 bits, and numbers are finite. What is beyond is
refused with its key and the bound: [profile_beyond_bounds](problems.md#profile_beyond_bounds).

`{_ANY_KEY}` in the name of a table stands for a key of the profile's choice, such as a device's.
"""
_WIDTH: Final = 100
_ROW_TITLES: Final = ("Key", "Name", "What it does", "Values", "Default")
_ONE: Final[Mapping[object, str]] = {
    bool: "`true` or `false`",
    int: "a whole number",
    float: "a number",
    str: "text",
}
_SEVERAL: Final[Mapping[object, str]] = {int: "whole numbers", float: "numbers", str: "texts"}
_UNNAMED: Final = "values"
_NOTHING: Final[Mapping[type, str]] = {tuple: "[]", str: '""', dict: "{}"}
"""What switches a setting off, by the type of its default; otherwise 0."""


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of the profile, or a table of tables.

    Attributes:
        path: Its keys from the top.
        kinds: The types of value that it may be, one or more.
        tag: The key that says which of several.
        description: What it is for.
        default: Its value where a profile does not have it.
    """

    path: tuple[str, ...]
    kinds: tuple[type[Value], ...]
    tag: str
    description: str
    default: object


def profile_reference(profile: type[Value] = Profile) -> str:
    """The page: a section for each table, in which each setting has a row.

    Tables of which nothing is declared, and keys that are none, such as the version, are left out.

    Args:
        profile: The type of the value that is described.
    """
    return "\n\n".join([_INTRODUCTION.strip(), *_keys_of([profile], ())]) + "\n"


def _keys_of(kinds: Iterable[type[Value]], path: tuple[str, ...], tag: str = "") -> list[str]:
    """The rows of the settings of each kind, then a section for each table in any of them."""
    kinds = list(kinds)
    shared = _shared(kinds)
    blocks, tables = _rows(kinds[0], shared), dict[tuple[str, ...], _Table]()
    for kind in kinds:
        inner = _tables_in(kind, path)
        own = [
            each
            for each in settings_of(kind)
            if (*path, each.name) not in inner and each not in shared
        ]
        blocks += [*_kind_heading(kind, tag), *_rows(kind, own), *_mentioned(inner, tag)]
        tables |= inner
    return [*blocks, *(block for table in tables.values() for block in _section(table))]


def _tables_in(values: type[Value], path: tuple[str, ...]) -> dict[tuple[str, ...], _Table]:
    """The tables among its keys, by their keys from the top."""
    fields = values.model_fields.items()
    found = ((name, _table(info, (*path, name))) for name, info in fields)
    return {(*path, name): table for name, table in found if table is not None}


def _mentioned(tables: Mapping[tuple[str, ...], _Table], tag: str) -> list[str]:
    """A sentence for the tables that only some kinds have; they are described below all kinds."""
    names = " and ".join(f"`[{'.'.join(table.path)}]`" for table in tables.values())
    return [f"It may also have {names}."] if tag and names else []


def _section(table: _Table) -> list[str]:
    keys = _keys_of(table.kinds, table.path, table.tag)
    if not table.description and not keys:
        return []
    blocks = [f"## `[{'.'.join(table.path)}]`", table.description]
    blocks += [_tag_sentence(table.tag), _left_out(table)]
    return [block for block in [*blocks, *keys] if block]


def _shared(kinds: Iterable[type[Value]]) -> list[Setting]:
    """What each of several kinds has, in the same words."""
    first, *others = [settings_of(kind) for kind in kinds]
    return [each for each in first if others and all(each in other for other in others)]


def _kind_heading(kind: type[Value], tag: str) -> list[str]:
    if not tag:
        return []
    values = ", ".join(f"`{_toml(each)}`" for each in get_args(kind.model_fields[tag].annotation))
    return [f"### `{tag}` = {values}", _wrapped(first_paragraph(kind.__doc__ or ""))]


def _left_out(table: _Table) -> str:
    """What a profile without that table of one of several kinds has."""
    if not table.tag or not isinstance(table.default, Value):
        return ""
    said = {table.tag: getattr(table.default, table.tag)}
    said |= table.default.model_dump(mode="json", exclude_defaults=True)
    return f"Without this table: {', '.join(f'`{key} = {_toml(said[key])}`' for key in said)}."


def _tag_sentence(tag: str) -> str:
    return f"`{tag}` says of which kind the table is, and is *required* in it." if tag else ""


def _table(info: FieldInfo, path: tuple[str, ...]) -> _Table | None:
    """The table that a field is; ``None``: it is a value."""
    annotation, tag = info.annotation, info.discriminator
    if get_origin(annotation) is dict:
        path, annotation = (*path, _ANY_KEY), get_args(annotation)[1]
    if get_origin(annotation) is Annotated:
        annotation, *beside = get_args(annotation)
        tag = next((each.discriminator for each in beside if isinstance(each, FieldInfo)), None)
    members = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else [annotation]
    members = [each for each in members if each is not NoneType]
    kinds = tuple(each for each in members if isinstance(each, type) and issubclass(each, Value))
    if len(kinds) < len(members) or (len(kinds) > 1) is not isinstance(tag, str):
        return None
    description = _wrapped(info.description or "")
    return _Table(path, kinds, str(tag or ""), description, info.get_default())


def _rows(values: type[Value], settings: Iterable[Setting]) -> list[str]:
    """A table of Markdown, if there is anything to be in it."""
    rows = [
        (
            f"`{each.name}`",
            each.title,
            " ".join([each.description, *_applies(each)]),
            _allowed(each, values.model_fields[each.name].annotation),
            _default(each),
        )
        for each in settings
    ]
    lines = [_ROW_TITLES, ("---",) * len(_ROW_TITLES), *rows]
    return ["\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)] if rows else []


def _applies(setting: Setting) -> Iterable[str]:
    for key, values in setting.applies.items():
        yield f"Only with {' or '.join(f'`{key} = {_toml(each)}`' for each in values)}."
    for key in setting.needs:
        yield f"Only with `{key}`."


def _allowed(setting: Setting, annotation: object) -> str:
    """Which values a setting may have, and their unit."""
    if setting.type is SettingType.CHOICE:
        return "<br>".join(_choice(each) for each in setting.choices)
    if setting.type is SettingType.NAMED_CHOICES:
        return "<br>".join(["a table of names, each with", *map(_choice, setting.choices)])
    unit = f"; unit: {setting.unit}" if setting.unit else ""
    words = [_choice(each) for each in setting.choices]
    said = allowed_values(replace(setting, choices=())) or _said(annotation)
    between = "<br>" if any(": " in word for word in words) else " or "
    return f"{between.join([*words, said])}{unit}"


def _choice(choice: Choice) -> str:
    said = choice.description or (choice.label if choice.label != choice.value else "")
    return f"`{_toml(choice.value)}`" + (f": {said}" if said else "")


def _said(annotation: object) -> str:
    """A type in the words of people."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _said(inner[0])
    if isinstance(annotation, type) and issubclass(annotation, ChoiceEnum):
        return "<br>".join(_choice(each.choice) for each in annotation)
    if origin is Literal:
        return ", ".join(f"`{_toml(each)}`" for each in inner)
    if origin in (Union, UnionType):
        said = [_said(each) for each in inner if each is not NoneType]
        return ("<br>" if any("<br>" in each for each in said) else " or ").join(said)
    if origin is tuple:
        each = {_several(one) for one in inner if one is not Ellipsis}
        return f"a list of {each.pop() if len(each) == 1 else _UNNAMED}"
    if origin is dict:
        return f"a table of {_several(inner[1])}"
    return _ONE.get(annotation, _UNNAMED)


def _several(annotation: object) -> str:
    inner = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    return _SEVERAL.get(inner, _UNNAMED)


def _default(setting: Setting) -> str:
    off = f": {setting.off}" if setting.off else ""
    if setting.is_required:
        return "*required*"
    if setting.default is None:
        return f"left out{off}"
    said = f"`{_toml(setting.default)}`"
    nothing = f"`{_NOTHING.get(type(setting.default), '0')}`"
    if said in (nothing, "`0.0`"):
        return f"{said}{off}"
    return f"{said}; {nothing}{off}" if off and not setting.is_optional else said


def _toml(value: object) -> str:
    """A value as TOML has it, which writes these as JSON does."""
    return json.dumps(value, ensure_ascii=False)


def _cell(text: str) -> str:
    # A vertical bar would divide the cell; in code TOML's own escape is read alike everywhere.
    without = re.sub("`[^`]*`", lambda code: code[0].replace("|", "\\u007c"), text)
    return " ".join(without.split()).replace("|", "\\|")


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
