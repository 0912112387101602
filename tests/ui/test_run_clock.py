"""The time of a run that ended and was resumed, and the curves over it."""

import time
from array import array

import numpy as np

from gpupanel.domain.events import Event, RunEnded, RunRestarted, RunStarted, StepsDone
from gpupanel.domain.outcome import Outcome
from gpupanel.runs.following.readings import SampleBatch
from gpupanel.runs.following.run_clock import RunClock
from gpupanel.ui.plots.run_curves import RunCurves
from tests.fakes.devices import CPU_ONLY
from tests.fakes.readings import busy_sample

DAY_S = 86_400.0


def step(time_s: float, number: int) -> StepsDone:
    return StepsDone(
        time_s=time_s,
        step=number,
        steps=1,
        epoch=1,
        step_in_epoch=number,
        examples=8,
        loss=1.0 / number,
        examples_per_second=10.0,
    )


RESUMED_NEXT_DAY: tuple[Event, ...] = (
    RunStarted(time_s=1000.0, supervisor_pid=1),
    step(1010.0, 1),
    step(1011.0, 2),
    RunEnded(time_s=1020.0, outcome=Outcome.STOPPED),
    RunRestarted(time_s=1019.0 + DAY_S, attempt=0),
    RunStarted(time_s=1020.0 + DAY_S, supervisor_pid=2),
    step(1025.0 + DAY_S, 2),
)


def test_that_the_time_of_a_run_stands_still_while_it_does_not_run():
    clock = RunClock()
    assert clock.seconds(5.0) is None
    for event in RESUMED_NEXT_DAY:
        clock.see(event)
    assert clock.seconds(999.0) is None
    assert clock.seconds(1010.0) == 10.0
    assert clock.seconds(1020.0 + DAY_S) == 20.0
    assert clock.seconds(1030.0 + DAY_S) == 30.0


def test_that_curves_go_on_where_they_ended_and_are_not_joined():
    curves = RunCurves()
    curves.set_devices(CPU_ONLY)
    curves.add_events(RESUMED_NEXT_DAY)
    curves.add_samples(
        SampleBatch.of([busy_sample(CPU_ONLY, time) for time in (1005.0, 1022.0 + DAY_S)])
    )
    assert list(curves.loss.times) == [10.0, 11.0, 11.0, 25.0]
    assert list(np.isnan(curves.loss.values)) == [False, False, True, False]
    assert list(curves.devices["cpu"].utilization.times) == [5.0, 22.0]
    assert curves.elapsed_s == 25.0


def test_that_a_restart_under_the_same_supervisor_takes_its_time():
    curves = RunCurves()
    curves.add_events(
        [RESUMED_NEXT_DAY[0], step(1010.0, 1), RunRestarted(time_s=1012.0, attempt=1)]
    )
    curves.add_events([step(1030.0, 1)])
    assert list(curves.loss.times) == [10.0, 10.0, 30.0]


def test_that_a_run_that_was_resumed_thousands_of_times_is_drawn_at_once():
    segments, times = 5_000, []
    run_clock = RunClock()
    begun_s = time.monotonic()
    for number in range(segments):
        run_clock.see(RunStarted(time_s=1000.0 + 100.0 * number, supervisor_pid=1))
        run_clock.see(step(1001.0 + 100.0 * number, 1))
        times.append(run_clock.moments(array("d", [1001.0 + 100.0 * number]))[0])
    # It took twenty when each moment was looked for among all resumes.
    assert time.monotonic() - begun_s < 10.0
    # The time between the segments does not count.
    assert times == [1.0 + number for number in range(segments)]
