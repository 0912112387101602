"""``python -m gpupanel.trainer.tools.shown_examples``: examples, with what a run made of them.

A :class:`~gpupanel.domain.shown_examples.ShownRequest` as JSON on standard input is answered by a
:class:`~gpupanel.domain.shown_examples.ShownExamples` on standard output. What cannot be read is a
problem in the answer. TensorFlow is not imported, and no code of anybody's is carried out.
"""

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gpupanel.domain.data import DataCache
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.shown_examples import (
    ExampleChoice,
    ShownClass,
    ShownExample,
    ShownExamples,
    ShownRequest,
)
from gpupanel.domain.visible_text import visible_line
from gpupanel.files.confusion_file import EvaluatedExamples, read_evaluated
from gpupanel.files.worst_file import WorstExamples, read_worst
from gpupanel.trainer.datasets.example_previews import example_name, example_preview, seen
from gpupanel.trainer.datasets.examples import AllExamples, read_features
from gpupanel.trainer.datasets.shown_cells import shown_cells
from gpupanel.trainer.datasets.shown_labels import readable_label, top_classes
from gpupanel.trainer.datasets.source import Reading, no_download
from gpupanel.trainer.downloads.keras_cache import needs_download
from gpupanel.trainer.failures import LOOKING_AT_DATA, problems_of
from gpupanel.trainer.inference.examples import read_all_of
from gpupanel.trainer.inference.written_predictions import read_predictions
from gpupanel.trainer.models.model_file import recipe_in


def shown_examples(request: ShownRequest) -> ShownExamples:
    """The examples that were chosen, with their images."""
    try:
        found = _found(request)
    except (OSError, ValueError) as error:
        return ShownExamples(problems=(_unreadable(request.file, error),))
    except ProblemError as error:
        return ShownExamples(problems=error.problems)
    if not found.examples:
        return found
    try:
        return _with_images(found, request)
    except Exception as error:  # noqa: BLE001 - reported as a problem, as in training
        problems = tuple(
            each.model_copy(update={"severity": Severity.WARNING})
            for each in problems_of(error, what=LOOKING_AT_DATA)
        )
        return found.model_copy(update={"problems": (*found.problems, *problems)})


def _found(request: ShownRequest) -> ShownExamples:
    choice, path = request.choice, Path(request.file)
    if choice.which == "predictions":
        written = read_predictions(path, choice.first, choice.count)
        return ShownExamples(examples=written.examples, total=written.total)
    worst = read_worst(path) if choice.which == "mistakes" else None
    if worst is not None:
        return _worst_examples(worst, choice)
    evaluated, names = read_evaluated(path)
    if evaluated is None:
        return ShownExamples(problems=(_not_kept(),))
    rows = _chosen_rows(evaluated, request)
    shown = rows[choice.first : choice.first + choice.count].tolist()
    return ShownExamples(
        examples=tuple(_evaluated(evaluated, row, names) for row in shown), total=len(rows)
    )


def _worst_examples(worst: WorstExamples, choice: ExampleChoice) -> ShownExamples:
    shown = range(len(worst.index))[choice.first : choice.first + choice.count]
    return ShownExamples(
        examples=tuple(
            ShownExample(
                index=int(worst.index[row]),
                label=readable_label(worst.label[row], worst.names, of_labels=bool(worst.names)),
                predicted=top_classes(worst.predicted[row], worst.names),
                error=float(worst.error[row]),
            )
            for row in shown
        ),
        total=len(worst.index),
    )


def _chosen_rows(evaluated: EvaluatedExamples, request: ShownRequest) -> npt.NDArray[np.intp]:
    """Which rows, those first that the model was surest of."""
    choice = request.choice
    if choice.which == "cell":
        is_row = evaluated.label == choice.row
        rows = np.flatnonzero(is_row & (evaluated.predicted == choice.column))
        return rows[np.argsort(-evaluated.probability[rows], kind="stable")]
    rows = np.flatnonzero(evaluated.label != evaluated.predicted)
    # The less likely the model held what is right, the worse.
    return rows[np.argsort(evaluated.label_probability[rows], kind="stable")]


def _evaluated(evaluated: EvaluatedExamples, row: int, names: Sequence[str]) -> ShownExample:
    taken_for = names[int(evaluated.predicted[row])]
    return ShownExample(
        index=int(evaluated.index[row]),
        label=names[int(evaluated.label[row])],
        predicted=(ShownClass(name=taken_for, probability=float(evaluated.probability[row])),),
        label_probability=float(evaluated.label_probability[row]),
    )


def _with_images(found: ShownExamples, request: ShownRequest) -> ShownExamples:
    data = request.profile.data
    if data.is_code or needs_download(data):
        return found
    data = data.model_copy(update={"cache": DataCache.NONE})
    profile = request.profile.model_copy(update={"data": data})
    recipe = ""
    with contextlib.suppress(ProblemError):  # a model that is gone keeps nobody from seeing them
        recipe = recipe_in(profile.model.chosen_path)
    whole = read_all_of(profile, Reading(no_download, recipe=recipe, is_preview=True))
    shown, problems = [], list(found.problems)
    of_files = {visible_line(name): place for place, name in enumerate(whole.file_names)}
    for each in found.examples:
        # By its name: beside other files it has another place now.
        place = of_files.get(each.name) if each.name and of_files else each.index
        if place is None or place >= len(whole):
            problems.append(_gone(each.name) if each.name else _changed(len(whole)))
            shown.append(each)
            continue
        shown.append(each.model_copy(update=_seen(whole, each, place, data.greatest, problems)))
    unique = {problem.message: problem for problem in problems}
    return found.model_copy(update={"examples": tuple(shown), "problems": tuple(unique.values())})


def _seen(
    whole: AllExamples, example: ShownExample, place: int, greatest: float, problems: list[Problem]
) -> dict[str, object]:
    """Name and image of an example at that place, as far as it can be read."""
    image, cells = None, example.cells
    try:
        rows = read_features(whole.features, np.array([place], np.int32))
        (one,), white = seen(rows, whole, greatest)
        image = example_preview("", one, white, whole.words)
        if whole.columns is not None:
            (cells,) = shown_cells(whole.columns, np.array([place], np.int32))
    except ProblemError as error:
        problems += (
            each.model_copy(update={"severity": Severity.WARNING}) for each in error.problems
        )
    return {
        "name": example.name or example_name(whole.features, place),
        "image": image,
        "cells": cells,
    }


def _gone(name: str) -> Problem:
    return Problem(
        code="examples_changed",
        severity=Severity.WARNING,
        field="data",
        message=f"{name} is no longer in the data: it has changed since.",
        hint="Run it again.",
    )


def _changed(count: int) -> Problem:
    return Problem(
        code="examples_changed",
        severity=Severity.WARNING,
        field="data",
        message=f"The data has {count:,} examples now, fewer than when the run read it: it has "
        "changed since.",
        hint="The example shown beside a row may be another one; run it again.",
    )


def _not_kept() -> Problem:
    return Problem(
        code="evaluated_examples_missing",
        severity=Severity.HINT,
        message="This evaluation has no record of each example: an earlier version made it, or "
        "there were more than 20 million.",
        hint="Evaluate again to see them.",
    )


def _unreadable(file: str, error: Exception) -> Problem:
    words = error.strerror if isinstance(error, OSError) else str(error)
    return Problem(
        code="run_file_unreadable",
        message=f"{file} cannot be read: {words}.",
        hint="Run it again; an interrupted copy looks like this.",
        detail=f"{type(error).__name__}: {error}",
    )


def main() -> int:
    """Answer the request on standard input."""
    request = ShownRequest.model_validate_json(sys.stdin.buffer.read())
    sys.stdout.write(shown_examples(request).model_dump_json())
    return 0


if __name__ == "__main__":
    sys.exit(main())
