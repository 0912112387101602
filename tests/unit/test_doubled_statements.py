"""Nothing is done twice in a row by a slip of the hand."""

import ast
from collections.abc import Iterator
from itertools import pairwise

from tests.unit.parsed_package import nodes, parsed_package


def doubled(tree: ast.Module) -> Iterator[str]:
    """Statements that stand twice in a row in the same block."""
    for node in nodes(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, [])
            if isinstance(block, list):
                pairs = pairwise(block)
                yield from (ast.unparse(one) for one, other in pairs if are_same(one, other))


def are_same(one: object, other: object) -> bool:
    """Whether two statements say the same; seen sooner than by writing out both."""
    if type(one) is not type(other):
        return False
    if isinstance(one, ast.AST):
        return all(are_same(getattr(one, name), getattr(other, name)) for name in one._fields)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(are_same, one, other))
    return one == other


def test_that_a_doubled_statement_is_seen() -> None:
    assert list(doubled(ast.parse("def f():\n    a.b(1)\n    a.b(1)\n    c()"))) == ["a.b(1)"]


def test_that_no_statement_stands_twice_in_a_row() -> None:
    found = {
        path: slips for path, tree in parsed_package().items() if (slips := list(doubled(tree)))
    }
    assert found == {}
