"""Scripts of residual networks, transformers and networks for tables train as the runs do."""

from pathlib import Path

import pytest

from gpupanel.domain.data import DigitsData, TableData, TextData
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import ResNetModel, TabularModel, TransformerModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.profile import DeviceSettings
from gpupanel.domain.strategy import StrategySettings
from tests.sessions.one_source import assert_same_sessions, session, trained_with
from tests.unit.trainer.test_the_rule_for_networks import write_prices
from tests.unit.trainer.text_folders import reviews, write_table

pytestmark = pytest.mark.tensorflow

ALONE = {"devices": DeviceSettings(visible=("cpu",)), "strategy": StrategySettings()}


def test_that_run_and_script_give_the_same_weights_and_evaluations(tmp_path: Path) -> None:
    reviewed = write_table(tmp_path / "reviews.csv", [*reviews(150), ("", 2)], "review,stars")
    texts = TextData(path=str(reviewed), vocabulary=30, length=9, validation_fraction=0.2)
    prices = write_prices(tmp_path / "prices.csv", 150)
    table = TableData(path=str(prices), validation_fraction=0.2)
    digits = DigitsData(validation_fraction=0.9)
    adam = trained_with(3e-3, optimizer=Optimizer.ADAM)
    resnet, transformer = ResNetModel(filters=(4, 8), blocks=2), TransformerModel(width=8, heads=2)
    normalised = TabularModel(hidden=(8, 4), batch_norm=True, dropout=0.1)
    trained = {
        "resnet": session(data=digits, model=resnet, training=adam),
        "resnet alone": session(
            data=digits,
            model=resnet.model_copy(update={"dropout": 0.2}),
            training=adam,
            **ALONE,
        ),
        "transformer": session(data=texts, model=transformer, training=adam),
        "transformer alone": session(
            data=texts,
            model=transformer.model_copy(update={"dropout": 0.0, "blocks": 1}),
            training=trained_with(3e-3, accumulation_steps=2),
            **ALONE,
        ),
        "table": session(data=table, model=normalised, training=adam),
        "table alone": session(
            data=table, model=TabularModel(embedding_units=2), training=adam, **ALONE
        ),
        "numbers": session(data=digits_table(tmp_path), model=TabularModel(), training=adam),
    }
    everything = InferenceSettings(batch_size=64, examples="all")
    inferred = (
        ("resnet", "evaluate", digits, everything),
        ("transformer", "evaluate", texts, everything),
        ("table", "evaluate", table, everything),
        ("table alone", "predict", table, everything),
    )
    assert_same_sessions(tmp_path, trained, inferred)


def digits_table(folder: Path) -> TableData:
    """A table without categories."""
    rows = ["a,b,class", *(f"{row},{row % 7},{row % 2}" for row in range(90))]
    path = folder / "numbers.csv"
    path.write_text("\n".join(rows))
    return TableData(path=str(path), validation_fraction=0.2)
