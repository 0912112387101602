"""What runs measure."""

from typing import Literal

import pytest

from gpupanel.domain.outcome import SET_METRICS, Metrics


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
