"""Where the time of a run went, as a band."""

import numpy as np
import pytest

from gpupanel.domain.time_spent import ReplicaTime, TimeCategory, TimeSpent
from gpupanel.ui.plots import time_track
from gpupanel.ui.plots.time_track import BandPoints, TimeTrack


def spent(computing_s: float, waiting_s: float = 0.0) -> TimeSpent:
    """Of two replicas, the second of which computes half as long."""
    first = ReplicaTime(computing_s=computing_s, exchanging_s=0.1, waiting_for_data_s=waiting_s)
    second = first.model_copy(
        update={"computing_s": computing_s / 2, "waiting_for_replicas_s": computing_s / 2}
    )
    host_s = 1.0 - computing_s - 0.1 - waiting_s
    return TimeSpent(seconds=1.0, host_s=host_s, replicas=(first, second))


def band(track: TimeTrack, activity: TimeCategory, *replicas: int, own: bool = False) -> BandPoints:
    return BandPoints(track, activity, replicas, stands_on_others=not own)


def test_that_activities_stand_on_each_other_up_to_a_hundred() -> None:
    track = TimeTrack()
    track.add(1.0, spent(0.4, 0.2))
    edges = [band(track, activity, 0).last() for activity in TimeCategory]
    assert edges == pytest.approx([40.0, 50.0, 50.0, 70.0, 100.0, 100.0, 100.0])


def test_that_a_band_is_of_one_replica_or_a_mean_over_all() -> None:
    track = TimeTrack()
    track.add(1.0, spent(0.4))
    assert band(track, TimeCategory.COMPUTING, 0).last() == pytest.approx(40.0)
    assert band(track, TimeCategory.COMPUTING, 1).last() == pytest.approx(20.0)
    assert band(track, TimeCategory.COMPUTING).last() == pytest.approx(30.0)
    assert band(track, TimeCategory.WAITING_FOR_REPLICAS, 1, own=True).last() == pytest.approx(20.0)


def test_that_a_moment_has_the_values_of_the_stretch_it_is_in() -> None:
    track = TimeTrack()
    for second, part in enumerate((0.2, 0.4, 0.6), start=1):
        track.add(float(second), spent(part))
    points = band(track, TimeCategory.COMPUTING, 0)
    values = [points.value_at(at) for at in (0.5, 1.5, 2.0, 3.0)]
    assert values == pytest.approx([20.0, 40.0, 60.0, 60.0])
    assert points.value_at(3.1) is None


def test_that_nothing_is_there_before_the_first_stretch() -> None:
    points = band(TimeTrack(), TimeCategory.HOST)
    assert (len(points.times), len(points.values)) == (0, 0)
    assert points.last() is None
    assert points.value_at(1.0) is None


def test_that_time_does_not_go_back_and_empty_stretches_are_passed_over() -> None:
    track = TimeTrack()
    track.add(5.0, spent(0.2))
    track.add(3.0, spent(0.2))
    track.add(6.0, TimeSpent())
    assert track.times.tolist() == [5.0, 5.0]


def test_that_a_run_with_other_replicas_begins_anew() -> None:
    track = TimeTrack()
    track.add(1.0, spent(0.2))
    track.add(2.0, TimeSpent(seconds=1.0, replicas=(ReplicaTime(computing_s=1.0),)))
    assert (track.replicas, track.times.tolist()) == (1, [2.0])
    assert band(track, TimeCategory.COMPUTING, 1).last() == pytest.approx(100.0)


def test_that_a_full_track_keeps_the_whole_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_track, "_MOST", 1_024)
    track = TimeTrack()
    for second in range(1, 5_001):
        track.add(float(second), spent(0.2 if second <= 2_500 else 0.6))
    assert len(track) <= 1_024
    points = band(track, TimeCategory.COMPUTING, 0)
    assert [points.value_at(at) for at in (1.0, 2_000.0, 3_000.0, 5_000.0)] == pytest.approx(
        [20.0, 20.0, 60.0, 60.0]
    )
    assert track.times[-1] == 5_000.0
    assert (np.diff(track.times) > 0.0).all()
