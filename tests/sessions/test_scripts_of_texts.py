"""A script of texts reads and trains as the run does, by Keras's own ``TextVectorization``."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from gpupanel.domain.data import DataSettings, TextData
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import MlpModel, SavedModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.preview import PreviewRequest, with_found
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.trainer.datasets.texts.recipe import TextRecipe
from gpupanel.trainer.inference.model_file import recipe_in
from gpupanel.trainer.preview import preview
from tests.sessions.both import carry_out_both
from tests.unit.trainer.text_folders import make_texts, reviews, write_table

pytestmark = pytest.mark.tensorflow

ROUNDING = 1e-5
SEED = 5
"""Of what ``read_both.py`` draws."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts of each kind below a folder whose name wants quotes."""
    root = tmp_path_factory.mktemp("texts") / "it's \"{x} $y %s\\"
    texts = [text for text, _ in reviews(70, seed=1)]
    make_texts(root / "folders" / "train", {"b c": texts[:20], "a'": [*texts[20:40], "", "?!"]})
    make_texts(root / "folders" / "test", {"a'": texts[40:50], "b c": texts[50:60]})
    nested = {"a'/deep/er": ["nested Good one"], ".hidden": ["no class"]}
    make_texts(root / "folders" / "train", nested)
    (root / "folders" / "train" / "a'" / "notes.md").write_text("no text")
    (root / "folders" / "train" / "a'" / "latin.txt").write_bytes("größer".encode("utf-8-sig"))
    make_texts(root / "alone", {".": texts[60:]})
    write_table(root / "t.csv", reviews(80, seed=2))
    write_table(root / "e.csv", [*reviews(30, seed=3), ("", 2), ("no stars", "")])
    names = [
        (text, f"{'good' if stars > 1 else 'bad'},{stars / 2}")
        for text, stars in reviews(50, seed=4)
    ]
    (root / "n.csv").write_bytes(write_table(root / "n.csv", names, "text,kind,value").read_bytes())
    several = [(text, f"{stars % 2},{stars // 2}") for text, stars in reviews(60, seed=6)]
    write_table(root / "s.tsv", several, "text,odd,high")
    (root / "s.tsv").write_text(
        (root / "s.tsv")
        .read_text()
        .replace('",', '"\t')
        .replace("text,odd,high", "text\todd\thigh")
        .replace(",1\n", "\t1\n")
        .replace(",0\n", "\t0\n")
    )
    texts, stars = zip(*reviews(40, seed=7), strict=True)
    columns = {"comment": texts, "label": [f"{each}" for each in stars]}
    pa.parquet.write_table(pa.table(columns), root / "t.parquet")
    return root


def data_of(root: Path) -> dict[str, TextData]:
    folders = f"{root}/folders"
    return {
        "folders": TextData(
            path=f"{folders}/train", vocabulary=20, length=6, stratify=True, validation_fraction=0.3
        ),
        "sets": TextData(
            path=f"{folders}/train",
            test_path=f"{folders}/test",
            validation_path=f"{folders}/test",
            length=9,
        ),
        "table": TextData(
            path=f"{root}/t.csv", vocabulary=13, length=5, validation_fraction=0.2, cache="none"
        ),
        "gaps": TextData(path=f"{root}/e.csv", test_path=f"{root}/t.csv", length=12),
        "names": TextData(path=f"{root}/n.csv", target="kind"),
        "values": TextData(
            path=f"{root}/n.csv", target="value", length=20, holdout="last", validation_fraction=0.3
        ),
        "several": TextData(path=f"{root}/s.tsv", target=("odd", "high")),
        "parquet": TextData(path=f"{root}/t.parquet", validation_fraction=0.1),
    }


def filled(data: DataSettings) -> DataSettings:
    shown = preview(PreviewRequest(data=data, seed=SEED))
    assert not shown.is_refused, shown.problems
    return with_found(Profile(data=data), shown).data


def test_that_a_script_reads_texts_as_the_run_does(root: Path) -> None:
    asked = [filled(data) for data in data_of(root).values()]
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("read_both.py"))],
        input=json.dumps([data.model_dump(mode="json") for data in asked]),
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert json.loads(done.stdout) == [[]] * len(asked)


def session(**parts: object) -> Profile:
    training = TrainingSettings(
        epochs=2, optimizer=Optimizer.SGD, learning_rate=0.5, momentum=0.9, tensorboard=False
    )
    mirrored = StrategySettings(kind=StrategyKind.MIRRORED, shares=(40, 24))
    return Profile(
        **{
            "devices": DeviceSettings(visible=("cpu",), cpu_replicas=2),
            "strategy": mirrored,
            "training": training,
            **parts,
        }
    )


def test_that_run_and_script_give_the_same_weights_evaluations_and_predictions(
    root: Path, tmp_path: Path
) -> None:
    data, model = data_of(root), MlpModel(hidden=(6,))
    micro = session().training.model_copy(update={"accumulation_steps": 3, "clip_norm": 0.1})
    adam = session().training.model_copy(
        update={"optimizer": Optimizer.ADAM, "learning_rate": 0.01}
    )
    placed = StrategySettings(kind=StrategyKind.MODEL_PARALLEL, placement={"dense_1": 1})
    sessions = {
        "folders": session(data=data["folders"], model=model, training=micro),
        "table": session(data=data["table"], model=MlpModel(hidden=()), training=adam),
        "several": session(data=data["several"], model=model),
        "values": session(data=data["values"], model=model, strategy=placed),
    }
    trained = {
        name: SavedModel(path=str(tmp_path / f"{number:03}" / "model.keras"))
        for number, name in enumerate(sessions)
    }
    everything = InferenceSettings(batch_size=64, examples="all")
    validated = InferenceSettings(batch_size=64, examples="validation", output="csv")
    alone = TextData(path=f"{root}/alone")
    for name, task, of, inference in (
        ("folders", "evaluate", data["folders"], validated),
        ("table", "evaluate", data["gaps"], everything),
        ("values", "evaluate", data["values"], everything),
        ("folders", "predict", alone, everything),
        ("table", "predict", data["gaps"].model_copy(update={"test_path": ""}), everything),
        ("several", "predict", data["several"], everything),
    ):
        parts = {"task": task, "data": of, "model": trained[name], "inference": inference}
        sessions[f"{task} {name}"] = session(**parts)
    both = carry_out_both(tmp_path, sessions)
    assert {name: (each.error("run"), each.error("script")) for name, each in both.items()} == (
        dict.fromkeys(both, (None, None))
    )
    for name, each in both.items():
        if name in trained:
            assert each.furthest() < ROUNDING, name
            each.assert_same_epochs()
            kept = [
                TextRecipe.model_validate_json(recipe_in(str(path)))
                for path in (each.run.model, each.folder / "model.keras")
            ]
            assert kept[0] == kept[1]
        elif name.startswith("evaluate"):
            each.assert_same_evaluation()
        else:
            each.assert_same_predictions()
    found = np.load(both["predict table"].folder / "predictions.npz")
    assert (len(found["index"]), "label" in found) == (32, False)
