"""Rows of a file by their numbers, one by one or with what lies between them."""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpupanel.trainer.datasets import row_files
from gpupanel.trainer.datasets.row_files import RowFile, read_rows, rows_at_once

COUNT, ROW_BYTES, OFFSET = 20_000, 12, 7


@pytest.fixture
def file(tmp_path: Path) -> Iterator[int]:
    path = tmp_path / "rows"
    path.write_bytes(bytes(OFFSET) + contents().tobytes())
    descriptor = os.open(path, os.O_RDWR)
    yield descriptor
    os.close(descriptor)


def contents() -> np.ndarray:
    return np.random.default_rng(3).integers(0, 256, (COUNT, ROW_BYTES), np.uint8)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes each call of the system asked for."""
    sizes: list[int] = []
    read = os.preadv

    def counted(descriptor: int, buffers: list[memoryview], offset: int) -> int:
        sizes.append(sum(map(len, buffers)))
        return read(descriptor, buffers, offset)

    monkeypatch.setattr(os, "preadv", counted)
    return sizes


@pytest.mark.parametrize("block", [1, 100 * ROW_BYTES, 2**22])
def test_that_rows_that_lie_close_are_read_with_what_lies_between_them(
    file: int, calls: list[int], monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(row_files, "_BLOCK_BYTES", block)
    order = np.random.default_rng(1).permutation(COUNT).astype(np.int32)[:5_000]
    order[7] = order[11]  # asked for twice
    assert np.array_equal(read_rows(file, order, ROW_BYTES, OFFSET), contents()[order])
    if block > 1:
        assert len(calls) <= COUNT // (block // ROW_BYTES) + 1
        assert max(calls) <= block


def test_that_rows_far_from_each_other_are_read_one_by_one(file: int, calls: list[int]) -> None:
    order = np.array([5, 19_999, 5, 0], np.int32)
    assert np.array_equal(read_rows(file, order, ROW_BYTES, OFFSET), contents()[order])
    assert calls == [ROW_BYTES] * 4


def test_that_neighbours_are_read_at_once(file: int, calls: list[int]) -> None:
    for order in (np.arange(40, 60, dtype=np.int32), np.arange(40, 9_000, dtype=np.int32)):
        assert np.array_equal(read_rows(file, order, ROW_BYTES, OFFSET), contents()[order])
    assert calls == [20 * ROW_BYTES, 8_960 * ROW_BYTES]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(seed=st.integers(0, 2**32), count=st.integers(0, 3_000), span=st.integers(1, COUNT))
def test_that_any_rows_come_in_the_order_in_which_they_were_asked_for(
    file: int, seed: int, count: int, span: int
) -> None:
    order = np.random.default_rng(seed).integers(COUNT - span, COUNT, count).astype(np.int32)
    assert np.array_equal(read_rows(file, order, ROW_BYTES, OFFSET), contents()[order])


def test_that_a_file_that_was_cut_short_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(contents().tobytes())
    rows = RowFile(path)
    os.truncate(path, 19_000 * ROW_BYTES + 5)
    order = np.random.default_rng(1).permutation(19_001).astype(np.int32)
    with pytest.raises(EOFError):
        rows.read(order, ROW_BYTES)
    assert len(rows.read(order[order < 19_000], ROW_BYTES)) == 19_000


def test_that_so_many_rows_at_once_are_close_to_each_other(file: int, calls: list[int]) -> None:
    count = rows_at_once(COUNT, ROW_BYTES)
    order = np.random.default_rng(1).permutation(COUNT).astype(np.int32)[:count]
    read_rows(file, order, ROW_BYTES, OFFSET)
    assert len(calls) == 1
    assert rows_at_once(COUNT, 5_000) == 0
