"""Records that something has happened to: read, or refused with a reason; never a crash."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from gpupanel.domain.data import TfrecordData
from gpupanel.domain.problem import ProblemError
from gpupanel.trainer import size_limits
from gpupanel.trainer.datasets.source import Reading, read_data
from tests.fuzz.mutations import damaged
from tests.unit.trainer.record_files import example, framed, image

RECORDS = {
    "pictures": [example(image=image(n), label=n % 2, height=9) for n in range(6)],
    "raw": [example(image_raw=bytes(12), shape=[3, 4], label=n % 2) for n in range(6)],
    "numbers": [example(x=[0.5, n / 2, -n], y=[n % 2, 1 - n % 2]) for n in range(6)],
    "whole": [example(x=[2**40, -n], y=n % 3) for n in range(6)],
}
FEW = settings(
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
MANY = settings(FEW, max_examples=3_000)
EVERY = [record for records in RECORDS.values() for record in records[:1]]
FILES = [b"".join(map(framed, records)) for records in RECORDS.values()]


@pytest.fixture(autouse=True)
def _small_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(size_limits, "memory_bytes", lambda: 2**28)


def assert_read_or_told(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    try:
        found = read_data(TfrecordData(path=str(path), cache="none"), Reading(print)).training
        rows = found.read(np.arange(len(found), dtype=np.int32))
    except ProblemError as error:
        told = [bool(problem.message and problem.hint) for problem in error.problems]
        assert all(told)
        return
    assert rows.shape == (len(found), *found.feature_shape)
    assert np.isfinite(rows.astype(np.float64)).all()


def with_one_of(record: bytes) -> bytes:
    """A file of good records, and one of which nothing is known but that its checksum is right."""
    kind = next((each for each in RECORDS.values() if each[0][:9] == record[:9]), EVERY)
    return b"".join(map(framed, [*kind, record, kind[0]]))


@FEW
@given(content=damaged(FILES))
def test_that_damaged_files_of_records_are_read_or_refused(tmp_path: Path, content: bytes) -> None:
    assert_read_or_told(tmp_path / "a.tfrecord", content)


@FEW
@given(record=damaged(EVERY))
def test_that_damaged_records_with_right_checksums_are_read_or_refused(
    tmp_path: Path, record: bytes
) -> None:
    assert_read_or_told(tmp_path / "a.tfrecord", with_one_of(record))
    assert_read_or_told(tmp_path / "a.tfrecord", framed(record))


@pytest.mark.slow
@MANY
@given(record=damaged(EVERY))
def test_that_three_thousand_damaged_records_are_read_or_refused(
    tmp_path: Path, record: bytes
) -> None:
    assert_read_or_told(tmp_path / "a.tfrecord", with_one_of(record))
    assert_read_or_told(tmp_path / "a.tfrecord", framed(record))


@pytest.mark.slow
@MANY
@given(content=damaged([gzip.compress(content) for content in FILES]))
def test_that_three_thousand_damaged_compressed_files_are_read_or_refused(
    tmp_path: Path, content: bytes
) -> None:
    assert_read_or_told(tmp_path / "a.tfrecord.gz", content)
