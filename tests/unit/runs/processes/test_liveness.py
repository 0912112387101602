"""Who is taken for dead, and who is only busy, waiting, or not looked at."""

from collections.abc import Sequence
from pathlib import Path

import psutil

from gpupanel.runs.processes.liveness import (
    TASK_FROZEN_AFTER_S,
    Activity,
    Frozen,
    Liveness,
    process_activity,
)


def after(looks: Sequence[Activity], interval_s: float = 0.5) -> Frozen | None:
    """What is concluded from the last of these observations."""
    liveness, frozen = Liveness(100.0), None
    for number, activity in enumerate(looks):
        frozen = liveness.observe(activity, 100.0 + number * interval_s)
    return frozen


def test_that_a_process_that_beats_or_works_lives() -> None:
    assert (
        after([Activity(beat=float(number // 2), processor_s=1.0) for number in range(60)]) is None
    )
    assert after([Activity(beat=5.0, processor_s=0.01 * number) for number in range(60)]) is None
    assert after([Activity(beat=None, processor_s=0.01 * number) for number in range(60)]) is None


def test_that_one_that_neither_beats_nor_works_is_silent() -> None:
    assert after([Activity(beat=5.0, processor_s=1.0)] * 16) is None
    assert after([Activity(beat=5.0, processor_s=1.0)] * 17) is Frozen.SILENT


def test_that_one_that_never_beat_never_began() -> None:
    assert after([Activity(beat=None, processor_s=0.0)] * 17) is Frozen.NEVER_BEGAN


def test_that_a_stopped_one_is_reported_sooner_and_may_be_continued() -> None:
    lives, stopped = Activity(1.0, 1.0), Activity(1.0, 1.0, is_stopped=True)
    assert after([lives, *[stopped] * 8]) is None
    assert after([lives, *[stopped] * 9]) is Frozen.STOPPED
    goes_on = Activity(2.0, 1.1)
    stopped_again = Activity(2.0, 1.1, is_stopped=True)
    assert after([lives, *[stopped] * 8, goes_on, *[stopped_again] * 8]) is None


def test_that_one_held_by_a_disk_is_left_alone() -> None:
    assert after([Activity(5.0, 1.0, is_held=True)] * 60) is None


def test_that_time_in_which_nobody_observed_does_not_count() -> None:
    # The machine slept, or who looks was stopped itself.
    assert after([Activity(5.0, 1.0)] * 10, interval_s=30.0) is None
    assert after([Activity(5.0, 1.0, is_stopped=True)] * 10, interval_s=30.0) is None


def test_that_a_process_is_observed(tmp_path: Path) -> None:
    heartbeat = tmp_path / "0"
    found = process_activity(psutil.Process(), heartbeat)
    assert found is not None
    assert found.beat is None
    assert found.processor_s > 0.0
    assert not found.is_stopped
    heartbeat.touch()
    again = process_activity(psutil.Process(), heartbeat)
    assert again is not None
    assert again.beat == heartbeat.stat().st_mtime


def test_that_a_task_on_another_node_may_be_silent_for_longer() -> None:
    here, there = Liveness(0.0), Liveness(0.0, TASK_FROZEN_AFTER_S)
    silent = Activity(beat=None, processor_s=0.0)
    for second in range(1, int(TASK_FROZEN_AFTER_S)):
        seen = here.observe(silent, float(second)), there.observe(silent, float(second))
    assert seen == (Frozen.NEVER_BEGAN, None)
    assert there.observe(silent, TASK_FROZEN_AFTER_S + 1.0) is Frozen.NEVER_BEGAN
