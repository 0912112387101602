"""What evaluating and predicting found, for people and for scripts."""

from typing import TYPE_CHECKING, Any

from rich.table import Table

from gpupanel.cli.output import NONE_GIVEN, answers, print_problems
from gpupanel.domain.confusion import ClassMetrics, LabelMetrics
from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.following.status import RunStatus

if TYPE_CHECKING:
    from gpupanel.runs.following.confusion_matrix import ConfusionMatrix

_MOST_CLASSES_PRINTED = 200
_WORST_PRINTED = 50


def print_evaluation(layout: RunLayout, status: RunStatus) -> None:
    """Print the metrics of each class, or where the predictions are; nothing of a training."""
    matrix = _matrix(layout, status)
    if matrix is not None:
        answers.print(_class_table(matrix))
        if matrix.size > _MOST_CLASSES_PRINTED:
            answers.print(
                f"These are the {_WORST_PRINTED} classes with the lowest F1 of {matrix.size:,}; "
                f"{layout.confusion.name} in the run's folder has all.",
                highlight=False,
                soft_wrap=True,
            )
    labels = _labels(layout, status)
    if labels is not None:
        answers.print(_label_table(labels))
        if len(labels.classes) > _MOST_CLASSES_PRINTED:
            words = f"{layout.confusion.name} in the run's folder has all {len(labels.classes):,}."
            answers.print(words, highlight=False, soft_wrap=True)
    if status.predictions is not None:
        path = layout.root / status.predictions
        words = f"{status.examples:,} predictions: {path}"
        answers.print(words, highlight=False, soft_wrap=True)


def evaluation_document(layout: RunLayout, status: RunStatus) -> dict[str, Any]:
    """What the JSON document has beside its usual keys; nothing of a training.

    ``confusion`` is ``null`` where there are too many classes to give it in full; the file that
    ``confusion_file`` names has it always.
    """
    document: dict[str, Any] = {}
    if status.evaluation is not None:
        matrix = _matrix(layout, status)
        document["evaluated"] = status.evaluation.model_dump(
            mode="json", include={"examples", "which", "learned", "learned_is_estimate"}
        )
        document["confusion"] = _in_full(matrix)
        document["class_names"] = [] if matrix is None else list(matrix.class_names)
        labels = _labels(layout, status)
        if labels is not None:
            document["labels"] = [_label_document(each) for each in labels.classes]
        written = bool(status.evaluation.confusion_file)
        document["confusion_file"] = str(layout.confusion) if written else None
    if status.predictions is not None:
        document["predictions"] = str(layout.root / status.predictions)
    return document


def _matrix(layout: RunLayout, status: RunStatus) -> "ConfusionMatrix | None":
    """``None`` where there are no classes; where it cannot be read a problem is printed."""
    if status.evaluation is None:
        return None
    # Here and not above: no verb needs NumPy, which takes a fifth of its start, for a training.
    from gpupanel.runs.following.confusion_matrix import read_matrix

    found = read_matrix(layout, status.evaluation)
    if isinstance(found, Problem):
        print_problems([found])
        return None
    return found


def _labels(layout: RunLayout, status: RunStatus) -> LabelMetrics | None:
    """The metrics of several labels at once; ``None``: there are none."""
    if status.evaluation is None or not status.evaluation.labels_file:
        return None
    from gpupanel.runs.following.confusion_matrix import read_labels

    found = read_labels(layout, status.evaluation)
    if isinstance(found, Problem):
        print_problems([found])
        return None
    return found


def _label_document(metrics: ClassMetrics) -> dict[str, Any]:
    rates = {"precision": metrics.precision, "recall": metrics.recall, "f1": metrics.f1}
    return {**metrics.model_dump(mode="json"), **rates}


def _label_table(labels: LabelMetrics) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("label", overflow="fold")
    for name in ("precision", "recall", "F1", "examples"):
        table.add_column(name, justify="right")
    for metrics in labels.classes[:_MOST_CLASSES_PRINTED]:
        rates = (metrics.precision, metrics.recall, metrics.f1)
        table.add_row(metrics.name, *map(_fraction, rates), f"{metrics.examples:,}")
    return table


def _in_full(matrix: "ConfusionMatrix | None") -> list[list[int]] | None:
    if matrix is None:
        return []
    from gpupanel.runs.following.confusion_matrix import MOST_CLASSES_IN_FULL

    return matrix.in_full() if matrix.size <= MOST_CLASSES_IN_FULL else None


def _printed_classes(matrix: "ConfusionMatrix") -> list[int]:
    """All classes; where they are many, those with the most mistakes, the worst first."""
    if matrix.size <= _MOST_CLASSES_PRINTED:
        return list(range(matrix.size))
    scores = {number: metrics.f1 for number, metrics in enumerate(matrix.classes)}
    known = [(score, number) for number, score in scores.items() if score is not None]
    return [number for _, number in sorted(known)[:_WORST_PRINTED]]


def _class_table(matrix: "ConfusionMatrix") -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("class", overflow="fold")
    for name in ("precision", "recall", "F1", "examples", "most confused with"):
        table.add_column(name, justify="left" if name.startswith("most ") else "right")
    for index in _printed_classes(matrix):
        metrics = matrix.classes[index]
        table.add_row(
            metrics.name,
            _fraction(metrics.precision),
            _fraction(metrics.recall),
            _fraction(metrics.f1),
            f"{metrics.examples:,}",
            _mistaken_for(matrix, index),
        )
    return table


def _mistaken_for(matrix: "ConfusionMatrix", index: int) -> str:
    mistake = matrix.most_mistaken_for(index)
    return "" if mistake is None else mistake.text


def _fraction(value: float | None) -> str:
    return NONE_GIVEN if value is None else f"{value:.4f}"
