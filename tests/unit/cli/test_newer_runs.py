"""Runs of a newer version in the terminal: listed, looked at, and not resumed."""

import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.domain.run_layout import RunLayout
from tests.fakes.run_directory import WrittenRun

FOREIGN = '{"kind":"qubits_entangled","time_s":5.0,"qubits":7}\n'


def told(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def ended(runs_dir: Path, foreign_lines: int = 0) -> RunLayout:
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(4)
        with run.layout.events.open("a") as file:
            file.writelines([FOREIGN] * foreign_lines)
        run.end()
    return run.layout


def make_profile_newer(layout: RunLayout) -> None:
    text = layout.profile.read_text().replace("schema_version = 1", "schema_version = 2")
    layout.profile.write_text(text + "\n[quantum]\nqubits = 7\n")


def make_plan_newer(layout: RunLayout) -> None:
    plan = json.loads(layout.plan.read_text())
    layout.plan.write_text(json.dumps({**plan, "qubits": 7}))


def test_that_lines_that_cannot_be_read_are_counted_and_reported_once(runs_dir: Path) -> None:
    watched = told("watch", ended(runs_dir, foreign_lines=3).name)
    assert watched.exit_code == 0
    told_once = " ".join(watched.stderr.split())
    assert told_once.count("left out") == 1
    assert (
        "3 lines of this run were written by a newer gpupanel, or are damaged, and are left out."
        in told_once
    )


def test_that_scripts_read_how_many_lines_could_not_be_read(runs_dir: Path) -> None:
    watched = told("watch", ended(runs_dir, foreign_lines=2).name, "--json")
    assert json.loads(watched.stdout)["unread_lines"] == 2
    whole = told("watch", ended(runs_dir).name, "--json")
    assert json.loads(whole.stdout)["unread_lines"] == 0
    assert "left out" not in whole.stderr


@pytest.mark.parametrize("make_newer", [make_profile_newer, make_plan_newer])
def test_that_a_newer_run_is_listed_and_watched(
    runs_dir: Path, make_newer: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So wide that no word is folded.
    monkeypatch.setattr("gpupanel.cli.output.answers.width", 240)
    layout = ended(runs_dir)
    assert callable(make_newer)
    make_newer(layout)
    assert "completed, newer version" in told("runs").output
    (document,) = json.loads(told("runs", "--json").output)["runs"]
    assert document["flaw"]["message"].endswith("not all of it can be shown here.")

    watched = told("watch", layout.name)
    assert watched.exit_code == 0
    assert "completed" in watched.stdout


def test_that_watching_without_a_profile_says_once_what_is_missing(runs_dir: Path) -> None:
    layout = ended(runs_dir)
    make_profile_newer(layout)
    words = " ".join(told("watch", layout.name).stderr.split())
    assert words.count("so its number of epochs is not known") == 1
    assert "format version 2" in words
    assert "epoch 1 loss" in words
    assert "/0" not in words


@pytest.mark.parametrize(
    ("make_newer", "sentence"),
    [
        (make_profile_newer, "The profile has format version 2; this gpupanel reads 1."),
        (make_plan_newer, "cannot be resumed: its plan was written by a newer gpupanel."),
    ],
)
def test_that_resuming_a_newer_run_is_refused_in_one_sentence_and_touches_nothing(
    runs_dir: Path, make_newer: object, sentence: str
) -> None:
    with WrittenRun(runs_dir) as run:
        run.begin()
    layout = run.layout
    (layout.checkpoints / "step-000000004").mkdir(parents=True)
    assert callable(make_newer)
    make_newer(layout)
    before = {path: path.read_bytes() for path in layout.root.iterdir() if path.is_file()}

    resumed = told("resume", layout.name, "--json")
    assert resumed.exit_code == 1
    (problem,) = json.loads(resumed.stdout)["problems"]
    assert problem["message"].endswith(sentence)
    assert problem["hint"].startswith("Update gpupanel")
    assert {path: path.read_bytes() for path in before} == before
