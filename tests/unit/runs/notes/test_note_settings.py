"""The file of the settings of notes: the person's own, which holds secrets."""

import json
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.domain.notes import NoteKind, NoteSettings, Way
from gpupanel.domain.problem import ProblemError
from gpupanel.runs.notes.note_settings import NOTES_FILE, problems_of

SETTINGS = NoteSettings(webhook="https://ntfy.sh/a-secret", ended=False, mail="ada")


def test_that_without_a_file_nothing_is_sent() -> None:
    assert NOTES_FILE.read() == NoteSettings()
    assert not any(NoteSettings().wants(kind) for kind in NoteKind)


def test_that_settings_are_kept_for_the_person_alone(config_dir: Path) -> None:
    NOTES_FILE.write(SETTINGS)
    assert NOTES_FILE.read() == SETTINGS
    assert stat.S_IMODE((config_dir / "notes.toml").stat().st_mode) == 0o600
    assert SETTINGS.ways == (Way.WEBHOOK, Way.MAIL)
    assert not SETTINGS.wants(NoteKind.ENDED)
    assert SETTINGS.wants(NoteKind.FAILED)


def test_that_a_file_that_others_can_read_is_told() -> None:
    NOTES_FILE.write(SETTINGS)
    assert problems_of(SETTINGS) == ()
    NOTES_FILE.path().chmod(0o644)
    (problem,) = problems_of(SETTINGS)
    assert problem.code == "notes_readable_by_others"
    assert problem.command.startswith("chmod 600 ")


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b'webhok = "https://ntfy.sh/a-secret"', "webhok"),
        (b'webhook = ["https://ntfy.sh/a-secret"]', "webhook"),
        (b'webhook = "https://ntfy.sh/a-secret', "it is no TOML"),
        (b"\xff\xfe", "it is no TOML"),
        (b"a=" + b"[" * 5_000, "it is no TOML"),
    ],
)
def test_that_a_file_that_cannot_be_used_is_told_without_its_secrets(
    config_dir: Path, content: bytes, named: str
) -> None:
    config_dir.mkdir()
    NOTES_FILE.path().write_bytes(content)
    with pytest.raises(ProblemError) as caught:
        NOTES_FILE.read()
    (problem,) = caught.value.problems
    assert named in problem.message
    assert "a-secret" not in problem.model_dump_json()


def test_that_the_verb_says_what_is_set_and_no_secret() -> None:
    NOTES_FILE.write(SETTINGS)
    said = CliRunner().invoke(app, ["notes"])
    assert said.exit_code == 0
    assert "By webhook, mail: a run has failed, a run stands still" in said.stdout
    assert "a-secret" not in said.output
    said = CliRunner().invoke(app, ["notes", "--json"])
    assert "a-secret" not in said.output
    document = json.loads(said.stdout)
    assert document["ways"] == ["webhook", "mail"]
    assert "ended" not in document["kinds"]


def test_that_a_test_without_any_way_fails() -> None:
    said = CliRunner().invoke(app, ["notes", "--test"])
    assert said.exit_code == 1
    assert "no way is set" in said.stdout
