"""Programs of a person's own on the cards of the stand-in: memory, order, and fit on both."""

import json
import sys
from pathlib import Path

import pytest

from gpupanel.domain.events import StepsDone
from tests.fakes.own_programs import Programs, Ran
from tests.tensorflow_gpu.fixtures import Cards
from tests.tensorflow_gpu.profiles import BOTH, LARGE, SMALL, memory

pytestmark = [pytest.mark.tensorflow, pytest.mark.long]

_TELLS_MEMORY = """
import tensorflow as tf
gpus = tf.config.list_physical_devices("GPU")
for gpu in gpus:
    tf.config.experimental.set_memory_growth(gpu, True)
named = [tf.config.experimental.get_device_details(gpu)["device_name"] for gpu in gpus]
limits = [
    [each.memory_limit for each in tf.config.get_logical_device_configuration(gpu) or ()]
    for gpu in gpus
]
print("SAID", named, limits, len(tf.config.list_logical_devices("GPU")), flush=True)
with tf.device("GPU:0"):
    try:
        tf.zeros([400 * 2**20], tf.uint8)
    except tf.errors.ResourceExhaustedError:
        print("SAID refused")
"""
_FITS = """
import keras
import numpy as np
keras.utils.set_random_seed(7)
x = np.random.default_rng(0).normal(size=(256, 16)).astype("float32")
model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(0.05), "mse")
history = model.fit(x, x[:, :1] * 2.0, epochs=3, batch_size=64, shuffle=False, verbose=0)
print("SAID", history.history["loss"])
import tensorflow as tf
replicas = tf.distribute.get_strategy().num_replicas_in_sync
print("DEVICES", len(tf.config.list_logical_devices("GPU")), replicas)
"""


@pytest.fixture
def programs(
    cards: Cards, tmp_path: Path, runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> Programs:
    del runs_dir
    monkeypatch.setenv("GPUPANEL_CONFIG_DIR", str(tmp_path / "config"))
    folder = tmp_path / "work"
    folder.mkdir()
    return Programs(folder, dict(cards.environment()))


def run_with(programs: Programs, text: str, settings: str) -> Ran:
    programs.write(text)
    profile = programs.folder / "mine.toml"
    profile.write_text(f'{settings}[script]\npath = "train.py"\npython = "{sys.executable}"\n')
    done = programs.gpupanel("run", profile, "--trust", "--json")
    return Ran(done.returncode, json.loads(done.stdout))


def test_that_memory_is_set_before_the_first_line_and_stays_so(programs: Programs) -> None:
    reversed_order = f'[devices]\nvisible = ["{SMALL}", "{LARGE}"]\n'
    small = memory(SMALL, policy="limit", limit_mib=300, growth=True)
    large = memory(LARGE, policy="split", split_mib=[2048, 1024], growth=True)
    ran = run_with(programs, _TELLS_MEMORY, reversed_order + small + large)
    said = [line for line in ran.log.splitlines() if line.startswith("SAID")]
    names = "['NVIDIA GeForce RTX 3060', 'NVIDIA GeForce RTX 4090']"
    assert said == [f"SAID {names} [[300], [2048, 1024]] 3", "SAID refused"]
    assert ran.reported == ["script_memory_passed_over"]


def test_that_fit_uses_both_cards_where_that_is_chosen(programs: Programs) -> None:
    both = run_with(programs, _FITS, BOTH + '[strategy]\nkind = "mirrored"\n')
    alone = run_with(programs, _FITS, '[devices]\nvisible = ["cpu"]\n')
    losses = [_losses(ran) for ran in (both, alone)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    assert "DEVICES 2 2" in both.log
    assert "DEVICES 0 1" in alone.log
    assert both.of(StepsDone)


def _losses(ran: Ran) -> list[float]:
    (said,) = (line for line in ran.log.splitlines() if line.startswith("SAID"))
    losses: list[float] = json.loads(said.removeprefix("SAID "))
    return losses
