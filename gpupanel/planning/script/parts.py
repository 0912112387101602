"""What a script does by the very text by which training does it: files of ``trainer/parts``."""

from gpupanel.domain.script_parts import part_text

_IMPORTED_BEFORE = ("import keras", "import numpy as np", "import tensorflow as tf")
"""A script has these from its beginning."""


def part(name: str) -> str:
    """The definitions of a file there, and what they import.

    Args:
        name: Of the file, without its suffix.
    """
    lines = part_text(name).splitlines()
    return "\n".join(line for line in lines if line not in _IMPORTED_BEFORE).strip()
