"""What a script does by the very text by which training does it.

The files stay as they are while gpupanel runs, so each is read and taken apart once.
"""

from functools import cache

from gpupanel.domain.script_parts import (
    needed_of,
    part_text,
    part_title,
    without_codes_of_checks,
)

_IMPORTED_BEFORE = ("import keras", "import numpy as np", "import tensorflow as tf")
"""A script has these from its beginning."""


@cache
def part(name: str, *needed: str) -> str:
    """The definitions of a file there, what they are for, and what they import.

    Args:
        name: Of the file, without its suffix.
        needed: What it defines and the script uses; nothing: all of it.
    """
    text = definitions(name, *needed)
    apart = "\n\n\n" if text.startswith(("def ", "class ", "@")) else "\n\n"
    return f"# {part_title(name)}{apart}{text}"


@cache
def definitions(name: str, *needed: str) -> str:
    """As :func:`part`, of a few functions that say of themselves what they are for."""
    whole = without_codes_of_checks(part_text(name))
    lines = (needed_of(whole, needed) if needed else whole).splitlines()
    return "\n".join(line for line in lines if line not in _IMPORTED_BEFORE).strip()
