"""Outputs that one process of a run hands to another by a file."""

import threading
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import Target
from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.inference.examples import InferenceExamples
from gpupanel.trainer.inference.gathered_outputs import (
    Origin,
    OutputsReader,
    OutputsWriter,
    origin_of,
)

ORIGIN = Origin(examples=10, labels="a" * 64, model="b" * 64, outputs=3)


class Unwanted(Exception):  # noqa: N818 - as a stop request
    pass


def give_up() -> None:
    raise Unwanted


def reader_of(path: Path, origin: Origin = ORIGIN) -> OutputsReader:
    return OutputsReader(path, "worker 1 on beta", origin, give_up)


def test_that_rows_come_out_as_they_went_in_whatever_their_portions(tmp_path: Path) -> None:
    path = tmp_path / "outputs-1.bin"
    rows = np.random.default_rng(3).normal(size=(10, 3)).astype(np.float32)
    writer = OutputsWriter(path, ORIGIN)
    for first, end in ((0, 4), (4, 5), (5, 10)):
        writer.add(rows[first:end])
    writer.flush()
    reader = reader_of(path)
    found = np.concatenate([reader.take(count) for count in (1, 6, 3)])
    np.testing.assert_array_equal(found, rows)
    assert found.dtype == np.float32
    with pytest.raises(Unwanted):
        reader.take(1)


def test_that_who_waits_hears_that_it_is_not_wanted_any_more(tmp_path: Path) -> None:
    path = tmp_path / "outputs-1.bin"
    with pytest.raises(Unwanted):
        reader_of(path).take(1)
    path.write_bytes(b'{"half of a line"')
    with pytest.raises(Unwanted):
        reader_of(path).take(1)


def test_that_rows_are_waited_for_that_are_written_later_and_in_halves(tmp_path: Path) -> None:
    path = tmp_path / "outputs-1.bin"
    rows = np.arange(30, dtype=np.float32).reshape(10, 3)
    whole = ORIGIN.model_dump_json().encode() + b"\n" + rows.tobytes()
    asked = threading.Event()

    def write() -> None:
        assert asked.wait(10.0)
        for first in range(0, len(whole), 17):
            with path.open("ab") as file:
                file.write(whole[first : first + 17])

    thread = threading.Thread(target=write)
    thread.start()
    found = OutputsReader(path, "worker 1", ORIGIN, asked.set).take(10)
    thread.join()
    np.testing.assert_array_equal(found, rows)


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"model": "c" * 64}, "another model"),
        ({"labels": "c" * 64}, "other data"),
        ({"examples": 11}, "other data"),
    ],
)
def test_that_outputs_of_other_files_are_never_taken_for_these(
    tmp_path: Path, changed: dict[str, object], what: str
) -> None:
    path = tmp_path / "outputs-1.bin"
    OutputsWriter(path, ORIGIN.model_copy(update=changed))
    with pytest.raises(ProblemError) as raised:
        reader_of(path).take(1)
    (problem,) = raised.value.problems
    assert problem.code == "nodes_have_other_files"
    assert problem.message.startswith(f"Worker 1 on beta has {what}")


def test_that_a_file_that_holds_something_else_is_no_outputs(tmp_path: Path) -> None:
    path = tmp_path / "outputs-1.bin"
    path.write_bytes(b"\x00" * 5000)
    with pytest.raises(Unwanted):
        reader_of(path).take(1)
    path.write_bytes(b"\x93NUMPY\n" * 500)
    with pytest.raises(ProblemError):
        reader_of(path).take(1)


def test_that_a_link_in_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(ORIGIN.model_dump_json().encode() + b"\n")
    path = tmp_path / "outputs-1.bin"
    path.symlink_to(other)
    with pytest.raises(OSError, match="link"):
        reader_of(path).take(1)
    before = other.read_bytes()
    with pytest.raises(OSError, match="link"):
        OutputsWriter(path, ORIGIN)
    assert other.read_bytes() == before


def examples_with(labels: list[int] | None) -> InferenceExamples:
    return InferenceExamples(
        features=np.zeros((4, 2), np.float32),
        labels=None if labels is None else np.array(labels, np.int32),
        indices=np.arange(3, dtype=np.int32),
        target=Target.CLASSES,
        class_names=("0", "1"),
        class_count_is_known=True,
    )


def test_that_an_origin_knows_labels_and_the_models_content(tmp_path: Path) -> None:
    first, second = tmp_path / "a.keras", tmp_path / "b.keras"
    first.write_bytes(b"one")
    second.write_bytes(b"one")
    known = origin_of(examples_with([0, 1, 1]), str(first), 2)
    assert known == origin_of(examples_with([0, 1, 1]), str(second), 2)
    assert known.examples == 3
    assert known != origin_of(examples_with([0, 1, 0]), str(first), 2)
    assert known != origin_of(examples_with(None), str(first), 2)
    second.write_bytes(b"two")
    assert known != origin_of(examples_with([0, 1, 1]), str(second), 2)
