"""Scripts of residual networks, transformers and networks for tables train as the runs do."""

from pathlib import Path

import pytest

from gpupanel.domain.data import DigitsData, TableData, TextData
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import MlpModel, ResNetModel, TabularModel, TransformerModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.profile import DeviceSettings
from gpupanel.domain.schedule import ScheduleSettings
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from tests.sessions.one_source import assert_same_sessions, session, trained_with
from tests.unit.trainer.test_the_rule_for_networks import write_prices
from tests.unit.trainer.text_folders import reviews, write_table

pytestmark = pytest.mark.tensorflow

ALONE = {"devices": DeviceSettings(visible=("cpu",)), "strategy": StrategySettings()}


ADAM = trained_with(3e-3, optimizer=Optimizer.ADAM)
DECAYED = trained_with(
    3e-3, optimizer=Optimizer.ADAMW, schedule=ScheduleSettings(kind="cosine", warmup_epochs=0.5)
)
CLIPPED = trained_with(3e-3, optimizer=Optimizer.ADAM, accumulation_steps=2, clip_norm=0.5, ema=0.9)
RESNET, TRANSFORMER = ResNetModel(filters=(4, 8), blocks=1), TransformerModel(width=8, heads=2)
DEEPER = RESNET.model_copy(update={"blocks": 2, "dropout": 0.2})
TABULAR = TabularModel(hidden=(8, 4), batch_norm=True, dropout=0.1)
NORMALISED = MlpModel(hidden=(12, 6), batch_norm=True)
FEW = trained_with(3e-3, optimizer=Optimizer.ADAMW, global_batch_size=3, clip_norm=0.3)
DIVIDED = StrategySettings(kind=StrategyKind.MIRRORED, shares=(36, 24))
DIGITS = DigitsData(validation_fraction=0.9)
"""180 examples to learn from."""
EVERYTHING = InferenceSettings(batch_size=64, examples="all")


def whole(training: TrainingSettings) -> TrainingSettings:
    """No batch is a remainder, whose steps would be traced apart: that takes as long again."""
    return training.model_copy(update={"global_batch_size": 60})


def texts_and_table(folder: Path) -> tuple[TextData, TableData]:
    """Each has 120 examples to learn from."""
    reviewed = write_table(folder / "reviews.csv", [*reviews(149), ("", 2)], "review,stars")
    texts = TextData(path=str(reviewed), vocabulary=30, length=9, validation_fraction=0.2)
    prices = write_prices(folder / "prices.csv", 150)
    return texts, TableData(path=str(prices), validation_fraction=0.2)


@pytest.mark.slow
def test_that_run_and_script_give_the_same_weights_and_evaluations(tmp_path: Path) -> None:
    texts, table = texts_and_table(tmp_path)
    trained = {
        "table": session(data=table, model=TABULAR, training=whole(ADAM), strategy=DIVIDED),
        "transformer": session(data=texts, model=TRANSFORMER, training=whole(CLIPPED), **ALONE),
    }
    inferred = (("table", "predict", table, EVERYTHING),)
    both = assert_same_sessions(tmp_path, trained, inferred)
    both["transformer"].assert_same_bits()


@pytest.mark.slow
def test_that_run_and_script_agree_about_further_settings(tmp_path: Path) -> None:
    texts, table = texts_and_table(tmp_path)
    undropped = TRANSFORMER.model_copy(update={"dropout": 0.0, "blocks": 1})
    embedded = TabularModel(embedding_units=2)
    trained = {
        "resnet": session(data=DIGITS, model=DEEPER, training=ADAM),
        "resnet, divided": session(
            data=DIGITS, model=RESNET, training=whole(ADAM), strategy=DIVIDED
        ),
        "resnet alone": session(data=DIGITS, model=DEEPER, training=DECAYED, **ALONE),
        "transformer": session(data=texts, model=TRANSFORMER, training=ADAM),
        "transformer alone": session(
            data=texts,
            model=undropped,
            training=trained_with(3e-3, accumulation_steps=2),
            **ALONE,
        ),
        "table alone": session(data=table, model=embedded, training=ADAM, **ALONE),
        "table alone, normalised": session(data=table, model=TABULAR, training=ADAM, **ALONE),
        "few alone, normalised": session(data=DIGITS, model=NORMALISED, training=FEW, **ALONE),
        "numbers": session(data=digits_table(tmp_path), model=TabularModel(), training=ADAM),
    }
    inferred = (
        ("resnet", "evaluate", DIGITS, EVERYTHING),
        ("transformer", "evaluate", texts, EVERYTHING),
        ("table alone", "evaluate", table, EVERYTHING),
    )
    both = assert_same_sessions(tmp_path, trained, inferred)
    for name in ("resnet alone", "table alone, normalised", "few alone, normalised"):
        both[name].assert_same_bits()


def digits_table(folder: Path) -> TableData:
    """A table without categories."""
    rows = ["a,b,class", *(f"{row},{row % 7},{row % 2}" for row in range(90))]
    path = folder / "numbers.csv"
    path.write_text("\n".join(rows))
    return TableData(path=str(path), validation_fraction=0.2)
