"""A run while which the machine slept for a night: it is no time of the run, nor of its axis."""

from collections.abc import Iterator

import pytest

from gpupanel.domain import events
from gpupanel.domain.outcome import Outcome
from gpupanel.runs.following.run_clock import RunClock
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.history.run_segments import RunSegments
from gpupanel.ui.plots.run_curves import RunCurves

NIGHT_S = 8 * 3600.0
BEGUN_S = 1_795_000_000.0
STEP_S = 10.0


def step(number: int, time_s: float) -> events.StepsDone:
    return events.StepsDone(
        time_s=time_s,
        step=number,
        steps=1,
        epoch=1,
        step_in_epoch=number,
        examples=8,
        loss=1.0 / number,
        examples_per_second=0.8,
    )


def written(*, twice: bool) -> Iterator[events.Event]:
    """Twenty steps of ten seconds; the machine sleeps after the tenth."""
    yield events.RunStarted(time_s=BEGUN_S, supervisor_pid=1)
    yield events.DataReady(
        time_s=BEGUN_S,
        training_examples=320,
        validation_examples=0,
        feature_shape=(8,),
        steps_per_epoch=40,
    )
    for number in range(1, 21):
        slept_s = NIGHT_S if number > 10 else 0.0
        time_s = BEGUN_S + number * STEP_S + slept_s
        if number == 11:
            yield events.ClockJumped(time_s=time_s - 9.0, gap_s=NIGHT_S)
        if number == 11 and twice:
            yield events.ClockJumped(time_s=time_s, gap_s=NIGHT_S)
        yield step(number, time_s)


def end() -> events.RunEnded:
    return events.RunEnded(time_s=BEGUN_S + 200.0 + NIGHT_S, outcome=Outcome.COMPLETED)


@pytest.mark.parametrize("twice", [False, True], ids=["one process", "two that say so"])
def test_that_neither_what_is_left_nor_what_it_took_knows_the_night(twice: bool) -> None:
    status = RunStatus(epoch_total=1)
    for event in written(twice=twice):
        status = status.after(event)
    assert status.step == 20
    assert status.seconds_left == pytest.approx((status.step_total - 20) * STEP_S, rel=0.01)
    assert status.after(end()).lasted_s == pytest.approx(200.0)


@pytest.mark.parametrize("twice", [False, True], ids=["one process", "two that say so"])
def test_that_the_axis_goes_on_where_it_stood(twice: bool) -> None:
    clock, curves = RunClock(), RunCurves()
    moments = []
    for event in written(twice=twice):
        moment = clock.seconds(clock.see(event))
        curves.add_events([event])
        if isinstance(event, events.StepsDone):
            moments.append(moment)
    assert moments == pytest.approx([number * STEP_S for number in range(1, 21)], abs=10.0)
    assert curves.elapsed_s < 250.0


def test_that_legs_are_counted_without_it_by_whoever_goes_on() -> None:
    segments = RunSegments()
    for each in (*written(twice=True), end()):
        segments.see_block(events.encode_event(each).encode() + b"\n")
    segments.see(events.RunStarted(time_s=BEGUN_S + 2 * NIGHT_S, supervisor_pid=2))
    assert segments.lasted_s(BEGUN_S + 2 * NIGHT_S) == pytest.approx(200.0)
    segments.see(events.ClockJumped(time_s=BEGUN_S + 3 * NIGHT_S, gap_s=NIGHT_S - 50.0))
    assert segments.lasted_s(BEGUN_S + 3 * NIGHT_S) == pytest.approx(250.0)
