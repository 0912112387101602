"""What is known of a table's columns, in the words of people."""

from collections.abc import Iterable, Iterator

from gpupanel.domain.data_source import Target
from gpupanel.domain.preview import ColumnPreview
from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.table_data import MOST_CATEGORIES, ColumnNames, TableData
from gpupanel.trainer.datasets.tables.empty_cells import word_problems
from gpupanel.trainer.datasets.tables.imported import ColumnFacts
from gpupanel.trainer.datasets.tables.index_notes import index_notes
from gpupanel.trainer.datasets.tables.name_notes import name_notes
from gpupanel.trainer.datasets.tables.number_notes import number_notes
from gpupanel.trainer.datasets.tables.odd_lines import odd_lines
from gpupanel.trainer.datasets.tables.recipe import FeatureColumn, is_learned_from
from gpupanel.trainer.datasets.tables.table_file import ImportedTable
from gpupanel.trainer.datasets.tables.values import shown_day
from gpupanel.trainer.datasets.tables.written_problems import said_of, written_notes

_MOST_SHOWN = 200
_MOST_NAMED = 5


def column_summaries(
    data: TableData, table: ImportedTable, targets: ColumnNames
) -> tuple[ColumnPreview, ...]:
    """Each column, those that are left out too; of very many the first."""
    read = [
        ColumnPreview(
            name=each.name,
            holds=_held(each),
            use=_use(data, each, targets),
            detail=_detail(data, each, targets, table),
            missing=each.missing,
        )
        for each in table.columns[:_MOST_SHOWN]
    ]
    others = [
        ColumnPreview(name=name, holds="other", use="left_out", detail="left out: not read")
        for name in table.overview.left_out
    ]
    return tuple([*read, *others][:_MOST_SHOWN])


def hints(
    data: TableData, table: ImportedTable, targets: ColumnNames, kept: int | None
) -> tuple[Problem, ...]:
    """What is odd about a table that can be learned from.

    Args:
        data: What was chosen.
        table: The whole of it.
        targets: The columns that are predicted.
        kept: How many rows have what is needed; ``None``: all.
    """
    return tuple(_hints(data, table, targets, kept))


def unknown_categories(
    table: ImportedTable, features: Iterable[FeatureColumn]
) -> tuple[Problem, ...]:
    """What a model is given that it did not know in training: it takes it for nothing."""
    return tuple(_unknown_categories(table, features))


def _unknown_categories(
    table: ImportedTable, features: Iterable[FeatureColumn]
) -> Iterator[Problem]:
    for feature in features:
        place = table.column(feature.name)
        if feature.kind != "category" or place is None:
            continue
        column = table.columns[place]
        counts = dict(zip(column.names, column.counts, strict=True))
        unknown = [name for name in counts if name not in feature.categories]
        rows = sum(counts[name] for name in unknown)
        if unknown:
            yield _hint(
                "table_categories_unknown",
                f'Column "{feature.name}" holds {_listed(unknown)} in {rows:,} '
                f"{'row' if rows == 1 else 'rows'}, which training did not know: there it is none "
                "of the categories.",
                "Train on rows with these values if they matter.",
                "data.path",
            )


def _hints(
    data: TableData, table: ImportedTable, targets: ColumnNames, kept: int | None
) -> Iterator[Problem]:
    yield from table.overview.notes
    yield from odd_lines(table)
    if table.overview.left_out:
        yield _hint(
            "table_columns_not_read",
            f"{_listed(table.overview.left_out)} cannot be learned from and is left out: lists, "
            "bytes, times of day, durations, or a name that occurs twice.",
            "Save it as numbers, dates or texts if it matters.",
            "data.path",
        )
    if kept is not None:
        yield _hint(
            "table_rows_left_out",
            f"{table.rows - kept:,} of {table.rows:,} rows are left out: they have an empty cell "
            "where none is allowed.",
            "Fill them in if they matter.",
            "data.missing",
        )
    named = [each for each in table.columns if each.name not in (*data.ignore, data.group)]
    yield from word_problems(
        (each for each in named if each.name in targets or is_learned_from(each)),
        targets,
        data.empty_words,
    )
    yield from written_notes(data, table.overview, targets)
    others = (*targets, *data.ignore, data.group)
    used = [each for each in table.columns if each.name not in others]
    yield from index_notes(data, table, used, targets)
    predicted = [each for each in table.columns if each.name in targets]
    yield from number_notes(data, table, (*predicted, *used), targets)
    yield from name_notes((*predicted, *filter(is_learned_from, used)), targets)
    same = [each.name for each in table.columns if each.name in targets and each.is_constant]
    if same:
        yield _hint(
            "table_target_constant",
            f"The target {_listed(same)} has the same value in every row: numbers are kept to "
            "seven digits.",
            "Choose another target, or predict classes: their names keep every digit.",
            "data.target",
            Fix.of("Predict classes", "data.predicts", Target.CLASSES.value),
        ).model_copy(update={"severity": Severity.WARNING})
    constant = [each.name for each in used if each.is_constant and is_learned_from(each)]
    if constant:
        yield _hint(
            "table_constant_columns",
            f"{_listed(constant)} has the same value in every row; numbers are kept to seven "
            "digits.",
            "Leave it out.",
            "data.ignore",
            Fix.of(f"Leave {_listed(constant)} out", "data.ignore", [*data.ignore, *constant]),
        )


def _held(column: ColumnFacts) -> str:
    if column.kind == "class":
        return "number"
    is_text = column.kind == "category" and not is_learned_from(column)
    return "text" if is_text else column.kind


def _use(data: TableData, column: ColumnFacts, targets: ColumnNames) -> str:
    if column.name in targets:
        return "target"
    is_feature = column.name not in (*data.ignore, data.group) and is_learned_from(column)
    return "feature" if is_feature else "left_out"


def _detail(
    data: TableData, column: ColumnFacts, targets: ColumnNames, table: ImportedTable
) -> str:
    look = table.overview.looks.get(column.name)
    said = f"; {words}" if look and (words := said_of(look)) else ""
    if column.name in targets:
        return f"predicted{said}"
    if column.name in data.ignore:
        return "left out, as chosen" if not data.inputs else "left out: of no input"
    if column.name == data.group:
        return "rows of the same are held out together"
    if column.missing >= table.rows:
        return "left out: it is empty"
    match column.kind:
        case "number":
            return f"standardised{said}"
        case "date":
            return f"days since {shown_day(column.first_day)}{said}"
        case "category" if len(column.names) <= MOST_CATEGORIES:
            return f"{len(column.names):,} columns of 0 and 1"
    return f"left out: more than {MOST_CATEGORIES:,} different texts"


def _listed(names: Iterable[str]) -> str:
    several = [f'"{name}"' for name in names]
    return ", ".join(several[:_MOST_NAMED]) + (", ..." if len(several) > _MOST_NAMED else "")


def _hint(code: str, message: str, hint: str, key: str, fix: Fix | None = None) -> Problem:
    return Problem(
        code=code, severity=Severity.HINT, field=key, message=message, hint=hint, fix=fix
    )
