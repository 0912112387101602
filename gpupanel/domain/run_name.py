"""Names of runs: what a profile's name becomes in them, and which ones somebody may give."""

import re
from typing import Final

_LONGEST_SLUG: Final = 40
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")


def slug(profile_name: str) -> str:
    """A profile's name in letters that every folder, job and command can hold."""
    letters = re.sub(r"[^a-z0-9]+", "-", profile_name.lower()).strip("-")
    return letters[:_LONGEST_SLUG].strip("-") or "run"


def is_run_name(name: str) -> bool:
    """Whether somebody may give a run that name: it is a folder's, and no hidden one's."""
    return _NAME.fullmatch(name) is not None
