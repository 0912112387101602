"""Scripts that train a saved model further end with the weights of the run."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from pydantic import TypeAdapter

from gpupanel.domain.data import DigitsData, ImagesData, NpzData, TableData, Target, TextData
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import Head, Inputs, Outputs, SavedModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.profile import DeviceSettings
from gpupanel.domain.strategy import StrategySettings
from gpupanel.trainer.datasets.tables.recipe import TableRecipe
from gpupanel.trainer.datasets.texts.recipe import TextRecipe
from gpupanel.trainer.models.model_file import recipe_in, trained_on_in
from tests.sessions.both import carry_out_both
from tests.sessions.one_source import assert_same_sessions, session, trained_with
from tests.unit.trainer.image_folders import make_classes
from tests.unit.trainer.saved_models import make_saved_models, with_recipe
from tests.unit.trainer.test_the_rule_for_networks import write_prices
from tests.unit.trainer.text_folders import make_texts, reviews, write_table

Recipe = TextRecipe | TableRecipe

pytestmark = pytest.mark.tensorflow

ALONE = {"devices": DeviceSettings(visible=("cpu",)), "strategy": StrategySettings()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_saved_models(tmp_path_factory.mktemp("saved"))


SGD = trained_with(1e-2)
ADAM = trained_with(3e-3, optimizer=Optimizer.ADAM)
DIGITS = DigitsData(validation_fraction=0.9)
EVERYTHING = InferenceSettings(batch_size=64, examples="all")


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> NpzData:
    """Other classes than the saved models know."""
    path = tmp_path_factory.mktemp("three") / "three.npz"
    x = pixels()
    np.savez(path, x=x, y=(x[:, 0, 0] // 6).astype(np.int64))
    return NpzData(path=str(path), validation_fraction=0.2)


def pixels() -> np.ndarray:
    return np.random.default_rng(5).integers(0, 17, (120, 8, 8)).astype(np.float32)


@pytest.mark.slow
def test_that_run_and_script_give_the_same_weights_and_evaluations(
    made: Path, three: NpzData, tmp_path: Path
) -> None:
    later = {"frozen_layers": 1, "fine_tune_from_epoch": 2, "fine_tune_learning_rate": 1e-3}
    classifier = SavedModel(path=str(made / "classifier.keras"), inputs=Inputs.CENTRED, **later)
    trained = {
        "new on a backbone": session(data=three, model=on_backbone(made), training=SGD),
        "kept, later": session(data=DIGITS, model=classifier, training=ADAM),
    }
    inferred = (("new on a backbone", "evaluate", three, EVERYTHING),)
    assert_same_sessions(tmp_path, trained, inferred)


def on_backbone(made: Path) -> SavedModel:
    return SavedModel(path=str(made / "backbone.keras"), head=Head.NEW, frozen_layers=2)


@pytest.mark.slow
def test_that_run_and_script_do_with_the_inputs_what_they_are_told(
    made: Path, three: NpzData, tmp_path: Path
) -> None:
    frozen = SavedModel(path=str(made / "classifier.keras"), head=Head.NEW, frozen_layers="base")
    trained = {
        "new, frozen": session(data=three, model=frozen, training=ADAM, **ALONE),
        "new on a backbone": session(data=three, model=on_backbone(made), training=SGD),
    }
    inferred = (("new on a backbone", "evaluate", three, EVERYTHING),)
    both = assert_same_sessions(tmp_path, trained, inferred)

    as_pixels = NpzData(path=str(tmp_path / "pixels.npz"))
    np.savez(as_pixels.path, **{**np.load(three.path), "x": pixels() * 255})
    path = str(tmp_path / "001" / "model.keras")
    divided = SavedModel(path=path, inputs=Inputs.DIVIDED)
    given = {"task": "evaluate", "model": divided, "inference": EVERYTHING}
    (again,) = carry_out_both(
        tmp_path / "given", {"divided": session(data=as_pixels, **given)}
    ).values()
    again.assert_same_evaluation()
    assert again.printed() == both["evaluate new on a backbone"].printed()


@pytest.mark.slow
def test_that_run_and_script_agree_about_further_models(
    made: Path, three: NpzData, tmp_path: Path
) -> None:
    x = pixels()
    np.savez(tmp_path / "values.npz", x=x, y=(1000 + 3 * x[:, 0, 0]).astype(np.float32))
    values = NpzData(
        path=str(tmp_path / "values.npz"), predicts=Target.VALUES, validation_fraction=0.2
    )

    def saved(name: str, **settings: object) -> SavedModel:
        return SavedModel(path=str(made / f"{name}.keras"), **settings)

    later = saved("backbone", head=Head.NEW, fine_tune_from_epoch=2)
    said = {"outputs": Outputs.PROBABILITIES}
    trained = {
        "kept": session(data=DIGITS, model=saved("classifier"), training=ADAM),
        "new, later": session(data=three, model=later, training=SGD),
        "values": session(data=values, model=saved("values"), training=SGD, **ALONE),
        "trained before": session(
            data=DIGITS, model=saved("trained_before", **said), training=ADAM
        ),
        "mixed": session(data=DIGITS, model=saved("mixed"), training=ADAM, **ALONE),
        "whole numbers": session(data=DIGITS, model=saved("counting"), training=ADAM, **ALONE),
    }
    inferred = (
        ("kept", "evaluate", DIGITS, EVERYTHING),
        ("values", "evaluate", values, EVERYTHING),
    )
    assert_same_sessions(tmp_path, trained, inferred)


def recipe(path: Path) -> Recipe:
    return TypeAdapter(Recipe).validate_json(recipe_in(str(path)))


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(("texts", "other rows"), id="texts, other rows"),
        pytest.param(("other texts", "rows"), id="other texts, rows", marks=pytest.mark.slow),
    ],
)
@pytest.mark.long
def test_that_a_script_makes_features_of_texts_and_tables_as_the_saved_model_knows_them(
    made: Path, tmp_path: Path, names: tuple[str, str]
) -> None:
    reviewed = write_table(tmp_path / "reviews.csv", reviews(150), "review,stars")
    known_texts = TextData(path=str(reviewed), vocabulary=30, length=9)
    known_rows = TableData(path=str(write_prices(tmp_path / "prices.csv", 150)))
    # Copies: another case puts its recipe into them, too.
    words, columns = (
        shutil.copy(made / f"{name}.keras", tmp_path) for name in ("words", "columns")
    )
    with_recipe(Path(words), known_texts)
    with_recipe(Path(columns), known_rows)
    # Other words, means and categories than those that the models know.
    moods = [(f"{text} indeed", stars) for text, stars in reviews(70, seed=1)]
    write_table(tmp_path / "moods.csv", moods, "review,stars")
    folders = {"glad": [text for text, _ in moods[:30]], "sad": [text for text, _ in moods[30:60]]}
    make_texts(tmp_path / "train", folders)
    make_texts(tmp_path / "test", {"sad": ["bad, bad film", ""], "glad": ["good! so good"]})
    head, *rows = Path(known_rows.path).read_text().splitlines()
    cells = [row.rpartition(",") for row in rows]
    dear = [f"{row},{'dear' if float(price) > 300 else 'cheap'}" for row, _, price in cells]
    tables = {
        "prices": [head, *(f"1{row}" for row in rows[:60]), "70.5,F,,88", ",A,k0,99"],
        "dear": ["size,city,kind,how", *dear[:60], "70.5,F,,cheap", ",A,k0,dear", "3,B,k1,"],
        "later": ["size,city,kind,how", *dear[60:80]],
    }
    for name, lines in tables.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    new = {"head": Head.NEW, "frozen_layers": "base"}
    trained = {
        "texts": session(
            data=TextData(path=f"{tmp_path}/moods.csv", length=4, validation_fraction=0.2),
            model=SavedModel(path=words),
            training=ADAM,
        ),
        "other texts": session(
            data=TextData(path=f"{tmp_path}/train", test_path=f"{tmp_path}/test"),
            model=SavedModel(path=words, **new),
            training=SGD,
            **ALONE,
        ),
        "rows": session(
            data=TableData(path=f"{tmp_path}/prices.csv", validation_fraction=0.2),
            model=SavedModel(path=columns, frozen_layers=1),
            training=SGD,
        ),
        "other rows": session(
            data=TableData(
                path=f"{tmp_path}/dear.csv",
                validation_path=f"{tmp_path}/later.csv",
                missing="drop",
            ),
            model=SavedModel(path=columns, head=Head.NEW, fine_tune_from_epoch=2),
            training=SGD,
            **ALONE,
        ),
    }
    asked = {name: trained[name] for name in names}
    both = assert_same_sessions(tmp_path / "sessions", asked, ())
    first, second = recipe(Path(words)), recipe(Path(columns))
    of_texts = {"targets": (), "text": "", "class_names": ("glad", "sad")}
    of_rows = {
        "targets": ("how",),
        "target_kind": "category",
        "predicts": Target.CLASSES,
        "class_names": ("cheap", "dear"),
        "target_written": {},
    }
    expected = {
        "texts": first,
        "rows": second,
        "other texts": first.model_copy(update=of_texts),
        "other rows": second.model_copy(update=of_rows),
    }
    for name, each in both.items():
        assert recipe(each.run.model) == expected[name]
        assert recipe(each.folder / "model.keras") == expected[name]
        if name.startswith("other"):  # on one device
            each.assert_same_bits()


def test_that_run_and_script_keep_the_classes_of_the_model_by_name(
    made: Path, tmp_path: Path
) -> None:
    # In another order than the folders are in, and with classes that these have none of.
    names = tuple(reversed("abcdefghij"))
    counts = {"a": 9, "d": 8, "h": 7}
    folder = make_classes(tmp_path / "new", counts)
    images = ImagesData(
        path=str(folder),
        image_size=(8, 8),
        color="grayscale",
        validation_fraction=0.25,
        stratify=True,
    )
    model = SavedModel(path=str(made / "classifier.keras"), class_names=names)
    asked = session(data=images, model=model, training=SGD, **ALONE)
    part = InferenceSettings(batch_size=64, examples="validation", output="npz")
    inferred = (
        ("kept", "evaluate", images, EVERYTHING),
        ("kept", "predict", images, part),
    )
    both = assert_same_sessions(tmp_path / "both", {"kept": asked}, inferred)
    with np.load(both["predict kept"].run.predictions("npz")) as written:
        assert [name[0] for name in written["file_name"].tolist()] == [*"aaddhh"]
    for path in (both["kept"].run.model, both["kept"].folder / "model.keras"):
        record = trained_on_in(str(path))
        assert record is not None
        assert record.class_names == names
