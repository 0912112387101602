"""A bundle's command does for the program's children what Python does."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gpupanel.domain.child_command import python_module_command

ROOT = Path(__file__).parents[2]
ENTRY = ROOT / "packaging" / "bundle_entry.py"
# As a bundle starts it: the command is the first word, and Python's variables are not looked at.
_START = (
    "import atexit, json, os, sys\n"
    "entry, sys.argv = sys.argv[1], ['gpupanel', *sys.argv[2:]]\n"
    "left = lambda: {'variables': dict(os.environ), 'path': sys.path}\n"
    "atexit.register(lambda: print(json.dumps(left()), file=sys.stderr))\n"
    "exec(compile(open(entry).read(), entry, 'exec'), {'__name__': '__main__'})\n"
)


def started(
    words: Sequence[str], folder: Path, variables: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "-c", _START, str(ENTRY), *words],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def left_by(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    return json.loads(done.stderr.splitlines()[-1])


def test_that_a_child_command_runs_its_module_with_its_words(tmp_path: Path) -> None:
    for name in ("json", "base64", "gpupanel"):
        (tmp_path / f"{name}.py").write_text("open('planted', 'w')")
    words = python_module_command("gpupanel.trainer", "one", "too many")[1:]
    done = started(words, tmp_path, {"PYTHONPATH": f".::/absolute:{tmp_path.name}"})
    assert done.returncode == 1
    assert "usage: python -m gpupanel.trainer RUN_DIR" in done.stderr
    assert not (tmp_path / "planted").exists()
    # Last: nothing there replaces a module of the bundle.
    *others, last = left_by(done)["path"]
    assert last == "/absolute"
    assert all(map(os.path.isabs, others))


def test_that_other_words_are_the_programs_own(tmp_path: Path) -> None:
    done = started(["--help"], tmp_path, {})
    assert done.returncode == 0
    assert "Usage: gpupanel" in done.stdout


def test_that_modules_of_others_are_not_run(tmp_path: Path) -> None:
    done = started(("-P", "-m", "base64", "-e"), tmp_path, {})
    assert done.returncode == 1
    assert "base64 is no module of gpupanel" in done.stderr


def test_that_children_get_the_environment_of_the_person(tmp_path: Path) -> None:
    loader = {"LD_LIBRARY_PATH": "/bundle", "_PYI_ARCHIVE_FILE": "/bundle/gpupanel"}
    words = python_module_command("gpupanel.trainer")[1:]
    for given in ({}, {"LD_LIBRARY_PATH": "/mine"}):
        before = {f"{name}_ORIG": value for name, value in given.items()}
        done = started(words, tmp_path, {**loader, **before})
        left = left_by(done)["variables"]
        assert {name: left[name] for name in left if name in loader or "_ORIG" in name} == given
