"""Generated tables are read as they were written, whatever was not told; what is unsure is said."""

import csv
import io
import string
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as some

from gpupanel.domain.data import TableData
from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.datasets.source import Reading, source_of

TOWNS = ("Köln", "Bonn", "Łódź", "a b", "None", "NA", "-", "?", 'say "x"', "1, 2; 3", "x\ty", "x|y")
LETTERS = dict.fromkeys(("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"), TOWNS)
LETTERS["cp1252"] = tuple(each for each in TOWNS if each != "Łódź")


@dataclass(frozen=True)
class Written:
    """A table and how it is written.

    Attributes:
        rows: Of each a town, a number, an identifier and its class.
        before: Lines before it.
    """

    rows: list[tuple[str, float, int, str]]
    delimiter: str
    encoding: str
    ending: str
    quotes_all: bool
    before: list[str]

    def content(self) -> bytes:
        """The bytes of the file."""
        file = io.StringIO()
        for line in self.before:
            file.write(line + self.ending)
        quoting = csv.QUOTE_ALL if self.quotes_all else csv.QUOTE_MINIMAL
        writer = csv.writer(
            file, delimiter=self.delimiter, quoting=quoting, lineterminator=self.ending
        )
        writer.writerows([("town", "x", "id", "kind"), *self.rows])
        return file.getvalue().encode(self.encoding)


@some.composite
def tables(draw: some.DrawFn) -> Written:
    encoding = draw(some.sampled_from(sorted(LETTERS)))
    first = draw(some.sampled_from([0, 20230101, 2**31, 2**53, 10**17]))
    towns = some.sampled_from(LETTERS[encoding])
    numbers = some.integers(-9999, 9999).map(lambda number: number / 4)
    kinds = some.sampled_from(["up", "down", "None", "?"])
    row = some.tuples(towns, numbers, some.integers(first, first + 3), kinds)
    titles = some.text(string.ascii_letters + " ", min_size=1, max_size=12).map(lambda t: f"# {t}")
    rows = draw(some.lists(row, min_size=6, max_size=12))
    # A column of nothing but "NA" is empty.
    assume(len({row[0] for row in rows}) > 1 and len({row[3] for row in rows}) > 1)
    return Written(
        rows,
        draw(some.sampled_from([",", ";", "\t", "|"])),
        encoding,
        draw(some.sampled_from(["\n", "\r\n"])),
        draw(some.booleans()),
        draw(some.lists(titles, max_size=2)),
    )


PLAIN = [(TOWNS[row % 3], row / 4, 2**53 + row % 3, ("up", "None")[row % 2]) for row in range(8)]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables") / "t.csv"


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(tables())
@example(Written(PLAIN, ";", "utf-16", "\r\n", True, ["# A, B; C"]))
@example(Written(PLAIN, ",", "utf-8", "\n", False, []))
def test_that_what_is_read_is_what_was_written(path: Path, written: Written) -> None:
    path.write_bytes(written.content())
    data = TableData(
        path=str(path),
        target="id",
        predicts="classes",
        group="kind",
        categories=("town",),
        validation_fraction=0,
    )
    try:
        found = source_of(data).read(data, Reading(print, must_differ=False))
    except ProblemError as error:
        pytest.fail(f"{error.problems[0].code}: {error}")
    ids = [row[2] for row in written.rows]
    assert found.class_names == tuple(map(str, sorted(set(ids))))
    assert found.training.labels.tolist() == [sorted(set(ids)).index(each) for each in ids]
    names = sorted({row[0] for row in written.rows})
    assert [each.name for each in found.columns] == ["town", "x", "id", "kind"]
    features = found.training.read(np.arange(len(ids), dtype=np.int32))
    assert features[:, :-1].argmax(axis=1).tolist() == [names.index(r[0]) for r in written.rows]
    assert features[:, -1].tolist() == [row[1] for row in written.rows]
    assert found.groups is not None
    assert len(np.unique(found.groups)) == len({row[3] for row in written.rows})
    # What may be a name and may mean nothing is said.
    unsure = {row[0] for row in written.rows} & {"None", "NA", "-", "?"}
    notes = " ".join(each.message for each in found.notes if each.code == "table_words_kept")
    assert all(f'"{word}" in ' in notes for word in unsure)
    skipped = [each for each in found.notes if each.code == "table_lines_skipped"]
    assert len(skipped) == bool(written.before)
