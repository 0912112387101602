"""What a call sums: votes once a process, seconds for each replica, shares that may change."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.forked.processes import run_forked

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module", params=[1, 2], ids=["one device", "mirrored"])
def called(request: pytest.FixtureRequest) -> dict[str, Any]:
    script = Path(__file__).with_name("call_steps.py")
    done = run_forked(
        [sys.executable, str(script), str(request.param)],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return {"replicas": request.param, **json.loads(done.stdout)}


def test_that_votes_are_counted_once_a_process(called: dict[str, Any]) -> None:
    plain, voted, timed = called["reported"][:3]

    assert plain["votes"] == [0.0] * 6
    assert voted["votes"] == [1.0, 0.0, 2.5, 0.0, 0.0, 0.0]
    assert timed["votes"] == [3.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert {sums["steps"] for sums in called["reported"]} == {8}


def test_that_the_norm_is_that_of_the_gradient_of_the_whole_batch(called: dict[str, Any]) -> None:
    tape, first, second = called["norms"]

    assert first == pytest.approx(tape, rel=1e-5)
    # The weights have learned from that batch in between.
    assert 0.0 < second < first
    # What is reported is a sum over eight steps.
    norms = [sums["of_updates"]["gradient_norm"] for sums in called["reported"]]
    assert all(first < norm < 16 * first for norm in norms)


def test_that_each_replica_reports_its_own_seconds(called: dict[str, Any]) -> None:
    timed = called["reported"][2]

    assert len(timed["replica_seconds"]) == called["replicas"]
    assert all(1e-5 < seconds <= timed["took_s"] for seconds in timed["replica_seconds"])


def test_that_nothing_is_measured_where_nobody_asked(called: dict[str, Any]) -> None:
    assert called["reported"][0]["replica_seconds"] == []


def test_that_shares_change_between_calls_without_tracing_anew(called: dict[str, Any]) -> None:
    assert called["traced"] == [1, 1]
    assert called["reported"][-1]["sums"][0] > 0.0
    if called["replicas"] == 2:
        equal, most_for_the_first = called["fastest_s"]
        assert most_for_the_first[0] / most_for_the_first[1] > equal[0] / equal[1]


def test_that_no_clock_of_a_step_waits_for_another_one(called: dict[str, Any]) -> None:
    # TensorFlow puts operations with a state in the order of the program: the second replica's
    # time would begin when the first one's ends.
    assert called["clocks_after"] == [[], []] * called["replicas"]


def test_that_replicas_with_equal_parts_take_about_as_long(called: dict[str, Any]) -> None:
    if called["replicas"] == 2:
        first_s, second_s = called["fastest_s"][0]
        assert first_s < 3 * second_s < 9 * first_s


@pytest.fixture(scope="module")
def slept() -> list[dict[str, Any]]:
    """Three calls of steps over two replicas, in each of which the second one sleeps 30 ms."""
    script = Path(__file__).with_name("time_replicas.py")
    done = run_forked(
        [sys.executable, str(script), "3"],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    calls: list[dict[str, Any]] = json.loads(done.stdout)
    return calls


def test_that_the_first_step_whose_loss_is_not_finite_is_the_last_that_counts(
    called: dict[str, Any],
) -> None:
    # The third of eight, on the last replica alone; those after it have no finite weights.
    assert called["failed"] == [[3, "nan"]] * 2


def test_that_a_slow_replica_is_seen(slept: list[dict[str, Any]]) -> None:
    for call in slept[1:]:
        quick_s, slow_s = call["replica_seconds"]
        assert slow_s >= 4 * 0.03 > quick_s
        # The steps have an exchange after that.
        assert call["took_s"] >= slow_s


def test_that_each_replica_waits_for_the_data_of_its_process(called: dict[str, Any]) -> None:
    for sums in called["reported"]:
        waited_s = pytest.approx(sums["waited_s"], rel=1e-5)
        assert sums["replica_waits"] == [waited_s] * called["replicas"]
