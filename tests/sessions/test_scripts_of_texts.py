"""A script of texts reads and trains as the run does, by Keras's own ``TextVectorization``."""

import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from gpupanel.domain.data import TextData
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import MlpModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.trainer.datasets.texts.recipe import TextRecipe
from gpupanel.trainer.models.model_file import recipe_in
from tests.sessions.both import Both
from tests.sessions.one_source import (
    assert_same_data,
    assert_same_sessions,
    session,
    trained_with,
)
from tests.unit.trainer.text_folders import make_texts, reviews, write_table

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts of each kind below a folder whose name wants quotes."""
    root = tmp_path_factory.mktemp("texts") / "it's \"{x} $y %s\\"
    texts = [text for text, _ in reviews(70, seed=1)]
    make_texts(root / "folders" / "train", {"b c": texts[:20], "a'": [*texts[20:40], "", "?!"]})
    make_texts(root / "folders" / "test", {"a'": texts[40:50], "b c": texts[50:60]})
    nested = {"a'/deep/er": ["nested Good one"], ".hidden": ["no class"]}
    nested |= {"a'/.ipynb_checkpoints": ["a copy"], "b c/@eaDir": ["an index"], "__MACOSX": ["no"]}
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
    write_table(root / "c.csv", [("a film", "x1"), ("good", "007"), ("bad", "x1"), ("so", "007")])
    write_table(root / "d.csv", [("a", "007"), ("straße", "007"), ("none", "")])
    texts, stars = zip(*reviews(40, seed=7), strict=True)
    columns = {"comment": texts, "label": [f"{each}" for each in stars]}
    pa.parquet.write_table(pa.table(columns), root / "t.parquet")
    numbers = {"review": texts, "stars": stars}
    pa.parquet.write_table(pa.table(numbers), root / "n.parquet")
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
        "classes like numbers": TextData(
            path=f"{root}/c.csv", validation_path=f"{root}/d.csv", length=4
        ),
        "both": TextData(path=f"{root}/t.csv", length=7, test_path=f"{root}/n.parquet"),
        "parquet": TextData(path=f"{root}/t.parquet", validation_fraction=0.1),
    }


@pytest.mark.slow
def test_that_a_script_reads_texts_as_the_run_does(root: Path) -> None:
    assert_same_data(data_of(root).values(), subprocess.run)


MODEL = MlpModel(hidden=(6,))
EVERYTHING = InferenceSettings(batch_size=64, examples="all")


def test_that_run_and_script_learn_and_predict_the_same(root: Path, tmp_path: Path) -> None:
    micro = trained_with(0.5, accumulation_steps=3, clip_norm=0.1)
    trained = {"folders": session(data=data_of(root)["folders"], model=MODEL, training=micro)}
    alone = TextData(path=f"{root}/alone")
    inferred = [("folders", "predict", alone, EVERYTHING)]
    assert_same_recipe(assert_same_sessions(tmp_path, trained, inferred)["folders"])


def assert_same_recipe(both: Both) -> None:
    of_run, of_script = (
        TextRecipe.model_validate_json(recipe_in(str(path)))
        for path in (both.run.model, both.folder / "model.keras")
    )
    assert of_run == of_script


@pytest.mark.slow
def test_that_run_and_script_do_so_with_further_texts(root: Path, tmp_path: Path) -> None:
    data, plain = data_of(root), trained_with(0.5)
    adam = trained_with(0.01, optimizer=Optimizer.ADAM)
    placed = StrategySettings(kind=StrategyKind.MODEL_PARALLEL, placement={"dense_1": 1})
    trained = {
        "folders": session(data=data["folders"], model=MODEL, training=plain),
        "table": session(data=data["table"], model=MlpModel(hidden=()), training=adam),
        "several": session(data=data["several"], model=MODEL, training=plain),
        "values": session(data=data["values"], model=MODEL, training=plain, strategy=placed),
    }
    validated = InferenceSettings(batch_size=64, examples="validation", output="csv")
    inferred = (
        ("folders", "evaluate", data["folders"], validated),
        ("table", "evaluate", data["gaps"], EVERYTHING),
        ("values", "evaluate", data["values"], EVERYTHING),
        ("table", "predict", data["gaps"].model_copy(update={"test_path": ""}), EVERYTHING),
        ("several", "predict", data["several"], EVERYTHING),
    )
    both = assert_same_sessions(tmp_path, trained, inferred)
    for name in trained:
        assert_same_recipe(both[name])
    found = np.load(both["predict table"].folder / "predictions.npz")
    assert (len(found["index"]), "label" in found) == (32, False)
