"""What else two cards are for: memory is estimated, speeds are compared, models are used."""

import os
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.events import DevicesReady, EpochDone, MemoryReported
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.tools.bench import speed_meter
from tests.forked.answers import forked_answers
from tests.forked.processes import run_forked
from tests.forked.terminal import answered
from tests.nvml.standin import RTX_3060, RTX_4090
from tests.patience import PATIENCE_S
from tests.tensorflow_gpu.fixtures import CardsOfThisProcess
from tests.tensorflow_gpu.profiles import BOTH, LARGE, SMALL, mirrored
from tests.tensorflow_gpu.test_strategies_on_cards import TRAINING
from tests.unit.trainer.trained_runs import all_events

pytestmark = pytest.mark.tensorflow


def run(cards: CardsOfThisProcess, profile: Path, text: str) -> tuple[RunLayout, dict[str, Any]]:
    """A run that has completed, and what the command says of its end."""
    profile.write_text(text)
    done = cards.gpupanel("run", profile, "--json")
    found = answered(done)
    assert found["outcome"] == "completed", done.stdout + done.stderr
    return RunLayout(Path(found["run"])), found


def estimated_and_held(
    cards: CardsOfThisProcess, profile: Path, text: str
) -> tuple[dict[str, float], dict[str, int]]:
    """What is said before a run, and what TensorFlow's allocators counted at most, in MiB."""
    profile.write_text(text)
    with forked_answers(server=cards.server):
        summary = answered(cards.gpupanel("summary", profile, "--json"))
    layout, _ = run(cards, profile, text)
    # The last one: what takes longer on a busy machine is reported more than once.
    *_, reported = (each for each in all_events(layout) if isinstance(each, MemoryReported))
    estimated = {each["device"]: each["counted_mib"] for each in summary["memory"]}
    return estimated, {each.device_key: each.peak_mib for each in reported.devices}


@pytest.mark.long
def test_that_a_run_takes_of_each_card_what_was_estimated(
    cards_in_process: CardsOfThisProcess, tmp_path: Path
) -> None:
    text = BOTH + mirrored([384, 128]) + TRAINING.replace("[32]", "[4096, 1024]")
    text = text.replace("batch_size = 64", "batch_size = 512")
    estimated, held = estimated_and_held(cards_in_process, tmp_path / "profile.toml", text)
    assert list(estimated) == list(held) == [LARGE, SMALL]
    for key, said_mib in estimated.items():
        # Weights, gradients and Adam's two averages are 68 MiB of it. TensorFlow's allocator gives
        # a piece of memory whole that is less than twice what is asked for, here one of 2 MiB.
        assert 68 < said_mib < held[key] + 1 < said_mib + 4


@pytest.mark.long
def test_that_convolutions_take_what_was_estimated_and_what_the_kernels_want(
    cards_in_process: CardsOfThisProcess, tmp_path: Path
) -> None:
    """The CPU's kernels work in blocks of 30 MiB at most; cuDNN wants another amount."""
    text = BOTH + mirrored([1024, 128]) + TRAINING.replace("batch_size = 64", "batch_size = 1152")
    text = text.replace('"mlp"\nhidden = [32]', '"cnn"\nfilters = [32, 64]')
    estimated, held = estimated_and_held(cards_in_process, tmp_path / "profile.toml", text)
    # 26,880 bytes for each example are more than what both models hold.
    assert estimated[LARGE] > 6 * estimated[SMALL] > 6 * 3
    for key, said_mib in estimated.items():
        assert said_mib < held[key] + 1 < said_mib + 30


@pytest.mark.slow
def test_that_two_cards_are_compared(
    cards_in_process: CardsOfThisProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed_meter, "_LEAST_S", 0.2)  # nobody asks how exact it is
    profile = tmp_path / "profile.toml"
    profile.write_text(BOTH + mirrored([40, 24]) + TRAINING)
    found = answered(cards_in_process.gpupanel("bench", profile, "--repeats", "1", "--json"))
    names = [each["name"] for each in found["results"]]
    assert names[:4] == [
        f"{RTX_4090.name} alone",
        f"{RTX_3060.name} alone",
        "all, equal shares",
        "all, balanced",
    ]
    for each in found["results"][:4]:
        assert each["problem"] is None
        assert each["steps"] >= 50
        assert each["examples_per_second"] > 0
    assert [each["shares"] for each in found["results"][:3]] == [[64], [64], [32, 32]]
    assert sum(found["results"][3]["shares"]) == 64
    # XLA cannot compile for these cards: what fails is said, and the others are compared.
    failed = [each["name"] for each in found["results"] if each["problem"]]
    assert len(failed) == 2
    assert all("XLA" in name for name in failed)
    assert found["fastest"] not in failed


@pytest.mark.long
def test_that_a_model_is_evaluated_and_predicts_on_two_cards(
    cards_in_process: CardsOfThisProcess, tmp_path: Path
) -> None:
    profile = tmp_path / "profile.toml"
    held_out = TRAINING.replace('"digits"\n', '"digits"\nvalidation_fraction = 0.2\n')
    trained, end = run(cards_in_process, profile, BOTH + mirrored([40, 24]) + held_out)
    use = held_out[: held_out.index("[model]")] + (
        f'[model]\nsource = "saved"\npath = "{trained.model}"\n'
        '[inference]\nbatch_size = 100\nexamples = "validation"\n'
    )
    both = BOTH + mirrored([75, 25])
    evaluated, found = run(cards_in_process, profile, f'task = "evaluate"\n{both}{use}')
    for name in ("loss", "accuracy"):
        assert found["metrics"][name] == pytest.approx(end["metrics"][f"val_{name}"], rel=1e-5)
    predicted, _ = run(cards_in_process, profile, f'task = "predict"\n{both}{use}')
    with np.load(predicted.root / "predictions.npz") as arrays:
        counts = np.bincount(arrays["predicted"], minlength=10)
    assert counts.tolist() == np.sum(found["confusion"], axis=0).tolist()
    for layout in (evaluated, predicted):
        assert used(layout) == [LARGE, SMALL]


def used(layout: RunLayout) -> list[str]:
    """The GPUs of a run of one process."""
    (ready,) = (each for each in all_events(layout) if isinstance(each, DevicesReady))
    return [each.device_key for each in ready.logical_devices if each.device_key != "cpu"]


@pytest.mark.long
def test_that_the_exported_script_learns_on_two_cards_what_the_run_does(
    cards_in_process: CardsOfThisProcess, tmp_path: Path
) -> None:
    profile = tmp_path / "profile.toml"
    layout, _ = run(cards_in_process, profile, BOTH + mirrored([40, 24]) + TRAINING)
    script = tmp_path / "script.py"
    cards_in_process.gpupanel("export", profile, "-o", script)
    done = run_forked(
        [sys.executable, "-P", str(script)],
        env=dict(os.environ),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        server=cards_in_process.server,
    )
    assert done.returncode == 0, done.stderr
    created = re.findall(r"Created device \S*/device:(GPU:\d) .*? name: ([^,]+),", done.stderr)
    assert created == [("GPU:0", RTX_4090.name), ("GPU:1", RTX_3060.name)]
    printed = [
        f"epoch {each.epoch}  loss {each.metrics.loss:.6f}  accuracy {each.metrics.accuracy:.6f}"
        for each in all_events(layout)
        if isinstance(each, EpochDone)
    ]
    assert done.stdout.splitlines() == printed
