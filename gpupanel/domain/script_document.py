"""Which tables a profile has that runs a program of the person's own."""

from typing import Any, Final

from gpupanel.domain.problem import Problem, ProblemError

REPLACED: Final = ("data", "model", "training", "inference")
"""The tables in whose place ``[script]`` stands."""


def with_task(document: dict[str, Any]) -> dict[str, Any]:
    """A document whose task follows from its table ``[script]``, where it names none.

    Raises:
        ProblemError: It has tables that mean nothing beside ``[script]``, or another task.
    """
    if document.get("script") is None:
        if document.get("task") == "script":
            raise ProblemError(_no_program())
        return document
    found = [_meaningless(table) for table in REPLACED if table in document]
    task = document.get("task", "script")
    if task != "script":
        found.append(_other_task(task))
    if found:
        raise ProblemError(*found)
    return {**document, "task": "script"}


def _no_program() -> Problem:
    return Problem(
        code="script_missing",
        field="script",
        message='The task is "script", and no table [script] names the program.',
        hint='Add [script] with path = "train.py", or choose another task.',
    )


def _meaningless(table: str) -> Problem:
    return Problem(
        code="script_beside_table",
        field=table,
        message=f"[{table}] means nothing beside [script]: the program decides that itself.",
        hint=f"Remove [{table}], or remove [script] to have gpupanel train.",
    )


def _other_task(task: object) -> Problem:
    return Problem(
        code="script_beside_table",
        field="task",
        message=f"The task is {task!r}, but [script] names a program of your own to run.",
        hint='Remove the task, or set it to "script"; or remove [script].',
    )


def own_program(what: str) -> Problem:
    """The problem of what cannot be done with a program of the person's own.

    Args:
        what: A sentence's end: "its data is not known".
    """
    return Problem(
        code="own_program",
        field="task",
        message=f"The profile runs a program of your own: {what}.",
        hint="Name a profile whose task is train.",
    )
