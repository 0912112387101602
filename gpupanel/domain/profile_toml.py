"""A profile to TOML text and back. Every mistake in a text is told at once."""

import difflib
import re
from collections.abc import Iterable
from typing import Any, get_args

import tomli_w
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import SCHEMA_VERSION, Profile
from gpupanel.domain.toml_text import read_toml
from gpupanel.domain.value import Value


def dump_profile(profile: Profile) -> str:
    """The profile as TOML text, every key written out; :func:`parse_profile` reads it back."""
    return tomli_w.dumps(_without_none(profile.model_dump(mode="json")))


def parse_profile(text: str) -> Profile:
    """The profile in a TOML text.

    Raises:
        ProblemError: The text is no TOML, or no profile; one problem for each mistake.
    """
    try:
        document = read_toml(text)
    except ValueError as error:
        raise ProblemError(
            Problem(
                code="profile_not_toml",
                message=f"The profile is not valid TOML: {error}.",
                hint="Mend the line named above; text needs quotes, tables need [brackets].",
            )
        ) from error
    return profile_from_document(document)


def profile_from_document(document: dict[str, Any]) -> Profile:
    """The profile in a document as :mod:`tomllib` reads it.

    Raises:
        ProblemError: It is no profile; one problem for each mistake.
    """
    try:
        return Profile.model_validate(document)
    except ValidationError as error:
        raise ProblemError(*_problems(error.errors(), document)) from error


def _without_none(node: Any) -> Any:  # noqa: ANN401 - TOML has no null: such keys are left out
    if isinstance(node, dict):
        return {key: _without_none(value) for key, value in node.items() if value is not None}
    return node


def _problems(errors: Iterable[ErrorDetails], document: dict[str, Any]) -> list[Problem]:
    by_field: dict[str, Problem] = {}
    for details in errors:
        problem = _problem(details, document)
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


def _problem(details: ErrorDetails, document: dict[str, Any]) -> Problem:
    kind = details["type"]
    context = details.get("ctx", {})
    field = _field(details, document)
    name = field or "The profile"
    value = details["input"]
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
        hint = _did_you_mean(field.rpartition(".")[2], _known_keys()) or "Remove it."
    elif kind in ("missing", "union_tag_not_found"):
        code, message = "profile_key_missing", f"{name} is missing."
        hint = f"Add it; it must be one of {_choices(context)}." if _choices(context) else "Add it."
    elif kind in ("literal_error", "enum", "union_tag_invalid"):
        shown = context.get("tag", value)
        message = f"{name} is {_shown(shown)}, which is not one of {_choices(context)}."
        choices = re.findall(r"'([^']+)'", _choices(context))
        hint = _did_you_mean(str(shown), choices) or "Use one of them."
    if field.startswith("strategy.shares"):
        hint = 'Use "equal", or one whole number per replica, such as [48, 16].'
    return Problem(code=code, field=field, message=message, hint=hint)


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


def _known_keys(kind: object = Profile) -> set[str]:
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
