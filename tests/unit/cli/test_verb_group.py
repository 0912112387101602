"""Verbs are imported when they are named, and all of them are known."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from gpupanel.cli import app as app_module
from gpupanel.cli import verbs
from gpupanel.cli.app import app, with_verb
from gpupanel.cli.verb_group import OPEN, UNLISTED, VERBS

ROOT = Path(__file__).parents[3]
CHILD = """
import json, sys
sys.argv = ["gpupanel", "stop", "--help"]
from gpupanel.__main__ import main
try:
    main()
except SystemExit:
    pass
print(json.dumps([name for name in sys.modules if name.startswith("gpupanel.")]))
"""


def test_that_every_module_of_a_verb_is_a_verb() -> None:
    files = {path.stem.replace("_", "-") for path in Path(verbs.__path__[0]).glob("[!_]*.py")}
    assert files == {*UNLISTED, *VERBS}


@pytest.mark.parametrize("verb", [*UNLISTED, *VERBS])
def test_that_every_verb_says_how_it_is_called(verb: str) -> None:
    answer = CliRunner().invoke(app, [verb, "--help"])
    assert answer.exit_code == 0
    assert f" {verb} [OPTIONS]" in answer.stdout


def test_that_only_the_verb_that_is_named_is_imported() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD], cwd=ROOT, capture_output=True, text=True, check=True
    )
    imported = json.loads(done.stdout.splitlines()[-1])
    in_cli = {name for name in imported if name.startswith("gpupanel.cli.verbs.")}
    assert in_cli == {"gpupanel.cli.verbs.stop"}
    assert not [name for name in imported if name.startswith(("gpupanel.ui", "gpupanel.planning"))]


def test_that_verbs_are_verbs_and_all_else_is_opened() -> None:
    for verb in (OPEN, *VERBS):
        assert with_verb([verb, "x"]) == [verb, "x"]
    for opened in ("./stopp", "a.toml", "runs/stopp", "profile v2"):
        assert with_verb([opened]) == [OPEN, opened]
    assert with_verb([]) == []


def test_that_a_group_of_verbs_alone_says_what_it_has_and_nothing_of_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["gpupanel", "desktop"])
    with pytest.raises(SystemExit) as left:
        app_module.main()
    said = capsys.readouterr()
    assert left.value.code == 2
    assert "install" in said.out + said.err
    assert "error" not in said.out + said.err


def test_that_what_is_no_verb_is_not_found_by_the_group() -> None:
    group = typer.main.get_command(app)
    context = typer.Context(group)
    assert group.get_command(context, "verb_group") is None
    assert group.get_command(context, "../ui/app") is None
