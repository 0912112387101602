"""The colours of a confusion matrix, and the matrix as an image of points."""

from math import sqrt
from typing import TYPE_CHECKING

from PySide6.QtGui import QColor, QImage

from gpupanel.ui import theme

if TYPE_CHECKING:
    # NumPy, which it needs, takes longer to load than a window may.
    from gpupanel.runs.following.confusion_matrix import ConfusionMatrix

_FAINTEST = 0.18
"""The least part of the full colour, where there is anything at all."""
_DIAGONAL = 128
"""Where the shades of the diagonal begin; those of a matrix go from 0 to 127."""


def cell_color(count: int, total: int, *, is_right: bool) -> QColor:
    """Stronger the more of its row it holds; the root lets few mistakes be seen, too.

    Args:
        count: Examples of the cell.
        total: Of its row.
        is_right: It lies on the diagonal.
    """
    shown = theme.current()
    full = shown.color("accent" if is_right else "warning")
    strength = sqrt(count / max(1, total))
    return mixed(shown.color("raised"), full, _FAINTEST + (1.0 - _FAINTEST) * strength)


def matrix_image(matrix: "ConfusionMatrix", shown: theme.Theme) -> QImage:
    """A point for each cell, or for each block of cells where there are more than a thousand."""
    shades = matrix.shades.copy()
    size, strongest = len(shades), int(shades.max(initial=1))
    # Two scales in one table: what is right stands on the diagonal, in another colour.
    for number in range(size):
        if shades[number, number]:
            shades[number, number] += _DIAGONAL
    image = QImage(shades.tobytes(), size, size, size, QImage.Format.Format_Indexed8)
    raised = shown.color("raised")
    table = [raised.rgb()] * 256
    for first, name in ((0, "warning"), (_DIAGONAL, "accent")):
        for shade in range(1, strongest + 1):
            strength = (shade - 1) / (_DIAGONAL - 2)
            part = _FAINTEST + (1.0 - _FAINTEST) * strength
            table[first + shade] = mixed(raised, shown.color(name), part).rgb()
    image.setColorTable(table)
    # With points of its own: those above are gone with this function.
    return image.copy()


def mixed(first: QColor, second: QColor, part: float) -> QColor:
    """A colour between two: 0 is the first, 1 the second."""

    def between(a: float, b: float) -> float:
        return a + (b - a) * part

    return QColor.fromRgbF(
        between(first.redF(), second.redF()),
        between(first.greenF(), second.greenF()),
        between(first.blueF(), second.blueF()),
    )
