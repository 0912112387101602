"""What was found by trying, in words."""

import pytest

from gpupanel.domain.batch_fit import (
    BatchFit,
    BatchSpeed,
    DeviceBatch,
    batch_fit_request,
    batch_fit_sentence,
    end_text,
    fastest_of,
    fastest_trial,
)
from gpupanel.domain.batch_search import BatchTrial, SearchEnd
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import TrainingSettings


def trial(examples: int, speed: float | None) -> BatchTrial:
    return BatchTrial(examples=examples, fits=speed is not None, examples_per_second=speed)


def test_that_the_smallest_of_nearly_equal_speeds_is_the_fastest() -> None:
    trials = (trial(64, 900.0), trial(128, 980.0), trial(256, 1000.0), trial(512, None))
    assert fastest_trial(trials) == 128
    assert fastest_trial((trial(512, None),)) is None
    speeds = tuple(
        BatchSpeed(global_batch_size=each, examples_per_second=each * 1.0) for each in (8, 16)
    )
    assert fastest_of(speeds) == 16
    found = BatchFit(speeds=speeds)
    assert (found.speed_of(8), found.speed_of(9)) == (8.0, None)


def test_that_the_sentence_says_what_fits_and_what_is_faster() -> None:
    speeds = (BatchSpeed(global_batch_size=256, examples_per_second=5100.0),)
    found = BatchFit(largest_batch=1024, fastest_batch=256, speeds=speeds)
    assert batch_fit_sentence(found) == (
        "A global batch of 1,024 fits. The fastest one that was tried is 256, with 5,100 ex/s."
    )
    more = found.model_copy(
        update={"fastest_batch": 1024, "uneven_batch": 1500, "uneven_shares": (1000, 500)}
    )
    assert batch_fit_sentence(more) == (
        "A global batch of 1,024 fits. With shares of 1,000 + 500 even 1,500 fit."
    )
    ended = DeviceBatch(device="cpu", room_mib=1, stopped=SearchEnd.TIME)
    unsure = BatchFit(largest_batch=8, devices=(ended,))
    assert batch_fit_sentence(unsure) == "A global batch of at least 8 fits."


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (BatchFit(needs_download=True), "Download"),
        (BatchFit(needs_start=True), "Python code"),
        (BatchFit(), "No batch could be tried."),
        (BatchFit(largest_batch=0), "Not even one"),
    ],
)
def test_that_the_sentence_says_why_there_is_nothing(found: BatchFit, words: str) -> None:
    assert words in batch_fit_sentence(found)


def test_that_the_answer_depends_on_neither_batch_nor_rate() -> None:
    profile = Profile(name="a")
    other = TrainingSettings(global_batch_size=9, learning_rate=0.5, epochs=7)
    changed = profile.model_copy(update={"name": "b", "training": other})
    assert batch_fit_request(changed) == batch_fit_request(profile)
    training = TrainingSettings(mixed_precision=True)
    mixed = profile.model_copy(update={"training": training})
    assert batch_fit_request(mixed) != batch_fit_request(profile)


def test_that_problems_of_devices_are_among_all() -> None:
    one, other = (Problem(code=code, message=code) for code in "ab")
    device = DeviceBatch(device="cpu", room_mib=1, stopped=SearchEnd.FAILED, problems=(other,))
    assert BatchFit(devices=(device,), problems=(one,)).all_problems == (one, other)
    assert end_text(device) == "could not be tried"
    found = device.model_copy(update={"stopped": SearchEnd.FOUND})
    assert end_text(found) == ""
