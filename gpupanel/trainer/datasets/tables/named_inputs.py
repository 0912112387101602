"""A table's columns divided over several inputs of a model, by their names."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.table_data import ColumnNames, TableData
from gpupanel.domain.visible_text import visible_line
from gpupanel.trainer.datasets.data_problems import data_problem
from gpupanel.trainer.datasets.examples import PackedInput
from gpupanel.trainer.datasets.packed_inputs import input_misfit
from gpupanel.trainer.datasets.tables import problems
from gpupanel.trainer.datasets.tables.recipe import FeatureColumn, TableRecipe, is_learned_from
from gpupanel.trainer.datasets.tables.table_file import ImportedTable

_FIELD, _IGNORE = "data.inputs", ("data", "ignore")


def with_known_inputs(data: TableData, recipe: TableRecipe | None) -> TableData:
    """The settings with the inputs of a saved model, in its order: others would be other numbers.

    Args:
        data: Names the same inputs with the same columns, in any order; or none.
        recipe: Of the model's file; ``None``: there is no such model.

    Raises:
        ProblemError: They are others.
    """
    if recipe is None:
        return data
    known, named = _unordered(recipe.inputs), _unordered(data.inputs)
    if named and named != known:
        has = f"the inputs {_inputs_text(recipe.inputs)}" if known else "one input, of all columns"
        raise _misfit(f"the saved model has {has}")
    return data.model_copy(update={"inputs": dict(recipe.inputs)})


def _unordered(inputs: Mapping[str, ColumnNames]) -> dict[str, set[str]]:
    return {name: set(columns) for name, columns in inputs.items()}


def _inputs_text(inputs: Mapping[str, ColumnNames]) -> str:
    return ", ".join(
        f"{visible_line(name)} ({', '.join(map(visible_line, columns))})"
        for name, columns in inputs.items()
    )


def with_inputs_alone(data: TableData, table: ImportedTable, targets: ColumnNames) -> TableData:
    """The settings with all columns left out that are of no input; as they are where none is named.

    Args:
        data: Names the inputs.
        table: Has the columns.
        targets: The columns that are predicted.

    Raises:
        ProblemError: An input cannot be of these columns.
    """
    if not data.inputs:
        return data
    _check(data, table, targets)
    named = {name for columns in data.inputs.values() for name in columns}
    others = (each.name for each in table.columns if each.name not in named)
    left = [name for name in others if name not in (*targets, *data.ignore, data.group)]
    return data.model_copy(update={"ignore": (*data.ignore, *left)})


def divided(
    data: TableData, features: tuple[FeatureColumn, ...]
) -> tuple[tuple[FeatureColumn, ...], tuple[PackedInput, ...]]:
    """The columns input by input, and where the features of each input stand in a row.

    Args:
        data: Names the inputs; none: the columns stay as they are.
        features: The columns that are learned from.
    """
    by_name = {each.name: each for each in features}
    ordered, inputs = list[FeatureColumn](), list[PackedInput]()
    for name, columns in data.inputs.items():
        of_input = [by_name[column] for column in columns if column in by_name]
        start = inputs[-1].end if inputs else 0
        width = sum(each.width for each in of_input)
        inputs.append(PackedInput(name, (width,), are_pixels=False, start=start))
        ordered += of_input
    return (tuple(ordered) if inputs else features), tuple(inputs)


def notes_on_inputs(data: TableData, notes: Iterable[Problem]) -> tuple[Problem, ...]:
    """Notes on columns; those of inputs are not offered to be left out by another setting.

    Args:
        data: Names the inputs; none: the notes stay as they are.
        notes: On the table's columns.
    """
    return tuple(map(_on_inputs, notes)) if data.inputs else tuple(notes)


def _on_inputs(note: Problem) -> Problem:
    fixes = [
        each
        for each in (note.fix, *note.alternatives)
        if each is not None and all(change.path != _IGNORE for change in each.changes)
    ]
    field = _FIELD if note.field == ".".join(_IGNORE) else note.field
    offered = {"fix": fixes[0] if fixes else None, "alternatives": tuple(fixes[1:])}
    return note.model_copy(update={"field": field, **offered})


def _check(data: TableData, table: ImportedTable, targets: ColumnNames) -> None:
    columns = {each.name: each for each in table.columns}
    inputs_of = dict[str, str]()
    for name, chosen in data.inputs.items():
        if why := input_misfit(name):
            raise _misfit(f"{name!r} {why}")
        if not chosen:
            raise _misfit(f'the input "{visible_line(name)}" has no columns')
        for column in chosen:
            shown = f'column "{visible_line(column)}"'
            if column not in columns:
                raise problems.unknown_column(Path(data.path), column, tuple(columns), _FIELD)
            for others, what in (
                (targets, "what is predicted"),
                (data.ignore, "left out by data.ignore"),
                ((data.group,), "the group column"),
            ):
                if column in others:
                    raise _misfit(f"{shown} is {what}, and is of an input, too")
            if not is_learned_from(columns[column]):
                raise _misfit(f"{shown} holds texts of many different values, or nothing")
            if column in inputs_of:
                other = visible_line(inputs_of[column])
                where = f'of "{other}" and "{visible_line(name)}"'
                raise _misfit(f"{shown} is named twice: {where}")
            inputs_of[column] = name


def _misfit(why: str) -> ProblemError:
    return data_problem(
        "table_inputs_misfit",
        f"The inputs cannot be made of these columns: {why}.",
        "Give each input, called as that of the model, columns of its own to learn from.",
        field=_FIELD,
    )
