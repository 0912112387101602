"""What is wrong with a profile, as one sentence for each key."""

import difflib
import json
import re
from collections.abc import Iterable, Sequence
from types import NoneType
from typing import Annotated, Any, Final, get_args, get_origin

from pydantic_core import ErrorDetails

from gpupanel.domain.allowed_values import allowed_values
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import SCHEMA_VERSION, Profile
from gpupanel.domain.setting import Setting, SettingType, settings_of
from gpupanel.domain.toml_text import toml_value
from gpupanel.domain.value import Value

_TYPES: Final = {
    "tuple_type": "a list, in [brackets]",
    "string_type": "text in quotes",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
}
"""What pydantic misses, by its name for the mistake."""
_SAY_WHY: Final = (SettingType.TEXT, SettingType.HOURS)
MOST_MISTAKES: Final = 100
"""The most mistakes that are reported: a file of 1 MiB can have half a million."""


def mistakes(errors: Sequence[ErrorDetails], kind: type[Value] = Profile) -> list[Problem]:
    """One problem for each key that is wrong, of the first :data:`MOST_MISTAKES`.

    Args:
        errors: What pydantic says against the document.
        kind: What the document should be.
    """
    version = [each for each in errors if each["loc"] == ("schema_version",)]
    if version:
        # What another format calls its keys and what it allows is not known here.
        return [_problem(version[0], kind)]
    by_field: dict[str, Problem] = {}
    for details in errors[:MOST_MISTAKES]:
        problem = _problem(details, kind)
        by_field.setdefault(problem.field, problem)
    # A union gives one error for each of its members: the member that got further in says more.
    further = {
        field[:end] for field in by_field for end, letter in enumerate(field) if letter == "."
    }
    problems = [problem for field, problem in by_field.items() if field not in further]
    more = len(errors) - MOST_MISTAKES
    return [*problems, _more(more)] if more > 0 else problems


def too_much(field: str, words: str) -> Problem:
    """The problem of a key that holds more than is read.

    Args:
        field: The key.
        words: How much it holds, and the bound.
    """
    return Problem(
        code="profile_beyond_bounds",
        field=field,
        message=f"{field or 'The profile'} {words}.",
        hint="Leave out what is not needed; no machine and no data set has use for more.",
    )


def _more(count: int) -> Problem:
    return Problem(
        code="profile_more_mistakes",
        message=f"There are {count:,} more mistakes in the profile.",
        hint="Correct those above first.",
    )


def _problem(details: ErrorDetails, table: type[Value]) -> Problem:
    kind = details["type"]
    context = details.get("ctx", {})
    names, setting = _located(table, details["loc"])
    if kind == "missing" and isinstance(details["loc"][-1], int):
        # Of a list with a fixed length: the whole of it is to be given anew.
        names, kind = names[:-1], "too_short"
    if kind in ("too_long", "string_too_long") and not (setting and allowed_values(setting)):
        has = len(details["input"])
        what = "characters" if kind == "string_too_long" else "entries"
        most = context["max_length"]
        return too_much(".".join(names), f"has {has:,} {what}; at most {most:,} are read")
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        names = [*names, str(context["discriminator"]).strip("'")]
    field = ".".join(names)
    name = field or "The profile"
    value = details["input"]
    allowed = allowed_values(setting) if setting is not None else ""
    code, message, hint = (
        "profile_value_invalid",
        f"{name} is {_shown(value)}: {_lower_first(details['msg'])}.",
        "Give it an allowed value.",
    )
    if field == "schema_version":
        code = "profile_version_unknown"
        is_newer = type(value) is int and value > SCHEMA_VERSION
        message = (
            f"The profile has format version {_shown(value)}; this gpupanel reads {SCHEMA_VERSION}."
        )
        hint = (
            "Update gpupanel, or write the profile again."
            if is_newer
            else f"Write {SCHEMA_VERSION}, without quotes, or remove the line."
        )
    elif kind == "extra_forbidden":
        code, message = "profile_key_unknown", f"{name} is not a key of a profile."
        hint = _did_you_mean(field.rpartition(".")[2], _known_keys(table)) or "Remove it."
    elif kind in ("missing", "union_tag_not_found"):
        code, message = "profile_key_missing", f"{name} is missing."
        allowed = f"one of {_choices(context)}" if _choices(context) else allowed
        hint = f"Add it; it must be {allowed}." if allowed else "Add it."
    elif kind in ("literal_error", "enum", "union_tag_invalid"):
        # The tag that pydantic has is Python's text of the value.
        tag = str(context["discriminator"]).strip("'") if "tag" in context else ""
        shown = value[tag] if tag else value
        message = f"{name} is {_shown(shown)}, which is not one of {_choices(context)}."
        choices = re.findall(r"'([^']+)'", _choices(context))
        hint = _did_you_mean(str(shown), choices) or "Use one of them."
    elif kind in _TYPES and not allowed:
        message = f"{name} is {_shown(value)}, but must be {_TYPES[kind]}."
    elif kind == "value_error" and setting is not None and setting.type in _SAY_WHY:
        # Text that is wrong although it is text: its own words say why.
        message = f"{name} is {_shown(value)}: {_lower_first(details['msg'])}."
        hint = " ".join(
            filter(None, [f"It must be {allowed}." * bool(allowed), _without_it(setting)])
        )
    elif setting is not None and allowed:
        message = f"{name} is {_shown(value)}, but {setting.title} must be {allowed}."
        hint = _without_it(setting)
    if field.startswith("strategy.shares"):
        hint = 'Use "equal", or one whole number per replica, such as [48, 16].'
    return Problem(code=code, field=field, message=message, hint=hint)


def _located(annotation: object, path: Sequence[int | str]) -> tuple[list[str], Setting | None]:
    """Where in a document pydantic met a mistake, and the setting that it is in, if any.

    Pydantic's path has more than the document's keys: the tag of each union of tables, and a
    label for each union of other types. A key may be called as a tag is, so the types are followed.

    Args:
        annotation: The type at which the path begins.
        path: As pydantic gives it.
    """
    if get_origin(annotation) is Annotated:
        return _located(get_args(annotation)[0], path)
    if not path:
        return [], None
    first, *rest = path
    if isinstance(annotation, type) and issubclass(annotation, Value):
        if first not in annotation.model_fields:
            return [str(first)], None
        names, inside = _located(annotation.model_fields[str(first)].annotation, rest)
        named = (each for each in settings_of(annotation) if each.name == first)
        return [str(first), *names], inside or next(named, None)
    if get_origin(annotation) in (dict, tuple):
        # Of a list each item has the first type: those with several have one type for all.
        inner = get_args(annotation)[1 if get_origin(annotation) is dict else 0]
        names, inside = _located(inner, rest)
        return [str(first), *names], inside
    members = [each for each in get_args(annotation) if each is not NoneType]
    if len(members) == 1:
        return _located(members[0], path)
    tagged = next((each for each in members if first in _tags(each)), None)
    if tagged is not None:
        return _located(tagged, rest)
    # The label of a member says its type in words: the next part shows which one it is.
    wanted = tuple if rest and isinstance(rest[0], int) else dict
    member = next((each for each in members if _origin(each) is wanted), None)
    return _located(member, rest)


def _origin(annotation: object) -> object:
    if get_origin(annotation) is Annotated:
        return _origin(get_args(annotation)[0])
    if isinstance(annotation, type) and issubclass(annotation, Value):
        return dict
    return get_origin(annotation)


def _tags(annotation: object) -> set[object]:
    """What a table says to be that one of several."""
    if not (isinstance(annotation, type) and issubclass(annotation, Value)):
        return set()
    fields = annotation.model_fields.values()
    return {tag for field in fields if field.title is None for tag in get_args(field.annotation)}


def _without_it(setting: Setting) -> str:
    if setting.is_required:
        return "Give it an allowed value."
    if setting.default is None:
        return f"Change it, or leave it out: {setting.off}." if setting.off else "Change it."
    return f"Change it, or leave it out: it is then {json.dumps(setting.default)}."


def _choices(context: dict[str, Any]) -> str:
    return str(context.get("expected_tags") or context.get("expected") or "")


def _did_you_mean(word: str, known: Iterable[str]) -> str:
    # A key that is known elsewhere is no help here.
    close = difflib.get_close_matches(word, [each for each in known if each != word], n=1)
    return f"Did you mean {close[0]}?" if close else ""


def _known_keys(kind: object) -> set[str]:
    """Every key of a table of that type and of the tables in it."""
    if isinstance(kind, type) and issubclass(kind, Value):
        inner = [field.annotation for field in kind.model_fields.values()]
        return set(kind.model_fields).union(*map(_known_keys, inner))
    # A union, a tuple, an annotation: what it is made of.
    return set[str]().union(*map(_known_keys, get_args(kind)))


def _shown(value: object) -> str:
    text = toml_value(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _lower_first(text: str) -> str:
    text = text.removeprefix("Value error, ").replace("Input should", "it should")
    return text[:1].lower() + text[1:]
