"""What the machine sleeps is no time of a run, however many processes say so."""

import pytest

from gpupanel.domain.clock_jumps import ClockWatch, SkippedTime
from gpupanel.domain.events import ClockJumped

NIGHT_S = 8 * 3600.0


def test_that_a_night_is_noticed_once() -> None:
    clocks = ClockWatch(1000.0, 50.0)
    assert clocks.jump(1010.0, 60.0) is None
    found = clocks.jump(1020.0 + NIGHT_S, 70.0)
    assert found == ClockJumped(time_s=1020.0 + NIGHT_S, gap_s=NIGHT_S)
    assert clocks.jump(1030.0 + NIGHT_S, 80.0) is None


@pytest.mark.parametrize("by_s", [0.3, -0.3, 4.9, -3600.0])
def test_that_a_corrected_clock_and_one_that_is_set_back_are_no_sleep(by_s: float) -> None:
    assert ClockWatch(1000.0, 50.0).jump(1010.0 + by_s, 60.0) is None


def test_that_a_clock_that_is_put_right_again_has_not_slept() -> None:
    clocks = ClockWatch(10_000.0, 50.0)
    assert clocks.jump(6_410.0, 60.0) is None
    assert clocks.jump(10_020.0, 70.0) is None
    assert clocks.jump(6_430.0, 80.0) is None
    # It sleeps while the clock is an hour behind.
    found = clocks.jump(6_440.0 + NIGHT_S, 90.0)
    assert found is not None
    assert found.gap_s == NIGHT_S - 3_600.0


def test_that_a_jump_is_left_out_of_what_lies_around_it_and_of_nothing_else() -> None:
    skipped = SkippedTime().after(ClockJumped(time_s=2000.0, gap_s=900.0))
    assert skipped.between(1000.0, 3000.0) == 900.0
    assert skipped.between(1000.0, 1050.0) == 0.0
    assert skipped.between(2000.0, 3000.0) == 0.0
    assert skipped.between(1500.0, 3000.0) == 500.0
    assert skipped.after_moment(1000.0) == 900.0
    assert skipped.after_moment(2000.0) == 0.0
    assert SkippedTime().after_moment(1000.0) == 0.0


def test_that_a_jump_that_several_processes_report_counts_once() -> None:
    first = ClockJumped(time_s=2000.0, gap_s=900.0)
    late = ClockJumped(time_s=2007.0, gap_s=900.0)
    skipped = SkippedTime().after(first).after(late)
    assert skipped == SkippedTime().after(first)
    another = skipped.after(ClockJumped(time_s=4000.0, gap_s=600.0))
    assert another.between(0.0, 5000.0) == 1500.0
    # One process slept through both without a word between them.
    assert another.after(ClockJumped(time_s=4010.0, gap_s=1500.0)) == another
