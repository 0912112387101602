"""A signal is connected with the child that owns it: no class hands on that of one child.

Handed on by one class after the other, a signal is declared, documented and connected once more
for each, and where it comes from is found only by following all of them. A class that gathers what
several children say (rows, cards, two inputs of one kind) has a signal of its own.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping

from tests.unit.parsed_package import nodes, parsed_package

OF_QT = {"clicked", "toggled", "triggered"}
"""A click on a button becomes what a person wants by being named so."""
SPOKEN_BY_ALL = {"valueChanged", "errorChanged", "errorsChanged"}
"""Inputs, forms and panels say these, whatever they are made of."""
WORKERS = "ui/workers/"
"""Facades say in the window's thread what their worker says in its own."""
STAY = {
    "DetailsFold.endRequested": "the list of processes is made as the details are unfolded",
    "DoctorBinding.selfTestRequested": "the dialog is made as it is first opened",
    "EvaluationPanel.examplesRequested": "the evaluation is made with the first result",
    "EvaluationPanel.folderRequested": "the list of predictions is made with the first result",
    "EvaluationPanel.saveRequested": "the list of predictions is made with the first result",
    "HostFilesDialog.copyRequested": "the dialog of files of here is made as it is asked for",
    "TimePlot.timeRangeReset": "the canvas is made as there is something to draw",
}
LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def own_name(node: ast.AST) -> str | None:
    """``name`` of ``self.name``; ``None`` of anything else."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr if node.value.id == "self" else None
    return None


def called_on(node: ast.AST, method: str) -> ast.expr | None:
    """What a method of that name is called on; ``None``: something else stands here."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.value if node.func.attr == method else None
    return None


class Signals(ast.NodeVisitor):
    """The signals of a class: declared, emitted, and connected with those of its children."""

    def __init__(self, class_: ast.ClassDef) -> None:
        self.name = class_.name
        self.bases = {base for each in class_.bases if (base := base_name(each))}
        self.declared: set[str] = set()
        self.emitted: set[str] = set()
        self._given: set[str] = set()
        self._connected: list[tuple[str, ast.Attribute]] = []
        methods = {each.name: each for each in class_.body if isinstance(each, ast.FunctionDef)}
        self._handing = {name: said for name, each in methods.items() if (said := handed_on(each))}
        loops = [
            inner
            for each in ast.walk(class_)
            if isinstance(each, LOOPS)
            for inner in ast.walk(each)
        ]
        called = {own_name(each.func) for each in loops if isinstance(each, ast.Call)}
        many = [inner for name in called & methods.keys() for inner in ast.walk(methods[name])]
        self._of_many = {id(each) for each in (*loops, *many)}
        self.visit(class_)
        connected = {slot for slot, _ in self._connected}
        self.emitted |= {said for name, said in self._handing.items() if name not in connected}

    @property
    def heard(self) -> list[tuple[str, ast.Attribute]]:
        """Each signal that hands on another one, and that."""
        return [(self._handing.get(slot, slot), source) for slot, source in self._connected]

    def visit_Assign(self, node: ast.Assign) -> None:
        made_by = node.value.func if isinstance(node.value, ast.Call) else None
        if isinstance(made_by, ast.Name) and made_by.id == "Signal":
            self.declared |= {each.id for each in node.targets if isinstance(each, ast.Name)}
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name not in self._handing:
            # What a method is given may be another child each time it is called.
            is_once = node.name == "__init__"
            self._given = set() if is_once else {each.arg for each in node.args.args[1:]}
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        emitted, source = called_on(node, "emit"), called_on(node, "connect")
        if emitted is not None and (name := own_name(emitted)):
            self.emitted.add(name)
        if isinstance(source, ast.Attribute) and node.args:
            slot = node.args[0]
            is_emit = isinstance(slot, ast.Attribute) and slot.attr == "emit"
            name = own_name(slot.value if is_emit else slot)
            if name is not None:
                is_of_many = id(node) in self._of_many or root_name(source) in self._given
                times = 2 if is_of_many else 1
                self._connected += [(name, source)] * times
        self.generic_visit(node)


def root_name(node: ast.expr) -> str | None:
    """``name`` of ``name.part.signal``."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def base_name(base: ast.expr) -> str | None:
    """``Base`` of ``Base`` and of ``Base[Value]``."""
    named = base.value if isinstance(base, ast.Subscript) else base
    return named.id if isinstance(named, ast.Name) else None


def handed_on(method: ast.FunctionDef) -> str | None:
    """The signal that a method only emits with just what it is given; ``None``: it does more."""
    body = [each.value for each in method.body if isinstance(each, ast.Expr)]
    calls = [each for each in body if not isinstance(each, ast.Constant)]
    if len(body) < len(method.body) or len(calls) != 1:
        return None
    emitted = called_on(calls[0], "emit")
    if emitted is None or not isinstance(calls[0], ast.Call):
        return None
    given = [each.arg for each in method.args.args[1:]]
    return own_name(emitted) if [ast.unparse(each) for each in calls[0].args] == given else None


def forwards(trees: Mapping[str, ast.Module]) -> dict[str, str]:
    """The signals of which each only says what one child of ours says, and that child's."""
    classes = [
        Signals(node)
        for tree in trees.values()
        for node in nodes(tree)
        if isinstance(node, ast.ClassDef)
    ]
    by_name = {each.name: each for each in classes}
    ours = {name for each in classes for name in each.declared}
    emitted, heard = set(), defaultdict(list)
    for each in classes:
        owners = {name: one.name for one in lineage(each, by_name) for name in one.declared}
        emitted |= {f"{owners.get(name)}.{name}" for name in each.emitted}
        for name, source in each.heard:
            if name in owners and name not in SPOKEN_BY_ALL:
                heard[f"{owners[name]}.{name}"].append(source)
    return {
        name: ast.unparse(sources[0])
        for name, sources in heard.items()
        if len(sources) == 1 and name not in emitted and sources[0].attr in ours - OF_QT
    }


def lineage(class_: Signals, by_name: Mapping[str, Signals]) -> Iterator[Signals]:
    """What a class inherits from, the farthest first, and itself."""
    for base in class_.bases & by_name.keys():
        yield from lineage(by_name[base], by_name)
    yield class_


def found_in(*classes: str) -> dict[str, str]:
    """The forwards of a row with its buttons, and of these classes."""
    row = "class Row:\n asked = Signal()\n def _ask(self):\n  self.asked.emit()\n"
    return forwards({"classes": ast.parse(row + "\n".join(classes))})


def test_that_the_signal_of_one_child_that_is_handed_on_is_seen() -> None:
    head = "class List:\n wanted = Signal()\n def __init__(self):\n  self._row.asked.connect("
    for slot in (
        "self.wanted)",
        "self.wanted.emit)",
        "self._on)\n def _on(self):\n  self.wanted.emit()",
    ):
        assert found_in(head + slot) == {"List.wanted": "self._row.asked"}


def test_that_a_signal_that_gathers_or_says_more_is_none_of_those() -> None:
    head = "class List:\n wanted = Signal()\n def __init__(self):\n"
    once = "  self._row.asked.connect(self.wanted)\n"
    made = " def _new(self):\n  row = Row()\n  row.asked.connect(self.wanted)\n"
    given = " def _on(self, row):\n  row.asked.connect(self.wanted)\n"
    for body in (
        once + "  self._other.asked.connect(self.wanted)",
        once + " def want(self):\n  self.wanted.emit()",
        "  for row in self._rows:\n   row.asked.connect(self.wanted)",
        "  self._rows = [self._new() for _ in range(3)]\n" + made,
        "  self._row.asked.connect(self._on)\n def _on(self):\n  self.wanted.emit(self._row)",
        "  self._rows.made.connect(self._on)\n" + given,
        "  self._button.clicked.connect(self.wanted)",
    ):
        assert found_in(head + body) == {}
    longer = "class Longer(List):\n def add(self):\n  self._more.asked.connect(self.wanted)"
    assert found_in(head + once, longer) == {}


def test_that_no_signal_of_the_window_only_hands_on_that_of_one_child() -> None:
    trees = {path: tree for path, tree in parsed_package().items() if path.startswith("ui/")}
    facades = {
        node.name
        for path, tree in trees.items()
        if path.startswith(WORKERS)
        for node in nodes(tree)
        if isinstance(node, ast.ClassDef)
    }
    found = {
        name: source
        for name, source in forwards(trees).items()
        if name.partition(".")[0] not in facades
    }
    assert {name: source for name, source in found.items() if name not in STAY} == {}
    assert STAY.keys() <= found.keys(), "what is listed and is no forward any more"
