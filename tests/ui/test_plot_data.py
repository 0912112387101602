"""The plots' arithmetic: buffers, decimation, ranges, curves of a run."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gpupanel.domain.events import EpochDone, RunStarted, StepsDone
from gpupanel.domain.outcome import Metrics
from gpupanel.runs.following.readings import SampleBatch
from gpupanel.ui.plots.axis_range import settled_range, time_range
from gpupanel.ui.plots.drawn_curve import envelope
from gpupanel.ui.plots.run_curves import RunCurves
from gpupanel.ui.plots.sample_buffer import SampleBuffer
from tests.fakes.devices import TWO_UNEQUAL
from tests.fakes.readings import busy_sample, with_lost


def filled(count: int, capacity: int) -> SampleBuffer:
    buffer = SampleBuffer(capacity)
    for index in range(count):
        buffer.append(float(index), float((index * 7919) % 1000))
    return buffer


def test_that_a_full_buffer_keeps_the_whole_run_and_its_peaks():
    buffer = SampleBuffer(64)
    for index in range(1000):
        buffer.append(float(index), 500.0 if index == 10 else 1.0)
    assert len(buffer) <= 64
    assert buffer.times[0] <= 10.0
    assert buffer.times[-1] == 999.0
    assert buffer.values.max() == 500.0
    assert (np.diff(buffer.times) >= 0).all()


def test_that_a_missing_reading_is_a_gap_that_survives_a_full_buffer():
    buffer = SampleBuffer(8)
    for index in range(8):
        buffer.append(float(index), None)
    buffer.append(8.0, 1.0)
    assert np.isnan(buffer.values[:-1]).all()
    assert buffer.last() == 1.0


def test_that_the_value_at_a_time_is_that_of_the_last_point_before_it():
    buffer = SampleBuffer(8)
    assert buffer.last() is None
    buffer.append(1.0, 10.0)
    buffer.append(2.0, None)
    assert buffer.value_at(0.5) is None
    assert buffer.value_at(1.5) == 10.0
    assert buffer.value_at(2.5) is None
    revision = buffer.revision
    buffer.clear()
    assert len(buffer) == 0
    assert buffer.revision != revision


@given(
    st.lists(
        st.sampled_from((0.0, 1.0, 2.0, -3.0, float("nan"), float("inf"))), min_size=8, max_size=8
    )
)
def test_that_a_full_buffer_keeps_the_first_least_and_greatest_of_each_four(values):
    buffer = SampleBuffer(8)
    buffer.extend(np.arange(8.0), np.array(values))
    buffer.append(8.0, 9.0)
    expected = []
    for group in (values[:4], values[4:]):
        known = np.isfinite(group)
        least = int(np.where(known, group, np.inf).argmin())
        greatest = int(np.where(known, group, -np.inf).argmax())
        expected += [group[each] for each in sorted((least, greatest))]
    np.testing.assert_array_equal(buffer.values, [*expected, 9.0])


@given(
    count=st.integers(0, 400),
    pixels=st.integers(1, 60),
    start=st.floats(-50.0, 350.0),
    width=st.floats(0.5, 500.0),
)
def test_that_decimation_loses_no_peak_and_draws_two_points_a_pixel(count, pixels, start, width):
    buffer = filled(count, 1024)
    times, values = envelope(buffer.times, buffer.values, start, start + width, pixels)
    inside = (buffer.times >= start) & (buffer.times <= start + width)
    assert times.size == values.size <= 2 * pixels + 4
    assert (np.diff(times) >= 0).all()
    if inside.any():
        assert values.max() >= buffer.values[inside].max()
        assert values.min() <= buffer.values[inside].min()


def test_that_few_points_are_drawn_as_they_are():
    buffer = filled(10, 64)
    times, values = envelope(buffer.times, buffer.values, 0.0, 9.0, 100)
    assert times.tolist() == buffer.times.tolist()
    assert values.tolist() == buffer.values.tolist()


def test_that_a_gap_among_many_points_stays_one():
    times = np.arange(1000.0)
    values = np.ones(1000)
    values[400:600] = np.nan
    drawn_times, drawn = envelope(times, values, 0.0, 1000.0, 50)
    gap = np.isnan(drawn)
    assert gap.any()
    assert drawn_times[gap].min() >= 400.0
    assert drawn_times[gap].max() < 600.0


def test_that_a_range_stands_still_until_a_value_leaves_it():
    shown = settled_range(0.1, 2.3, None)
    assert shown == (0.0, 2.5)
    assert settled_range(0.4, 2.1, shown) is shown
    assert settled_range(0.1, 2.6, shown)[1] >= 2.6
    assert settled_range(0.1, 0.4, shown) != shown


@given(st.floats(-1e6, 1e6, allow_subnormal=False), st.floats(0.0, 1e6, allow_subnormal=False))
@example(-360288.0, 7.56e-11)
def test_that_a_range_holds_its_values(least, span):
    low, high = settled_range(least, least + span, None)
    assert low < high
    assert low <= least + 1e-6 * abs(least)
    assert high >= least + span - 1e-6 * abs(least + span)


def test_that_time_goes_to_the_right_edge_in_jumps():
    assert time_range(0.0) == (0.0, 10.0)
    ends = {time_range(second / 10.0)[1] for second in range(1000, 1200)}
    assert len(ends) <= 3
    assert all(time_range(elapsed)[1] >= elapsed for elapsed in (3.0, 41.0, 3599.0, 90_000.0))


def steps(time_s: float, loss: float, accuracy: float | None = None) -> StepsDone:
    return StepsDone(
        time_s=time_s,
        step=1,
        steps=1,
        epoch=1,
        step_in_epoch=1,
        examples=64,
        loss=loss,
        accuracy=accuracy,
        examples_per_second=1000.0,
    )


def test_that_time_begins_with_the_run():
    curves = RunCurves()
    curves.add_events([RunStarted(time_s=100.0, supervisor_pid=1), steps(104.0, 2.0, 0.5)])
    assert curves.loss.times.tolist() == [4.0]
    assert curves.metric.values.tolist() == [50.0]
    assert curves.elapsed_s == 4.0
    assert curves.metric_name == "accuracy"


def test_that_samples_wait_for_the_run_to_begin_and_older_ones_are_left_out():
    curves = RunCurves()
    curves.set_devices(TWO_UNEQUAL)
    curves.add_samples(
        SampleBatch.of([busy_sample(TWO_UNEQUAL, time_s) for time_s in (95.0, 101.0, 102.0)])
    )
    assert not curves.has_points
    curves.add_events([RunStarted(time_s=100.0, supervisor_pid=1)])
    assert curves.devices["GPU-4090"].utilization.times.tolist() == [1.0, 2.0]
    assert curves.has_points


def test_that_memory_is_percent_of_each_devices_own_and_reads_as_gib():
    curves = RunCurves()
    curves.set_devices(TWO_UNEQUAL)
    curves.add_events([RunStarted(time_s=0.0, supervisor_pid=1)])
    sample = with_lost(busy_sample(TWO_UNEQUAL, 1.0), "GPU-4090")
    curves.add_samples(SampleBatch.of([sample]))
    mine = curves.devices["GPU-3060"]
    assert mine.memory.last() == pytest.approx(37.5)
    assert mine.memory_text(37.5) == "4.5 GiB"
    assert curves.devices["GPU-4090"].memory.last() is None
    assert curves.devices["GPU-4090"].memory_text(None) == "\N{EN DASH}"


def test_that_predicted_values_have_an_error_instead_of_an_accuracy():
    curves = RunCurves()
    metrics = Metrics(loss=1.0, mean_absolute_error=3.0, val_loss=2.0, val_mean_absolute_error=4.0)
    curves.add_events(
        [
            RunStarted(time_s=0.0, supervisor_pid=1),
            steps(1.0, 2.0),
            EpochDone(time_s=5.0, epoch=1, step=1, metrics=metrics, seconds=1.0),
        ]
    )
    assert curves.metric_name == "mean_absolute_error"
    assert curves.metric.values.tolist() == [3.0]
    assert curves.validation_metric.values.tolist() == [4.0]
    assert curves.validation_loss.values.tolist() == [2.0]


def test_that_devices_that_stay_keep_their_curves():
    curves = RunCurves()
    curves.set_devices(TWO_UNEQUAL)
    kept = curves.devices["GPU-3060"]
    curves.set_devices(TWO_UNEQUAL.model_copy(update={"devices": TWO_UNEQUAL.devices[1:]}))
    assert list(curves.devices) == ["GPU-3060", "cpu"]
    assert curves.devices["GPU-3060"] is kept
