"""Files of ``trainer/parts`` as text: what scripts that stand alone do as training does it."""

import ast
from importlib.resources import files


def part_text(name: str) -> str:
    """What a file there holds, without what it says of itself.

    It is read as text: who writes a script needs nothing that the file imports.

    Args:
        name: Of the file, without its suffix.
    """
    file = files("gpupanel").joinpath("trainer", "parts", f"{name}.py")
    return without_docstring(file.read_text(encoding="utf-8"))


def without_docstring(text: str) -> str:
    """A module's text behind its first statement, which says what the module is for."""
    end = ast.parse(text).body[0].end_lineno
    return "\n".join(text.splitlines()[end:]).strip()
