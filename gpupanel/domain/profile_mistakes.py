"""What is wrong with a profile, as one sentence for each key."""

import difflib
import json
import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final, get_args, get_origin

from pydantic_core import ErrorDetails

from gpupanel.domain.allowed_values import allowed_values
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import SCHEMA_VERSION, Profile
from gpupanel.domain.setting import Setting, settings_of
from gpupanel.domain.value import Value

_TYPES: Final = {
    "tuple_type": "a list, in [brackets]",
    "string_type": "text in quotes",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
}
"""What pydantic misses, by its name for the mistake."""


def mistakes(
    errors: Iterable[ErrorDetails], document: dict[str, Any], kind: type[Value] = Profile
) -> list[Problem]:
    """One problem for each key that is wrong.

    Args:
        errors: What pydantic says against the document.
        document: What the TOML holds.
        kind: What it should be.
    """
    by_field: dict[str, Problem] = {}
    for details in errors:
        problem = _problem(details, document, kind)
        by_field.setdefault(problem.field, problem)
    if "schema_version" in by_field:
        # What another format calls its keys and what it allows is not known here.
        return [by_field["schema_version"]]
    # A union tells one error for each of its members: the member that got further in says more.
    return [
        problem
        for field, problem in by_field.items()
        if not any(other.startswith(f"{field}.") for other in by_field if field)
    ]


def _problem(details: ErrorDetails, document: dict[str, Any], table: type[Value]) -> Problem:
    kind = details["type"]
    context = details.get("ctx", {})
    field = _field(details, document)
    name = field or "The profile"
    value = details["input"]
    setting = _setting_at(table, details["loc"])
    allowed = allowed_values(setting) if setting is not None else ""
    code, message, hint = (
        "profile_value_invalid",
        f"{name} is {_shown(value)}: {_lower_first(details['msg'])}.",
        "Give it a value that is allowed.",
    )
    if field == "schema_version":
        code = "profile_version_unknown"
        message = f"The profile has format version {value}; this gpupanel reads {SCHEMA_VERSION}."
        hint = "Update gpupanel, or write the profile anew."
    elif kind == "extra_forbidden":
        code, message = "profile_key_unknown", f"{name} is not a key that a profile has here."
        hint = _did_you_mean(field.rpartition(".")[2], _known_keys(table)) or "Remove it."
    elif kind in ("missing", "union_tag_not_found"):
        code, message = "profile_key_missing", f"{name} is missing."
        allowed = f"one of {_choices(context)}" if _choices(context) else allowed
        hint = f"Add it; it must be {allowed}." if allowed else "Add it."
    elif kind in ("literal_error", "enum", "union_tag_invalid"):
        shown = context.get("tag", value)
        message = f"{name} is {_shown(shown)}, which is not one of {_choices(context)}."
        choices = re.findall(r"'([^']+)'", _choices(context))
        hint = _did_you_mean(str(shown), choices) or "Use one of them."
    elif kind in _TYPES and not allowed:
        message = f"{name} is {_shown(value)}, but must be {_TYPES[kind]}."
    elif setting is not None and allowed:
        message = f"{name} is {_shown(value)}, but {setting.title} must be {allowed}."
        hint = _without_it(setting)
    if field.startswith("strategy.shares"):
        hint = 'Use "equal", or one whole number per replica, such as [48, 16].'
    return Problem(code=code, field=field, message=message, hint=hint)


def _setting_at(annotation: object, path: Sequence[int | str]) -> Setting | None:
    """The setting in which pydantic met a mistake; ``None`` where it is in no setting.

    Args:
        annotation: The type at which the path begins.
        path: Keys and positions, and the tag of each union on the way.
    """
    if get_origin(annotation) is Annotated:
        return _setting_at(get_args(annotation)[0], path)
    if not path:
        return None
    first, *rest = path
    if isinstance(annotation, type) and issubclass(annotation, Value):
        if first not in annotation.model_fields:
            return None
        inside = _setting_at(annotation.model_fields[str(first)].annotation, rest)
        named = (each for each in settings_of(annotation) if each.name == first)
        return inside or next(named, None)
    if get_origin(annotation) is dict:
        return _setting_at(get_args(annotation)[1], rest)
    tagged = (each for each in get_args(annotation) if first in _tags(each))
    return next((_setting_at(each, rest) for each in tagged), None)


def _tags(annotation: object) -> set[object]:
    """What a table says to be that one of several."""
    if not (isinstance(annotation, type) and issubclass(annotation, Value)):
        return set()
    fields = annotation.model_fields.values()
    return {tag for field in fields if field.title is None for tag in get_args(field.annotation)}


def _without_it(setting: Setting) -> str:
    if setting.is_required:
        return "Give it such a value."
    if setting.default is None:
        return f"Change it, or leave it out: {setting.off}." if setting.off else "Change it."
    return f"Change it, or leave it out: it is then {json.dumps(setting.default)}."


def _field(details: ErrorDetails, document: dict[str, Any]) -> str:
    """The dotted key, without the union tags and type names that pydantic puts between."""
    path: list[str] = []
    node: Any = document
    for part in details["loc"]:
        in_table = isinstance(node, dict) and part in node
        in_array = isinstance(node, list) and isinstance(part, int) and part < len(node)
        if in_table or in_array:
            node = node[part]
        elif not (details["type"] == "missing" and part == details["loc"][-1]):
            continue
        path.append(str(part))
    if details["type"] in ("union_tag_invalid", "union_tag_not_found"):
        path.append(str(details["ctx"]["discriminator"]).strip("'"))
    return ".".join(path)


def _choices(context: dict[str, Any]) -> str:
    return str(context.get("expected_tags") or context.get("expected") or "")


def _did_you_mean(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"Did you mean {close[0]}?" if close else ""


def _known_keys(kind: object) -> set[str]:
    """Every key of a table of that type and of the tables in it."""
    if isinstance(kind, type) and issubclass(kind, Value):
        inner = [field.annotation for field in kind.model_fields.values()]
        return set(kind.model_fields).union(*map(_known_keys, inner))
    # A union, a tuple, an annotation: what it is made of.
    return set[str]().union(*map(_known_keys, get_args(kind)))


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _lower_first(text: str) -> str:
    text = text.removeprefix("Value error, ").replace("Input should", "it should")
    return text[:1].lower() + text[1:]
