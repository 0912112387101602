"""Cards that people share: by a variable of the shell, and by what an administrator has set."""

from pathlib import Path

import pytest

from gpupanel.domain.events import DevicesReady, RunEnded
from gpupanel.domain.run_layout import RunLayout
from tests.nvml.standin import RTX_3060, RTX_4090
from tests.tensorflow_gpu.fixtures import TWO_CARDS, CardsOfThisProcess
from tests.unit.trainer.trained_runs import all_events

pytestmark = pytest.mark.tensorflow

TRAINING = """
[data]
source = "digits"
[model]
source = "mlp"
hidden = [8]
[training]
epochs = 1
global_batch_size = 256
"""
EXCLUSIVE_PROCESS = 3


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    file = tmp_path / "profile.toml"
    file.write_text(TRAINING)
    return file


def test_that_a_run_takes_the_card_that_the_shell_leaves_and_says_so(
    cards_in_process: CardsOfThisProcess,
    profile: Path,
    runs_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    done = cards_in_process.gpupanel("run", profile)
    assert done.returncode == 0, done.stdout + done.stderr
    said = " ".join(done.stderr.split())
    assert f"the run uses {RTX_3060.name} and leaves out {RTX_4090.name}" in said
    (root,) = runs_dir.iterdir()
    (ready,) = (each for each in all_events(RunLayout(root)) if isinstance(each, DevicesReady))
    gpus = [each for each in ready.logical_devices if each.device_key != "cpu"]
    assert [(each.device_key, each.pci_bus_id) for each in gpus] == [
        (RTX_3060.uuid, RTX_3060.bus.removeprefix("0000"))
    ]


def test_that_a_card_that_one_process_has_for_itself_is_told_of_before_and_after(
    cards_in_process: CardsOfThisProcess, profile: Path, runs_dir: Path
) -> None:
    cards_in_process.tell(
        TWO_CARDS.with_gpu(0, compute_mode=EXCLUSIVE_PROCESS, compute=((4_000_001, 900),))
    )
    profile.write_text(f'[devices]\nvisible = ["{RTX_4090.uuid}"]\n{TRAINING}')
    done = cards_in_process.gpupanel("run", profile)
    assert done.returncode == 1
    assert "a process (4000001) has it now" in " ".join(done.stderr.split())
    (root,) = runs_dir.iterdir()
    (ended,) = (each for each in all_events(RunLayout(root)) if isinstance(each, RunEnded))
    assert ended.problem is not None
    assert ended.problem.code == "devices_not_configured"
    assert "its compute mode lets one at a time use it" in ended.problem.hint
