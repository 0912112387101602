"""Tables of a person's own: what is asked about a CSV or Parquet file."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field
from typing_extensions import override

from gpupanel.domain.asked_kind import AskedKind
from gpupanel.domain.choice import Choice, ChoiceEnum
from gpupanel.domain.data_source import DataSource, Scaling, Target
from gpupanel.domain.empty_words import EmptyWord, empty_words_setting
from gpupanel.domain.kind import kind
from gpupanel.domain.setting import PathKind, setting
from gpupanel.domain.source_settings import (
    MOST_INPUTS,
    names_in,
    one_or_several,
    set_path_setting,
)

TABLE_SUFFIXES = (".csv", ".tsv", ".parquet")
MOST_CATEGORIES = 100
"""A column of texts with more different ones than these is no category to learn from."""
MOST_COLUMNS = 10_000
RECIPE_MEMBER = "recipe.json"
"""The member of a saved model's file that says how its features were made."""

ColumnName = Annotated[str, Field(min_length=1)]
ColumnNames = tuple[ColumnName, ...]


class MissingValues(ChoiceEnum):
    """What is done about cells that hold nothing."""

    MEAN = (
        "mean",
        "Fill in the mean",
        "A number or date becomes the mean of its column in the whole file, a category none.",
    )
    DROP = "drop", "Leave the row out", "A row with an empty cell is left out."
    ERROR = "error", "Refuse", "A table with an empty cell is refused, and the first one named."


class HeaderLine(ChoiceEnum):
    """Where the names of columns are."""

    FIRST = "first_line", "First line", "The first line names the columns."
    NONE = (
        "none",
        "None",
        "Every line is a row; the columns are called column 1, column 2 and so on.",
    )


class Quoting(ChoiceEnum):
    """What quotation marks are."""

    DOUBLE = (
        "double",
        "Around cells",
        "A cell may be quoted, and then contain delimiters and line breaks.",
    )
    NONE = "none", "Letters", "Quotation marks are letters of a cell; each line is a row."


Delimiter = Literal[",", ";", "\t", "|"]
DecimalMark = Literal[".", ","]
DateOrder = Literal["day_first", "month_first", "year_first"]
ORDER_OF_SETTING = {"day_first": "dmy", "month_first": "mdy", "year_first": "ymd"}
"""Day, month and year as they follow each other, as written_dates says it."""
Encoding = Literal[
    "utf-8",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "cp1252",
    "iso8859-15",
    "iso8859-2",
    "cp1251",
    "shift_jis",
    "gb18030",
    "euc_kr",
]


def delimiter_setting() -> Any:  # noqa: ANN401 - as pydantic's
    """How a text file with a table is written."""
    return setting(
        "Delimiter",
        "The character between the cells of a text file.",
        default=None,
        off="automatic",
        choices=(
            Choice(",", "Comma (,)"),
            Choice(";", "Semicolon (;)"),
            Choice("\t", "Tab"),
            Choice("|", "Vertical bar (|)"),
        ),
        advanced=True,
    )


def decimal_setting(**more: Any) -> Any:  # noqa: ANN401 - as pydantic's
    """How a text file with a table is written; ``more`` as :func:`setting` takes it."""
    return setting(
        "Decimal mark",
        "The character before the decimals of numbers in a text file, for columns in which no "
        "cell shows it: 1,234 may be two numbers.",
        default=None,
        off="automatic",
        choices=(Choice(".", "Point (1.5)"), Choice(",", "Comma (1,5)")),
        advanced=True,
        **more,
    )


def encoding_setting() -> Any:  # noqa: ANN401 - as pydantic's
    """How a text file with a table is written."""
    return setting(
        "Encoding",
        "The character encoding of a text file.",
        default=None,
        off="automatic",
        choices=(
            Choice("utf-8", "UTF-8"),
            Choice("utf-16", "UTF-16"),
            Choice("utf-16-le", "UTF-16 without a mark, low byte first"),
            Choice("utf-16-be", "UTF-16 without a mark, high byte first"),
            Choice("cp1252", "Western European (Windows-1252)"),
            Choice("iso8859-15", "Western European (ISO 8859-15)"),
            Choice("iso8859-2", "Central European (ISO 8859-2)"),
            Choice("cp1251", "Cyrillic (Windows-1251)"),
            Choice("shift_jis", "Japanese (Shift JIS)"),
            Choice("gb18030", "Chinese (GB 18030)"),
            Choice("euc_kr", "Korean (EUC-KR)"),
        ),
        advanced=True,
    )


def header_setting() -> Any:  # noqa: ANN401 - as pydantic's
    """How a text file with a table is written."""
    return setting(
        "Column names",
        "Whether the first line of a text file names the columns. Detected: it does if none of "
        "its cells is a number.",
        default=None,
        off="automatic",
        advanced=True,
    )


def quoting_setting() -> Any:  # noqa: ANN401 - as pydantic's
    """How a text file with a table is written."""
    return setting(
        "Quotation marks",
        "What quotation marks in a text file are. Detected: letters where a cell in quotation "
        "marks would hold lines that are rows; else they stand around cells.",
        default=None,
        off="automatic",
        advanced=True,
    )


def skip_lines_setting() -> Any:  # noqa: ANN401 - as pydantic's
    """How a text file with a table is written."""
    return setting(
        "Lines before the table",
        "How many lines at the start of a text file come before the table: titles, comments. "
        "Detected: those with at most half as many cells as the rows that follow.",
        default=None,
        unit="line",
        off="automatic",
        advanced=True,
    )


SkippedLines = Annotated[int, Field(ge=0, le=10_000)]


class TableData(DataSource):
    """A table with a row for each example: CSV, TSV or Parquet.

    What is left out is found: how a text file is written from several places of it, what
    each column holds, and which column is predicted: one that is called target, label, class or y,
    else the last. Numbers and dates (as days since the column's first) are standardised by the
    model, each category becomes a column of 0 and 1, and texts of more than 100 different values
    are left out. Which columns those are and what fills empty cells is saved with the model, so
    that a prediction makes the same of other rows.

    A mean that is filled in is that of the whole column, rows that validate included. Rows in which
    a value that is predicted is missing are left out of training and evaluation.

    The path is empty while none was chosen; a relative one is meant from the profile's folder.
    """

    source: Literal["table"] = kind(
        Choice(
            "table",
            "Table (.csv, .parquet)…",
            "A table of your own with a row for each example: predict one of its columns, or "
            "several, from the others.",
        ),
    )
    path: str = setting(
        "File",
        "A .csv or .tsv file, or a .parquet file, with a row for each example.",
        path=PathKind(TABLE_SUFFIXES, "Tables", "Choose the table"),
    )
    target: Annotated[ColumnName | ColumnNames | None, BeforeValidator(one_or_several)] = setting(
        "Target",
        "The column that is predicted, or a list of several. Detected: a column called target, "
        "label, class or y, else the last one.",
        default=None,
        off="automatic",
        is_offered=True,
    )
    predicts: Target | None = setting(
        "Predicted",
        "What the target is. Detected: texts are classes, and so are whole numbers from 0 or 1 "
        "without gaps up to 20; several columns of 0 and 1 are labels; other numbers are values.",
        default=None,
        off="automatic",
    )
    ignore: ColumnNames = setting(
        "Left out",
        "Columns that are not learned from, such as row identifiers.",
        default=(),
        off="none",
        is_offered=True,
    )
    inputs: dict[str, ColumnNames] = setting(
        "Inputs",
        "For a model of Python code with several inputs: the columns of each, by the name of the "
        "model's input. Columns of none are not learned from.",
        default={},
        off="one input of all columns",
        advanced=True,
        examples=[{"user": ["age", "city"], "item": ["price"]}],
        max_length=MOST_INPUTS,
    )
    missing: MissingValues = setting(
        "Empty cells",
        "How to treat cells that hold nothing, white space, an empty word or an infinite number. A "
        "prediction leaves no row out: it fills in what training did.",
        default=MissingValues.MEAN,
    )
    empty_words: tuple[EmptyWord, ...] | None = empty_words_setting()
    group: ColumnName | None = setting(
        "Group column",
        "The column of which equal values mark rows that belong together, such as those of one "
        "patient: all rows of a group are held out, or none, so that validation uses new groups. "
        "It is not learned from.",
        default=None,
        off="none",
        is_offered=True,
        advanced=True,
        applies={"holdout": ("random",)},
    )
    validation_path: str = set_path_setting(
        "Validation table",
        "Another table with the same columns, whose rows validate after each epoch; none of the "
        "others are held out then. Its features are encoded as those of the training rows.",
        PathKind(TABLE_SUFFIXES, "Tables", "Choose the validation table"),
    )
    test_path: str = set_path_setting(
        "Test table",
        "Another table with the same columns, which the trained model is measured on once, at the "
        "end.",
        PathKind(TABLE_SUFFIXES, "Tables", "Choose the test table"),
    )
    numbers: ColumnNames | None = setting(
        "Numbers",
        "Columns that hold numbers; the type of all others is detected.",
        default=None,
        off="automatic",
        is_offered=True,
        advanced=True,
    )
    categories: ColumnNames | None = setting(
        "Categories",
        "Columns that hold one of a few names, such as a postcode that is written as a number; "
        "the type of all others is detected.",
        default=None,
        off="automatic",
        is_offered=True,
        advanced=True,
    )
    dates: ColumnNames | None = setting(
        "Dates",
        "Columns that hold dates, such as 2026-01-31, 20260131, 2026-W05, 31.01.2026 or 31 Jan "
        "2026, with or without a time; they become the number of days since the first row's date.",
        default=None,
        off="automatic",
        is_offered=True,
        advanced=True,
    )
    date_order: DateOrder | None = setting(
        "Date order",
        "What stands first in dates such as 03/04/2024 or 03.04.24, for columns in which no cell "
        "shows it. A year of two digits is from 1969 to 2068.",
        default=None,
        off="automatic",
        choices=(
            Choice("day_first", "Day (31/12/2024)"),
            Choice("month_first", "Month (12/31/2024)"),
            Choice("year_first", "Year (24/12/31)"),
        ),
        advanced=True,
    )
    delimiter: Delimiter | None = delimiter_setting()
    decimal: DecimalMark | None = decimal_setting()
    encoding: Encoding | None = encoding_setting()
    header: HeaderLine | None = header_setting()
    quoting: Quoting | None = quoting_setting()
    skip_lines: SkippedLines | None = skip_lines_setting()

    module: ClassVar[str] = "table"
    may_lack_labels: ClassVar[bool] = True
    may_predict_several: ClassVar[bool] = True
    may_have_inputs: ClassVar[bool] = True
    makes_features: ClassVar[bool] = True
    has_categories: ClassVar[bool] = True
    asked_as: ClassVar[AskedKind] = AskedKind.ROW
    leaves_out_unlabelled: ClassVar[bool] = True
    path_noun: ClassVar[str] = "table"

    @property
    def targets(self) -> ColumnNames:
        """The columns that were chosen to be predicted."""
        return names_in(self.target)

    @property
    @override
    def asked_kind(self) -> AskedKind:
        return AskedKind.NONE if self.inputs else self.asked_as

    @property
    @override
    def is_plain(self) -> bool:
        return not self.inputs

    @property
    @override
    def chosen_group(self) -> str:
        return self.group or ""

    @property
    @override
    def example_axes(self) -> int:
        return 1

    @property
    @override
    def scaling(self) -> Scaling:
        return Scaling.STANDARDISE
