"""`gpupanel schema`: the format of a profile, for editors."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.cli.verb_group import VERBS
from gpupanel.domain.profile_schema import profile_schema

GUIDE = Path(__file__).parents[3] / "resources" / "guide"


@pytest.mark.parametrize("arguments", [["schema"], ["schema", "--json"]])
def test_that_the_schema_is_one_json_document_on_standard_output(arguments: list[str]) -> None:
    answer = CliRunner().invoke(app, arguments)

    assert answer.exit_code == 0
    assert answer.stderr == ""
    document = json.loads(answer.stdout)
    Draft202012Validator.check_schema(document)
    assert document == json.loads(json.dumps(profile_schema()))


def test_that_the_schema_has_no_other_argument() -> None:
    answer = CliRunner().invoke(app, ["schema", "digits.toml"])

    assert answer.exit_code == 2
    assert answer.stdout == ""


@pytest.mark.parametrize("verb", VERBS)
def test_that_each_verb_is_in_the_help_and_in_the_guide(verb: str) -> None:
    told = CliRunner().invoke(app, ["--help"]).stdout

    assert f" {verb} " in told
    assert f"\ngpupanel {verb} " in (GUIDE / "terminal.md").read_text(encoding="utf-8")


def test_that_the_guide_says_how_an_editor_gets_the_schema() -> None:
    text = (GUIDE / "first-training.md").read_text(encoding="utf-8")

    assert "gpupanel schema > gpupanel.schema.json" in text
    assert "#:schema ./gpupanel.schema.json" in text
    assert "(profile.md)" in text
