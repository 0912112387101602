"""Files as text: what scripts that stand alone do as training does it.

These are the files of ``trainer/parts``, and of the domain those that need nothing else of it.
"""

import ast
import re
from collections.abc import Collection, Iterator
from importlib.resources import files

_CODES_OF_CHECKS = re.compile(
    r"  # (?:noqa: [A-Z0-9]+(?:, [A-Z0-9]+)*|type: ignore\[[a-z-]+\])(?P<reason> - )?"
)
"""By these linters and type checkers let a line be; a reason behind it stays."""


PARTS_OF_DOMAIN = (
    "image_names",
    "images_in_table",
    "visible_text",
    "written_dates",
    "written_numbers",
    "written_tags",
)
"""The others are in ``trainer/parts``."""


def part_text(name: str) -> str:
    """What a file holds, without what it says of itself, and what it imports of other such files.

    It is read as text: who writes a script needs nothing that the file imports.

    Args:
        name: Of the file, without its suffix.
    """
    text = _whole(name)
    lines = text.splitlines()
    about, *statements = ast.parse(text).body
    for statement in reversed(statements):
        if isinstance(statement, ast.ImportFrom) and f"{statement.module}".startswith("gpupanel."):
            del lines[statement.lineno - 1 : statement.end_lineno]
    return "\n".join(lines[about.end_lineno :]).strip()


def part_title(name: str) -> str:
    """What the file is for: the first line of what it says of itself."""
    return (ast.get_docstring(ast.parse(_whole(name))) or "").partition("\n")[0]


def _whole(name: str) -> str:
    folder = ("domain",) if name in PARTS_OF_DOMAIN else ("trainer", "parts")
    file = files("gpupanel").joinpath(*folder, f"{name}.py")
    return file.read_text(encoding="utf-8")


def needed_of(text: str, names: Collection[str]) -> str:
    """The definitions of these names, and what of the rest they need.

    Args:
        text: Of a module.
        names: What it defines at its top.
    """
    lines, statements = text.splitlines(), ast.parse(text).body
    blocks: list[tuple[str, set[str], set[str]]] = []  # lines, what they define, what they use
    end = 0
    for statement in statements:
        written = "\n".join(lines[end : statement.end_lineno])
        end = statement.end_lineno or end
        if isinstance(statement, ast.ImportFrom):  # some of what it takes may be needed
            for each in statement.names:
                taken = ast.unparse(ast.ImportFrom(statement.module, [each], 0))
                blocks.append((taken, {each.asname or each.name}, set()))
        elif isinstance(statement, ast.Expr) and blocks:  # says what the constant above it is
            above, defined, used = blocks.pop()
            blocks.append((f"{above}\n{written}", defined, used))
        else:
            blocks.append((written, set(_defined(statement)), _used(statement)))
    needed, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += [each for _, defined, used in blocks if name in defined for each in used]
    kept = (written for written, defined, _ in blocks if defined & needed)
    return re.sub("\n{4,}", "\n\n\n", "\n".join(kept)).strip()


def _defined(statement: ast.stmt) -> Iterator[str]:
    targets: list[ast.expr] = []
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=names):
            yield from (each.asname or each.name for each in names)
        case ast.Assign():
            targets = statement.targets
        case _:
            targets = [statement.target] if isinstance(statement, ast.AnnAssign) else []
    for target in targets:
        yield from _names(target, ast.Store)


def _used(statement: ast.stmt) -> set[str]:
    return set(_names(statement, ast.Load))


def _names(statement: ast.AST, context: type[ast.expr_context]) -> Iterator[str]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, context):
            yield node.id


def without_codes_of_checks(text: str) -> str:
    """Python whose comments are for people alone."""
    return _CODES_OF_CHECKS.sub(lambda found: "  # " if found["reason"] else "", text)
