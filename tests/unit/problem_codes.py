"""Every code that a problem of the package can have, found in its source.

A literal is a code where it is handed over as ``code``: to :class:`Problem`, to a function or a
value of the package with a parameter of that name, or in a variable of that name. Codes that are
made of parts are listed in :data:`MADE_OF_PARTS`; one that is neither is in :func:`unknown_codes`.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TypeVar

from gpupanel.domain.model_kind import ExampleKind
from gpupanel.domain.optimizer import Optimizer
from gpupanel.planning.self_test_findings import _CODES as SELF_TEST_CODES
from tests.unit.parsed_package import nodes, parsed_package

_Node = TypeVar("_Node", bound=ast.AST)
_CODE = re.compile(r"[a-z][a-z0-9_]*")
_ENDS_OF_CHILDREN = ("not_started", "too_slow", "died", "unreadable")
_CHILDREN = "Question"
"""Its ``code`` begins the codes of what can happen to a process that answers."""

MADE_OF_PARTS: dict[tuple[str, str], set[str]] = {
    ("domain/model_fit.py", "f'model_needs_{model.takes}'"): {
        f"model_needs_{kind}" for kind in ExampleKind if kind is not ExampleKind.ANY
    },
    ("planning/rules/training_rules.py", "f'{name}_unused'"): {
        f"{name}_unused" for optimizer in Optimizer for name in optimizer.traits.takes
    },
    ("planning/self_test_findings.py", "_CODES[case.kind]"): set(SELF_TEST_CODES.values()),
    ("runs/following/unread_problems.py", "f'{part}_unread'"): {"profile_unread", "plan_unread"},
    ("trainer/datasets/bundled.py", "f'data_{what}_missing'"): {
        "data_digits_missing",
        "data_wines_missing",
    },
    ("trainer/datasets/scanning/findings.py", "f'scan_{name}_leak'"): {
        "scan_validation_leak",
        "scan_test_leak",
    },
    ("trainer/datasets/scanning/findings.py", "f'scan_class_not_in_{part.name}'"): {
        f"scan_class_not_in_{name}" for name in ("training", "validation", "test")
    },
}
"""By file and expression: each was read where it is made."""
_KNOWN = {
    ("planning/script/stand_alone.py", "with_imports_first(code)"),  # a script
}


@cache
def codes() -> frozenset[str]:
    """Every code of the package."""
    found = set().union(*MADE_OF_PARTS.values())
    for _, expression in _expressions():
        found |= set(_literals(expression))
    for tree in parsed_package().values():
        found |= _of_variables(tree)
        for call in _of_kind(tree, ast.Call):
            if _name(call.func) == _CHILDREN:
                (prefix,) = _literals(_argument(call, None))
                given = {each.arg: ast.unparse(each.value) for each in call.keywords}
                if "has_one_code" in given:
                    found.add(prefix)
                    continue
                found |= {f"{prefix}_{end}" for end in _ENDS_OF_CHILDREN}
                if given["limit_s"] == "math.inf":
                    found.remove(f"{prefix}_too_slow")
    return frozenset(found)


def unknown_codes() -> list[tuple[str, str]]:
    """Where a code is made of parts that nobody has listed: file and expression."""
    made = [
        (path, ast.unparse(expression))
        for path, expression in _expressions()
        if not _is_known(expression)
    ]
    return [each for each in made if each not in MADE_OF_PARTS and each not in _KNOWN]


def _is_known(expression: ast.expr) -> bool:
    """Whether literals, a variable or a parameter of that name, or another problem's code."""
    if isinstance(expression, ast.IfExp):
        return _is_known(expression.body) and _is_known(expression.orelse)
    names = (isinstance(expression, ast.Name) and expression.id == "code") or (
        isinstance(expression, ast.Attribute) and expression.attr == "code"
    )
    return names or isinstance(expression, ast.Constant)


def _expressions() -> Iterator[tuple[str, ast.expr]]:
    """What is handed over as the code of something, with its file."""
    methods = {
        name for tree in parsed_package().values() for name in _takers(tree, of_classes=True)
    }
    everywhere = {
        name: place
        for tree in parsed_package().values()
        for name, place in _takers(tree, of_classes=False).items()
    }
    for path, tree in parsed_package().items():
        imported = {
            alias.name: everywhere[alias.name]
            for node in _of_kind(tree, ast.ImportFrom)
            for alias in node.names
            if alias.name in everywhere
        }
        takers = imported | _takers(tree, of_classes=False)
        for node in _of_kind(tree, ast.Call):
            if _name(node.func) == _CHILDREN:
                continue
            name, by_name = _name(node.func), isinstance(node.func, ast.Name)
            if by_name and name in takers:
                yield from ((path, each) for each in _given(_argument(node, takers[name])))
            elif not by_name and name in methods:
                yield from ((path, each) for each in _given(_argument(node, 0)))


@cache
def _of_kind(tree: ast.Module, kind: type[_Node]) -> tuple[_Node, ...]:
    """Nodes of one kind, found once for each tree: every question asks for them."""
    return tuple(node for node in nodes(tree) if isinstance(node, kind))


@cache
def _takers(tree: ast.Module, *, of_classes: bool) -> dict[str, int | None]:
    """Functions and values with a ``code: str``, and at which place; or else methods.

    Attributes that are texts of code, such as a script's, hold more than a word.
    """
    of_a_class = {
        id(inner)
        for node in _of_kind(tree, ast.ClassDef)
        for inner in node.body
        if isinstance(inner, ast.FunctionDef)
    }
    found: dict[str, int | None] = {}
    for node in nodes(tree):
        if isinstance(node, ast.FunctionDef) and (id(node) in of_a_class) is of_classes:
            arguments = [*node.args.posonlyargs, *node.args.args]
            names = [each.arg for each in arguments if each.arg != "self"]
            texts = {each.arg for each in [*arguments, *node.args.kwonlyargs] if _is_text(each)}
            if "code" in texts:
                found[node.name] = names.index("code") if "code" in names else None
        if isinstance(node, ast.ClassDef) and not of_classes:
            fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
            names = [ast.unparse(each.target) for each in fields]
            if "code" in names and ast.unparse(fields[names.index("code")].annotation) == "str":
                found[node.name] = names.index("code")
    return found


def _is_text(argument: ast.arg) -> bool:
    return argument.annotation is not None and ast.unparse(argument.annotation) == "str"


def _argument(call: ast.Call, place: int | None) -> ast.expr | None:
    by_name = [each.value for each in call.keywords if each.arg == "code"]
    if by_name:
        return by_name[0]
    return call.args[place] if place is not None and place < len(call.args) else None


def _given(expression: ast.expr | None) -> Iterable[ast.expr]:
    """What may be a code: a sentence or a script is none."""
    literals = list(_literals(expression))
    if expression is None or (isinstance(expression, ast.Constant) and not literals):
        return
    yield expression


def _literals(expression: ast.expr | None) -> Iterator[str]:
    if isinstance(expression, ast.IfExp):
        yield from _literals(expression.body)
        yield from _literals(expression.orelse)
    elif isinstance(expression, ast.Constant) and _CODE.fullmatch(str(expression.value)):
        yield str(expression.value)


@cache
def _of_variables(tree: ast.Module) -> frozenset[str]:
    """Of ``code = ...``, ``code, message = ...`` and ``for code, ... in (...)``."""
    return frozenset(_in_variables(tree))


def _in_variables(tree: ast.Module) -> Iterator[str]:
    for node in nodes(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _literals(_at(target, node.value))
        elif isinstance(node, ast.comprehension | ast.For) and isinstance(node.iter, ast.Tuple):
            for each in node.iter.elts:
                yield from _literals(_at(node.target, each))


def _at(target: ast.expr, value: ast.expr) -> ast.expr | None:
    """What of a value becomes the variable ``code``."""
    if isinstance(target, ast.Name):
        return value if target.id == "code" else None
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, other in zip(target.elts, value.elts, strict=False):
            found = _at(one, other)
            if found is not None:
                return found
    return None


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Subscript):
        return _name(function.value)
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
