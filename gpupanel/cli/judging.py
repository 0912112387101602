"""What evaluating and predicting found, for people and for scripts."""

from typing import Any

from rich.table import Table

from gpupanel.cli.telling import NONE_GIVEN, answers
from gpupanel.domain.confusion import ConfusionMatrix
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.following.status import RunStatus


def tell_findings(layout: RunLayout, status: RunStatus) -> None:
    """Print the figures of each class, or where the predictions are; nothing of a training."""
    if status.evaluation is not None and status.evaluation.confusion:
        evaluation = status.evaluation
        matrix = ConfusionMatrix(counts=evaluation.confusion, class_names=evaluation.class_names)
        answers.print(_class_table(matrix))
    if status.predictions is not None:
        path = layout.root / status.predictions
        words = f"{status.examples:,} predictions: {path}"
        answers.print(words, highlight=False, soft_wrap=True)


def findings_document(layout: RunLayout, status: RunStatus) -> dict[str, Any]:
    """What the JSON document has beside its usual keys; nothing of a training."""
    document: dict[str, Any] = {}
    if status.evaluation is not None:
        document["confusion"] = [list(row) for row in status.evaluation.confusion]
        document["class_names"] = list(status.evaluation.class_names)
    if status.predictions is not None:
        document["predictions"] = str(layout.root / status.predictions)
    return document


def _class_table(matrix: ConfusionMatrix) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("class", overflow="fold")
    for name in ("precision", "recall", "F1", "examples", "most mistaken for"):
        table.add_column(name, justify="left" if name.startswith("most ") else "right")
    for index, figures in enumerate(matrix.classes):
        table.add_row(
            figures.name,
            _fraction(figures.precision),
            _fraction(figures.recall),
            _fraction(figures.f1),
            f"{figures.examples:,}",
            _mistaken_for(matrix, index),
        )
    return table


def _mistaken_for(matrix: ConfusionMatrix, index: int) -> str:
    mistake = matrix.most_mistaken_for(index)
    return "" if mistake is None else f"{mistake[0]} ({mistake[1]:,})"


def _fraction(value: float | None) -> str:
    return NONE_GIVEN if value is None else f"{value:.4f}"
