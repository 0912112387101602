"""`gpupanel bench PROFILE` with real trainings, and ended in the middle of them."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.profile_file import read_profile
from gpupanel.runs.locations import bench_dir
from gpupanel.runs.processes.run_processes import processes_of
from gpupanel.runs.tools.bench import speed_meter
from tests.forked.terminal import answered, gpupanel, verb
from tests.patience import PATIENCE_S

TWO_REPLICAS = """
schema_version = 1
name = "two"
[devices]
visible = ["cpu"]
cpu_replicas = 2
[strategy]
kind = "mirrored"
[data]
source = "digits"
[model]
source = "mlp"
"""


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "two.toml"
    path.write_text(TWO_REPLICAS)
    return path


def until(condition: Callable[[], object]) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end_s
        time.sleep(0.05)


@pytest.mark.slow
def test_that_devices_are_compared_by_real_trainings(
    profile: Path, runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed_meter, "_LEAST_S", 1.0)  # nobody asks how exact it is
    applied = profile.with_name("fastest.toml")
    completed = gpupanel("bench", profile, "--repeats", "1", "--json", "--apply", applied)
    assert completed.returncode == 0, completed.stderr
    document = answered(completed)
    names = [each["name"] for each in document["results"]]
    assert names[1:3] == ["2 replicas, equal shares", "2 replicas, balanced"]
    divisions = document["results"][:3]
    assert all(each["examples_per_second"] > 0 for each in divisions), completed.stderr
    assert all(each["steps"] >= 50 for each in divisions)
    assert divisions[0]["efficiency"] == pytest.approx(1.0)
    assert divisions[1]["shares"] == [32, 32]
    assert sum(divisions[2]["shares"]) == 64
    assert sum(divisions[1]["time_fractions"].values()) == pytest.approx(1.0, abs=0.05)
    assert len(document["results"]) == 6
    # Of the runs nothing is left, and the one that is used is in the file.
    assert not runs_dir.exists()
    assert sorted(each.name for each in bench_dir().iterdir()) == ["bench.lock", "measured.json"]
    fastest = next(each for each in document["results"] if each["name"] == document["fastest"])
    used = read_profile(applied)
    assert used.devices.cpu_replicas == fastest["candidate"]["cpu_replicas"]
    assert used.strategy.kind == fastest["candidate"]["strategy"]["kind"]
    assert used.training.jit_compile == fastest["candidate"]["jit_compile"]
    # It is remembered, and shown without a training.
    again = verb("bench", profile, "--remembered", "--json")
    assert answered(again) == document
    shown = verb("bench", profile, "--remembered", COLUMNS="120")
    assert shown.returncode == 0
    assert "█" in shown.stdout
    assert f"The fastest is {document['fastest']}" in " ".join(shown.stdout.split())


@pytest.mark.parametrize(
    "how",
    [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow), signal.SIGKILL],
)
def test_that_no_training_is_left_of_one_that_is_ended(
    profile: Path, how: signal.Signals, state_dir: Path
) -> None:
    command = [sys.executable, "-m", "gpupanel", "bench", str(profile)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        until(lambda: list(bench_dir().glob("runs-*/*/events.jsonl")))
        (events,) = bench_dir().glob("runs-*/*/events.jsonl")
        layout = RunLayout(events.parent)
        until(lambda: processes_of(layout))
        process.send_signal(how)
        output, _ = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
        process.wait()
    until(lambda: not processes_of(layout))
    if how is signal.SIGKILL:
        # What it could not remove goes with the next one.
        assert layout.root.is_dir()
        until(lambda: "run_ended" in layout.events.read_text())
    else:
        assert process.returncode == 130, output
        assert not list(bench_dir().glob("runs-*"))
    assert bench_dir().parent == state_dir


def test_that_nothing_remembered_is_an_exit_status(profile: Path) -> None:
    completed = verb("bench", profile, "--remembered", "--json")
    assert completed.returncode == 1
    assert answered(completed)["problems"][0]["code"] == "bench_not_measured"


def test_that_a_profile_that_cannot_be_read_or_trains_nothing_is_one(tmp_path: Path) -> None:
    assert verb("bench", tmp_path / "none.toml").returncode == 2
    evaluating = tmp_path / "e.toml"
    evaluating.write_text('schema_version = 1\ntask = "evaluate"\n[model]\nsource = "saved"\n')
    completed = verb("bench", evaluating, "--json")
    assert completed.returncode == 2


@pytest.mark.slow
def test_that_a_profile_is_never_half_written_by_one_that_is_killed(
    profile: Path, tmp_path: Path, runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [sys.executable, "-m", "gpupanel"]
    monkeypatch.setattr(speed_meter, "_LEAST_S", 1.0)  # nobody asks how exact it is
    applied = tmp_path / "applied.toml"
    completed = gpupanel("bench", profile, "--repeats", "1", "--apply", applied)
    assert completed.returncode == 0, completed.stderr
    before, after = profile.read_bytes(), read_profile(applied)
    moments = random.Random(7)

    def killed_after(seconds: float, *how: str) -> None:
        profile.write_bytes(before)
        bench = [*command, "bench", str(profile), "--apply", str(profile), *how]
        with subprocess.Popen(bench, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            with suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=seconds)
            process.kill()
        assert profile.read_bytes() == before or read_profile(profile) == after

    for _ in range(5):
        killed_after(moments.uniform(0.5, 6.0))
    beside = tmp_path / "beside.toml"
    beside.write_text(TWO_REPLICAS.replace("two", "beside") + "[training]\nepochs = 10000\n")
    subprocess.run([*command, "run", str(beside), "--detach"], check=True, capture_output=True)
    (root,) = (path for path in runs_dir.iterdir() if path.is_dir())
    try:
        until(lambda: processes_of(RunLayout(root)))
        for _ in range(15):
            killed_after(moments.uniform(0.5, 2.0), "--remembered")
        assert processes_of(RunLayout(root)), "the other run goes on"
    finally:
        subprocess.run([*command, "stop", str(root)], check=True, capture_output=True)
    until(lambda: "run_ended" in RunLayout(root).events.read_text())
