"""Texts in a column of a table, with the columns that are predicted."""

import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from io import BufferedReader

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gpupanel.domain.data import TableData, Target, TextData
from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.datasets.data_problems import data_problem
from gpupanel.trainer.datasets.tables import problems
from gpupanel.trainer.datasets.tables.batches import parquet_batches, text_batches
from gpupanel.trainer.datasets.tables.column_uses import detected_targets, kind_of_target
from gpupanel.trainer.datasets.tables.columns import Columns
from gpupanel.trainer.datasets.tables.imported import (
    ColumnFacts,
    Kind,
    MisfitError,
    import_rows,
)
from gpupanel.trainer.datasets.tables.overview import (
    KnownColumns,
    TableOverview,
    overview_of_table,
)
from gpupanel.trainer.datasets.tables.written_problems import check_written

USUAL_TEXTS = (
    *("text", "texts", "review", "comment", "sentence", "content", "message", "body"),
    *("document", "tweet", "description", "question"),
)
"""What people call a column of texts."""
_ROWS = 512
"""Rows of Parquet that are read at a time: texts are longer than numbers."""
_NOTHING: tuple[str, Kind] = ("nothing", "number")


@dataclass(frozen=True, slots=True)
class TableColumns:
    """Which columns of a table are what.

    Attributes:
        overview: Of the table.
        text: The column of the texts.
        targets: The columns that are predicted; empty: none are read.
        predicts: What they are; ``None``: that is found.
    """

    overview: TableOverview
    text: str
    targets: tuple[str, ...]
    predicts: Target | None = None

    @property
    def kinds(self) -> Columns:
        """What each column that is predicted is read as."""
        known, padded = dict(self.overview.imported_as), self.overview.padded
        is_only = len(self.targets) == 1
        return tuple(
            (name, kind_of_target(known[name], padded.get(name), self.predicts, is_only=is_only))
            for name in self.targets
        )


def overview_of_texts(
    data: TextData, path: str, field: str, known_kinds: Mapping[str, Kind] | None = None
) -> TableOverview:
    """What kind of table it is, and what its columns seem to hold.

    Args:
        data: How it is written.
        path: Where it is.
        field: The profile key that names it.
        known_kinds: What columns held in the set that is trained on, by name.

    Raises:
        ProblemError: It cannot be read.
    """
    table = TableData(
        path=path,
        delimiter=data.delimiter,
        decimal=data.decimal,
        encoding=data.encoding,
        header=data.header,
        quoting=data.quoting,
        skip_lines=data.skip_lines,
        empty_words=data.empty_words,
        target=data.target,
        predicts=data.predicts,
    )
    try:
        found = overview_of_table(table, KnownColumns(known_kinds or {}))
        # What a column held that was trained on it holds here, however it looks.
        return replace(found, padded={}) if known_kinds else found
    except ProblemError as error:
        if field == "data.path":
            raise
        moved = (
            each.model_copy(update={"field": field}) if each.field == "data.path" else each
            for each in error.problems
        )
        raise ProblemError(*moved) from error


def chosen_columns(
    overview: TableOverview,
    text: str | None,
    targets: tuple[str, ...],
    *,
    known_text: str = "",
    needs_targets: bool,
    predicts: Target | None = None,
) -> TableColumns:
    """The columns of the texts and of what is predicted: chosen, or found by their names.

    Args:
        overview: Of the table.
        text: The column of the texts, where it was chosen.
        targets: Those that are predicted, likewise.
        known_text: What the column of the texts that were trained on is called.
        needs_targets: Without it they may be missing.
        predicts: What they are; ``None``: that is found.

    Raises:
        ProblemError: One is missing, or it is not clear which it is.
    """
    names = tuple(name for name, _ in overview.columns)
    column = text if text is not None else known_text
    if column not in names:
        if len(names) == 1 and not needs_targets:
            column = names[0]  # there is nothing else to predict on, whatever it is called
        elif text is None:
            column = _detected_text(overview, targets)
    if column not in names:
        raise problems.unknown_column(overview.path, column, names, "data.text")
    missing = [name for name in targets if name not in names]
    if missing and needs_targets:
        raise problems.unknown_column(overview.path, missing[0], names, "data.target")
    if missing:
        return TableColumns(overview, column, ())
    others = tuple(name for name in names if name != column)
    if not targets and others:
        targets = detected_targets(TableData(path=str(overview.path)), others)
    if column in targets or (not targets and needs_targets):
        raise data_problem(
            "text_without_target",
            f'{overview.path} has no column that is predicted beside the texts in "{column}".',
            "Choose another column in data.target.",
            field="data.target",
        )
    return TableColumns(overview, column, targets, predicts)


def _detected_text(overview: TableOverview, targets: tuple[str, ...]) -> str:
    may_be = [name for name, kind in overview.columns if name not in targets]
    by_name = {name.lower(): name for name in reversed(may_be)}
    named = next((by_name[word] for word in USUAL_TEXTS if word in by_name), None)
    if named is not None:
        return named
    # Whether texts are too many to be categories is known when all of them were read.
    kinds = ("text", "category")
    texts = [name for name, kind in overview.columns if kind in kinds and name in may_be]
    if len(texts) != 1:
        there = ", ".join(f'"{name}"' for name, _ in overview.columns[:20])
        raise data_problem(
            "text_column_ambiguous",
            f"It is not clear which column of {overview.path} holds the texts. It has: {there}.",
            "Choose data.text.",
            field="data.text",
        )
    return texts[0]


def read_rows(
    columns: TableColumns,
    file: BufferedReader,
    take: Callable[[bytes], None],
    progress: Callable[[int], None],
) -> tuple[npt.NDArray[np.float32], tuple[ColumnFacts, ...]]:
    """Go once through the rows.

    Args:
        columns: Which of them are what.
        file: The table, at its start.
        take: Called with the text of each row in UTF-8; one that is missing is empty.
        progress: Called with how many rows are done.

    Returns:
        The numbers of the target's columns, shape [rows, columns], and what is known of these.

    Raises:
        ProblemError: A row cannot be read.
        OSError: The file cannot be read.
    """
    overview = columns.overview
    check_written(None, overview, columns.targets)
    names = [name for name, _ in overview.columns]
    at, places = names.index(columns.text), [names.index(name) for name in columns.targets]

    def without_texts() -> Iterator[pa.RecordBatch]:
        for batch in _batches(overview, file):
            for cell in _texts(batch.column(at)):
                take(cell)
            if not places:
                # A row has a length without any column, too.
                nothing = pa.array([0.0] * batch.num_rows)
                yield pa.RecordBatch.from_arrays([nothing], names=[_NOTHING[0]])
                continue
            yield pa.RecordBatch.from_arrays(
                [batch.column(place) for place in places], names=[str(place) for place in places]
            )

    kept = io.BytesIO()
    try:
        rows, facts = import_rows(
            without_texts(),
            columns.kinds or [_NOTHING],
            overview.written,
            overview.empty,
            kept,
            progress,
        )
    except MisfitError as misfit:
        (problem,) = problems.does_not_fit(overview.path, misfit, overview.empty).problems
        # What a column holds cannot be chosen beside texts.
        no_choice = {"fix": None, "alternatives": (), "hint": "Correct or empty that cell."}
        raise ProblemError(problem.model_copy(update=no_choice)) from misfit
    if not rows:
        raise problems.empty(overview.path)
    if not places:
        return np.empty((rows, 0), np.float32), ()
    return np.frombuffer(kept.getbuffer(), np.float32).reshape(rows, -1), facts


def _texts(cells: pa.Array) -> Iterator[bytes]:
    if isinstance(cells, pa.DictionaryArray):
        cells = cells.dictionary_decode()
    for cell in cells.cast(pa.large_string()).cast(pa.large_binary()).to_pylist():
        yield (cell or b"").replace(b"\0", b" ")


def _batches(overview: TableOverview, file: BufferedReader) -> Iterator[pa.RecordBatch]:
    if overview.form is not None:
        return text_batches(
            overview.path,
            file,
            overview.form,
            len(overview.columns),
            may_hold_rows=overview.may_hold_rows,
        )
    return parquet_batches(overview.path, file, overview.places, _ROWS)
