"""What the speed of reading means for a training."""

import pytest

from gpupanel.domain.data import DataCache
from gpupanel.domain.profile import Profile
from gpupanel.domain.read_speed import ReadSpeed, read_speed_request, read_speed_sentence

FOUND = ReadSpeed(examples=60_000, example_bytes=2**20, read_examples=30, read_seconds=4.0)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (ReadSpeed(needs_download=True), "download it first"),
        (ReadSpeed(needs_start=True), "executed by a run only"),
        (ReadSpeed(examples=9, is_in_memory=True), "no step waits"),
        (ReadSpeed(), "Nothing was read"),
        (FOUND, "7.5 examples a second can be read (7.5 MiB/s decoded)"),
        (FOUND, "an epoch of 60,000 in 2:13:20."),
        (FOUND.model_copy(update={"read_examples": 6_000}), "1,500 examples a second"),
        (FOUND.model_copy(update={"examples": 6}), "an epoch of 6 in less than a second."),
        (FOUND.model_copy(update={"cache": DataCache.DISK}), "later ones read from the cache"),
    ],
)
def test_that_what_it_means_is_said(found: ReadSpeed, words: str) -> None:
    assert words in read_speed_sentence(found)


def test_that_what_was_not_read_has_no_speed() -> None:
    assert ReadSpeed(examples=5).examples_per_second is None
    assert ReadSpeed(examples=5).epoch_seconds is None
    assert FOUND.epoch_seconds == 8_000.0


def test_that_what_is_asked_is_the_same_for_settings_that_change_no_reading() -> None:
    profile = Profile()
    faster = profile.training.model_copy(update={"learning_rate": 0.5, "epochs": 3})
    other = profile.model_copy(update={"name": "another", "training": faster})
    assert read_speed_request(other) == read_speed_request(profile)
    larger = profile.training.model_copy(update={"global_batch_size": 7})
    changed = profile.model_copy(update={"training": larger})
    assert read_speed_request(changed) != read_speed_request(profile)
