"""What is declared of a metric is all that there is of it."""

import math

import pytest
from pydantic import ValidationError

from gpupanel.domain.events import StepsDone, decode_event, encode_event
from gpupanel.domain.metric import Unit
from gpupanel.domain.outcome import FURTHER_METRICS, SET_METRICS
from gpupanel.domain.steps_line import LINE_TYPES, STEP_METRICS, StepsLine

LINE = StepsLine(
    time_s=1.5,
    step=3,
    steps=2,
    epoch=1,
    step_in_epoch=3,
    examples=8,
    loss=0.5,
    examples_per_second=9.0,
)


def test_that_an_event_has_the_keys_of_a_line_in_their_order_and_comes_back() -> None:
    event = StepsDone.of(LINE, {"gradient_norm": 1.25})

    assert list(event.model_dump()) == list(StepsDone.model_fields) == list(LINE_TYPES)
    assert (event.kind, event.loss, event.gradient_norm) == ("steps_done", 0.5, 1.25)
    assert event.learning_rate is None
    assert decode_event(encode_event(event).encode()) == event


@pytest.mark.parametrize("found", [{"gradient_norm": math.inf}, {"gradient": 1.0}], ids=str)
def test_that_what_no_line_holds_is_refused(found: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        StepsDone.of(LINE, found)


def test_that_metrics_are_known_by_their_keys_and_have_words() -> None:
    for metrics in (STEP_METRICS, SET_METRICS):
        for name, metric in metrics.items():
            assert metric.name == name
            assert metric.title
            assert metric.tip.endswith(".")
            assert metric.is_fraction is (metric.unit is Unit.FRACTION)
    assert set(STEP_METRICS) < set(LINE_TYPES)
    assert [metric.name for metric in FURTHER_METRICS] == list(SET_METRICS)[1:]


def test_that_a_column_may_be_called_shorter_than_a_plot() -> None:
    assert STEP_METRICS["waiting_for_data"].short_title == "Waiting"
    assert STEP_METRICS["learning_rate"].short_title == "Learning rate"
