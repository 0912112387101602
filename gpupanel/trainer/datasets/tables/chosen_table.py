"""A table as the settings of a profile and the recipe of a saved model choose it."""

import contextlib
from collections.abc import Iterator

from pydantic import ValidationError

from gpupanel.domain.data import Target
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.table_data import TableData
from gpupanel.trainer.datasets.data_problems import data_problem
from gpupanel.trainer.datasets.examples import Indices
from gpupanel.trainer.datasets.source import Reading
from gpupanel.trainer.datasets.tables import problems
from gpupanel.trainer.datasets.tables.column_uses import detected_targets
from gpupanel.trainer.datasets.tables.empty_cells import known_words
from gpupanel.trainer.datasets.tables.overview import (
    KnownColumns,
    TableOverview,
    overview_of_table,
)
from gpupanel.trainer.datasets.tables.recipe import TableRecipe
from gpupanel.trainer.datasets.tables.table_examples import TableExamples
from gpupanel.trainer.datasets.tables.table_file import (
    ImportedTable,
    imported,
)
from gpupanel.trainer.datasets.tables.targets import (
    TargetLabels,
    check_columns,
    class_numbers,
    labels_of,
    with_more_classes,
)

_LARGEST_PREVIEW_BYTES = 512 * 2**20
"""The largest file that a preview imports: that takes some ten seconds."""


def opened(data: TableData, reading: Reading, recipe: TableRecipe | None) -> ImportedTable:
    """The table's rows as numbers, imported now unless they were before.

    Raises:
        ProblemError: It cannot be read, or a preview leaves it to a run.
    """

    def progress(done: int, total: int) -> None:
        reading.on_progress("importing the table", done, total)

    if data.empty_words is None and recipe is not None:
        categories = [each.categories for each in recipe.features]
        # A new last layer has classes of its own, which nobody knows yet.
        words = (
            recipe.empty_words
            if reading.own_targets
            else known_words(recipe.empty_words, recipe.class_names, categories)
        )
        data = data.model_copy(update={"empty_words": words})
    most_bytes = _LARGEST_PREVIEW_BYTES if reading.is_preview else None
    overview = detected_overview(data, reading, recipe)
    with _fixes_beside_choices(data, overview, recipe):
        try:
            return imported(overview, progress, most_bytes=most_bytes)
        except ProblemError as error:
            if error.problems[0].code != "table_cell_misfit" or overview.is_complete:
                raise
            # The first cell that is written otherwise than programs do may come late.
            known = known_columns(reading, recipe)
            complete = overview_of_table(data, known, reads_all=True)
            before = overview.written, overview.imported_as
            if (complete.written, complete.imported_as) == before:
                raise
            return imported(complete, progress, most_bytes=most_bytes)


@contextlib.contextmanager
def _fixes_beside_choices(
    data: TableData, overview: TableOverview, recipe: TableRecipe | None
) -> Iterator[None]:
    """Has the fixes of a cell that does not fit keep what was chosen, and the target."""
    try:
        yield
    except ProblemError as error:
        if error.problems[0].code != "table_cell_misfit":
            raise
        (problem,) = error.problems
        if recipe is not None:
            raise ProblemError(problems.as_trained(problem)) from error
        targets = targets_of(data, tuple(name for name, _ in overview.columns), recipe)
        raise ProblemError(problems.beside_choices(problem, data, targets)) from error


def detected_overview(
    data: TableData, reading: Reading, recipe: TableRecipe | None
) -> TableOverview:
    """What the table is like, with what the model's file says of its columns.

    Raises:
        ProblemError: It cannot be read.
    """
    most_bytes = _LARGEST_PREVIEW_BYTES if reading.is_preview else None
    return overview_of_table(data, known_columns(reading, recipe), most_bytes=most_bytes)


def known_columns(reading: Reading, recipe: TableRecipe | None) -> KnownColumns:
    """What the model's file says: not of the target, where the data decides about it."""
    if recipe is None:
        return KnownColumns()
    features = {each.name: each.kind for each in recipe.features}
    written = {each.name: each.written for each in recipe.features if each.written is not None}
    if reading.own_targets:
        return KnownColumns(features, written)
    return KnownColumns(recipe.kinds, {**written, **recipe.target_written})


def recipe_of(reading: Reading) -> TableRecipe | None:
    """What the model's file says; ``None``: it says nothing."""
    if not reading.recipe:
        return None
    try:
        return TableRecipe.model_validate_json(reading.recipe)
    except ValidationError as error:
        raise data_problem(
            "table_recipe_unreadable",
            "The saved model's record of how its features are made of a table cannot be read.",
            "Use the model of a run of this version of gpupanel.",
            field="model.path",
            detail=str(error),
        ) from error


def targets_of(
    data: TableData, names: tuple[str, ...], recipe: TableRecipe | None
) -> tuple[str, ...]:
    """The columns that are predicted: as chosen, as the model knows them, or as they are found.

    Raises:
        ProblemError: One that was chosen is not there, or nothing remains.
    """
    if recipe is not None and not data.targets:
        return recipe.targets
    return detected_targets(data, names) if recipe is None else data.targets


def target_places(
    table: ImportedTable, targets: tuple[str, ...], *, needs_labels: bool
) -> tuple[int, ...]:
    """Where the target's columns are; none where one is missing and need not be there."""
    places = [table.column(name) for name in targets]
    found = tuple(place for place in places if place is not None)
    if len(found) == len(targets):
        return found
    if not needs_labels:
        return ()
    missing = next(name for name, place in zip(targets, places, strict=True) if place is None)
    raise problems.unknown_column(table.overview.path, missing, table.names, "data.target")


def labels_of_rows(
    found: TableExamples,
    rows: Indices | None,
    recipe: TableRecipe | None,
    *,
    more_classes: bool = False,
) -> TargetLabels:
    """The labels of these rows, in the classes of the model where there is one.

    Args:
        found: The table.
        rows: Those that are examples; ``None``: all.
        recipe: What the model says of them.
        more_classes: As :class:`~gpupanel.trainer.datasets.source.Reading` has it.

    Raises:
        ProblemError: They are no labels of that kind.
    """
    columns = [found.table.columns[place] for place in found.targets]
    raw = found.labels(rows)
    if recipe is None:
        written = found.table.overview.written
        are_amounts = any(each.name in written and written[each.name].unit for each in columns)
        predicts = found.data.predicts
        return labels_of(found.path, raw, columns, predicts, are_amounts=are_amounts)
    if recipe.predicts is not Target.CLASSES or len(columns) > 1:
        return labels_of(found.path, raw, columns, recipe.predicts)
    check_columns(found.path, columns)
    values, (column,), names = raw[:, 0], columns, recipe.class_names
    if more_classes:
        names = with_more_classes(values, column, names)
    numbers = class_numbers(found.path, values, column, names)
    return TargetLabels(numbers, recipe.predicts, names)
