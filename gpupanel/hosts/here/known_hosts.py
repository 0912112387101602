"""The hosts that a person's configuration of ``ssh`` names, to choose from."""

import re
from pathlib import Path
from typing import Final

from gpupanel.files.regular_files import open_regular

_MOST_BYTES: Final = 2**20
_MOST: Final = 200
_HOST: Final = re.compile(r"^\s*Host[\s=]+(.+?)\s*$", re.IGNORECASE | re.MULTILINE)
_PATTERN: Final = frozenset("*?!")


def configured_hosts(file: Path | None = None) -> tuple[str, ...]:
    """The names after ``Host`` that are no patterns, in their order (ssh_config(5)).

    Args:
        file: ``~/.ssh/config`` when left out; one that is not there, or cannot be read, names none.
    """
    try:
        with open_regular(file or Path.home() / ".ssh" / "config") as opened:
            text = opened.read(_MOST_BYTES).decode(errors="replace")
    except (OSError, RuntimeError):
        return ()
    words = (word.strip('"') for line in _HOST.findall(text) for word in line.split())
    names = dict.fromkeys(word for word in words if word and not _PATTERN & set(word))
    return tuple(names)[:_MOST]
