"""Examples are read as a training reads them, for some time, and nothing is left behind."""

from pathlib import Path

from gpupanel.domain.data import DataCache, DigitsData, ImagesData
from gpupanel.domain.profile import Profile
from gpupanel.domain.read_speed import ReadSpeedRequest
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.questions.read_speed import measure_reading
from tests.unit.trainer.test_scan_of_images import make_many


def request(data: object, batch: int = 4, seconds: float = 0.3) -> ReadSpeedRequest:
    training = TrainingSettings(global_batch_size=batch)
    return ReadSpeedRequest(profile=Profile(data=data, training=training), seconds=seconds)


def test_that_images_are_read_epoch_after_epoch_without_tensorflow(tmp_path: Path) -> None:
    make_many(tmp_path, {"cat": 6, "dog": 6})
    before = sorted(tmp_path.rglob("*"))
    asked = request(ImagesData(path=str(tmp_path), cache=DataCache.DISK))
    found = measure_reading(asked)
    assert found.problems == ()
    assert not found.is_in_memory
    assert 0 < found.examples <= 12
    assert found.read_examples > found.examples, "several epochs"
    assert 0.3 <= found.read_seconds < 30.0
    assert found.examples_per_second == found.read_examples / found.read_seconds
    assert found.cache is DataCache.DISK
    assert sorted(tmp_path.rglob("*")) == before


def test_that_what_is_held_in_memory_is_not_read_again() -> None:
    found = measure_reading(request(DigitsData()))
    assert found.is_in_memory
    assert found.examples_per_second is None
    assert found.examples > 1_000


def test_that_data_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    found = measure_reading(request(ImagesData(path=str(tmp_path / "none"))))
    assert [each.field for each in found.problems] == ["data.path"]
    assert found.read_examples == 0
