"""Cells of tables, by pyarrow: the whole table at once, where a run reads it in pieces."""

from collections.abc import Iterator
from string import Template
from typing import Protocol

from gpupanel.domain.empty_words import empty_words
from gpupanel.domain.table_data import ORDER_OF_SETTING, HeaderLine, Quoting
from gpupanel.planning.script.parts import definitions, part
from gpupanel.planning.script.sections import joined, lines_of

_READER = """
reader = CellReader(
    empty=$in_numbers,
    empty_names=$in_names,
    decimal=$decimal,
    date_order=$order,
)
"""
_ENCODING = """
def encoding_of(path):
    with open(path, "rb") as file:
        found = detected_encoding(pieces_of(file)) or ""
    return found if found.startswith("utf") else $other
"""


class TableFormat(Protocol):
    """How a table is written, as the settings of a source say it."""

    @property
    def delimiter(self) -> str | None: ...  # noqa: D102 - as in the settings
    @property
    def decimal(self) -> str | None: ...  # noqa: D102
    @property
    def encoding(self) -> str | None: ...  # noqa: D102
    @property
    def header(self) -> HeaderLine | None: ...  # noqa: D102
    @property
    def quoting(self) -> Quoting | None: ...  # noqa: D102
    @property
    def skip_lines(self) -> int | None: ...  # noqa: D102
    @property
    def empty_words(self) -> tuple[str, ...] | None: ...  # noqa: D102


def table_functions(form: TableFormat, *paths: str) -> str:
    """Python with the function ``read_table(path)``, and ``reader``, which reads its cells.

    Args:
        form: How the tables are written.
        paths: Of all that are read.
    """
    words = empty_words(form.empty_words)
    order = ORDER_OF_SETTING.get(getattr(form, "date_order", None) or "")
    reader = Template(_READER).substitute(
        in_numbers=sorted(words.in_numbers),
        in_names=sorted(words.in_names),
        decimal=repr(form.decimal),
        order=repr(order),
    )
    parquet = {path.lower().endswith(".parquet") for path in paths}
    reading = [name for name, is_one in _READING.items() if is_one in parquet]
    encoding, how = _encoding(form, len({*paths}))
    return joined(
        part("written_numbers"),
        part("written_dates"),
        part("table_cells"),
        part("cell_reader"),
        part("table_files", *reading),
        how if False in parquet else "",
        lines_of(_read_table(form, parquet, encoding)),
        reader,
    )


_READING = {"text_columns": False, "parquet_columns": True}
"""What reads a table, by whether it is one of Parquet."""


def _encoding(form: TableFormat, tables: int) -> tuple[str, str]:
    """The encoding of a text, as an expression, and the functions that it needs."""
    encoding = form.encoding or "utf-8"
    # What wrote another table may have taken another encoding.
    other = "cp1252" if encoding.startswith("utf-") else encoding
    if other not in ("cp1252", "iso8859-15") or tables == 1:
        return repr(encoding), ""
    found = definitions("text_layout", "detected_encoding", "pieces_of")
    return "encoding_of(path)", joined(found, Template(_ENCODING).substitute(other=repr(other)))


def _read_table(form: TableFormat, parquet: set[bool], encoding: str) -> Iterator[str]:
    """The function ``read_table(path)``."""
    how = [repr(form.delimiter or ","), encoding]
    if form.quoting is Quoting.NONE:
        how.append("has_quotes=False")
    if form.header is HeaderLine.NONE:
        how.append("has_names=False")
    if form.skip_lines:
        how.append(f"skipped={form.skip_lines}")
    yield "def read_table(path):"
    if len(parquet) > 1:
        yield '    if path.lower().endswith(".parquet"):'
        yield "        return parquet_columns(path)"
    if False in parquet:
        yield f"    return text_columns(path, {', '.join(how)})"
    else:
        yield "    return parquet_columns(path)"
