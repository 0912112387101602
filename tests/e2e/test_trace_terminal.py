"""`gpupanel trace` of trainings that go on: of one process, of a worker, and where it cannot."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.trace_files import trace_records
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.history.summaries import summarize_run
from tests.fakes.run_directory import WrittenRun
from tests.forked.terminal import answered, forked_trainers, verb
from tests.patience import PATIENCE_S

PROFILE = """
schema_version = 1
name = "traced"
[devices]
visible = ["cpu"]
cpu_replicas = {replicas}
[strategy]
kind = "{kind}"
[data]
source = "python"
path = "rows.py"
cache = "none"
[model]
source = "cnn"
filters = [4]
[training]
epochs = 100000
global_batch_size = 64
tensorboard = false
checkpoint_every_epochs = 0
"""
ROWS = """
import time
import numpy as np

class Rows:
    def __len__(self):
        return 5_000

    def __getitem__(self, index):
        time.sleep(0.0003)
        return np.full((8, 8, 1), index % 7 / 7, np.float32)

def load():
    return Rows(), np.arange(5_000) % 7
"""
"""Steps wait for them: a training that uses all of both cores meanwhile would be of no use here."""


@contextmanager
def training(folder: Path, kind: str, replicas: int = 2) -> Iterator[RunLayout]:
    """A run that trains until the block ends."""
    profile = folder / f"{kind}.toml"
    profile.write_text(PROFILE.format(kind=kind, replicas=replicas))
    (folder / "rows.py").write_text(ROWS)
    with forked_trainers():
        started = answered(verb("run", profile, "--detach", "--trust", "--json"))
        layout = RunLayout(Path(started["run"]))
        yield layout
        ask(layout, Request.STOP)


def step_of(layout: RunLayout) -> int:
    progress = summarize_run(layout).progress
    return 0 if progress is None else progress.step


def until(true: object) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < end_s
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.tensorflow
def test_that_steps_of_a_running_training_are_traced_and_it_continues(tmp_path: Path) -> None:
    with training(tmp_path, "mirrored") as layout:
        found = answered(verb("trace", layout.root, "--steps", "10", "--json"))
        assert found["trace"]["steps"] >= 10
        assert found["trace"]["problem"] is None
        assert [each["label"] for each in found["devices"]] == ["CPU:0", "CPU:1"]
        for device in found["devices"]:
            assert 5 < len(device["operations"]) <= 10
            seconds = [each["seconds"] for each in device["operations"]]
            assert seconds == sorted(seconds, reverse=True)
            convolutions = [each for each in device["operations"] if "Conv2D" in each["kind"]]
            assert convolutions
            # The network has one: it, and its gradient, once a step on each device.
            assert {each["count"] for each in convolutions} == {found["trace"]["steps"]}
        assert list(Path(found["folder"]).glob("plugins/profile/*/*.xplane.pb"))
        assert not (layout.requests / Request.TRACE).exists()
        traced = found["trace"]["first_step"] + found["trace"]["steps"]
        until(lambda: step_of(layout) > traced)

        shown = verb("trace", layout.root, "--steps", "3")
        assert shown.returncode == 0, shown.stderr
        assert "ms a step" in shown.stdout
        assert "CPU:1" in shown.stdout
        assert "Conv2D" in shown.stdout
        assert len(trace_records(layout)) == 2

    ended = verb("trace", layout.root, "--json")
    assert ended.returncode == 1
    assert [each["code"] for each in answered(ended)["problems"]] == ["trace_of_ended_run"]


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.parametrize("kind", ["multi_worker", "parameter_server"])
def test_that_a_worker_is_traced_by_itself(tmp_path: Path, kind: str) -> None:
    with training(tmp_path, kind) as layout:
        until(lambda: step_of(layout) > 0)
        found = answered(verb("trace", layout.root, "--worker", "1", "--json"))
        assert found["trace"]["problem"] is None
        (device,) = found["devices"]
        assert any("Conv2D" in each["kind"] for each in device["operations"])
        assert "worker 1" in verb("trace", layout.root, "--worker", "1").stdout
        if kind == "multi_worker":
            assert found["trace"]["steps"] >= 10

        refused = answered(verb("trace", layout.root, "--worker", "7", "--json"))
        (problem,) = refused["problems"]
        assert problem["code"] == "trace_without_process"
        assert "worker 0, worker 1" in problem["hint"]


def test_that_one_trace_is_asked_for_at_a_time(runs_dir: Path) -> None:
    with WrittenRun(runs_dir) as run:
        run.begin()
        (run.layout.requests / Request.TRACE).write_text('{"steps": 3}')
        refused = answered(verb("trace", run.layout.root, "--json"))
        assert [each["code"] for each in refused["problems"]] == ["trace_goes_on"]
        assert (run.layout.requests / Request.TRACE).read_text() == '{"steps": 3}'


def test_that_ctrl_c_withdraws_the_request(runs_dir: Path) -> None:
    with WrittenRun(runs_dir) as run:
        run.begin()
        asked = run.layout.requests / Request.TRACE
        command = [sys.executable, "-P", "-m", "gpupanel", "trace", str(run.layout.root)]
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # As in a terminal, also where whoever started the tests ignores it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        ) as waiting:
            until(asked.exists)
            assert json.loads(asked.read_text())["steps"] == 10
            os.kill(waiting.pid, signal.SIGINT)
            _, errors = waiting.communicate(timeout=PATIENCE_S)
        assert waiting.returncode == 130
        assert b"Traceback" not in errors
        assert not asked.exists()


def test_that_a_run_that_ends_meanwhile_is_not_waited_for(runs_dir: Path) -> None:
    with WrittenRun(runs_dir) as run:
        run.begin()
        command = [sys.executable, "-P", "-m", "gpupanel", "trace", str(run.layout.root), "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as waiting:
            until((run.layout.requests / Request.TRACE).exists)
            run.step()
            run.end()
            run.vanish()
            output, _ = waiting.communicate(timeout=PATIENCE_S)
    assert waiting.returncode == 1
    assert [each["code"] for each in json.loads(output)["problems"]] == ["trace_run_ended"]
    assert not (run.layout.requests / Request.TRACE).exists()
