"""A validation example: it, what it is, what the model says now, and how sure it was before."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from gpupanel.domain.shown_examples import ShownExample
from gpupanel.domain.validation_examples import ExamplePrediction
from gpupanel.ui import formatting
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.example_image import scaled_image
from gpupanel.ui.widgets.labels import ElidedLabel, Note, Tone, set_tone
from gpupanel.ui.widgets.sparkline import Sparkline
from gpupanel.ui.widgets.tips import wrapped

_SIDE = 10 * GRID
_WIDTH = _SIDE + 3 * GRID
"""All of them are seen at once in a window of 1280 by 800 pixels."""
_TEXT_WIDTH = 26 * GRID
_LINES, _LONGEST, _EMPTY = 6, 30, "\N{EN DASH}"
"""Cells of a row that a card has, and how many characters of each; all are in its tooltip."""


class ValidationCard(QFrame):
    """Stays for one example; predictions come and go.

    Args:
        example: Without a prediction.
        parent: The owner in Qt's sense.
    """

    def __init__(self, example: ShownExample, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("validation_card")
        self.setProperty("card", "true")
        self._example = example
        self._said, self._true = ElidedLabel(), ElidedLabel()
        for label in (self._said, self._true):
            # A probability stands behind the name of a class.
            label.setElideMode(Qt.TextElideMode.ElideMiddle)
        self._said.setProperty("role", "title")
        self._true.setProperty("textSize", "small")
        set_tone(self._true, Tone.MUTED)
        self._curve = Sparkline()
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID, GRID, GRID, GRID)
        column.setSpacing(GRID // 2)
        image = example.image
        picture = None if image is None else scaled_image(image, _SIDE)
        if picture is not None:
            seen = QLabel()
            seen.setPixmap(picture)
            seen.setFixedHeight(_SIDE)
            seen.setAlignment(Qt.AlignmentFlag.AlignCenter)
            column.addWidget(seen)
        else:
            values = "" if image is None else image.text
            text = Note(_cells(example) or values)
            text.setAlignment(Qt.AlignmentFlag.AlignTop)
            column.addWidget(text, 1)
        for part in (self._said, self._true, self._curve):
            column.addWidget(part)
        self.setFixedWidth(_WIDTH if picture is not None else _TEXT_WIDTH)

    def setPrediction(self, said: ExamplePrediction, history: Sequence[float | None]) -> None:
        """Show what the model says.

        Args:
            said: After the epoch that is looked at.
            history: The probability of what it is after each epoch that is known, 0 to 1;
                ``None``: it has none.
        """
        headline = _headline(said)
        self._said.setText(headline)
        set_tone(self._said, _TONES[said.is_right])
        self._true.setText(_truth(self._example, said))
        self._curve.setValues([None if each is None else 100.0 * each for each in history])
        self._curve.setVisible(any(each is not None for each in history))
        words = _name(self._example), self._true.text(), f"predicted {headline}"
        self.setAccessibleName(", ".join(filter(None, (*words, _VERDICTS[said.is_right]))))
        more = [_with_probability(each.name, each.probability) for each in said.predicted[1:]]
        cells = [f"{each.column}: {each.text or _EMPTY}" for each in self._example.cells]
        self.setToolTip(wrapped("\n".join((", ".join((self.accessibleName(), *more)), *cells))))


_TONES = {True: Tone.GOOD, False: Tone.ERROR, None: Tone.PLAIN}
_VERDICTS = {True: "right", False: "wrong", None: ""}


def _cells(example: ShownExample) -> str:
    """The first cells of its row, a line each."""
    lines = [f"{each.column}: {each.text or _EMPTY}" for each in example.cells]
    more = len(lines) - _LINES
    told = lines[:_LINES] if more > 1 else lines
    cut = [line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…" for line in told]
    return "\n".join([*cut, f"and {more} more"] if more > 1 else cut)


def _name(example: ShownExample) -> str:
    return example.name or f"validation example {formatting.count(example.index)}"


def _headline(said: ExamplePrediction) -> str:
    """Of classes the most probable one, of labels and values all."""
    if said.label_probability is not None and said.predicted:
        return _with_probability(said.predicted[0].name, said.predicted[0].probability)
    # A comma stands within a number.
    between = "; " if said.error is not None else ", "
    return between.join(each.name for each in said.predicted) or "none"


def _truth(example: ShownExample, said: ExamplePrediction) -> str:
    if said.error is not None:
        return f"is {example.label}, off by {formatting.number(said.error)}"
    if said.is_right is False:
        return f"is {_with_probability(example.label, said.label_probability)}"
    return f"is {example.label}"


def _with_probability(name: str, probability: float | None) -> str:
    return name if probability is None else f"{name}  {formatting.percent(100.0 * probability)}"
