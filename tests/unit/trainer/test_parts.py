"""What scripts contain of the trainer as text stands alone, and several of them side by side."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from gpupanel.domain.script_parts import (
    needed_of,
    part_text,
    part_title,
    without_codes_of_checks,
)
from tests.unit.parsed_package import PACKAGE

PARTS = sorted(
    path.stem for path in (PACKAGE / "trainer/parts").glob("*.py") if path.stem != "__init__"
)
IMPORTED = {
    "collections",
    "contextlib",
    "contextvars",
    "dataclasses",
    "enum",
    "functools",
    "inspect",
}
IMPORTED |= {"keras", "math", "numpy", "PIL", "pyarrow", "re", "tensorflow", "typing"}
IMPORTED |= {"unicodedata"}
"""Of Python's library, and what whoever trains has."""


def names_of(text: str) -> set[str]:
    """What a file defines, at its top."""
    found = set()
    for node in ast.parse(text).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Assign(targets=targets):
                found |= {each.id for each in targets if isinstance(each, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
    return found


@pytest.mark.parametrize("name", PARTS)
def test_that_a_part_imports_nothing_that_a_script_has_not(name: str) -> None:
    imported: set[str] = set()
    for node in ast.walk(ast.parse(part_text(name))):
        if isinstance(node, ast.Import):
            imported |= {each.name.split(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").split(".")[0])
    assert imported <= IMPORTED


def test_that_no_name_stands_in_two_parts() -> None:
    counts = Counter(name for part in PARTS for name in names_of(part_text(part)))
    assert [name for name, count in counts.items() if count > 1] == []


def test_that_a_part_is_read_without_what_the_file_says_of_itself() -> None:
    for name in PARTS:
        whole = Path(PACKAGE / f"trainer/parts/{name}.py").read_text(encoding="utf-8")
        assert whole.rstrip().endswith(part_text(name))
        assert ast.get_docstring(ast.parse(part_text(name))) is None


def test_that_a_script_says_of_each_part_what_it_is_for() -> None:
    title = "Random numbers of layers by step and example: any division of a batch has the same."
    assert part_title("random_numbers") == title


def test_that_people_read_the_reasons_in_a_part_and_not_what_checks_let_be() -> None:
    lines = """
a = 1  # noqa: SLF001
b = 2  # noqa: FBT001, FBT002 - as Keras has it
c = 3  # type: ignore[misc]
d = 4  # what it is
"""
    expected = "\na = 1\nb = 2  # as Keras has it\nc = 3\nd = 4  # what it is\n"
    assert without_codes_of_checks(lines) == expected


def test_that_a_script_contains_what_it_needs_of_a_part_and_nothing_else() -> None:
    text = '''import math
import operator

ONE = 1
"""Is one."""
TWO = 2


def used(value):
    # The root of one more.
    return math.sqrt(value + ONE)


def unused(value):
    return operator.neg(value)


def wanted(value):
    return used(value)
'''
    needed = needed_of(text, ["wanted"])
    assert names_of(needed) == {"ONE", "used", "wanted"}
    assert needed.startswith('import math\n\nONE = 1\n"""Is one."""\n\n\ndef used')
    assert "# The root" in needed
    assert needed_of(text, ["TWO"]) == "TWO = 2"
