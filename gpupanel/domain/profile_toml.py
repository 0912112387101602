"""A profile to TOML text and back. Every mistake in a text is reported at once."""

from typing import Any

import tomli_w
from pydantic import ValidationError

from gpupanel.domain.document_bounds import OF_A_PROFILE, beyond_bounds
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_migrations import migrated
from gpupanel.domain.profile_mistakes import mistakes, too_much
from gpupanel.domain.script_document import REPLACED, with_task
from gpupanel.domain.toml_text import read_toml


def dump_profile(profile: Profile) -> str:
    """The profile as TOML text, every key written out; :func:`parse_profile` reads it back."""
    return tomli_w.dumps(_without_none(document_of(profile)))


def document_of(profile: Profile) -> dict[str, Any]:
    """The profile as :func:`profile_from_document` reads it, without tables that mean nothing."""
    left_out = set[str]() if profile.script is None else set(REPLACED)
    return profile.model_dump(mode="json", exclude=left_out)


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
                hint="Fix the line named above; text needs quotes, tables need [brackets].",
            )
        ) from error
    return profile_from_document(document)


def profile_from_document(document: dict[str, Any]) -> Profile:
    """The profile in a document as :mod:`tomllib` reads it, of this or an older format.

    Raises:
        ProblemError: It is no profile; one problem for each mistake.
    """
    beyond = beyond_bounds(document, OF_A_PROFILE)
    if beyond is not None:
        raise ProblemError(too_much(beyond.path, beyond.words))
    try:
        return Profile.model_validate(with_task(migrated(document)))
    except ValidationError as error:
        raise ProblemError(*mistakes(error.errors())) from error


def _without_none(node: Any) -> Any:  # noqa: ANN401 - TOML has no null: such keys are left out
    if isinstance(node, dict):
        return {key: _without_none(value) for key, value in node.items() if value is not None}
    return node
