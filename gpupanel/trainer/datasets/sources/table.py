"""Tables: rows of a CSV or Parquet file, as features and labels."""

import contextlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from typing_extensions import override

from gpupanel.domain.asked_prediction import AskedColumn, PredictionAsked
from gpupanel.domain.choice import Choice
from gpupanel.domain.data import Target
from gpupanel.domain.empty_words import EmptyWords
from gpupanel.domain.problem import Fix, Problem, ProblemError
from gpupanel.domain.table_data import TableData
from gpupanel.domain.visible_text import visible_line
from gpupanel.trainer.datasets.data_problems import data_problem
from gpupanel.trainer.datasets.examples import (
    AllExamples,
    DataSet,
    Examples,
    chained,
)
from gpupanel.trainer.datasets.file_prints import DataFiles
from gpupanel.trainer.datasets.scanning.examples import scan_examples
from gpupanel.trainer.datasets.scanning.scanned import OnFirstReport, Scanned
from gpupanel.trainer.datasets.single_data import AskedModel, SingleData
from gpupanel.trainer.datasets.source import Found, Reading, Source, no_download
from gpupanel.trainer.datasets.tables.chosen_table import (
    detected_overview,
    labels_of_rows,
    opened,
    recipe_of,
    target_places,
    targets_of,
)
from gpupanel.trainer.datasets.tables.column_scan import (
    ColumnScan,
    first_columns,
    form_of_table,
    namer_of,
)
from gpupanel.trainer.datasets.tables.further_sets import further_sets
from gpupanel.trainer.datasets.tables.leaks import leaks
from gpupanel.trainer.datasets.tables.named_inputs import (
    divided,
    notes_on_inputs,
    with_inputs_alone,
    with_known_inputs,
)
from gpupanel.trainer.datasets.tables.number_notes import numbers_for_missing
from gpupanel.trainer.datasets.tables.problems import target_is_feature
from gpupanel.trainer.datasets.tables.recipe import (
    FeatureColumn,
    TableRecipe,
    feature_columns,
)
from gpupanel.trainer.datasets.tables.row_columns import ChosenRows, RowColumns
from gpupanel.trainer.datasets.tables.single_row import asked_column, table_of_row
from gpupanel.trainer.datasets.tables.summary import column_summaries, hints, unknown_categories
from gpupanel.trainer.datasets.tables.table_examples import TableExamples
from gpupanel.trainer.datasets.tables.target_notes import target_notes
from gpupanel.trainer.datasets.tables.targets import (
    TargetLabels,
    check_columns,
)
from gpupanel.trainer.datasets.tables.written_columns import SETTING_OF_ORDER
from gpupanel.trainer.datasets.tables.written_problems import check_written


class _TableSource(Source[TableData]):
    """Rows in the order of the file; categories are 0 and 1, empty cells filled in."""

    @override
    def read(self, data: TableData, reading: Reading) -> DataSet:
        recipe = recipe_of(reading)
        # What is predicted; without it the data decides.
        known = None if reading.own_targets else recipe
        path = Path(data.path)
        table = opened(data, reading, recipe)
        targets = targets_of(data, table.names, known)
        data = with_inputs_alone(with_known_inputs(data, recipe), table, targets)
        features, inputs = divided(
            data, recipe.features if recipe else feature_columns(data, table, targets)
        )
        places = target_places(table, targets, needs_labels=True)
        found = TableExamples(data, table, places, features)
        used = (*targets, *(each.name for each in found.features))
        check_written(data, table.overview, used)
        check_columns(path, [table.columns[place] for place in found.targets])
        if recipe is not None:
            learned = {feature.name for feature in recipe.features}
            for name in targets:
                if name in learned:
                    raise target_is_feature(name)
            found.check_categories()
        is_trained = recipe is None
        rows = found.rows()
        labels = labels_of_rows(found, rows, known, more_classes=reading.more_classes)
        if reading.must_differ:
            emptied = {word for at in found.targets for word, _ in table.columns[at].empty_words}
            _check_differ(path, labels, emptied, table.overview.empty)
        made = TableRecipe(
            features=found.features,
            targets=targets,
            target_kind="category"
            if table.columns[found.targets[0]].kind == "category"
            else "number",
            empty_words=data.empty_words if recipe is None else recipe.empty_words,
            predicts=labels.predicts,
            class_names=labels.class_names,
            target_written={
                name: table.overview.written[name]
                for name in targets
                if name in table.overview.written
            },
            inputs=data.inputs,
        )
        further = further_sets(
            data, reading, table.overview, made if known is None else _of_classes(known, labels)
        )
        return DataSet(
            training=Examples(features=found.read(rows), labels=labels.array),
            test=further.examples("test"),
            validation=further.examples("validation"),
            class_names=labels.class_names,
            inputs=inputs,
            scaling=data.scaling,
            files=DataFiles(path.parent, [path], further.files),
            recipe=made.model_dump_json(),
            categories=tuple(_categories(found.features)),
            groups=found.groups(rows),
            columns=column_summaries(data, table, targets),
            cells=RowColumns((ChosenRows(table, rows), *further.rows.values()), targets),
            notes=notes_on_inputs(
                data,
                (
                    *hints(data, table, targets, None if rows is None else len(rows)),
                    *(target_notes(data, labels, targets) if known is None else ()),
                    *further.notes,
                    *(leaks(data, found, labels.array, labels.predicts) if is_trained else ()),
                ),
            ),
        )

    @override
    def read_all(self, data: TableData, reading: Reading, *, needs_labels: bool) -> AllExamples:
        recipe = recipe_of(reading)
        if recipe is None:
            raise _without_recipe()
        data = with_known_inputs(data, recipe)
        _, inputs = divided(data, recipe.features)
        table = opened(data, reading, recipe)
        targets = targets_of(data, table.names, recipe)
        places = target_places(table, targets, needs_labels=needs_labels)
        if not needs_labels and any(table.columns[place].missing for place in places):
            places = ()  # some are to be predicted
        found = TableExamples(data, table, places, recipe.features)
        found.check_categories()
        # A prediction has a line for each row.
        rows = found.rows(drops=needs_labels)
        labels = None
        with contextlib.nullcontext() if needs_labels else contextlib.suppress(ProblemError):
            # Predicting needs none: they may be of other classes than the model's.
            more = reading.more_classes
            labels = labels_of_rows(found, rows, recipe, more_classes=more) if places else None
        features = found.read(rows)
        count = features.shape[0]
        notes = (
            *unknown_categories(table, recipe.features),
            *numbers_for_missing(table, recipe.features),
        )
        if labels is None or not needs_labels:
            return AllExamples(
                features=features,
                labels=None if labels is None else labels.array,
                target=recipe.predicts,
                class_names=recipe.class_names,
                training_count=count,
                columns=RowColumns((ChosenRows(table, rows),), targets),
                notes=notes,
                inputs=inputs,
            )
        further = further_sets(data, reading, table.overview, _of_classes(recipe, labels))
        parts = [Examples(features, labels.array), *further.sets.values()]
        whole = chained(parts)
        return AllExamples(
            features=whole.features,
            labels=whole.labels,
            target=recipe.predicts,
            class_names=labels.class_names,
            training_count=count,
            validation_count=len(further.examples("validation") or ()),
            groups=found.groups(rows),
            columns=RowColumns((ChosenRows(table, rows), *further.rows.values()), targets),
            notes=(*notes, *further.notes),
            inputs=inputs,
        )

    @override
    def single(
        self, data: TableData, asked: PredictionAsked, model: AskedModel, folder: Path
    ) -> SingleData:
        known = recipe_of(Reading(no_download, recipe=model.recipe))
        if known is None:
            raise _without_recipe()
        return SingleData(table_of_row(data, asked, known, folder))

    @override
    def asked_columns(self, data: TableData, recipe: str) -> tuple[AskedColumn, ...]:
        known = recipe_of(Reading(no_download, recipe=recipe))
        if known is None:
            raise _without_recipe()
        return tuple(map(asked_column, known.features))

    @override
    def value_names(self, data: TableData, recipe: str) -> tuple[str, ...]:
        known = recipe_of(Reading(no_download, recipe=recipe))
        return () if known is None else known.targets

    @override
    def find(self, data: TableData, reading: Reading) -> Found:
        recipe = recipe_of(reading)
        known = None if reading.own_targets else recipe
        overview = detected_overview(data, reading, recipe)
        kinds: dict[str, list[str]] = {"number": [], "category": [], "date": []}
        for name, kind in overview.columns:
            kinds.setdefault(kind, []).append(name)
        columns = tuple(
            Choice(name, f"{visible_line(name)}: {kind}") for name, kind in overview.columns
        )
        found: dict[str, str | tuple[str, ...]] = {**_detected_kinds(kinds)}
        if overview.form is not None:
            found |= overview.form.settings
        if len({each.decimal for each in overview.written.values()}) > 1:
            found.pop("decimal", None)  # each column shows its own
        if overview.date_order is not None and recipe is None:  # else training has found it
            found["date_order"] = SETTING_OF_ORDER[overview.date_order]
        with contextlib.suppress(ProblemError):  # reading says it
            found["target"] = targets_of(data, tuple(name for name, _ in overview.columns), known)
        return Found(
            offers=dict.fromkeys(
                ("target", "ignore", "group", "numbers", "categories", "dates"), columns
            ),
            found=found,
        )

    @override
    def scan(self, data: TableData, reading: Reading, on_first_report: OnFirstReport) -> Scanned:
        recipe = recipe_of(reading)
        known = None if reading.own_targets else recipe
        first = detected_overview(data, reading, recipe)
        seen = Scanned(
            sets={},
            target=data.predicts or Target.CLASSES,
            columns=first_columns(first),
            is_complete=False,
        )
        on_first_report(seen)
        table = opened(data, reading, recipe)
        targets = targets_of(data, table.names, known)
        places = target_places(table, targets, needs_labels=False)
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


def _without_recipe() -> ProblemError:
    return data_problem(
        "table_recipe_missing",
        "The saved model has no record of how its features are made of a table's columns.",
        "Use a model that was trained on a table here; for another one, save the rows as "
        "it takes them in a NumPy array.",
        field="model.path",
    )


def _of_classes(recipe: TableRecipe, labels: TargetLabels) -> TableRecipe:
    """The recipe with the classes that the rows were found to be of."""
    return recipe.model_copy(update={"class_names": labels.class_names})


def ignore_first_report(scanned: Scanned) -> None:
    """It was shown when the first rows were seen."""


def _detected_kinds(kinds: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    keys = {"numbers": "number", "categories": "category", "dates": "date"}
    return {key: tuple(kinds[kind]) for key, kind in keys.items()}


def _check_differ(
    path: Path, labels: TargetLabels, emptied: Collection[str], empty: EmptyWords
) -> None:
    """Refuse one class only; the words that were taken for nothing may be the other one."""
    if len(labels.class_names) != 1 or labels.array.ndim > 1:
        return
    said, keep = "", None
    if emptied:
        shown = visible_line(", ".join(f'"{word}"' for word in sorted(emptied)))
        said = f"; {shown} was taken to mean that a cell is empty"
        words = sorted(empty.in_names - {*emptied})
        keep = Fix.of(f"Keep {shown} as a name", "data.empty_words", words)
    raise ProblemError(
        Problem(
            code="data_one_class",
            field="data.target",
            message=f"The target of {path} holds one class only ({labels.class_names[0]}){said}: "
            "there is nothing to distinguish.",
            hint="Use data with rows of two classes or more, or choose another data.target.",
            fix=keep,
        )
    )


def _categories(features: tuple[FeatureColumn, ...]) -> Iterator[tuple[int, int]]:
    """Where those of each column of categories stand, the first one and how many."""
    start = 0
    for each in features:
        if each.kind == "category":
            yield start, each.width
        start += each.width


SOURCE = _TableSource()
