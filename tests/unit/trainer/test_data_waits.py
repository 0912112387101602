"""Steps that wait for their examples are noticed, and what to change is said."""

from pathlib import Path

import pytest

from gpupanel.domain.data import DataCache, DataSettings, ImagesData, NpzData
from gpupanel.domain.events import ProblemReported, decode_event
from gpupanel.domain.problem import Severity
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.loop.data_waits import DataWaits
from gpupanel.trainer.progress import TrainingRecord

IMAGES = ImagesData(path="/data/pictures", cache=DataCache.NONE)


def _reported(tmp_path: Path, data: DataSettings, *records: TrainingRecord) -> list[str]:
    path = tmp_path / "events.jsonl"
    with EventWriter(path) as events:
        waits = DataWaits(data, events)
        # Images fill a cache on the disk in the first epoch.
        waits.check(TrainingRecord(training_s=0.0, waited_s=0.0), 1)
        for record in records:
            waits.check(record, 2)
    reported = [decode_event(line) for line in path.read_text().splitlines()]
    problems = [event.problem for event in reported if isinstance(event, ProblemReported)]
    assert all(problem.severity is Severity.HINT for problem in problems)
    return [f"{problem.message} {problem.hint}" for problem in problems]


def test_that_waiting_for_a_third_of_the_time_is_said_once(tmp_path: Path) -> None:
    records = [
        TrainingRecord(examples=100, training_s=12.0, waited_s=4.0),
        TrainingRecord(examples=200, training_s=24.0, waited_s=9.0),
    ]

    (words,) = _reported(tmp_path, IMAGES, *records)

    assert "wait for examples in 33 % of the training time" in words
    assert 'data.cache to "memory" or "disk"' in words


@pytest.mark.parametrize(
    "record",
    [
        TrainingRecord(training_s=9.0, waited_s=9.0),
        TrainingRecord(training_s=100.0, waited_s=9.9),
        TrainingRecord(training_s=100.0),
    ],
    ids=["the first seconds", "less than a tenth", "not known"],
)
def test_that_little_waiting_is_not_worth_a_word(tmp_path: Path, record: TrainingRecord) -> None:
    assert _reported(tmp_path, IMAGES, record) == []


@pytest.mark.parametrize(
    ("data", "smaller", "cached"),
    [
        (IMAGES.model_copy(update={"cache": DataCache.DISK}), True, False),
        (NpzData(path="/data/x.npy", cache=DataCache.DISK), False, False),
        (NpzData(path="/data/x.npy", cache=DataCache.NONE), False, True),
    ],
    ids=["images", "arrays", "arrays that are not cached"],
)
def test_that_what_to_change_is_something_that_can_be_changed(
    tmp_path: Path, data: DataSettings, smaller: bool, cached: bool
) -> None:
    (words,) = _reported(tmp_path, data, TrainingRecord(training_s=50.0, waited_s=25.0))

    assert "faster disk" in words
    assert ("data.image_size" in words) is smaller
    assert ('data.cache to "memory" if' in words) is cached


def test_that_an_epoch_that_fills_the_cache_says_nothing_about_those_after_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "events.jsonl"
    on_disk = IMAGES.model_copy(update={"cache": DataCache.DISK})
    with EventWriter(path) as events:
        waits = DataWaits(on_disk, events)
        waits.check(TrainingRecord(training_s=50.0, waited_s=25.0), 4)
        waits.check(TrainingRecord(training_s=100.0, waited_s=50.0), 4)
        waits.check(TrainingRecord(training_s=150.0, waited_s=54.9), 5)
        assert path.read_text() == ""
        waits.check(TrainingRecord(training_s=200.0, waited_s=80.0), 6)
    assert "in 30 % of the training time" in path.read_text()
