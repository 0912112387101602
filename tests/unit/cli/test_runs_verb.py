"""`gpupanel runs`: the table of the window, in a terminal."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.domain.events import RunEnded
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.history.label import change_label
from tests.fakes.run_directory import STARTED_S, WrittenRun


def told(*arguments: str) -> str:
    return CliRunner().invoke(app, ["runs", *arguments]).output


def written(runs_dir: Path, name: str) -> WrittenRun:
    run = WrittenRun(runs_dir, Profile(name=name))
    run.begin()
    run.step(15)
    return run


def test_that_the_table_has_the_columns_in_which_there_is_something(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So wide that no word is folded.
    monkeypatch.setattr("gpupanel.cli.output.answers.width", 240)
    with written(runs_dir, "ended") as run:
        run.end()
    lines = told().splitlines()
    assert lines[0].split() == [
        "run",
        "started",
        "outcome",
        "took",
        "accuracy",
        "loss",
        "examples/s",
        "devices",
    ]
    assert lines[1].split()[0] == run.layout.name
    assert "completed" in lines[1]
    assert lines[1].rstrip().endswith("1,234  a CPU")
    change_label(run.layout, name="[best]", notes="first\nsecond")
    with written(runs_dir, "going"):
        text = told()
    assert "[best]" in text
    assert "first" in text
    assert "second" not in text
    assert "running, 50 %" in text


def test_that_what_a_test_set_showed_has_columns_of_its_own(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpupanel.cli.output.answers.width", 240)
    with written(runs_dir, "tested") as run:
        metrics = Metrics(loss=0.1, test_loss=0.3125, test_accuracy=0.9375)
        run.write(RunEnded(time_s=STARTED_S + 60, outcome=Outcome.COMPLETED, metrics=metrics))
    title, line = told().splitlines()
    assert title.split()[4:8] == ["test", "accuracy", "test", "loss"]
    assert line.split()[-4:-2] == ["0.9375", "0.3125"]


def test_that_the_keys_of_the_document_stay(runs_dir: Path) -> None:
    with written(runs_dir, "one") as run:
        run.end()
    (document,) = json.loads(told("--json"))["runs"]
    before = {"name", "path", "profile_name", "started_s", "ended_s", "outcome", "is_running"}
    before |= {"metrics", "examples_per_second", "devices", "problem"}
    assert before <= document.keys()
    assert document["devices"] == ["a CPU"]
    assert document["label"] == document["notes"] == ""


def test_that_a_folder_that_cannot_be_listed_is_one_sentence(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: object) -> object:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("gpupanel.runs.history.summaries.os.scandir", refuse)
    answer = CliRunner().invoke(app, ["runs", "--json"])
    assert answer.exit_code == 1
    assert json.loads(answer.stdout)["problems"][0]["code"] == "not_permitted"


def test_that_a_filter_finds_runs_by_their_values_settings_and_tags(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpupanel.cli.output.answers.width", 240)
    for name, epochs in (("short", 2), ("long", 20)):
        profile = Profile(name=name, training=TrainingSettings(epochs=epochs))
        with WrittenRun(runs_dir, profile) as run:
            run.begin()
            run.end()
    change_label(run.layout, tags=("baseline",))

    def names(wanted: str) -> list[str]:
        document = json.loads(told("--filter", wanted, "--json"))
        return [each["profile_name"] for each in document["runs"]]

    assert names("epochs > 10") == ["long"]
    assert names("tag:baseline") == ["long"]
    assert sorted(names("val_accuracy > 0.9")) == ["long", "short"]
    document = json.loads(told("--json", "--filter", "long"))
    assert document["runs"][0]["tags"] == ["baseline"]
    assert "No run is found by that (2 in all)." in told("--filter", "epochs > 100")
    assert "baseline" in told()


def test_that_a_filter_that_is_not_understood_is_refused_with_a_sentence(runs_dir: Path) -> None:
    with written(runs_dir, "one"):
        result = CliRunner().invoke(app, ["runs", "--filter", "epoch > 3"])
    assert result.exit_code == 1
    assert "Did you mean epochs?" in result.output
