"""Curves of a run: each step once, on the time of the run, and no more points than allowed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpupanel.domain.events import (
    MOST_FIGURES,
    EpochDone,
    FiguresReported,
    FitBegan,
    RunEnded,
    RunStarted,
    ScriptStarted,
    StepsDone,
    TrainingResumed,
)
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.runs.following.steps import StepBatch
from gpupanel.runs.history.curves import CurveRecorder
from gpupanel.runs.history.metrics import METRICS

DAY_S = 86_400.0


def step(time_s: float, number: int, loss: float, accuracy: float | None = None) -> StepsDone:
    return StepsDone(
        time_s=time_s,
        step=number,
        steps=1,
        epoch=1,
        step_in_epoch=number,
        examples=8,
        loss=loss,
        accuracy=accuracy,
        examples_per_second=10.0,
    )


def epoch(time_s: float, number: int, **metrics: float) -> EpochDone:
    return EpochDone(time_s=time_s, epoch=1, step=number, metrics=Metrics(**metrics), seconds=1.0)


def recorded(*parts, most_points=None) -> CurveRecorder:
    recorder = CurveRecorder(most_points)
    recorder.add((RunStarted(time_s=1000.0, supervisor_pid=1), *parts))
    return recorder


def test_that_only_what_was_measured_has_a_curve():
    recorder = recorded(
        step(1001.0, 1, 2.0), step(1002.0, 2, 1.0), epoch(1003.0, 2, val_loss=1.5, loss=1.6)
    )
    curves = recorder.points()
    # Steps of which nobody reported a learning rate have none; waiting is 0 where there is none.
    assert set(curves) == {
        "loss",
        "val_loss",
        "examples_per_second",
        "waiting_for_data",
    }
    assert curves["loss"].steps.tolist() == [1, 2]
    assert curves["loss"].times_s.tolist() == [1.0, 2.0]
    assert curves["loss"].values.tolist() == [2.0, 1.0]
    assert curves["val_loss"].steps.tolist() == [2]
    assert curves["val_loss"].times_s.tolist() == [3.0]
    assert recorder.step == 2


def test_that_a_run_without_steps_has_no_curves():
    recorder = recorded()
    assert recorder.points() == {}
    assert recorder.step == 0


def test_that_steps_in_bulk_are_the_same_as_steps_one_by_one():
    steps = [step(1000.0 + n, n, 1.0 / n, 0.5) for n in range(1, 50)]
    single, bulk = recorded(*steps).points(), recorded(StepBatch.of(steps)).points()
    assert set(single) == set(bulk)
    for metric, points in single.items():
        assert points.steps.tolist() == bulk[metric].steps.tolist()
        assert points.times_s.tolist() == bulk[metric].times_s.tolist()
        assert points.values.tolist() == bulk[metric].values.tolist()


@pytest.mark.parametrize("is_told", [True, False], ids=["resumed from", "from the beginning"])
def test_that_steps_that_were_done_again_have_their_last_word(is_told):
    kept = 2 if is_told else 0
    again = [step(1000.0 + DAY_S + n, n, 10.0 + n) for n in range(kept + 1, 4)]
    recorder = recorded(
        *(step(1000.0 + n, n, float(n)) for n in range(1, 6)),
        epoch(1005.5, 2, val_loss=2.0),
        epoch(1005.6, 5, val_loss=5.0),
        RunEnded(time_s=1006.0, outcome=Outcome.LOST),
        RunStarted(time_s=1000.0 + DAY_S, supervisor_pid=2),
        *([TrainingResumed(time_s=1000.0 + DAY_S, path="c", epoch=1, step=2)] if is_told else []),
        *again,
    )
    curves = recorder.points()
    assert curves["loss"].steps.tolist() == [1, 2, 3]
    assert curves["loss"].values.tolist() == [1.0, 2.0, 13.0][:kept] + [
        10.0 + n for n in range(kept + 1, 4)
    ]
    # The day between end and resumption is none of the run's time.
    assert curves["loss"].times_s[-1] == 9.0
    if is_told:
        assert curves["val_loss"].steps.tolist() == [2]
    else:
        assert "val_loss" not in curves


def test_that_what_was_taken_out_before_stays_as_it_was():
    recorder = recorded(*(step(1000.0 + n, n, float(n)) for n in range(1, 6)))
    before = recorder.points()["loss"]
    recorder.add([TrainingResumed(time_s=1010.0, path="c", epoch=1, step=2)])
    assert recorder.step == 2
    recorder.add([step(1011.0, 3, 99.0)])
    assert before.values.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert recorder.points()["loss"].values.tolist() == [1.0, 2.0, 99.0]


def test_that_a_clock_that_was_set_back_moves_no_curve_back():
    recorder = recorded(step(1005.0, 1, 1.0), step(900.0, 2, 1.0), step(1006.0, 3, 1.0))
    assert recorder.points()["loss"].times_s.tolist() == [5.0, 5.0, 6.0]


def test_that_a_long_run_keeps_its_mean_and_its_ends_within_the_allowed_points():
    steps = [step(1000.0 + n, n, float(n)) for n in range(1, 1001)]
    recorder = recorded(StepBatch.of(steps[:700]), *steps[700:], most_points=64)
    points = recorder.points()["loss"]
    assert 24 <= len(points) <= 64
    assert points.steps[-1] == 1000
    weights = np.diff(points.steps, prepend=0.0)
    assert np.average(points.values, weights=weights) == pytest.approx(500.5)
    # Nor does the beginning fade: its points are as close as later ones.
    assert weights.max() == weights[0] == 32
    assert len(recorded(StepBatch.of(steps)).points()["loss"]) == 1000


@given(st.lists(st.integers(1, 30), min_size=1, max_size=60), st.integers(1, 9))
def test_that_every_step_stands_once_in_order_with_its_last_word(numbers, portion):
    events = [step(1000.0 + at, number, float(at)) for at, number in enumerate(numbers)]
    recorder = recorded(
        *(StepBatch.of(events[n : n + portion]) for n in range(0, len(events), portion))
    )
    points = recorder.points()["loss"]
    expected: list[tuple[int, float]] = []
    for at, number in enumerate(numbers):
        expected = [each for each in expected if each[0] < number] + [(number, float(at))]
    assert list(zip(points.steps.tolist(), points.values.tolist(), strict=True)) == expected
    assert (np.diff(points.times_s) >= 0).all()


def test_that_the_best_is_the_least_of_a_loss_and_the_greatest_of_an_accuracy():
    curves = recorded(step(1001.0, 1, 2.0, 0.1), step(1002.0, 2, 3.0, 0.3)).points()
    loss, accuracy = curves["loss"], curves["accuracy"]
    assert loss.best(more_is_better=METRICS["loss"].more_is_better) == 2.0
    assert accuracy.best(more_is_better=METRICS["accuracy"].more_is_better) == 0.3
    assert loss.last() == 3.0


def test_that_metrics_are_shown_in_this_order() -> None:
    assert list(METRICS) == [
        *("loss", "val_loss", "accuracy", "val_accuracy", "val_top_5_accuracy", "val_f1"),
        *("val_auc", "mean_absolute_error", "val_mean_absolute_error"),
        *("val_root_mean_squared_error", "val_r2"),
        *("examples_per_second", "learning_rate", "gradient_norm", "waiting_for_data"),
        "step_time_ms",
    ]


def test_that_a_curve_of_every_third_epoch_has_its_values_also_when_it_is_thinned() -> None:
    validated = {number: 100.0 + number for number in range(3, 301, 3)}
    epochs = [
        epoch(1000.0 + number, number, loss=1.0, **({"val_loss": found} if found else {}))
        for number in range(1, 301)
        for found in [validated.get(number)]
    ]
    whole = recorded(*epochs).points()["val_loss"]
    assert dict(zip(whole.steps.tolist(), whole.values.tolist(), strict=True)) == validated
    thinned = recorded(*epochs, most_points=64).points()["val_loss"]
    assert 16 <= len(thinned) <= 64
    # The mean of a span is near the value at its end, of values that rise evenly.
    assert np.abs(thinned.values - thinned.steps - 100.0).max() < 300 / 16
    assert np.diff(thinned.values).min() > 0.0


def figures(time_s: float, number: int | None, **reported: float) -> FiguresReported:
    return FiguresReported(time_s=time_s, step=number, figures=reported)


def test_that_figures_of_a_program_are_curves_by_its_own_names():
    recorder = recorded(
        ScriptStarted(time_s=1000.0, pid=1, program="train.py"),
        FitBegan(time_s=1000.0, epochs=2, steps_per_epoch=5),
        step(1001.0, 1, 2.0),
        figures(1001.0, 1, reward=0.5),
        figures(1002.0, 2, reward=0.75),
        figures(1003.0, None, reward=1.0, val_reward=0.25),
    )
    curves = recorder.points()
    assert set(curves) == {"loss", "examples_per_second", "reward", "val_reward"}
    assert curves["reward"].steps.tolist() == [1, 2]
    assert curves["reward"].values.tolist() == [0.5, 1.0]
    assert curves["reward"].times_s.tolist() == [1.0, 3.0]
    assert curves["val_reward"].values.tolist() == [0.25]
    assert (recorder.step, recorder.steps_per_epoch) == (2, 5)


def test_that_a_figure_that_is_called_as_a_metric_is_not_taken_for_it():
    curves = recorded(step(1001.0, 1, 2.0, 0.5), figures(1001.0, 1, accuracy=87.0)).points()
    assert curves["accuracy"].values.tolist() == [0.5]
    assert curves["accuracy (reported)"].values.tolist() == [87.0]
    own = recorded(figures(1001.0, 1, auc=0.5), figures(1001.0, 1, val_auc=0.25)).points()
    assert set(own) == {"auc (reported)", "val_auc (reported)"}


def test_that_what_fit_gives_with_its_steps_is_the_twin_of_what_it_validates():
    fit = FitBegan(time_s=1000.0, epochs=2)
    curves = recorded(fit, figures(1001.0, 1, auc=0.5), epoch(1002.0, 1, val_auc=0.25)).points()
    assert set(curves) == {"auc", "val_auc"}


def test_that_figures_that_are_reported_again_replace_those_before():
    recorder = recorded(
        figures(1001.0, 1, reward=0.1),
        figures(1002.0, 2, reward=0.2),
        figures(1003.0, 3, reward=0.3),
        TrainingResumed(time_s=1004.0, path="c", step=1, epoch=1),
        figures(1005.0, 2, reward=0.9),
    )
    assert recorder.points()["reward"].values.tolist() == [0.1, 0.9]


def test_that_no_more_figures_are_kept_than_are_drawn():
    many = (figures(1001.0, 1, **{f"figure {number}": 1.0}) for number in range(MOST_FIGURES + 5))
    assert len(recorded(*many).points()) == MOST_FIGURES


def test_that_figures_are_thinned_as_all_curves_are():
    many = (figures(1001.0 + number, number, reward=1.0) for number in range(1, 1_001))
    assert len(recorded(*many, most_points=100).points()["reward"]) <= 100


def test_that_metrics_of_ones_own_code_are_curves_of_epochs():
    points = recorded(
        step(1.0, 1, 0.5),
        epoch(1.5, 1, val_loss=0.4, iou=0.25, val_iou=0.125),
        step(2.0, 2, 0.4),
        epoch(2.5, 2, val_loss=0.3, iou=0.5, val_iou=0.25),
    ).points()
    assert points["iou"].steps.tolist() == [1.0, 2.0]
    assert points["iou"].values.tolist() == [0.25, 0.5]
    assert points["val_iou"].values.tolist() == [0.125, 0.25]
