"""The confusion matrix of an evaluation: small ones in full, of large ones what matters."""

import math
from collections.abc import Sequence
from typing import Final

from gpupanel.domain.confusion import ClassMetrics
from gpupanel.domain.number_text import DASH, count
from gpupanel.runs.following.confusion_matrix import ConfusionMatrix
from gpupanel.runs.report.markup import Html, breakable, element, joined, section, table
from gpupanel.runs.report.material import ReportMaterial

MOST_IN_FULL: Final = 20
"""Classes whose numbers a page holds."""
_MOST_BLOCKS: Final = 60
_MOST_ROWS: Final = 20
_LONGEST_NAME: Final = 40
_CELL: Final = 8


def confusion_section(material: ReportMaterial) -> Html:
    """The matrix and the figures of each class, or of each of several labels."""
    if material.evaluated.labels is not None:
        return section("Labels", *_figures(material.evaluated.labels.classes, "label"))
    matrix = material.evaluated.matrix
    if matrix is None or not matrix.size:
        return Html()
    if matrix.size <= MOST_IN_FULL:
        return section("Confusion matrix", _in_full(matrix), *_figures(matrix.classes, "class"))
    return section(
        "Confusion matrix",
        _summed(matrix),
        _most_mistaken(matrix),
        *_figures(matrix.classes, "class"),
    )


def _name(name: str) -> Html:
    return breakable(name, _LONGEST_NAME)


def _fraction(value: float | None) -> str:
    return DASH if value is None else f"{value:.4f}"


def _in_full(matrix: ConfusionMatrix) -> Html:
    names = [_name(each) for each in matrix.class_names]
    head = [element("th", name, scope="col") for name in names]
    rows = []
    for name, counts in zip(names, matrix.in_full(), strict=True):
        total = sum(counts)
        cells = [
            element("td", count(each) if each else "·", style=_shade(each, total))
            for each in counts
        ]
        rows.append(element("tr", element("th", name, scope="row"), *cells))
    corner = element("td", "label ↓ predicted →", class_="corner")
    return element(
        "div",
        element(
            "table",
            element("thead", element("tr", corner, *head)),
            element("tbody", *rows),
            class_="heat",
        ),
        class_="scrolls",
    )


def _shade(examples: int, of: int) -> str:
    """The root lets few mistakes be seen, too."""
    return f"--part:{math.sqrt(examples / of) if of else 0.0:.2f}"


def _summed(matrix: ConfusionMatrix) -> Html:
    counts = matrix.summed(_MOST_BLOCKS).tolist()
    block = matrix.block_size(_MOST_BLOCKS)
    cells = [
        element(
            "rect",
            x=column * _CELL,
            y=row * _CELL,
            width=_CELL,
            height=_CELL,
            class_="cell",
            style=_shade(each, sum(whole)),
        )
        for row, whole in enumerate(counts)
        for column, each in enumerate(whole)
        if each
    ]
    side = len(counts) * _CELL
    each = (
        "Each cell is a class"
        if block == 1
        else f"Each cell stands for {block:,} by {block:,} of them"
    )
    caption = f"{matrix.size:,} classes. {each}: labels from top to bottom, predictions from left "
    return element(
        "figure",
        element("figcaption", f"{caption}to right."),
        element(
            "svg",
            *cells,
            viewBox=f"0 0 {side} {side}",
            class_="blocks",
            role="img",
            aria_label="Confusion matrix",
        ),
    )


def _most_mistaken(matrix: ConfusionMatrix) -> Html:
    rows, columns, counts = matrix.cells
    off = rows != columns
    rows, columns, counts = rows[off], columns[off], counts[off]
    order = (-counts).argsort(kind="stable")[:_MOST_ROWS].tolist()
    names = matrix.class_names
    found = [
        (_name(names[int(rows[at])]), _name(names[int(columns[at])]), count(int(counts[at])))
        for at in order
    ]
    mistakes = table(("Label", "Taken for", "Examples"), found, texts=2)
    return joined(element("h3", "Most frequent mistakes"), mistakes) if found else Html()


def _figures(classes: Sequence[ClassMetrics], each: str) -> list[Html]:
    shown = list(classes)
    title = f"Each {each}"
    if len(shown) > MOST_IN_FULL:
        shown.sort(key=lambda one: (1.0 if one.recall is None else one.recall, -one.examples))
        shown = shown[:_MOST_ROWS]
        title = f"The {len(shown)} with the lowest recall, of {len(classes):,}"
    rows = [
        (
            _name(one.name),
            count(one.examples),
            _fraction(one.precision),
            _fraction(one.recall),
            _fraction(one.f1),
        )
        for one in shown
    ]
    heads = (each.capitalize(), "Examples", "Precision", "Recall", "F1")
    return [element("h3", title), table(heads, rows)]
