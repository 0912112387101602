"""Every file of the package, parsed once for all tests that look into them."""

import ast
from functools import cache
from pathlib import Path

import gpupanel

PACKAGE = Path(gpupanel.__file__).parent


@cache
def parsed_package() -> dict[str, ast.Module]:
    """By path in the package; nobody may change them."""
    return {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in PACKAGE.rglob("*.py")
    }


@cache
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """All that stands in a file, in the order of :func:`ast.walk`, listed once for each tree."""
    return tuple(ast.walk(tree))


def nodes_of_package() -> dict[str, tuple[ast.AST, ...]]:
    """All that stands in each file of the package."""
    return {path: nodes(tree) for path, tree in parsed_package().items()}
