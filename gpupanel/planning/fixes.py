"""What one click on a problem's fix does."""

from typing import Any

from gpupanel.domain.problem import Change, Fix
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import document_of, profile_from_document


def apply_fix(profile: Profile, fix: Fix) -> Profile:
    """The profile with the fix's changes made together.

    Raises:
        ProblemError: The changed profile is none; fixes that planning offers never do this.
    """
    document = document_of(profile)
    for change in fix.changes:
        _apply(document, change)
    return profile_from_document(document)


def _apply(document: dict[str, Any], change: Change) -> None:
    *tables, key = change.path
    for name in tables:
        if not isinstance(document.get(name), dict):
            # Not set, or one word in a table's place: placement = "auto".
            document[name] = {}
        document = document[name]
    if change.value is None:
        document.pop(key, None)
    else:
        document[key] = change.value
