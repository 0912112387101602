"""`gpupanel read-speed PROFILE`: how fast examples are read, for people and for scripts."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.cli.output import EXIT_BAD_PROFILE
from gpupanel.cli.verbs import read_speed as verb
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.read_speed import ReadSpeed
from gpupanel.runs.directory.profile_file import write_profile
from tests.fakes.questions import answering, asked_of

FOUND = ReadSpeed(
    examples=60_000, example_bytes=2**20, read_examples=3_000, read_seconds=2.0, opening_seconds=1.0
)


def asked(tmp_path: Path, *options: str, **parts: object) -> tuple[int, str]:
    path = tmp_path / "p.toml"
    write_profile(path, Profile(devices=DeviceSettings(visible=("cpu",)), **parts))
    answer = CliRunner().invoke(app, ["read-speed", str(path), *options], env={"COLUMNS": "400"})
    return answer.exit_code, answer.output


def test_that_the_speed_is_a_sentence_and_one_json_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = asked_of(verb.measure_reading, answering(FOUND))
    monkeypatch.setattr(verb, "measure_reading", question)
    status, text = asked(tmp_path)
    assert status == 0
    assert "1,500 examples a second can be read (1,500 MiB/s decoded)" in text
    assert "an epoch of 60,000 in 0:40." in text
    status, text = asked(tmp_path, "--json", "--seconds", "1")
    assert status == 0
    document = json.loads(text)
    assert document.pop("examples_per_second") == 1_500.0
    assert ReadSpeed.model_validate(document) == FOUND


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("raise SystemExit(3)", "ended with exit status 3"),
        ("print('{')", "gave an unreadable answer"),
    ],
)
def test_that_a_process_that_does_not_answer_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, words: str
) -> None:
    question = replace(verb.measure_reading, command=(sys.executable, "-c", code))
    monkeypatch.setattr(verb, "measure_reading", question)
    status, text = asked(tmp_path, "--json")
    (problem,) = json.loads(text)["problems"]
    assert (status, problem["code"]) == (1, "read_speed")
    assert words in problem["message"]


def test_that_a_profile_that_trains_nothing_is_refused(tmp_path: Path) -> None:
    status, text = asked(tmp_path, "--json", task="evaluate")
    assert status == EXIT_BAD_PROFILE
    assert "read_speed_without_training" in text
