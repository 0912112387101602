"""What a call takes is read ahead, and on its devices before the call is launched."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.forked.processes import run_forked

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def found() -> dict[str, bool]:
    done = run_forked(
        [sys.executable, str(Path(__file__).with_name("place_parts.py"))],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    answers: dict[str, bool] = json.loads(done.stdout)
    return answers


def test_that_each_part_is_on_its_replicas_device_and_read_before_it_is_asked_for(
    found: dict[str, bool],
) -> None:
    assert found["placed"]


@pytest.mark.parametrize("strategy", ["mirrored", "central_storage"])
def test_that_within_a_call_no_example_goes_to_another_device(
    found: dict[str, bool], strategy: str
) -> None:
    assert found[strategy]


def test_that_what_was_read_for_other_shares_is_not_used(found: dict[str, bool]) -> None:
    assert found["bounds"]


def test_that_the_fullest_process_bounds_the_steps_of_a_call(found: dict[str, bool]) -> None:
    assert found["fullest_process"]
    assert found["workers"]


def test_that_a_step_that_carries_more_is_a_call_of_its_own(found: dict[str, bool]) -> None:
    assert found["large_step"]


def test_that_examples_in_memory_bound_no_call(found: dict[str, bool]) -> None:
    assert found["in_memory"]


def test_that_a_few_rows_of_a_large_array_are_no_reason_to_copy_it(found: dict[str, bool]) -> None:
    assert found["few_of_much"]


def test_that_calls_that_are_launched_before_others_end_sum_the_right_examples(
    found: dict[str, bool],
) -> None:
    assert found["sums"]


def test_that_the_next_epoch_is_read_ahead_and_nothing_twice(found: dict[str, bool]) -> None:
    assert found["once"]
    assert found["next_epoch"]


def test_that_no_thread_is_left(found: dict[str, bool]) -> None:
    assert found["threads"]
