"""Cells of tables, by pyarrow: the whole table at once, where a run reads it in pieces."""

from string import Template
from typing import Protocol

from gpupanel.domain.empty_words import empty_words
from gpupanel.domain.table_data import ORDER_OF_SETTING, HeaderLine, Quoting
from gpupanel.domain.written_source import written_source
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import joined

_IMPORTS = """
from decimal import Decimal
"""

_TEXT = """
import csv
from itertools import islice

import pyarrow.csv

$encodings


def $function(path):
    \"\"\"The cells of each column, as texts, by its name.\"\"\"
    with open(path, encoding=$first_encoding, newline="") as file:
        rows = csv.reader($lines, delimiter=$delimiter$quoting)
        header = next(row for row in rows if row)$start
        first = next((row for row in rows if row), [])
    if len(first) == len(header) + 1:  # a cell of each row has no name
        header = ["", *header] if first[-1].strip() else [*header, ""]
    places = [str(place) for place in range(len(header))]
    table = pyarrow.csv.read_csv(
        path,
        read_options=pyarrow.csv.ReadOptions(
            column_names=places,
            $skipped,
            encoding=$encoding,
            block_size=2**20,
        ),
        parse_options=pyarrow.csv.ParseOptions(delimiter=$delimiter, $cells),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(places, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
        ),
    )
    return named($names, table.columns)
"""

_ENCODINGS = """
def encoding_of(path):
    with open(path, "rb") as file:
        content = file.read()
    if content[:2] in (b"\\xff\\xfe", b"\\xfe\\xff"):
        return "utf-16"
    if b"\\0" in content[:2]:  # without its mark
        return "utf-16-be" if content[:1] == b"\\0" else "utf-16-le"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return $other
    return "utf-8-sig"


"""

_PARQUET = """
import pyarrow.parquet


def $function(path):
    \"\"\"The cells of each column, by its name.\"\"\"
    table = pyarrow.parquet.read_table(path)
    return named(table.column_names, table.columns)
"""

_EITHER = """
def read_table(path):
    return (read_parquet if path.lower().endswith(".parquet") else read_text)(path)
"""

_EMPTY = """
# Cells of these words hold nothing: where numbers and dates are, and where names are.
EMPTY = $in_numbers
EMPTY_NAMES = $in_names


def empty_numbers():
    # However such a number is written, it holds nothing.
    number = r"[+-]?[0-9]+([.][0-9]*)?([eE][+-]?[0-9]+)?"
    return [float(word) for word in EMPTY if re.fullmatch(number, word)]
"""

_CELLS = '''
def named(header, columns):
    """Columns by their names, each another one."""
    found = {}
    for name, cells in zip(column_names(header), columns):
        cells = cells.combine_chunks()
        if isinstance(cells, pa.ChunkedArray):
            cells = pa.concat_arrays(cells.chunks)
        if pa.types.is_dictionary(cells.type):
            cells = cells.dictionary_decode()
        found[name] = cells
    return found


def written_as(cells):
    """How numbers and dates in texts are written: one cell may show what the others mean."""
    evidence, of_dates = NumberEvidence(), DateEvidence()
    are_texts = is_text_type(cells.type)
    there = without_words(cells, EMPTY).to_pylist() if are_texts else ()
    for cell, count in Counter(there).items():
        if cell is not None and not evidence.take(cell, count):
            of_dates.take(cell, count)
    form = evidence.found(DECIMAL).form if are_texts else NumberForm()
    return {**form._asdict(), "date_order": of_dates.found(DATE_ORDER).order}


def number_form(cells, written):
    written = written or written_as(cells)
    return NumberForm(written["decimal"], written["thousands"], written["unit"])


def held(value, text):
    if value is None:
        raise ValueError(f"A column of numbers or dates holds {text!r}.")
    return value


def numbers(cells, written=None):
    """NaN where a cell holds nothing, or no finite number."""
    form = number_form(cells, written)
    decimal = "" if form.unit in SHARES else form.decimal
    cells = without_words(cells, EMPTY)
    found = numbers_in_cells(cells, lambda text: held(number_in(text, form), text), decimal)
    with np.errstate(over="ignore"):
        found = np.float32(np.where(np.isin(found, empty_numbers()), np.nan, found))
    return np.where(np.isinf(found), np.float32(np.nan), found)


def days(cells, first=None, written=None):
    """Days since the first row's, or another day, and that day."""
    order = (written or written_as(cells))["date_order"]
    cells = without_words(cells, EMPTY)
    found = days_in_cells(cells, lambda text: held(date_in(text, order), text))
    found = held(found, "numbers that are no days")
    if first is None:
        there = found[~np.isnan(found)]
        first = np.floor(there[0]) if len(there) else 0.0
    return np.float32(found - first), first


def names_of(cells, name_of):
    """The name of each cell, None where it holds nothing."""
    different = (cell for cell in pc.unique(cells).to_pylist() if cell is not None)
    known = {cell: name_of(cell) for cell in different}
    return [known.get(cell) for cell in cells.to_pylist()]


def exact(cells, written=None):
    """Numbers as names that keep every digit."""
    form = number_form(cells, written)
    return names_of(
        cells, lambda cell: name_of_number(cell, lambda text: plain_number(text, form), EMPTY)
    )


def texts(cells):
    """The names of categories and classes."""
    form = NumberForm()
    return names_of(
        cells,
        lambda cell: name_of_text(
            cell, lambda text: plain_number(text, form), EMPTY, EMPTY_NAMES
        ),
    )


def keys(cells):
    return names_of(cells, lambda cell: name_of_key(cell, EMPTY_NAMES))
'''


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


def _marks(form: TableFormat) -> str:
    """What decides about numbers and dates whose own column does not show how they are written."""
    order = ORDER_OF_SETTING.get(getattr(form, "date_order", None) or "")
    return f"DECIMAL, DATE_ORDER = {form.decimal!r}, {order!r}"


def table_functions(form: TableFormat, *paths: str) -> str:
    """Python with the function ``read_table(path)``, and those that make something of its cells.

    Args:
        form: How the tables are written.
        paths: Of all that are read.
    """
    words = empty_words(form.empty_words)
    empty = Template(_EMPTY).substitute(
        in_numbers=sorted(words.in_numbers), in_names=sorted(words.in_names)
    )
    read_alike = (written_source(), part("table_cells"), _marks(form), empty, _CELLS)
    kinds = {path.lower().endswith(".parquet") for path in paths}
    # Where the tables are of two kinds, each has a function of its own.
    names = ("read_text", "read_parquet") if len(kinds) > 1 else ("read_table", "read_table")
    parquet = Template(_PARQUET).substitute(function=names[1]) if True in kinds else ""
    if False not in kinds:
        return joined(_IMPORTS, parquet, *read_alike)
    encoding = form.encoding or "utf-8"
    with_mark = "utf-8-sig" if encoding == "utf-8" else encoding
    # What wrote another table may have taken another encoding.
    other = "cp1252" if encoding.startswith("utf-") else encoding
    is_found_anew = other in ("cp1252", "iso8859-15") and len({*paths}) > 1
    skipped, are_letters = form.skip_lines or 0, form.quoting is Quoting.NONE
    has_names = form.header is not HeaderLine.NONE
    skip = f"skip_rows_after_names={int(has_names)}"
    if skipped:
        skip = "skip_rows=start" if has_names else f"skip_rows={skipped}"
    text = Template(_TEXT).substitute(
        function=names[0],
        encodings=Template(_ENCODINGS).substitute(other=repr(other)) if is_found_anew else "",
        encoding="encoding_of(path)" if is_found_anew else repr(encoding),
        # The mark at the start of a file is no part of the first name.
        first_encoding="encoding_of(path)" if is_found_anew else repr(with_mark),
        lines=f"islice(file, {skipped}, None)" if skipped else "file",
        quoting=", quoting=csv.QUOTE_NONE" if are_letters else "",
        start=f"\n        start = {skipped} + rows.line_num" if skipped and has_names else "",
        cells="quote_char=False" if are_letters else "newlines_in_values=True",
        delimiter=repr(form.delimiter or ","),
        skipped=skip,
        names="header" if has_names else '[""] * len(header)',
    )
    either = _EITHER if len(kinds) > 1 else ""
    return joined(_IMPORTS, parquet, text, either, *read_alike)
