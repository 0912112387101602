"""Tables: rows of a CSV or Parquet file, as features and labels."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError
from typing_extensions import override

from gpupanel.domain.choice import Choice
from gpupanel.domain.data import Target
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.table_data import TableData
from gpupanel.domain.visible_text import visible_line
from gpupanel.trainer.datasets.examples import (
    AllExamples,
    DataSet,
    Examples,
    Indices,
    chained,
)
from gpupanel.trainer.datasets.file_prints import DataFiles
from gpupanel.trainer.datasets.scanning.examples import scan_examples
from gpupanel.trainer.datasets.scanning.scanned import OnFirstReport, Scanned
from gpupanel.trainer.datasets.source import Found, Reading, Source
from gpupanel.trainer.datasets.tables import problems
from gpupanel.trainer.datasets.tables.column_scan import (
    ColumnScan,
    first_columns,
    form_of_table,
    namer_of,
)
from gpupanel.trainer.datasets.tables.recipe import (
    FeatureColumn,
    TableRecipe,
    feature_columns,
    found_targets,
)
from gpupanel.trainer.datasets.tables.summary import column_summaries, hints, unknown_categories
from gpupanel.trainer.datasets.tables.table_examples import TableExamples
from gpupanel.trainer.datasets.tables.table_file import (
    ImportedTable,
    TableOverview,
    imported,
    overview_of_table,
)
from gpupanel.trainer.datasets.tables.targets import (
    TargetLabels,
    check_columns,
    class_numbers,
    labels_of,
)

_LARGEST_PREVIEW_BYTES = 512 * 2**20
"""Of a file that a preview imports: some ten seconds."""


def _opened(data: TableData, reading: Reading, recipe: TableRecipe | None) -> ImportedTable:
    known = recipe.kinds if recipe else {}

    def progress(done: int, total: int) -> None:
        reading.on_progress("importing the table", done, total)

    most_bytes = _LARGEST_PREVIEW_BYTES if reading.is_preview else None
    return imported(overview_of_table(data, known), progress, most_bytes=most_bytes)


def _recipe(reading: Reading) -> TableRecipe | None:
    """What the model's file says; ``None``: it says nothing."""
    if not reading.recipe:
        return None
    try:
        return TableRecipe.model_validate_json(reading.recipe)
    except ValidationError as error:
        raise problems.problem(
            "table_recipe_unreadable",
            "What the saved model says of how its features are made of a table cannot be read.",
            "Use the model of a run of this version of gpupanel.",
            field="model.path",
            detail=str(error),
        ) from error


class _TableSource(Source[TableData]):
    """Rows in the order of the file; categories are 0 and 1, empty cells filled in."""

    @override
    def read(self, data: TableData, reading: Reading) -> DataSet:
        recipe = _recipe(reading)
        path = Path(data.path)
        table = _opened(data, reading, recipe)
        targets = _targets(data, table.names, recipe)
        found = TableExamples(
            data,
            table,
            _target_places(table, targets, needs_labels=True),
            recipe.features if recipe else feature_columns(data, table, targets),
        )
        check_columns(path, [table.columns[place] for place in found.targets])
        rows = found.rows()
        labels = _labels(found, rows, recipe)
        if reading.must_differ:
            _check_differ(path, labels)
        made = TableRecipe(
            features=found.features,
            targets=targets,
            target_kind="category" if table.columns[found.targets[0]].names else "number",
            predicts=labels.predicts,
            class_names=labels.class_names,
        )
        further = _further_sets(data, reading, table.overview, recipe or made)
        return DataSet(
            training=Examples(features=found.read(rows), labels=labels.array),
            test=further.examples("test"),
            validation=further.examples("validation"),
            class_names=labels.class_names,
            scaling=data.scaling,
            files=DataFiles(path.parent, [path], further.files),
            recipe=made.model_dump_json(),
            unscaled=_categories(found.features),
            groups=found.groups(rows),
            columns=column_summaries(data, table, targets),
            notes=(
                *hints(data, table, targets, None if rows is None else len(rows)),
                *further.notes,
            ),
        )

    @override
    def read_all(self, data: TableData, reading: Reading, *, needs_labels: bool) -> AllExamples:
        recipe = _recipe(reading)
        if recipe is None:
            raise problems.problem(
                "table_recipe_missing",
                "The saved model does not say how its features are made of a table's columns.",
                "Use a model that was trained on a table here; for another one save the rows as "
                "it takes them, in a NumPy array.",
                field="model.path",
            )
        table = _opened(data, reading, recipe)
        targets = _targets(data, table.names, recipe)
        places = _target_places(table, targets, needs_labels=needs_labels)
        if not needs_labels and any(table.columns[place].missing for place in places):
            places = ()  # some are to be predicted
        found = TableExamples(data, table, places, recipe.features)
        found.check_categories()
        # A prediction has a line for each row.
        rows = found.rows(drops=needs_labels)
        labels = _labels(found, rows, recipe) if places else None
        features = found.read(rows)
        count = features.shape[0]
        notes = unknown_categories(table, recipe.features)
        if labels is None or not needs_labels:
            return AllExamples(
                features=features,
                labels=None if labels is None else labels.array,
                target=recipe.predicts,
                class_names=recipe.class_names,
                training_count=count,
                notes=notes,
            )
        further = _further_sets(data, reading, table.overview, recipe)
        parts = [Examples(features, labels.array), *further.sets.values()]
        whole = chained(parts)
        return AllExamples(
            features=whole.features,
            labels=whole.labels,
            target=recipe.predicts,
            class_names=recipe.class_names,
            training_count=count,
            validation_count=len(further.examples("validation") or ()),
            groups=found.groups(rows),
            notes=(*notes, *further.notes),
        )

    @override
    def find(self, data: TableData, reading: Reading) -> Found:
        recipe = _recipe(reading)
        overview = overview_of_table(data, recipe.kinds if recipe else {})
        kinds: dict[str, list[str]] = {"number": [], "category": [], "date": []}
        for name, kind in overview.columns:
            kinds.setdefault(kind, []).append(name)
        columns = tuple(
            Choice(name, f"{visible_line(name)}: {kind}") for name, kind in overview.columns
        )
        found: dict[str, str | tuple[str, ...]] = {**_form(overview), **_found_kinds(kinds)}
        with contextlib.suppress(ProblemError):  # reading says it
            found["target"] = _targets(data, tuple(name for name, _ in overview.columns), recipe)
        return Found(
            offers=dict.fromkeys(
                ("target", "ignore", "group", "numbers", "categories", "dates"), columns
            ),
            found=found,
        )

    @override
    def scan(self, data: TableData, reading: Reading, on_first_report: OnFirstReport) -> Scanned:
        recipe = _recipe(reading)
        first = overview_of_table(data, recipe.kinds if recipe else {})
        seen = Scanned(
            sets={},
            target=data.predicts or Target.CLASSES,
            columns=first_columns(first),
            is_complete=False,
        )
        on_first_report(seen)
        table = _opened(data, reading, recipe)
        targets = _targets(data, table.names, recipe)
        places = _target_places(table, targets, needs_labels=False)
        columns = ColumnScan(table, places, reading.on_progress)
        found = self.read(data, reading)
        scanned = scan_examples(
            found, reading.on_progress, ignore_first_report, namer_of(found), has_columns=False
        )
        return replace(
            scanned,
            unlabelled=columns.unlabelled,
            columns=columns.columns,
            formats={form_of_table(table.overview): table.rows},
            problems=(*scanned.problems, *columns.problems),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _FurtherSets:
    """The tables beside that of the training rows.

    Attributes:
        sets: The examples of each that was chosen, the validation set first.
        files: The file of each.
    """

    sets: Mapping[str, Examples]
    files: Mapping[str, tuple[Path, list[str | Path]]]
    notes: tuple[Problem, ...]

    def examples(self, name: str) -> Examples | None:
        return self.sets.get(name)


def _further_sets(
    data: TableData, reading: Reading, overview: TableOverview, recipe: TableRecipe
) -> _FurtherSets:
    """The validation and the test table, their features made as those of the training rows."""
    sets: dict[str, Examples] = {}
    files: dict[str, tuple[Path, list[str | Path]]] = {}
    notes: list[Problem] = []
    for name, key in (("validation", "validation_path"), ("test", "test_path")):
        chosen = data.chosen_paths.get(key)
        if not chosen:
            continue
        path = Path(chosen)
        # Written as the table is whose rows are trained on: few lines may seem anything.
        form = _form(overview)
        other = TableData.model_validate({**data.model_dump(), **form, "path": chosen})
        try:
            table = _opened(other, reading, recipe)
            places = _target_places(table, recipe.targets, needs_labels=True)
            found = TableExamples(other, table, places, recipe.features)
            found.check_categories()
            rows = found.rows()
            labels = _labels(found, rows, recipe)
            sets[name] = Examples(found.read(rows), labels.array)
        except ProblemError as error:
            raise ProblemError(*(_of_set(problem, key) for problem in error.problems)) from error
        files[name] = (path.parent, [path])
        notes += unknown_categories(table, recipe.features)
    return _FurtherSets(sets, files, tuple(notes))


def _of_set(problem: Problem, key: str) -> Problem:
    """A problem with a file is one with the key that names it."""
    is_of_file = problem.field == "data.path"
    return problem.model_copy(update={"field": f"data.{key}"}) if is_of_file else problem


def ignore_first_report(scanned: Scanned) -> None:
    """It was shown when the first rows were seen."""


def _targets(
    data: TableData, names: tuple[str, ...], recipe: TableRecipe | None
) -> tuple[str, ...]:
    if recipe is not None and not data.targets:
        return recipe.targets
    return found_targets(data, names) if recipe is None else data.targets


def _form(overview: TableOverview) -> dict[str, str]:
    form = overview.form
    if form is None:
        return {}
    return {
        "delimiter": form.delimiter,
        "decimal": form.decimal,
        "encoding": form.encoding,
        "header": "first_line" if form.has_names else "none",
    }


def _found_kinds(kinds: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    keys = {"numbers": "number", "categories": "category", "dates": "date"}
    return {key: tuple(kinds[kind]) for key, kind in keys.items()}


def _target_places(
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


def _labels(found: TableExamples, rows: Indices | None, recipe: TableRecipe | None) -> TargetLabels:
    columns = [found.table.columns[place] for place in found.targets]
    raw = found.labels(rows)
    if recipe is None:
        return labels_of(found.path, raw, columns, found.data.predicts)
    if recipe.predicts is not Target.CLASSES or len(columns) > 1:
        return labels_of(found.path, raw, columns, recipe.predicts)
    check_columns(found.path, columns)
    numbers = class_numbers(found.path, raw[:, 0], columns[0], recipe.class_names)
    return TargetLabels(numbers, recipe.predicts, recipe.class_names)


def _check_differ(path: Path, labels: TargetLabels) -> None:
    if len(labels.class_names) == 1 and labels.array.ndim == 1:
        raise problems.problem(
            "data_one_class",
            f"The target of {path} holds one class only ({labels.class_names[0]}), so there is "
            "nothing to distinguish.",
            "Use data with rows of two classes or more, or choose another data.target.",
            field="data.target",
        )


def _categories(features: tuple[FeatureColumn, ...]) -> npt.NDArray[np.bool_]:
    """Which features are 0 or 1, and stay as they are."""
    return np.concatenate([np.full(each.width, each.kind == "category") for each in features])


SOURCE = _TableSource()
