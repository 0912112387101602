"""Arrays, several inputs and several outputs of one's own code are learned on cards as on a CPU."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.profile_toml import parse_profile
from gpupanel.runs.trust.trusted import trust
from gpupanel.runs.trust.user_code import code_of_profile
from tests.tensorflow_gpu.fixtures import CardsOfThisProcess
from tests.tensorflow_gpu.profiles import BOTH, mirrored
from tests.unit.trainer.trained_runs import last_metrics, state

pytestmark = [pytest.mark.tensorflow, pytest.mark.long]

DATA = """
import numpy as np

def load():
    random = np.random.default_rng(3)
    scene = random.integers(0, 256, size=(192, 6, 4), dtype="uint8")
    row = random.normal(size=(192, 3)).astype("float32")
    labels = {"mask": (scene > 90).astype(int) + (scene > 180), "sum": row.sum(axis=1)}
    return {"x": {"scene": scene, "row": row}, "y": labels, "predicts": {"sum": "values"}}
"""
MODEL = """
import keras
from keras import layers, ops

def build_model(input_shape, outputs):
    scene = keras.Input(input_shape["scene"], name="scene")
    row = keras.Input(input_shape["row"], name="row")
    seen = layers.Dense(8, activation="tanh")(layers.Flatten()(scene))
    both = layers.Concatenate()([seen, row])
    mask = layers.Reshape(outputs["mask"])(layers.Dense(72)(both))
    return keras.Model([scene, row], {"mask": mask, "sum": layers.Dense(outputs["sum"])(both)})

def hit(labels, outputs):
    said = ops.cast(ops.argmax(outputs["mask"], axis=-1), labels["mask"].dtype)
    return ops.mean(ops.cast(said == labels["mask"], "float32"), axis=(1, 2))

metrics = {"hit": hit}
"""
TRAINING = """
[data]
source = "python"
path = "{folder}/data.py"
validation_fraction = 0.25
[model]
source = "python"
path = "{folder}/model.py"
[training]
epochs = 2
global_batch_size = 48
keep = "last"
"""
CASES = {
    "one card": BOTH,
    "two cards": BOTH + mirrored([32, 16], "reduction_to_one_device"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("code")
    (made / "data.py").write_text(DATA)
    (made / "model.py").write_text(MODEL)
    return made


@pytest.mark.parametrize("name", CASES)
def test_that_cards_learn_what_a_cpu_learns(
    name: str, folder: Path, cards_in_process: CardsOfThisProcess, tmp_path: Path
) -> None:
    training = TRAINING.format(folder=folder)
    trust(code_of_profile(parse_profile('[devices]\nvisible = ["cpu"]\n' + training)))
    on_cpu = '[devices]\nvisible = ["cpu"]\n'
    alone = cards_in_process.run(on_cpu + training, tmp_path / "alone")
    run = cards_in_process.run(CASES[name] + training, tmp_path / "run")

    for one, other in zip(state(alone), state(run), strict=True):
        assert np.abs(one - other).max() <= 1e-5 * max(np.abs(one).max(), 1e-12)
    measured = last_metrics(run)
    assert measured.own["val_hit"] == pytest.approx(measured.own["val_mask_accuracy"])
    expected = last_metrics(alone).model_dump(exclude_none=True)
    assert measured.model_dump(exclude_none=True) == pytest.approx(expected, rel=1e-5)
