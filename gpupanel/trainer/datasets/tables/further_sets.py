"""The tables beside that of the training rows: a validation and a test set."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.table_data import TableData
from gpupanel.trainer.datasets.examples import Examples
from gpupanel.trainer.datasets.source import Reading
from gpupanel.trainer.datasets.tables.chosen_table import (
    labels_of_rows,
    opened,
    target_places,
)
from gpupanel.trainer.datasets.tables.number_notes import numbers_for_missing
from gpupanel.trainer.datasets.tables.overview import TableOverview
from gpupanel.trainer.datasets.tables.recipe import TableRecipe
from gpupanel.trainer.datasets.tables.row_columns import ChosenRows
from gpupanel.trainer.datasets.tables.summary import unknown_categories
from gpupanel.trainer.datasets.tables.table_examples import TableExamples


@dataclass(frozen=True, slots=True, eq=False)
class FurtherSets:
    """The tables beside that of the training rows.

    Attributes:
        sets: The examples of each that was chosen, the validation set first.
        rows: Where the rows of each are.
        files: The file of each.
    """

    sets: Mapping[str, Examples]
    rows: Mapping[str, ChosenRows]
    files: Mapping[str, tuple[Path, list[str | Path]]]
    notes: tuple[Problem, ...]

    def examples(self, name: str) -> Examples | None:
        """The examples of ``validation`` or ``test``, where that was chosen."""
        return self.sets.get(name)


def further_sets(
    data: TableData, reading: Reading, overview: TableOverview, recipe: TableRecipe
) -> FurtherSets:
    """The validation and the test table, made into examples as the training rows are.

    Args:
        data: Which.
        reading: What reading them may need.
        overview: Of the table of the training rows.
        recipe: What is made of the columns of these, and what is predicted.

    Raises:
        ProblemError: One of them cannot be read so.
    """
    reading = replace(reading, own_targets=False)  # the training rows have decided
    sets: dict[str, Examples] = {}
    chosen_rows: dict[str, ChosenRows] = {}
    files: dict[str, tuple[Path, list[str | Path]]] = {}
    notes: list[Problem] = []
    for name, key in (("validation", "validation_path"), ("test", "test_path")):
        chosen = data.chosen_paths.get(key)
        if not chosen:
            continue
        path = Path(chosen)
        # Written as the table is whose rows are trained on: few lines may seem anything. But what
        # wrote it may have taken another encoding, and put other lines before it; how its numbers
        # are written the recipe says of each column.
        written = overview.form.settings if overview.form else {}
        form = {key: written[key] for key in ("delimiter", "header") if key in written}
        other = TableData.model_validate({**data.model_dump(), **form, "path": chosen})
        try:
            table = opened(other, reading, recipe)
            places = target_places(table, recipe.targets, needs_labels=True)
            found = TableExamples(other, table, places, recipe.features)
            found.check_categories()
            rows = found.rows()
            labels = labels_of_rows(found, rows, recipe)
            sets[name] = Examples(found.read(rows), labels.array)
            chosen_rows[name] = ChosenRows(table, rows)
        except ProblemError as error:
            raise ProblemError(*(_of_set(problem, key) for problem in error.problems)) from error
        files[name] = (path.parent, [path])
        notes += unknown_categories(table, recipe.features)
        notes += numbers_for_missing(table, recipe.features)
    return FurtherSets(sets, chosen_rows, files, tuple(notes))


def _of_set(problem: Problem, key: str) -> Problem:
    """A problem with a file is one with the key that names it."""
    is_of_file = problem.field == "data.path"
    return problem.model_copy(update={"field": f"data.{key}"}) if is_of_file else problem
