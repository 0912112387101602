"""Files of ``trainer/parts`` as text: what scripts that stand alone do as training does it."""

import ast
import re
from importlib.resources import files

_CODES_OF_CHECKS = re.compile(
    r"  # (?:noqa: [A-Z0-9]+(?:, [A-Z0-9]+)*|type: ignore\[[a-z-]+\])(?P<reason> - )?"
)
"""What tells linters and type checkers to let a line be; a reason behind it stays."""


def part_text(name: str) -> str:
    """What a file there holds, without what it says of itself.

    It is read as text: who writes a script needs nothing that the file imports.

    Args:
        name: Of the file, without its suffix.
    """
    return without_docstring(_whole(name))


def part_title(name: str) -> str:
    """What the file is for: the first line of what it says of itself."""
    return (ast.get_docstring(ast.parse(_whole(name))) or "").partition("\n")[0]


def _whole(name: str) -> str:
    file = files("gpupanel").joinpath("trainer", "parts", f"{name}.py")
    return file.read_text(encoding="utf-8")


def without_docstring(text: str) -> str:
    """A module's text behind its first statement, which says what the module is for."""
    end = ast.parse(text).body[0].end_lineno
    return "\n".join(text.splitlines()[end:]).strip()


def without_codes_of_checks(text: str) -> str:
    """Python whose comments are for people alone."""
    return _CODES_OF_CHECKS.sub(lambda found: "  # " if found["reason"] else "", text)
