"""Which epoch is the best, by which figure."""

import math

import pytest

from gpupanel.domain.best_epoch import BestMetric, Keep
from gpupanel.domain.data_source import Target
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.training import TrainingSettings

LOSS, ACCURACY, ERROR = BestMetric.LOSS, BestMetric.ACCURACY, BestMetric.ERROR
F1, AUC, R2 = BestMetric.F1, BestMetric.AUC, BestMetric.R2


@pytest.mark.parametrize(
    ("metric", "value", "best", "better"),
    [
        (LOSS, 0.5, None, True),
        (LOSS, 0.5, 0.6, True),
        (LOSS, 0.6, 0.5, False),
        (LOSS, 0.5, 0.5 * (1 + 1e-7), False),  # rounding
        (LOSS, 0.0, 0.0, False),
        (LOSS, -2.0, -1.0, True),
        (ACCURACY, 0.6, 0.5, True),
        (ACCURACY, 0.5, 0.6, False),
        (ACCURACY, 0.5, 0.5, False),
        (ACCURACY, 0.0, None, True),
        (ERROR, 1.0, 2.0, True),
        (F1, 0.6, 0.5, True),
        (AUC, 0.5, 0.6, False),
        (R2, -0.5, -0.6, True),
        (R2, -0.5, -0.4, False),
        (LOSS, None, 0.5, False),
        (LOSS, math.nan, None, False),
        (ACCURACY, math.inf, None, False),
    ],
)
def test_that_an_epoch_is_better_by_more_than_rounding(
    metric: BestMetric, value: float | None, best: float | None, better: bool
) -> None:
    assert metric.is_better(value, best) is better


def test_that_a_metric_is_found_among_those_of_an_epoch() -> None:
    metrics = Metrics(loss=1.0, val_loss=2.0, val_accuracy=0.5, val_f1=0.4, val_auc=0.3, f1=0.2)
    assert [each.of(metrics) for each in BestMetric] == [2.0, 0.5, 0.4, 0.3, None, None]
    assert R2.of(Metrics(val_r2=-1.0)) == -1.0


@pytest.mark.parametrize("target", [*Target, None])
@pytest.mark.parametrize("metric", BestMetric)
def test_that_a_metric_that_is_not_measured_of_what_is_predicted_is_refused(
    metric: BestMetric, target: Target | None
) -> None:
    misfit = metric.misfit(target)
    of_values = target is Target.VALUES
    refused = (metric in (ACCURACY, F1, AUC) and of_values) or (
        metric in (ERROR, R2) and target is not None and not of_values
    )
    assert (misfit is not None) is refused
    if misfit is not None:
        assert (misfit.code, misfit.field) == ("best_metric_not_measured", "training.best_metric")
        assert misfit.fix is not None
        assert misfit.fix.changes[0].value == "val_loss"


@pytest.mark.parametrize(
    ("metric", "target", "outputs", "words"),
    [
        (AUC, Target.CLASSES, 2, ""),
        (AUC, Target.CLASSES, 3, "there are 3 classes, and it is of two"),
        (AUC, Target.LABELS, 100, ""),
        (AUC, Target.LABELS, 101, "there are 101 labels, and it is measured of at most 100"),
        (F1, Target.CLASSES, 1000, ""),
        (F1, Target.CLASSES, 1001, "there are 1,001 classes, and it is measured of at most 1,000"),
        (R2, Target.VALUES, 1001, "there are 1,001 values"),
        (ACCURACY, Target.CLASSES, 10_000, ""),
    ],
)
def test_that_a_metric_that_is_not_measured_of_so_many_is_refused(
    metric: BestMetric, target: Target, outputs: int, words: str
) -> None:
    misfit = metric.misfit(target, outputs)
    assert (misfit is not None) is bool(words)
    assert misfit is None or words in misfit.message


def test_that_a_metric_of_whole_sets_is_not_measured_of_arrays() -> None:
    for target, fitting in (
        (Target.CLASSES, [LOSS, ACCURACY]),
        (Target.LABELS, [LOSS, ACCURACY]),
        (Target.VALUES, [LOSS, ERROR]),
        (None, [LOSS]),
    ):
        assert [each for each in BestMetric if each.misfit_of_arrays(target) is None] == fitting
    misfit = F1.misfit_of_arrays(Target.CLASSES)
    assert misfit is not None
    assert "the labels are arrays" in misfit.message


def test_that_the_loss_alone_is_measured_beside_a_loss_of_ones_own() -> None:
    assert [each for each in BestMetric if each.misfit_of_own_loss() is None] == [LOSS]


def test_that_a_metric_of_labels_that_are_all_alike_is_refused() -> None:
    assert "all validation examples have the same labels" in AUC.unmeasurable().message


@pytest.mark.parametrize(
    ("keep", "checkpoint", "stored"),
    [
        (None, True, True),
        (None, False, True),
        (Keep.BEST, True, True),
        (Keep.BEST, False, True),
        (Keep.LAST, True, True),
        (Keep.LAST, False, False),
    ],
)
def test_that_the_best_weights_are_stored_where_they_are_wanted(
    keep: Keep | None, checkpoint: bool, stored: bool
) -> None:
    settings = TrainingSettings(keep=keep, keep_best_checkpoint=checkpoint)
    assert settings.stores_best is stored
