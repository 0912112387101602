"""What a table is like before it is imported: how it is written, and what its columns hold."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final

import pyarrow as pa

from gpupanel.domain.empty_words import EmptyWords, empty_words
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.table_data import ORDER_OF_SETTING, TableData
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.datasets.arrays.files import check_file
from gpupanel.trainer.datasets.cache_file import Marks, marks_of
from gpupanel.trainer.datasets.data_problems import data_problem
from gpupanel.trainer.datasets.tables import problems
from gpupanel.trainer.datasets.tables.batches import open_parquet, parquet_batches, text_batches
from gpupanel.trainer.datasets.tables.column_uses import seeming, with_group, with_target
from gpupanel.trainer.datasets.tables.columns import (
    Columns,
    ambiguous_columns,
    chosen_kinds,
    columns_of_schema,
    evidence_of_text,
    padded_columns,
)
from gpupanel.trainer.datasets.tables.imported import Kind
from gpupanel.trainer.datasets.tables.text_form import TextForm, TextSample, sample_of_text
from gpupanel.trainer.datasets.tables.written import CellForm
from gpupanel.trainer.datasets.tables.written_columns import (
    ColumnEvidence,
    ColumnLook,
    complete_evidence,
    looks_of,
)
from gpupanel.trainer.parts.table_cells import is_text_type

_PARQUET: Final = ".parquet"
_PARQUET_SAMPLE: Final = 8_192
"""Rows of a Parquet file whose texts are examined first."""


@dataclass(frozen=True, slots=True)
class TableOverview:
    """What a preview finds of a table, before it is imported.

    Attributes:
        form: How it is written; ``None``: it is Parquet.
        columns: The name of each and what it seems to hold.
        imported_as: What each is imported as.
        empty: Words that mean that a cell holds nothing.
        padded: Of columns of digits with zeros before them: how many different ones are seen.
        ambiguous: Two texts of a column that are one number, such as 3.1 and 3.10.
        left_out: Names of columns that are not read: they are nested, or bytes.
        places: Of the columns, in a Parquet file.
        may_hold_rows: A person said that quotation marks stand around cells, whatever these hold.
        looks: What the cells of columns of texts look like.
        is_complete: All cells were examined, not only some rows.
        date_order: The order of dates that its columns show, or was chosen.
        notes: What is odd about how it is written.
    """

    path: Path
    form: TextForm | None
    columns: Columns
    imported_as: Columns
    empty: EmptyWords
    padded: Mapping[str, int] = field(default_factory=dict)
    ambiguous: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    places: tuple[int, ...] = ()
    may_hold_rows: bool = False
    looks: Mapping[str, ColumnLook] = field(default_factory=dict)
    is_complete: bool = True
    date_order: str | None = None
    notes: tuple[Problem, ...] = ()

    @property
    def written(self) -> dict[str, CellForm]:
        """How numbers and dates are written, where they are texts."""
        kinds = dict(self.imported_as)
        return {
            name: look.written
            for name, look in self.looks.items()
            if kinds[name] in ("number", "date", "class")
        }


@dataclass(frozen=True, slots=True)
class KnownColumns:
    """What a trained model knows of columns, by name: what they hold, and how it was written."""

    kinds: Mapping[str, Kind] = field(default_factory=dict)
    written: Mapping[str, CellForm] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _File:
    """A table as its columns of texts are read."""

    path: Path
    marks: Marks
    empty: EmptyWords
    form: TextForm | None
    width: int
    places: tuple[int, ...] = ()
    may_hold_rows: bool = False

    def batches(self, file: BinaryIO) -> Iterator[pa.RecordBatch]:
        if self.form is not None:
            return text_batches(
                self.path, file, self.form, self.width, may_hold_rows=self.may_hold_rows
            )
        return parquet_batches(self.path, file, self.places, _PARQUET_SAMPLE)


def overview_of_table(
    data: TableData,
    known: KnownColumns | None = None,
    *,
    most_bytes: int | None = None,
    reads_all: bool = False,
) -> TableOverview:
    """What kind of file it is, and what its columns hold.

    Some rows show it. Where these show a column that is not written as programs write it, all of
    its cells are read: one of them may show what the others mean.

    Args:
        data: Which; its path is absolute.
        known: What a trained model knows of its columns.
        most_bytes: Of a larger file only some rows are read.
        reads_all: Read all cells of all columns.

    Raises:
        ProblemError: It cannot be read, and why.
    """
    path, known = Path(data.path), known or KnownColumns()
    check_file(path)
    try:
        with open_regular(path) as file:
            if path.suffix.lower() == _PARQUET:
                found = _overview_of_parquet(path, file, data, known)
            else:
                found = _overview_of_text(path, file, data, known, most_bytes, reads_all=reads_all)
    except OSError as error:
        raise data_problem(
            "data_file_unreadable",
            f"The table {path} cannot be read: {error.strerror}.",
            "Choose a file that you may read, or check the disk that holds it.",
        ) from error
    return _as_trained(found, data, known)


def _overview_of_text(
    path: Path,
    file: BinaryIO,
    data: TableData,
    known: KnownColumns,
    most_bytes: int | None,
    *,
    reads_all: bool,
) -> TableOverview:
    sample, empty = sample_of_text(path, file, data), empty_words(data.empty_words)
    names, may_hold_rows = sample.names, data.quoting is not None
    evidence = evidence_of_text(sample, empty)
    kinds = chosen_kinds(path, names, data, known.kinds)
    looks, decimal, order = looks_of(data, names, evidence, kinds)
    odd = [
        name for name in names if reads_all or not (looks[name].is_plain or name in known.written)
    ]
    marks = marks_of(_status(file))
    is_small = most_bytes is None or _status(file).st_size <= most_bytes
    if odd and not sample.is_whole and is_small:
        whole = _File(path, marks, empty, sample.form, len(names), may_hold_rows=may_hold_rows)
        evidence |= _complete(whole, names, odd)
        looks, decimal, order = looks_of(data, names, evidence, kinds)
    padded = padded_columns(sample, empty)
    seen = tuple((name, looks[name].kind) for name in names)
    columns = with_target(seen, padded, data, known.kinds)
    return TableOverview(
        path,
        replace(sample.form, decimal=decimal),
        seeming(columns),
        with_group(columns, data.group),
        empty,
        padded,
        ambiguous_columns(sample, empty),
        may_hold_rows=may_hold_rows,
        looks=looks,
        is_complete=sample.is_whole or reads_all,
        date_order=order,
        notes=tuple(_notes(data, sample)),
    )


def _notes(data: TableData, sample: TextSample) -> Iterator[Problem]:
    if sample.encoding_note is not None:
        yield sample.encoding_note
    if sample.skipped and data.skip_lines is None:
        yield problems.lines_skipped(sample.skipped)
    if sample.unsure_line:
        yield problems.header_unsure(sample.unsure_line, has_names=sample.form.has_names)


def _overview_of_parquet(
    path: Path, file: BinaryIO, data: TableData, known: KnownColumns
) -> TableOverview:
    schema = open_parquet(path, file).schema_arrow
    found, left_out = columns_of_schema(path, schema)
    empty = empty_words(data.empty_words)
    read = {name for name, _ in found}
    places = tuple(at for at, name in enumerate(schema.names) if name in read)
    names = tuple(name for name, _ in found)
    kinds = chosen_kinds(path, names, data, known.kinds)
    texts = [at for at, place in enumerate(places) if is_text_type(schema.types[place])]
    looks: dict[str, ColumnLook] = {}
    if texts:
        whole = _File(path, marks_of(_status(file)), empty, None, len(names), places)
        sampled = complete_evidence(islice(whole.batches(file), 1), texts, empty)
        evidence = {names[at]: each for at, each in zip(texts, sampled, strict=True)}
        guesses, *_ = looks_of(data, tuple(evidence), evidence, kinds)
        odd = [name for name, look in guesses.items() if look.kind != "category" or look.seems]
        evidence |= _complete(whole, names, odd)
        guesses, *_ = looks_of(data, tuple(evidence), evidence, kinds)
        # Who saved texts as texts meant texts: that they look like numbers is said.
        looks = {name: look if name in kinds else _as_text(look) for name, look in guesses.items()}
    seen = tuple((name, kinds.get(name, kind)) for name, kind in found)
    columns = with_target(seen, {}, data, known.kinds)
    return TableOverview(
        path,
        None,
        seeming(columns),
        with_group(columns, data.group),
        empty,
        left_out=left_out,
        places=places,
        may_hold_rows=data.quoting is not None,
        looks=looks,
    )


def _as_text(look: ColumnLook) -> ColumnLook:
    """That of a column of texts which nobody says to hold numbers or dates."""
    seems = look.seems if look.kind == "category" else look.kind
    are_such = look.kind in ("number", "date")
    return replace(look, kind="category", unclear="", seems=seems, are_saved_as_texts=are_such)


def _as_trained(found: TableOverview, data: TableData, known: KnownColumns) -> TableOverview:
    """With columns written as those of the training rows: what that means was found in these."""
    if not known.written:
        return found
    looks, decimals = dict(found.looks), set()
    for name, written in known.written.items():
        if name in looks:
            order = ORDER_OF_SETTING.get(data.date_order or "", written.date_order)
            chosen = written.with_decimal(data.decimal)
            chosen = chosen.model_copy(update={"date_order": written.date_order and order})
            looks[name] = ColumnLook(looks[name].kind, chosen, looks[name].example)
            decimals.add(chosen.decimal)
    form = found.form
    if form is not None and len(decimals) == 1:
        form = replace(form, decimal=decimals.pop())
    return replace(found, looks=looks, form=form, is_complete=True)


def _complete(file: _File, names: Sequence[str], odd: Sequence[str]) -> dict[str, ColumnEvidence]:
    """What all cells of some columns show; nothing where a row cannot be read."""
    if not odd:
        return {}
    try:
        found = _of_all_rows(file, tuple(names.index(name) for name in odd))
    except (ProblemError, OSError):
        return {}
    return dict(zip(odd, found, strict=True))


@lru_cache(maxsize=4)
def _of_all_rows(file: _File, places: tuple[int, ...]) -> tuple[ColumnEvidence, ...]:
    with open_regular(file.path) as opened:
        return complete_evidence(file.batches(opened), places, file.empty)


def _status(file: BinaryIO) -> os.stat_result:
    return os.fstat(file.fileno())
