"""Examples on disk that are read before they are asked for."""

import threading
import time
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.examples import Array, Examples, Indices
from gpupanel.trainer.steps import look_ahead
from gpupanel.trainer.steps.look_ahead import LookAhead

_PATIENCE_S = 20.0


@dataclass
class Rows:
    """Features that stay elsewhere; each holds its number."""

    count: int
    row_bytes: int = 8
    unreadable: int = -1
    read_so_far: list[int] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.count, self.row_bytes // 4)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        return np.dtype(np.float32)

    def read(self, indices: Indices) -> Array:
        with self.lock:
            self.read_so_far.extend(indices.tolist())
        if self.unreadable in indices:
            raise ProblemError(Problem(code="unreadable", message="It cannot be read."))
        return np.repeat(indices[:, np.newaxis], self.shape[1], axis=1).astype(np.float32)


def _looking_ahead(rows: Rows) -> LookAhead:
    return LookAhead(Examples(rows, np.zeros(rows.count, np.int32)))


def _numbers(rows: Array) -> list[int]:
    return [int(row[0]) for row in rows]


@given(
    st.permutations(range(23)),
    st.lists(st.integers(1, 9), min_size=1, max_size=9),
    st.integers(1, 7),
    st.integers(1, 30),
    st.integers(1, 12),
)
def test_that_rows_come_as_they_are_asked_for_however_many_at_once_and_stay_so(
    order: list[int], sizes: list[int], chunk_rows: int, ahead_rows: int, block_rows: int
) -> None:
    reader = _looking_ahead(Rows(23))
    reader._chunk_rows, reader._ahead_rows = chunk_rows, ahead_rows
    reader._block_rows = block_rows
    expected = np.asarray(order, np.int32)
    reader.expect(expected)
    taken, held = 0, list[tuple[Array, list[int]]]()
    for size in sizes:
        asked = expected[taken : taken + size]
        held.append((reader.take(asked), asked.tolist()))
        taken += len(asked)
    for rows, numbers in held:
        assert _numbers(rows) == numbers
    reader.close()


def test_that_rows_are_read_before_anybody_asks_for_them_and_no_more_than_there_is_room_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(look_ahead, "_AHEAD_BYTES", 10 * 1024)
    monkeypatch.setattr(look_ahead, "_CHUNK_ROWS", 2)
    monkeypatch.setattr(look_ahead, "_CHUNK_BYTES", 2 * 1024)
    rows = Rows(1000, row_bytes=1024)
    reader = _looking_ahead(rows)
    order = np.arange(1000, dtype=np.int32)[::-1]

    reader.expect(order)
    until_s = time.monotonic() + _PATIENCE_S
    while len(rows.read_so_far) < 10 and time.monotonic() < until_s:
        time.sleep(0.01)
    time.sleep(0.1)  # time for more, if it were read

    assert sorted(rows.read_so_far, reverse=True) == order[:10].tolist()
    assert _numbers(reader.take(order[:3])) == order[:3].tolist()
    reader.close()


def test_that_nothing_is_read_twice_where_it_is_asked_for_as_expected() -> None:
    rows = Rows(500)
    reader = _looking_ahead(rows)
    order = np.random.default_rng(1).permutation(500).astype(np.int32)

    reader.expect(order)
    for first in range(0, 500, 64):
        reader.take(order[first : first + 64])
    reader.close()

    assert sorted(rows.read_so_far) == list(range(500))


def test_that_something_else_can_be_asked_for_in_between() -> None:
    reader = _looking_ahead(Rows(100))
    order = np.arange(100, dtype=np.int32)
    reader.expect(order)
    reader.take(order[:10])

    other = np.asarray([99, 3, 3], np.int32)

    assert _numbers(reader.take(other)) == [99, 3, 3]
    assert _numbers(reader.take(order[10:20])) == list(range(10, 20))
    reader.close()


def test_that_another_order_may_be_expected_before_the_first_has_come_to_its_end() -> None:
    reader = _looking_ahead(Rows(100))
    reader.expect(np.arange(100, dtype=np.int32))
    reader.take(np.arange(5, dtype=np.int32))
    other = np.arange(100, dtype=np.int32)[::-1]

    reader.expect(other)

    assert _numbers(reader.take(other[:7])) == other[:7].tolist()
    reader.close()


def test_that_what_cannot_be_read_is_a_problem_of_the_step_that_needs_it() -> None:
    reader = _looking_ahead(Rows(100, unreadable=50))
    reader._chunk_rows = 10
    order = np.arange(100, dtype=np.int32)
    reader.expect(order)

    assert _numbers(reader.take(order[:50])) == list(range(50))
    with pytest.raises(ProblemError):
        reader.take(order[50:60])
    reader.close()


def test_that_closing_leaves_no_thread_behind() -> None:
    before = set(threading.enumerate())
    reader = _looking_ahead(Rows(100_000, row_bytes=1024))
    reader.expect(np.arange(100_000, dtype=np.int32))

    reader.close()

    for thread in set(threading.enumerate()) - before:
        thread.join(_PATIENCE_S)
    assert set(threading.enumerate()) <= before
