"""A table, imported once into the user's cache and read from there.

An import is known by the file's place on its disk, its size and its times, and by how it was read.
The system sets the time of the last change (``ctime``) itself whenever a file's content changes
(see :mod:`gpupanel.trainer.datasets.file_prints`); a file that was changed just before its import
is imported anew, since it may have been changed again unseen.
"""

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import ValidationError

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.value import Value
from gpupanel.files.cache_folder import cache_folder, remove_unused
from gpupanel.files.guarded_files import open_to_read
from gpupanel.files.locks import locked_patiently
from gpupanel.files.regular_files import open_regular
from gpupanel.files.whole_files import remove_unfinished, whole_file, write_whole
from gpupanel.trainer.datasets.data_problems import data_problem
from gpupanel.trainer.datasets.row_files import RowFile
from gpupanel.trainer.datasets.tables import problems
from gpupanel.trainer.datasets.tables.batches import parquet_batches, text_batches
from gpupanel.trainer.datasets.tables.imported import (
    ColumnFacts,
    MisfitError,
    import_rows,
)
from gpupanel.trainer.datasets.tables.overview import TableOverview

_VERSION: Final = 5
"""The version of the stored rows: those of another one are imported anew."""
_RECENT_NS: Final = 2 * 10**9
_MOST_ROWS: Final = 2**31 - 1


class _Import(Value):
    """What is known of an import.

    Attributes:
        looked_ns: When the file was examined, in nanoseconds since the epoch.
    """

    looked_ns: int
    rows: int
    columns: tuple[ColumnFacts, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ImportedTable:
    """A table as rows of float32.

    Attributes:
        overview: Of its file.
        rows: How many there are.
        columns: What is known of each, over all rows.
        file: With the rows.
    """

    overview: TableOverview
    rows: int
    columns: tuple[ColumnFacts, ...]
    file: RowFile

    @property
    def row_bytes(self) -> int:
        """The size of one row."""
        return len(self.columns) * np.dtype(np.float32).itemsize

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(each.name for each in self.columns)

    def column(self, name: str) -> int | None:
        """The place of a column; ``None``: there is none of that name."""
        return next((at for at, each in enumerate(self.columns) if each.name == name), None)

    def read(self, indices: npt.NDArray[np.int32]) -> npt.NDArray[np.float32]:
        """These rows, shape [rows, columns].

        Raises:
            ProblemError: They cannot be read.
        """
        try:
            rows = self.file.read(indices, self.row_bytes)
        except EOFError as error:
            cut = OSError("they were truncated; remove that folder")
            raise problems.cache_unusable(self.file.path.parent, cut) from error
        except OSError as error:
            raise problems.cache_unusable(self.file.path.parent, error) from error
        floats: npt.NDArray[np.float32] = rows.view(np.float32)
        return floats


def imported(
    overview: TableOverview, progress: Callable[[int, int], None], *, most_bytes: int | None = None
) -> ImportedTable:
    """The rows of a table, from an import that is there, or a new one.

    Args:
        overview: Of its file.
        progress: Called with how many bytes of how many are imported.
        most_bytes: A larger file is not imported anew.

    Raises:
        ProblemError: The file cannot be used, or its rows cannot be kept; or a hint: it is larger.
    """
    try:
        folder = cache_folder("tables")
        with open_regular(overview.path) as source:
            status = os.fstat(source.fileno())
            key = _key(overview, status)

            def on_wait() -> None:
                progress(0, status.st_size)

            with locked_patiently(folder / f"{key}.lock", on_wait):
                return _Importing(overview, source, folder / key, progress, most_bytes).table()
    except OSError as error:
        raise problems.cache_unusable(Path(error.filename or "the cache").parent, error) from error


@dataclass(frozen=True, slots=True)
class _Importing:
    overview: TableOverview
    source: BufferedReader
    place: Path
    progress: Callable[[int, int], None]
    most_bytes: int | None
    looked_ns: int = field(default_factory=time.time_ns)

    def table(self) -> ImportedTable:
        there = self._there()
        if there is not None:
            return there
        size = os.fstat(self.source.fileno()).st_size
        if self.most_bytes is not None and size > self.most_bytes:
            raise problems.left_to_a_run(self.overview.path, size)
        remove_unused(self.place.parent)
        remove_unfinished(self.place.with_suffix(".rows"))
        rows, facts = self._import()
        known = _Import(looked_ns=self.looked_ns, rows=rows, columns=facts)
        write_whole(self.place.with_suffix(".json"), known.model_dump_json(), private=True)
        return self._opened(known)

    def _there(self) -> ImportedTable | None:
        """An import that is there and was not made from another state of the file."""
        try:
            with open_to_read(self.place.with_suffix(".json")) as file:
                known = _Import.model_validate_json(file.read())
            status = os.fstat(self.source.fileno())
            if status.st_ctime_ns >= known.looked_ns - _RECENT_NS:
                return None
            table = self._opened(known)
        except (OSError, ValidationError):
            return None
        if table.file.size_bytes != table.rows * table.row_bytes:
            return None
        for suffix in (".json", ".rows"):
            os.utime(self.place.with_suffix(suffix))
        return table

    def _opened(self, known: _Import) -> ImportedTable:
        file = RowFile(self.place.with_suffix(".rows"))
        return ImportedTable(self.overview, known.rows, known.columns, file)

    def _import(self) -> tuple[int, tuple[ColumnFacts, ...]]:
        overview, before = self.overview, os.fstat(self.source.fileno())

        def progress(rows: int) -> None:
            if rows > _MOST_ROWS:
                raise data_problem(
                    "table_too_many_rows",
                    f"{overview.path} has more than {_MOST_ROWS:,} rows.",
                    "Train on a part of it.",
                )
            self.progress(min(self.source.tell(), before.st_size), before.st_size)

        batches = self._batches()
        try:
            with whole_file(self.place.with_suffix(".rows"), private=True) as file:
                found = import_rows(
                    batches,
                    overview.imported_as,
                    overview.written,
                    overview.empty,
                    file,
                    progress,
                )
                if not found[0]:
                    raise problems.empty(overview.path)
        except MisfitError as misfit:
            with contextlib.suppress(ProblemError):
                misfit.is_last = misfit.is_last and next(batches, None) is None
            raise problems.does_not_fit(overview.path, misfit, overview.empty) from misfit
        if _marks(os.fstat(self.source.fileno())) != _marks(before):
            raise problems.changed_meanwhile(overview.path)
        return found

    def _batches(self) -> Iterator[pa.RecordBatch]:
        overview = self.overview
        if overview.form is not None:
            return text_batches(
                overview.path,
                self.source,
                overview.form,
                len(overview.columns),
                may_hold_rows=overview.may_hold_rows,
            )
        return parquet_batches(overview.path, self.source, overview.places)


def _key(overview: TableOverview, status: os.stat_result) -> str:
    empty = overview.empty
    words = sorted(empty.in_numbers), sorted(empty.in_names), sorted(empty.unsure)
    what = (
        _VERSION,
        _marks(status),
        overview.form,
        overview.imported_as,
        sorted(overview.written.items()),
        words,
        overview.may_hold_rows,
    )
    return hashlib.sha256(repr(what).encode(errors="backslashreplace")).hexdigest()[:32]


def _marks(status: os.stat_result) -> tuple[int, ...]:
    return (
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )
