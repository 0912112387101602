"""What a script does by the very text by which training does it: files of ``trainer/parts``."""

from gpupanel.domain.script_parts import (
    needed_of,
    part_text,
    part_title,
    without_codes_of_checks,
)

_IMPORTED_BEFORE = ("import keras", "import numpy as np", "import tensorflow as tf")
"""A script has these from its beginning."""


def part(name: str, *needed: str) -> str:
    """The definitions of a file there, what they are for, and what they import.

    Args:
        name: Of the file, without its suffix.
        needed: What it defines and the script uses; nothing: all of it.
    """
    whole = without_codes_of_checks(part_text(name))
    lines = (needed_of(whole, needed) if needed else whole).splitlines()
    text = "\n".join(line for line in lines if line not in _IMPORTED_BEFORE).strip()
    apart = "\n\n\n" if text.startswith(("def ", "class ", "@")) else "\n\n"
    return f"# {part_title(name)}{apart}{text}"
