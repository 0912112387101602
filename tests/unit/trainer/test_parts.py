"""What scripts contain of the trainer as text stands alone, and several of them side by side."""

import ast
import sys
from collections import Counter
from typing import Any

import pytest

from gpupanel.domain.script_parts import (
    PARTS_OF_DOMAIN,
    needed_of,
    part_text,
    part_title,
    without_codes_of_checks,
)
from tests.unit.parsed_package import PACKAGE

FILES = {
    path.stem: path
    for path in (
        *(PACKAGE / "trainer/parts").glob("*.py"),
        *(PACKAGE / f"domain/{name}.py" for name in PARTS_OF_DOMAIN),
    )
    if path.stem != "__init__"
}
PARTS = sorted(FILES)
IMPORTED = {"keras", "numpy", "PIL", "pyarrow", "tensorflow", "typing_extensions"}
IMPORTED |= sys.stdlib_module_names
"""What whoever trains has."""


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


def imported_by(text: str) -> set[str]:
    """The modules, where they are of gpupanel by their whole names."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {each.name.split(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            found.add(module if module.startswith("gpupanel.") else module.split(".")[0])
    return found


@pytest.mark.parametrize("name", PARTS)
def test_that_a_part_imports_nothing_that_a_script_has_not(name: str) -> None:
    modules = {".".join(path.relative_to(PACKAGE.parent).parts)[:-3] for path in FILES.values()}
    assert imported_by(FILES[name].read_text(encoding="utf-8")) <= IMPORTED | modules
    assert imported_by(part_text(name)) <= IMPORTED


def test_that_no_name_stands_in_two_parts() -> None:
    counts = Counter(name for part in PARTS for name in names_of(part_text(part)))
    assert [name for name, count in counts.items() if count > 1] == []


def is_of_gpupanel(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and str(statement.module).startswith("gpupanel.")


def test_that_a_part_is_read_without_what_the_file_says_of_itself() -> None:
    for name in PARTS:
        _, *statements = ast.parse(FILES[name].read_text(encoding="utf-8")).body
        kept = [ast.unparse(each) for each in statements if not is_of_gpupanel(each)]
        assert [ast.unparse(each) for each in ast.parse(part_text(name)).body] == kept
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
    taken = "from math import pi, tau as turn\nHALF = pi\nWHOLE = turn"
    assert needed_of(taken, ["WHOLE"]) == "from math import tau as turn\nWHOLE = turn"


def test_that_parts_that_need_each_other_read_alone_together() -> None:
    names: dict[str, Any] = {}
    for name in ("written_numbers", "written_dates", "written_tags", "images_in_table"):
        exec(part_text(name), names)
    assert names["number_in"]("1,234.5", names["NumberForm"](".", ",")) == 1234.5
    assert names["date_in"]("1/31/70", "mdy") == 30
    assert names["NamedImages"]("/d", ["a.png"]).places(["x/A"]) == [0]
    assert names["tags_in"]("a;b", names["tag_separator"](["a;b"])) == ("a", "b")
