"""What runs measure."""

from typing import Literal

import pytest
from pydantic import ValidationError

from gpupanel.domain.outcome import MOST_OWN_METRICS, SET_METRICS, Metrics, own_metric_misfit


@pytest.mark.parametrize("part", ["val", "test"])
def test_that_what_was_measured_of_a_set_stands_beside_the_rest(
    part: Literal["val", "test"],
) -> None:
    trained = Metrics(loss=0.5, accuracy=0.9, val_loss=0.6)
    found = trained.with_part(part, Metrics(loss=0.7, accuracy=0.8))
    changed = {f"{part}_loss": 0.7, f"{part}_accuracy": 0.8}

    assert found == trained.model_copy(update=changed)
    assert Metrics.model_validate(found.model_dump()) == found
    values = trained.with_part(part, Metrics(loss=0.7, mean_absolute_error=0.3))
    assert values.model_dump()[f"{part}_mean_absolute_error"] == 0.3


def test_that_nothing_measured_changes_nothing() -> None:
    assert Metrics(loss=0.5).with_part("test", Metrics()) == Metrics(loss=0.5)


def test_that_metrics_know_each_measure_of_each_set() -> None:
    prefixes = ("", "val_", "test_")
    names = [f"{prefix}{name}" for prefix in prefixes for name in SET_METRICS]
    assert list(Metrics.model_fields) == names
    assert len(names) == 3 * 8
    metrics = Metrics(loss=1.0, val_loss=2.0, val_r2=0.5, test_auc=0.7)
    assert metrics.of_part("val") == Metrics(loss=2.0, r2=0.5)
    assert metrics.of_part("test") == Metrics(auc=0.7)
    assert metrics.of_part("val").value_of(SET_METRICS["r2"]) == 0.5


def test_that_metrics_of_ones_own_stand_beside_the_others_of_each_set() -> None:
    trained = Metrics(loss=0.5, dice=0.25)
    found = trained.with_part("val", Metrics(loss=0.7, dice=0.125)).with_part("test", Metrics(n=2))

    assert found.own == {"dice": 0.25, "val_dice": 0.125, "test_n": 2.0}
    assert found.of_part("val") == Metrics(loss=0.7, dice=0.125)
    assert found.of_part("test").own == {"n": 2.0}
    assert Metrics.model_validate_json(found.model_dump_json()) == found
    assert found.model_copy() == found
    assert found.model_copy(update={"accuracy": 1.0}).own == found.own
    later = Metrics(loss=0.4, dice=0.5)
    assert later.with_validation_of(found).own == {"dice": 0.5, "val_dice": 0.125}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("dice", None),
        ("iou_50", None),
        ("Dice", "small letters"),
        ("2d", "first a letter"),
        ("a" * 41, "up to 40"),
        ("dice\x1b[2J", "small letters"),
        ("", "first a letter"),
        ("accuracy", "the program measures one of that name"),
        ("val_dice", "those of other sets"),
        ("test_dice", "those of other sets"),
    ],
)
def test_that_a_metric_of_ones_own_has_a_name_that_means_one_thing(
    name: str, words: str | None
) -> None:
    misfit = own_metric_misfit(name)
    assert misfit is words if words is None or misfit is None else words in misfit


@pytest.mark.parametrize(
    "metrics",
    [
        {"Dice": 1.0},
        {"val_val_dice": 1.0},
        {"val_test_dice": 1.0},
        {"dice": "high"},
        {"dice": float("nan")},
        {f"m{number}": 1.0 for number in range(MOST_OWN_METRICS + 1)},
    ],
)
def test_that_a_run_of_a_stranger_measures_nothing_else(metrics: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Metrics.model_validate(metrics)
