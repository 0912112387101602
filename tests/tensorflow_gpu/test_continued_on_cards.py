"""A training on two cards that was interrupted comes to the weights of one that was not."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.events import MemoryReturned, RunEnded, TrainerStarted, TrainingResumed
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.requests import ask
from tests.forked.terminal import answered, forked_trainers, verb
from tests.patience import PATIENCE_S
from tests.tensorflow_gpu.fixtures import CardsOfThisProcess
from tests.tensorflow_gpu.profiles import BOTH, LARGE, SMALL, mirrored
from tests.tensorflow_gpu.test_strategies_on_cards import TRAINING
from tests.unit.trainer.trained_runs import all_events, variables

pytestmark = pytest.mark.tensorflow

LONG = BOTH + mirrored([48, 16]) + TRAINING.replace("epochs = 2", "epochs = 15")
"""Hundreds of steps, and a checkpoint after each of 28."""


@contextmanager
def training(cards: CardsOfThisProcess, profile: Path) -> Iterator[RunLayout]:
    """A run that has saved a checkpoint; it has ended behind the block."""
    with forked_trainers(cards.server):
        started = answered(verb("run", profile, "--detach", "--json"))
        layout = RunLayout(Path(started["run"]))
        until_s = time.monotonic() + PATIENCE_S
        while b'"checkpoint_saved"' not in layout.events.read_bytes():
            assert time.monotonic() < until_s
            time.sleep(0.02)
        yield layout


def outcomes(layout: RunLayout) -> list[Outcome]:
    return [each.outcome for each in all_events(layout) if isinstance(each, RunEnded)]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["suspended", "killed"])
def test_that_a_resumed_training_comes_to_the_same_bits(
    cards_in_process: CardsOfThisProcess,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
) -> None:
    profile = tmp_path / "profile.toml"
    profile.write_text(LONG + "max_restarts = 0\n")
    monkeypatch.setenv("GPUPANEL_RUNS_DIR", str(tmp_path / "undisturbed"))
    whole = RunLayout(Path(answered(cards_in_process.gpupanel("run", profile, "--json"))["run"]))
    monkeypatch.setenv("GPUPANEL_RUNS_DIR", str(tmp_path / "interrupted"))
    with training(cards_in_process, profile) as layout:
        if how == "suspended":
            ask(layout, Request.SUSPEND)
        else:
            (trainer,) = (each for each in all_events(layout) if isinstance(each, TrainerStarted))
            os.kill(trainer.pid, signal.SIGKILL)
    interrupted = Outcome.SUSPENDED if how == "suspended" else Outcome.LOST
    assert outcomes(layout) == [interrupted]
    (returned,) = (each for each in all_events(layout) if isinstance(each, MemoryReturned))
    assert {each.device_key: each.still_held_mib for each in returned.devices} == {
        LARGE: 0,
        SMALL: 0,
    }
    done = cards_in_process.gpupanel("resume", layout.root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert outcomes(layout) == [interrupted, Outcome.COMPLETED]
    (resumed,) = (each for each in all_events(layout) if isinstance(each, TrainingResumed))
    assert 28 <= resumed.step < 15 * 28
    of_whole, of_parts = variables(whole), variables(layout)
    assert list(of_whole) == list(of_parts)
    assert all(np.array_equal(value, of_parts[name]) for name, value in of_whole.items())
