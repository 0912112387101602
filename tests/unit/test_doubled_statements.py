"""Nothing is done twice in a row by a slip of the hand."""

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "gpupanel"


def doubled(tree: ast.AST) -> Iterator[str]:
    """Statements that stand twice in a row in the same block."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, [])
            if isinstance(block, list):
                texts = [ast.unparse(statement) for statement in block]
                yield from (one for one, next_one in pairwise(texts) if one == next_one)


def test_that_a_doubled_statement_is_seen() -> None:
    assert list(doubled(ast.parse("def f():\n    a.b(1)\n    a.b(1)\n    c()"))) == ["a.b(1)"]


def test_that_no_statement_stands_twice_in_a_row() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix(): slips
        for path in PACKAGE.rglob("*.py")
        if (slips := list(doubled(ast.parse(path.read_text(encoding="utf-8")))))
    }
    assert found == {}
