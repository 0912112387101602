"""Saved models that are trained further, or get a new last layer."""

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.data import DataSettings, DigitsData, NpzData, TableData, Target, TextData
from gpupanel.domain.model import Head, Inputs, MlpModel, SavedModel, TabularModel, TransformerModel
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.table_data import RECIPE_MEMBER
from tests.grouped import Grouped
from tests.unit.trainer.conftest import MakeRun, StartTrainer
from tests.unit.trainer.saved_models import make_saved_models
from tests.unit.trainer.test_the_rule import CENTRAL, MIRRORED, ONE, TO_ONE_DEVICE
from tests.unit.trainer.test_the_rule_for_networks import write_prices
from tests.unit.trainer.text_folders import reviews, write_table
from tests.unit.trainer.trained_runs import (
    changed,
    evaluation,
    furthest,
    last_metrics,
    profile,
    train_all,
    variables,
)

pytestmark = pytest.mark.tensorflow

DIGITS = DigitsData(validation_fraction=0.2)
TRAINED = MlpModel(hidden=(32, 16), batch_norm=True)
TEXTS = TransformerModel(width=8, heads=2, hidden_units=16, dropout=0.0)
SGD = changed(learning_rate=0.02, clip_norm=0.5, epochs=2)
STILL = changed(learning_rate=1e-12, momentum=0.0, epochs=1)
SPLITS = {
    "one device": (ONE, [64]),
    "mirrored, 48 + 16": (MIRRORED, [48, 16]),
    "mirrored, 40 + 20 + 4": (TO_ONE_DEVICE, [40, 20, 4]),
    "central storage, 60 + 4": (CENTRAL, [60, 4]),
}
DIVIDED = "kept, mirrored, 48 + 16"
FURTHER = [
    (head, split)
    for head in ("kept", "new")
    for split in SPLITS
    if split != "one device" and f"{head}, {split}" != DIVIDED
]
FURTHER_KINDS = ("texts", "values", "prices")
"""Of what models are trained on, beside digits: for ``make test-slow``."""


def config(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        found: dict[str, Any] = json.loads(archive.read("config.json"))
        return found


def layer_names(path: Path) -> list[str]:
    return [each["config"]["name"] for each in config(path)["config"]["layers"]]


def inner_names(path: Path) -> list[str]:
    """Of the model within the model."""
    inside = config(path)["config"]["layers"][1]["config"]["layers"]
    return [each["config"]["name"] for each in inside]


def recipe(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        found: dict[str, Any] = json.loads(archive.read(RECIPE_MEMBER))
        return found


def weights(layout: RunLayout) -> dict[str, np.ndarray]:
    """Those of the model at the end, by their names within whatever they are part of."""
    found = variables(layout)
    return {name.removeprefix("model/"): found[name] for name in found if name.startswith("model/")}


@pytest.fixture(scope="module")
def digits_of_three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The digits 0, 1 and 2 of a random kind: other classes than the digits have."""
    random = np.random.default_rng(5)
    x = random.integers(0, 17, (300, 8, 8)).astype(np.float32)
    path = tmp_path_factory.mktemp("three") / "three.npz"
    np.savez(path, x=x, y=(x[:, 0, 0] // 6).astype(np.int64))
    np.savez(path.with_name("255.npz"), **{**np.load(path), "x": x * 255})
    return path


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> NpzData:
    random = np.random.default_rng(6)
    x = random.uniform(0, 1, (300, 4)).astype(np.float32)
    path = tmp_path_factory.mktemp("values") / "values.npz"
    np.savez(path, x=x, y=(1000 + 50 * x[:, :2]).astype(np.float32))
    return NpzData(path=str(path), predicts=Target.VALUES, validation_fraction=0.2)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, DataSettings]:
    """Texts and rows, and others of the same kind: other words, other means, other classes."""
    folder = tmp_path_factory.mktemp("sources")
    write_table(folder / "reviews.csv", reviews(150), "review,stars")
    moods = [(f"{text} indeed", int(stars > 2)) for text, stars in reviews(90)]
    write_table(folder / "moods.csv", moods, "review,mood")
    write_prices(folder / "prices.csv", 150)
    dear = (folder / "prices.csv").read_text().splitlines()
    rows = [line.rpartition(",") for line in dear[1:91]]
    lines = [f"{cells},{'dear' if float(price) > 300 else 'cheap'}" for cells, _, price in rows]
    (folder / "dear.csv").write_text("\n".join(["size,city,kind,how", *lines]))
    texts = TextData(path=str(folder / "reviews.csv"), vocabulary=30, length=9)
    table = TableData(path=str(folder / "prices.csv"), predicts=Target.VALUES)
    made: dict[str, DataSettings] = {
        "texts": texts,
        "moods": texts.model_copy(update={"path": str(folder / "moods.csv"), "length": 5}),
        "prices": table,
        "dear": TableData(path=str(folder / "dear.csv"), predicts=Target.CLASSES),
    }
    return {
        name: each.model_copy(update={"validation_fraction": 0.2}) for name, each in made.items()
    }


@pytest.fixture(scope="module")
def first(
    tmp_path_factory: pytest.TempPathFactory,
    make_run: MakeRun,
) -> dict[str, RunLayout]:
    plans = {
        "digits": (profile(SGD, model=TRAINED), [64]),
    }
    return train_all(tmp_path_factory.mktemp("first"), make_run, plans)


@pytest.fixture(scope="module")
def further_first(
    tmp_path_factory: pytest.TempPathFactory,
    make_run: MakeRun,
    values: NpzData,
    sources: dict[str, DataSettings],
) -> dict[str, RunLayout]:
    plans = {
        "texts": (profile(SGD, model=TEXTS, data=sources["texts"]), [64]),
        "values": (profile(SGD, model=MlpModel(hidden=(8,)), data=values), [64]),
        "prices": (profile(SGD, model=TabularModel(hidden=(8,)), data=sources["prices"]), [64]),
    }
    return train_all(tmp_path_factory.mktemp("first"), make_run, plans)


@pytest.fixture(scope="module")
def runs(
    tmp_path_factory: pytest.TempPathFactory,
    make_run: MakeRun,
    first: dict[str, RunLayout],
    digits_of_three: Path,
) -> dict[str, RunLayout]:
    three = NpzData(path=str(digits_of_three), validation_fraction=0.2)
    kept = SavedModel(path=str(first["digits"].model))
    new = kept.model_copy(update={"head": Head.NEW})
    models = {"kept": (kept, DIGITS), "new": (new, three)}
    asked = [("kept", "one device"), ("new", "one device"), ("kept", "mirrored, 48 + 16")]
    plans = divided(models, asked)
    multiplied = three.model_copy(update={"path": str(digits_of_three.with_name("255.npz"))})
    divided_first = new.model_copy(update={"inputs": Inputs.DIVIDED})
    plans["divided"] = profile(SGD, model=divided_first, data=multiplied), [64]
    frozen = new.model_copy(update={"frozen_layers": "base"})
    last_two = kept.model_copy(update={"frozen_layers": 2})
    plans["frozen"] = profile(SGD, model=frozen, data=three), [64]
    plans["last two"] = profile(SGD, model=last_two), [64]
    still = kept.model_copy(update={"frozen_layers": "base"})
    plans["still digits"] = profile(STILL, model=still), [64]

    def train(names: Sequence[str]) -> dict[str, RunLayout]:
        folder, chosen = tmp_path_factory.mktemp("again"), {name: plans[name] for name in names}
        evaluated = [name for name in ("frozen", "divided") if name in names]
        return train_all(folder, make_run, chosen, evaluated=evaluated)

    quick = ("kept, one device", DIVIDED)
    return Grouped(train, quick, [name for name in plans if name not in quick])


def trained_again(
    first: RunLayout, sources: dict[str, DataSettings], kind: str, other: str
) -> dict[str, tuple[Profile, Sequence[int]]]:
    """As it is, and with a new last layer on other data of the same kind."""
    saved = SavedModel(path=str(first.model), frozen_layers="base")
    again = saved.model_copy(update={"head": Head.NEW})
    return {
        f"still {kind}": (profile(STILL, model=saved, data=sources[kind]), [64]),
        other: (profile(SGD, model=again, data=sources[other]), [64]),
    }


@pytest.fixture(scope="module")
def further_runs(
    tmp_path_factory: pytest.TempPathFactory,
    make_run: MakeRun,
    first: dict[str, RunLayout],
    further_first: dict[str, RunLayout],
    digits_of_three: Path,
    values: NpzData,
    sources: dict[str, DataSettings],
) -> dict[str, RunLayout]:
    kept = SavedModel(path=str(first["digits"].model))
    three = NpzData(path=str(digits_of_three), validation_fraction=0.2)
    models = {"kept": (kept, DIGITS), "new": (kept.model_copy(update={"head": Head.NEW}), three)}
    plans = divided(models, [*FURTHER, ("kept", "mirrored, 48 + 16")])
    of_saved = SavedModel(path=str(further_first["values"].model))
    plans["still values"] = profile(STILL, model=of_saved, data=values), [64]
    plans |= trained_again(further_first["texts"], sources, "texts", "moods")
    plans |= trained_again(further_first["prices"], sources, "prices", "dear")
    return train_all(
        tmp_path_factory.mktemp("others"), make_run, plans, evaluated=[DIVIDED, "still values"]
    )


def divided(
    models: Mapping[str, tuple[SavedModel, DataSettings]], asked: Sequence[tuple[str, str]]
) -> dict[str, tuple[Profile, Sequence[int]]]:
    """A training of each of these models, divided so."""
    found: dict[str, tuple[Profile, Sequence[int]]] = {}
    for head, split in asked:
        (model, data), (strategy, shares) = models[head], SPLITS[split]
        found[f"{head}, {split}"] = profile(SGD, strategy, model=model, data=data), shares
    return found


def test_that_a_split_gives_the_weights_and_metrics_of_one_device(
    runs: dict[str, RunLayout],
) -> None:
    assert_alike(runs["kept, one device"], runs[DIVIDED])


@pytest.mark.slow
def test_that_further_splits_give_the_weights_and_metrics_of_one_device(
    runs: dict[str, RunLayout], further_runs: dict[str, RunLayout]
) -> None:
    for head, split in FURTHER:
        assert_alike(runs[f"{head}, one device"], further_runs[f"{head}, {split}"])


def assert_alike(one_device: RunLayout, other: RunLayout) -> None:
    assert furthest(one_device, other, "model/") < 1e-5
    expected = last_metrics(one_device).model_dump(exclude_none=True)
    assert last_metrics(other).model_dump(exclude_none=True) == pytest.approx(expected, rel=1e-5)


@pytest.mark.long
def test_that_a_model_goes_on_from_what_it_learned(
    first: dict[str, RunLayout], runs: dict[str, RunLayout]
) -> None:
    # Frozen, batch normalisation keeps its statistics.
    assert_still(first, runs, ["digits"])
    assert last_metrics(runs["kept, one device"]).val_loss < last_metrics(first["digits"]).val_loss


@pytest.mark.slow
def test_that_models_of_texts_values_and_tables_do_so_too(
    further_first: dict[str, RunLayout], further_runs: dict[str, RunLayout]
) -> None:
    assert_still(further_first, further_runs, FURTHER_KINDS)


def assert_still(
    first: dict[str, RunLayout], runs: dict[str, RunLayout], kinds: Sequence[str]
) -> None:
    for name in kinds:
        before, still = last_metrics(first[name]), last_metrics(runs[f"still {name}"])
        assert still.val_loss == pytest.approx(before.val_loss, rel=1e-4)


@pytest.mark.long
def test_that_what_is_saved_is_what_was_measured(runs: dict[str, RunLayout]) -> None:
    assert_saved_as_measured(runs["frozen"])


@pytest.mark.slow
@pytest.mark.parametrize("run", [DIVIDED, "still values"])
def test_that_what_is_saved_of_further_runs_is_what_was_measured(
    further_runs: dict[str, RunLayout], run: str
) -> None:
    assert_saved_as_measured(further_runs[run])


def assert_saved_as_measured(run: RunLayout) -> None:
    loss, measure = evaluation(run)["validation"]
    metrics = last_metrics(run)
    assert loss == pytest.approx(metrics.val_loss, rel=1e-4)
    of_values = metrics.val_mean_absolute_error
    assert measure == pytest.approx(of_values or metrics.val_accuracy, rel=1e-4)


@pytest.mark.long
def test_that_frozen_layers_keep_every_bit(
    first: dict[str, RunLayout], runs: dict[str, RunLayout]
) -> None:
    learned = weights(first["digits"])
    frozen, last_two = weights(runs["frozen"]), weights(runs["last two"])
    for name in learned:
        if name.startswith("outputs"):
            assert (frozen[name].shape == learned[name].shape) is False
            assert (last_two[name] != learned[name]).any()  # the last layer always learns
        else:
            assert (frozen[name] == learned[name]).all()
    # The last two before it: the second dense layer and its normalisation.
    changed_layers = {
        name.partition("/")[0] for name in learned if (last_two[name] != learned[name]).any()
    }
    assert changed_layers == {"dense_2", "dense_2_norm", "outputs"}


@pytest.mark.slow
def test_that_features_of_texts_are_made_as_the_model_knows_them(
    further_first: dict[str, RunLayout], further_runs: dict[str, RunLayout]
) -> None:
    known, learned = recipe(further_first["texts"].model), recipe(further_runs["moods"].model)
    assert (learned["words"], learned["length"]) == (known["words"], known["length"])
    assert known["class_names"] != learned["class_names"] == ["0", "1"]
    assert recipe(further_runs["still texts"].model) == known


@pytest.mark.slow
def test_that_features_of_tables_are_made_as_the_model_knows_them(
    further_first: dict[str, RunLayout], further_runs: dict[str, RunLayout]
) -> None:
    known, learned = recipe(further_first["prices"].model), recipe(further_runs["dear"].model)
    assert learned["features"] == known["features"]
    assert (learned["targets"], learned["class_names"]) == (["how"], ["cheap", "dear"])
    assert recipe(further_runs["still prices"].model) == known


@pytest.mark.long
def test_that_a_model_keeps_what_is_done_with_its_inputs(runs: dict[str, RunLayout]) -> None:
    assert furthest(runs["divided"], runs["new, one device"]) < 1e-4
    loss, accuracy = evaluation(runs["divided"])["validation"]  # of its file alone
    metrics = last_metrics(runs["divided"])
    assert (loss, accuracy) == pytest.approx((metrics.val_loss, metrics.val_accuracy), rel=1e-4)


@pytest.mark.long
def test_that_a_model_that_is_trained_again_and_again_does_not_grow(
    runs: dict[str, RunLayout], digits_of_three: Path, make_run: MakeRun, tmp_path: Path
) -> None:
    multiplied = NpzData(path=str(digits_of_three.with_name("255.npz")), validation_fraction=0.2)
    whole = runs["kept, one device"]
    # Frozen layers keep their statistics, too, so that the third model is the second to rounding.
    still = SavedModel(path=str(runs["divided"].model), frozen_layers="base")
    plans = {
        "digits": again(whole, DIGITS),
        "divided": (profile(STILL, model=still, data=multiplied), [64]),
    }
    third = train_all(tmp_path, make_run, plans)
    assert layer_names(third["digits"].model) == layer_names(whole.model)
    assert inner_names(third["digits"].model) == inner_names(whole.model)
    # What is done with the inputs is part of the model that is trained again.
    before, after = (last_metrics(each["divided"]) for each in (runs, third))
    assert after.val_loss == pytest.approx(before.val_loss, rel=1e-5)


@pytest.mark.slow
def test_that_a_model_of_values_does_not_grow_either(
    further_runs: dict[str, RunLayout], values: NpzData, make_run: MakeRun, tmp_path: Path
) -> None:
    second = further_runs["still values"]
    third = train_all(tmp_path, make_run, {"values": again(second, values)})
    assert layer_names(third["values"].model) == layer_names(second.model)


def again(run: RunLayout, data: DataSettings) -> tuple[Profile, Sequence[int]]:
    return profile(STILL, model=SavedModel(path=str(run.model)), data=data), [64]


@pytest.mark.parametrize("head", list(Head))
@pytest.mark.parametrize(
    ("name", "why"), [("spectral", "changes its weight"), ("weightless", "no weights")]
)
def test_that_what_no_last_layer_would_make_trainable_is_refused_in_a_sentence(
    saved: Path,
    make_run: MakeRun,
    start_trainer: StartTrainer,
    tmp_path: Path,
    name: str,
    why: str,
    head: Head,
) -> None:
    model = SavedModel(path=str(saved / f"{name}.keras"), head=head)
    ended = start_trainer(make_run(tmp_path / "run", profile(SGD, model=model), [64])).ended()
    assert ended.problem is not None
    assert ended.problem.code == "saved_model_not_trainable"
    assert why in ended.problem.message
    assert ended.problem.fix is None


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_saved_models(tmp_path_factory.mktemp("saved"))
