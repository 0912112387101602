"""Nothing of the package starts a process otherwise than a child command says."""

import ast
from collections.abc import Iterator

import pytest

from tests.unit.parsed_package import nodes, parsed_package

CHILD_COMMAND = "domain/child_command.py"

STARTING = {
    "devices/child_process.py",
    "devices/conversation.py",
    "devices/private_network.py",
    "hosts/here/connection.py",  # the person's own ssh
    "hosts/here/file_copy.py",  # their rsync
    "runs/detached.py",
    "runs/following/event_tail.py",
    "runs/cluster/driver_process.py",
    "runs/notes/ways.py",  # what a person set, with their variables
    "runs/supervision/node_samples.py",
    "runs/processes/trainer_process.py",
    "runs/tensorboard.py",
    "trainer/__main__.py",
    "trainer/datasets/catalogue/preparing.py",
    "trainer/own_program/process.py",
    "trainer/private_network.py",  # a copy of itself
}
"""The modules that start a process; a new one hands on the environment as these do."""

OWN_PROGRAM = "trainer/own_program/process.py"
"""Starts what a person trusts, as their terminal would: in their folder, with their variables."""

BEGINS_AGAIN = "trainer/__main__.py"
"""The one module that begins its own process again: with all that its supervisor gave to it."""

NAMING_PYTHON = {
    "cli/own_program.py",  # whether a program's Python is this one
    "trainer/own_program/command.py",  # runs a file: Python searches that file's folder alone
    CHILD_COMMAND,
    "devices/doctor/examination.py",  # says which Python it is
    "devices/doctor/support_memory.py",  # remembers for which Python
    "devices/packages.py",  # commands for a person to copy
}
"""The modules that may read ``sys.executable``."""

STARTS = {
    *(f"subprocess.{name}" for name in ("Popen", "run", "call", "check_call", "check_output")),
    *(f"subprocess.{name}" for name in ("getoutput", "getstatusoutput")),
    *(f"os.{name}" for name in ("system", "popen", "fork", "forkpty")),
    *(f"os.exec{how}" for how in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
    *(f"os.spawn{how}" for how in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
    *("os.posix_spawn", "os.posix_spawnp", "pty.spawn", "psutil.Popen", "QProcess"),
    *("QProcess.startDetached", "QProcess.execute", "runpy.run_module", "runpy.run_path"),
    *("asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell"),
}
STARTING_MODULES = {"multiprocessing", "pty", "runpy", "pexpect", "joblib"}
UNPICKLING = {"pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle"}

FORBIDDEN = [
    ("import subprocess\nsubprocess.run(['ls'])", "subprocess.run"),
    ("from subprocess import Popen as P\nP(['ls'])", "subprocess.Popen"),
    ("import os as o\no.execv('a', ['a'])", "os.execv"),
    ("from PySide6.QtCore import QProcess\nQProcess.startDetached('a')", "QProcess.startDetached"),
    ("from PySide6 import QtCore\nQtCore.QProcess()", "QProcess"),
    ("from concurrent.futures import ProcessPoolExecutor", "ProcessPoolExecutor"),
    ("import multiprocessing.pool", "multiprocessing.pool"),
]


def full_names(tree: ast.Module) -> dict[str, str]:
    """What each imported name stands for: ``P`` for ``subprocess.Popen``."""
    names = {}
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                names[each.asname or each.name.partition(".")[0]] = (
                    each.name if each.asname else each.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module:
            for each in node.names:
                names[each.asname or each.name] = f"{node.module}.{each.name}"
    return names


def dotted(node: ast.expr, names: dict[str, str]) -> str:
    """``subprocess.Popen`` for what is written so, under whatever name it was imported."""
    if isinstance(node, ast.Name):
        found = names.get(node.id, node.id)
    elif isinstance(node, ast.Attribute):
        found = f"{dotted(node.value, names)}.{node.attr}"
    else:
        return ""
    return found.removeprefix("PySide6.QtCore.")


def imported(tree: ast.Module) -> Iterator[str]:
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    names = full_names(tree)
    for node in nodes(tree):
        if isinstance(node, ast.Call):
            yield dotted(node.func, names), node


def starts(tree: ast.Module) -> list[str]:
    """Whatever starts a process there."""
    found = [name for name, _ in calls(tree) if name in STARTS]
    found += [
        name
        for name in imported(tree)
        if name.partition(".")[0] in STARTING_MODULES or "ProcessPoolExecutor" in name
    ]
    return found


def names_python(tree: ast.Module) -> bool:
    """Whether it asks which Python this is."""
    names = full_names(tree)
    asking = (ast.Name, ast.Attribute)
    return any(
        isinstance(node, asking) and dotted(node, names) == "sys.executable" for node in nodes(tree)
    )


@pytest.mark.parametrize(("source", "found"), FORBIDDEN)
def test_that_a_start_is_seen_however_it_is_written(source: str, found: str) -> None:
    assert any(found in each for each in starts(ast.parse(source)))


def test_that_python_is_seen_however_it_is_named() -> None:
    for source in ("import sys\nsys.executable", "import sys as s\ns.executable"):
        assert names_python(ast.parse(source))
    assert names_python(ast.parse("from sys import executable as python\npython"))
    assert not names_python(ast.parse("path.executable"))


def test_that_processes_are_started_in_known_places_only() -> None:
    assert {path for path, tree in parsed_package().items() if starts(tree)} == STARTING


@pytest.mark.parametrize("path", sorted(STARTING))
def test_that_each_start_hands_on_the_environment_of_a_child(path: str) -> None:
    for name, call in calls(parsed_package()[path]):
        if path == BEGINS_AGAIN and name in STARTS:
            assert name == "os.execv"  # takes no environment: the process keeps its own
            assert not call.keywords
        elif name in STARTS - {"os.fork"}:
            given = {word.arg: word.value for word in call.keywords}
            is_own = path == OWN_PROGRAM
            environment = "environment_of(script, " if is_own else "child_environment("
            folder = "working_directory_of(script)" if is_own else "WORKING_DIRECTORY"
            assert ast.unparse(given["env"]).startswith(environment), name
            assert "shell" not in given
            assert ast.unparse(given["cwd"]) == folder, name


def test_that_no_other_module_names_python_or_a_module_to_run() -> None:
    for path, tree in parsed_package().items():
        assert path in NAMING_PYTHON or not names_python(tree), path
        literals = [node.value for node in nodes(tree) if isinstance(node, ast.Constant)]
        assert path == CHILD_COMMAND or not {"-m", "-c", "-P"} & set(map(str, literals)), path


def test_that_nothing_is_unpickled_but_arrays_in_data_sets_of_keras() -> None:
    using = {
        path
        for path, tree in parsed_package().items()
        if {name.partition(".")[0] for name in imported(tree)} & UNPICKLING
    }
    # Its unpickler builds arrays and lists and refuses every other name.
    assert using == {
        "trainer/parts/restricted_pickle.py",
    }


def test_that_only_code_that_a_person_trusts_is_evaluated() -> None:
    names = {
        path: {name for name, _ in calls(tree) if name in {"eval", "exec", "compile", "__import__"}}
        for path, tree in parsed_package().items()
    }
    assert {path for path, found in names.items() if found} <= {
        "script_process/start.py",
        "trainer/user_code.py",
    }
