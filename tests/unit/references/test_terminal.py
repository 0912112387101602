"""The page of the terminal has every verb with all it takes, and says what is printed."""

import json
import re
from pathlib import Path

import pytest
import typer
from references.terminal import terminal_reference
from references.verb_answers import ANSWERS
from typer.core import TyperGroup

from gpupanel.cli.app import app
from gpupanel.cli.verb_group import VERBS
from tests.forked.terminal import gpupanel

GUIDE = Path(__file__).parents[3] / "resources" / "guide"
PAGE = terminal_reference()
SECTIONS = dict(re.findall(r"^## gpupanel ([a-z -]+)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))


def test_that_the_page_in_the_repository_is_current() -> None:
    is_current = (GUIDE / "terminal.md").read_text(encoding="utf-8") == PAGE
    assert is_current, "terminal.md was not written since a verb changed: make docs"


def test_that_every_verb_has_a_section() -> None:
    assert {*VERBS, "queue add", "desktop install"} <= SECTIONS.keys()
    assert "open" not in SECTIONS


def test_that_every_verb_says_what_it_gives_to_scripts() -> None:
    assert SECTIONS.keys() - ANSWERS.keys() == {"desktop"}
    assert ANSWERS.keys() - SECTIONS.keys() == set()


def _commands(group: TyperGroup, names: tuple[str, ...] = ()) -> dict[str, object]:
    """Every verb, as Typer itself understands it."""
    found = {}
    context = typer.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, TyperGroup):
            found |= _commands(command, (*names, name))
        if not command.hidden:
            found[" ".join((*names, name))] = command
    return found


@pytest.mark.parametrize(("name", "command"), _commands(typer.main.get_command(app)).items())
def test_that_every_argument_and_option_is_there(name: str, command: object) -> None:
    for parameter in command.params:  # type: ignore[attr-defined]
        if parameter.name == "help":
            continue
        for flag in parameter.opts if parameter.param_type_name == "option" else []:
            assert re.search(rf"`(-o, )?{flag}[` ]", SECTIONS[name]) or flag == "-o", flag
        if parameter.param_type_name == "argument":
            shown = parameter.metavar.replace("|", "` or `")
            assert f"| `{shown}` |" in SECTIONS[name]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("export", "| `-o, --output FILE` | The file to write. It has to be given. |"),
        (
            "export",
            "| `--quantize QUANTIZE` | Make a TFLite file smaller, and often faster. One of",
        ),
        ("export", "One of `float16`, `int8`. |"),
        ("export", "| `RUN` or `PROFILE` |"),
        ("trace", "From 1 to 1000. Default: 10."),
        ("trace", "| `--worker N` |"),
        ("queue move", "At least 1. |"),
        ("run", "130: stopped or suspended."),
        ("run", "`examples_per_second`"),
        ("schema", "Exit status 0: done."),
        ("export", "Beside a model stand a JSON file"),
    ],
)
def test_that_a_section_says_what_may_be_given(name: str, words: str) -> None:
    assert words in " ".join(SECTIONS[name].split("\n"))


@pytest.mark.parametrize(
    "verb",
    ["devices", "runs", "queue", "queue pause", "queue resume", "queue clear", "desktop remove"],
)
def test_that_the_keys_of_a_cheap_verb_are_those(verb: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("GPUPANEL_RUNS_DIR", str(tmp_path / "runs"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    done = gpupanel(*verb.split(), "--json")
    assert done.returncode in ANSWERS[verb].statuses
    assert tuple(json.loads(done.stdout)) == ANSWERS[verb].keys


@pytest.mark.parametrize("verb", ["check", "scan", "sweep"])
def test_that_the_keys_of_a_verb_about_a_profile_are_those(verb: str, tmp_path: Path) -> None:
    profile = tmp_path / "profile.toml"
    profile.write_text('[devices]\nvisible = ["cpu"]\n[sweep.values]\n"training.seed" = [1, 2]\n')
    more = ("--dry-run",) if verb == "sweep" else ()
    done = gpupanel(verb, profile, "--json", *more)
    assert done.returncode == 0, done.stderr
    keys = tuple(json.loads(done.stdout))
    assert keys == (ANSWERS[verb].keys if verb != "sweep" else ("count", "runs", "trials"))


@pytest.mark.parametrize("verb", ["check", "run", "scan", "summary", "bench", "queue add"])
def test_that_a_bad_profile_leaves_with_the_status_that_is_named(verb: str, tmp_path: Path) -> None:
    profile = tmp_path / "profile.toml"
    profile.write_text("bogus = 1\n")
    done = gpupanel(*verb.split(), profile, "--json")
    assert done.returncode == (1 if verb == "check" else 2)
    assert done.returncode in ANSWERS[verb].statuses
    assert json.loads(done.stdout)["problems"][0]["code"] == "profile_key_unknown"


@pytest.mark.parametrize("verb", ["watch", "stop", "suspend", "checkpoint", "resume", "trace"])
def test_that_a_run_that_is_not_there_leaves_with_1(verb: str, tmp_path: Path) -> None:
    done = gpupanel(verb, "nothing", "--runs-dir", tmp_path, "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["problems"][0]["code"] == "run_not_found"
