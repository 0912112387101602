"""Sweeps in the terminal: what is asked of them, and what is answered."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.domain.outcome import Outcome
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.queue.waking import scheduler_lives
from gpupanel.runs.sweeps import bayesian
from gpupanel.runs.sweeps.sweep_layout import SweepLayout
from gpupanel.runs.sweeps.sweep_record import (
    SweepEnded,
    TrialChosen,
    TrialEnded,
    TrialPruned,
    TrialStarted,
    append_event,
)

RUNNER = CliRunner()
GRID = (
    'name = "digits"\n[devices]\nvisible = ["cpu"]\n[strategy]\nkind = "one_device"\n'
    '[sweep]\nmethod = "grid"\n[sweep.values]\n"training.learning_rate" = [0.1, 0.01]\n'
    '"model.hidden" = [[64], [128, 64]]'
)


@pytest.fixture(autouse=True)
def _paused() -> None:
    """Nothing is started: these tests are about what is asked."""
    assert RUNNER.invoke(app, ["queue", "pause"]).exit_code == 0


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "digits.toml"
    path.write_text(GRID, encoding="utf-8")
    return path


def asked(*words: str | Path, status: int = 0) -> dict[str, Any]:
    """What is answered as JSON."""
    result = RUNNER.invoke(app, ["sweep", *map(str, words), "--json"])
    assert result.exit_code == status, result.output
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def started(profile: Path) -> SweepLayout:
    return SweepLayout(Path(asked(profile)["sweep"]))


def record(layout: SweepLayout) -> None:
    """Two trials: one has ended, the other is pruned; and one that cannot start."""
    for number, rate in ((1, 0.1), (2, 0.01), (3, 0.02)):
        values = {"training.learning_rate": rate}
        entry = f"{number:08x}"
        append_event(layout, TrialChosen(time_s=0, number=number, values=values, entry=entry))
    append_event(layout, TrialStarted(time_s=0, number=1, run="first"))
    append_event(layout, TrialPruned(time_s=0, number=1, epoch=2, best=0.5, median=0.25))
    append_event(
        layout, TrialEnded(time_s=0, number=1, outcome=Outcome.STOPPED, value=0.5, epoch=1)
    )
    append_event(layout, TrialStarted(time_s=0, number=2, run="second"))
    append_event(
        layout, TrialEnded(time_s=0, number=2, outcome=Outcome.COMPLETED, value=0.125, epoch=3)
    )


def test_that_a_sweep_is_started_with_its_folder_and_count(profile: Path, runs_dir: Path) -> None:
    document = asked(profile)
    layout = SweepLayout(Path(document["sweep"]))
    assert document["trials"] == 4
    assert layout.root.parent == runs_dir / "sweeps"
    assert QueueFiles(queue_dir()).read().sweeps == (layout.root,)
    assert not scheduler_lives(queue_dir())
    assert json.loads(RUNNER.invoke(app, ["runs", "--json"]).stdout)["runs"] == []
    printed = RUNNER.invoke(app, ["sweep", str(profile)])
    assert "4 trials, in the queue." in printed.stderr
    assert printed.stdout.strip().startswith(str(runs_dir / "sweeps"))


def test_that_a_dry_run_lists_the_trials_and_starts_nothing(profile: Path, runs_dir: Path) -> None:
    document = asked(profile, "--dry-run")
    assert document["count"] == 4
    assert document["trials"][1] == {
        "number": 2,
        "values": {"training.learning_rate": 0.1, "model.hidden": [128, 64]},
    }
    printed = RUNNER.invoke(app, ["sweep", str(profile), "--dry-run"]).stdout
    assert "[128, 64]" in printed
    assert not (runs_dir / "sweeps").exists()
    assert QueueFiles(queue_dir()).read().sweeps == ()


def test_that_a_bayesian_dry_run_says_how_many_there_will_be(profile: Path) -> None:
    profile.write_text(GRID.replace('"grid"', '"bayesian"'), encoding="utf-8")
    assert asked(profile, "--dry-run") == {"count": 4, "runs": 4, "trials": []}
    printed = RUNNER.invoke(app, ["sweep", str(profile), "--dry-run"]).stdout
    assert "Up to 4 trials" in printed


def test_that_a_missing_optuna_refuses_a_bayesian_sweep_with_the_command(
    profile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bayesian.importlib.util, "find_spec", lambda name: None)
    profile.write_text(GRID.replace('"grid"', '"bayesian"'), encoding="utf-8")
    problem = asked(profile, status=2)["problems"][0]
    assert problem["code"] == "optuna_missing"
    assert problem["command"] == "pip install 'gpupanel[sweep]'"


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("", ["sweep_empty"]),
        ('[sweep.values]\n"training.epoch" = [1]\n"x" = [2]', ["sweep_key_unknown"] * 2),
        ('[sweep.values]\n"training.epochs" = [0, -1]', ["profile_value_invalid"] * 2),
    ],
)
def test_that_each_mistake_is_reported_and_nothing_is_made(
    profile: Path, runs_dir: Path, text: str, codes: list[str]
) -> None:
    profile.write_text(text, encoding="utf-8")
    assert [each["code"] for each in asked(profile, status=2)["problems"]] == codes
    assert not (runs_dir / "sweeps").exists()


def test_that_devices_that_are_not_there_are_reported_before_anything_is_made(
    profile: Path, runs_dir: Path
) -> None:
    profile.write_text(GRID.replace('"cpu"', '"GPU-elsewhere"'), encoding="utf-8")
    assert asked(profile, status=2)["problems"][0]["code"] == "device_not_found"
    assert not (runs_dir / "sweeps").exists()


def test_that_a_sweep_is_shown_by_its_folder_and_by_its_name(profile: Path) -> None:
    layout = started(profile)
    record(layout)
    document = asked(layout.root)
    assert document == asked(layout.name)
    assert (document["state"], document["best"], document["metric"]) == (
        "in progress",
        2,
        "val_loss",
    )
    assert [trial["state"] for trial in document["trials"]] == ["pruned", "completed", "waiting"]
    assert document["trials"][1]["value"] == 0.125
    assert document["trials"][0]["reason"] == "worse than the median there, 0.25"
    printed = RUNNER.invoke(app, ["sweep", layout.name], env={"COLUMNS": "200"}).stdout
    assert "pruned after epoch 2: worse than the median there, 0.25" in printed
    assert "in progress: 2 of 4 trials have ended, best: trial 2 with val_loss 0.125" in " ".join(
        printed.split()
    )


def test_that_a_sweep_is_stopped_and_resumed(profile: Path) -> None:
    layout, files = started(profile), QueueFiles(queue_dir())
    files.change(lambda line: line.without_sweep(layout.root))
    assert "--resume" in RUNNER.invoke(app, ["sweep", layout.name]).stderr
    asked(layout.name, "--resume")
    assert files.read().sweeps == (layout.root,)
    asked(layout.name, "--stop")
    assert layout.stop.exists()
    append_event(layout, SweepEnded(time_s=0, stopped=True))
    assert asked(layout.name)["state"] == "stopped"
    assert asked(layout.name, "--resume", status=1)["problems"][0]["code"] == "sweep_has_ended"


def test_that_what_is_no_sweep_can_be_neither_stopped_nor_resumed(profile: Path) -> None:
    for option in ("--stop", "--resume"):
        assert asked(profile, option, status=2)["problems"][0]["code"] == "sweep_missing"


def test_that_a_strangers_sweep_is_shown_without_leading_anywhere(
    profile: Path, tmp_path: Path
) -> None:
    layout = started(profile)
    lines = [
        b'{"kind": "trial_chosen", "time_s": 0, "number": 1, "values": {}, "entry": "../../up"}',
        b'{"kind":"trial_chosen","time_s":0,"number":1,"values":{"a":1},"entry":"0123abcd"}',
        b'{"kind": "trial_started", "time_s": 0, "number": 1, "run": "../../elsewhere"}',
        b'{"kind": "trial_started", "time_s": 0, "number": 1, "run": ".."}',
        b'{"kind": "trial_started", "time_s": 0, "number": 900, "run": "x"}',
        b'{"kind": "trial_ended", "time_s": 0, "number": 1, "value": 1e999}',
        b"\xff\xfe not json",
        b'{"kind": "trial_queued", "time_s": 0, "num',
    ]
    with layout.record.open("ab") as file:
        file.write(b"\n".join(lines))
    trials = asked(layout.root)["trials"]
    assert [(trial["values"], trial["run"], trial["state"]) for trial in trials] == [
        ({"a": 1}, None, "waiting")
    ]
    layout.record.unlink()
    layout.record.symlink_to(tmp_path / "digits.toml")
    assert asked(layout.root, status=1)["problems"]
    layout.record.unlink()
    with layout.record.open("wb") as file:
        file.truncate(2**40)
    assert "larger" in str(asked(layout.root, status=1)["problems"])


def test_that_trials_with_several_seeds_are_shown_by_mean_and_spread(profile: Path) -> None:
    profile.write_text(GRID.replace('"grid"', '"grid"\nseeds = 2'), encoding="utf-8")
    assert asked(profile, "--dry-run")["runs"] == 8
    listed = RUNNER.invoke(app, ["sweep", str(profile), "--dry-run"]).stdout
    assert "8 runs: 2 of each trial." in listed
    printed = RUNNER.invoke(app, ["sweep", str(profile)])
    assert "4 trials with 2 runs each, in the queue." in printed.stderr
    layout = SweepLayout(Path(printed.stdout.strip()))
    for number, value in enumerate((0.5, 0.25, 0.75), 1):
        values = {"training.learning_rate": 0.1 / number, "training.seed": 6 + number}
        entry = f"{number:08x}"
        append_event(layout, TrialChosen(time_s=0, number=number, values=values, entry=entry))
        append_event(layout, TrialStarted(time_s=0, number=number, run=f"run-{number}"))
        done = TrialEnded(time_s=0, number=number, outcome=Outcome.COMPLETED, value=value, epoch=1)
        append_event(layout, done)
    document = asked(layout.root)
    assert (document["trial_count"], document["runs_each"], document["best"]) == (4, 2, 1)
    first, second = document["trials"]
    assert (first["value"], first["measured"]) == (0.375, 2)
    assert first["spread"] == pytest.approx(0.1767766952966369)
    assert [run["value"] for run in first["runs"]] == [0.5, 0.25]
    assert (second["value"], second["spread"], second["state"]) == (0.75, None, "waiting")
    shown = RUNNER.invoke(app, ["sweep", layout.name], env={"COLUMNS": "200"}).stdout
    assert "spread" in shown
    assert "best: trial 1 with val_loss 0.375 ± 0.177 (n = 2)" in " ".join(shown.split())
