"""What another threshold than the model's own would take for a class, and how well."""

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.domain.visible_text import visible_line
from gpupanel.ui import formatting
from gpupanel.ui.inputs.quiet_inputs import ComboBox
from gpupanel.ui.inputs.real_spin_box import RealRange, RealSpinBox
from gpupanel.ui.panels.evaluation_panel.confusion_map import ConfusionMap
from gpupanel.ui.panels.evaluation_panel.picture import card
from gpupanel.ui.panels.evaluation_panel.threshold_picture import ThresholdPicture
from gpupanel.ui.panels.evaluation_panel.views import FiguresView
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.beside_or_below import BesideOrBelow
from gpupanel.ui.widgets.labels import EmptyState, Note
from gpupanel.ui.widgets.layouts import row_in
from gpupanel.ui.widgets.tips import teach, wrapped

if TYPE_CHECKING:
    # NumPy, which it needs, takes longer to load than a window may.
    from gpupanel.runs.following.evaluation_figures import EvaluationFigures
    from gpupanel.runs.following.thresholds import Thresholds

_STEPS = 1_000
"""Thresholds lie so close together, as :mod:`gpupanel.files.score_counts_file` counts them."""
_MIDDLE = 500
_UP_TO_ONE = RealRange(0.0, below=math.nextafter(1.0, math.inf))
_WIDTH = 320
_NOT_COUNTED = (
    "An earlier version made this evaluation, and did not count what other thresholds come to. "
    "Evaluate again to see it."
)
_OF_CLASSES = (
    "The threshold belongs to this view. The model's own answer stays the most probable class."
)
_OF_LABELS = "The threshold belongs to this view. The model itself says a label above 0.5."
_CLASS_TIP = "The class that is told from all others."
_THRESHOLD_TIP = "From this probability of the class on an example is taken for it."
_F1_TIP = "Moves the threshold to where F1 of these examples is the greatest."
_COPY_TIP = "Copies the threshold"


class ThresholdView(FiguresView):
    """Precision and recall over the threshold, and what the chosen one comes to."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("threshold_view")
        self._shown: Thresholds | None = None
        self._place = _MIDDLE
        self._empty = EmptyState("No thresholds", _NOT_COUNTED)
        self._picture = ThresholdPicture()
        self._make_inputs()
        self._map = ConfusionMap(opens=False)
        self._map.setObjectName("threshold_matrix")
        self._figures = {name: QLabel() for name in ("Precision", "Recall", "F1")}
        self._whose = Note()
        self._whose.setAlignment(Qt.AlignmentFlag.AlignTop)
        curves = card("Precision and recall over the threshold", self._picture)
        self._parts = BesideOrBelow(curves, self._side())
        whole = row_in(self)
        whole.addWidget(self._parts, 1)
        whole.addWidget(self._empty, 1)
        self._picture.thresholdMoved.connect(self._move_to)
        self._class.currentIndexChanged.connect(self._show_class)
        self._threshold.valueChanged.connect(self._on_typed)
        self._most_f1.clicked.connect(self._take_most_f1)
        self._copy.clicked.connect(self._copy_threshold)

    @override
    def setFigures(self, figures: "EvaluationFigures") -> None:
        """Show its classes or labels, at 0.5; or say why there are none."""
        found = self._shown = figures.thresholds
        self._empty.setTexts("No thresholds", figures.unread_words or _NOT_COUNTED)
        self._empty.setVisible(found is None)
        self._parts.setVisible(found is not None)
        if found is None:
            return
        words = _OF_CLASSES if figures.labels is None else _OF_LABELS
        if found.class_count > len(found.names):
            counted, total = (
                formatting.count(each) for each in (len(found.names), found.class_count)
            )
            words = f"{words} Counted were the first {counted} of {total}."
        self._whose.setText(words)
        self._caption.setText("Class" if figures.labels is None else "Label")
        self._class.blockSignals(True)
        self._class.clear()
        self._class.addItems([visible_line(name) for name in found.names])
        # Of two classes the second is what is looked for: ill, not healthy.
        self._class.setCurrentIndex(1 if found.class_count == 2 else 0)
        self._class.blockSignals(False)
        self._place = _MIDDLE
        self._show_class()

    def _make_inputs(self) -> None:
        self._caption = QLabel("Class")
        self._class = ComboBox()
        self._class.setObjectName("threshold_class")
        self._class.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        teach(self._class, "Class", _CLASS_TIP)
        self._threshold = RealSpinBox(_UP_TO_ONE, step=1.0 / _STEPS)
        self._threshold.setObjectName("threshold")
        teach(self._threshold, "Threshold", _THRESHOLD_TIP)
        self._most_f1 = QPushButton("Most F1")
        self._most_f1.setObjectName("threshold_most_f1")
        self._most_f1.setToolTip(wrapped(_F1_TIP))
        self._copy = QPushButton("Copy")
        self._copy.setObjectName("threshold_copy")
        self._copy.setToolTip(_COPY_TIP)

    def _side(self) -> QWidget:
        inputs, figures = QWidget(), QWidget()
        grid = QGridLayout(inputs)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(GRID)
        captions = (self._caption, QLabel("Threshold"))
        for row, (caption, part) in enumerate(
            zip(captions, (self._class, self._threshold), strict=True)
        ):
            caption.setBuddy(part)
            grid.addWidget(caption, row, 0)
        grid.addWidget(self._class, 0, 1, 1, 3)
        for column, part in enumerate((self._threshold, self._most_f1, self._copy), start=1):
            grid.addWidget(part, 1, column)
        grid.setColumnStretch(1, 1)
        blocks = QGridLayout(figures)
        blocks.setContentsMargins(0, 0, 0, 0)
        blocks.setSpacing(0)
        for column, (name, number) in enumerate(self._figures.items()):
            caption = QLabel(name)
            caption.setProperty("role", "section")
            number.setProperty("role", "title")
            number.setAccessibleName(name)
            number.setObjectName(f"threshold_{name.lower()}")
            blocks.addWidget(caption, 0, column)
            blocks.addWidget(number, 1, column)
        side = card("At this threshold", inputs, figures, self._map, self._whose)
        side.setFixedWidth(_WIDTH)
        return side

    @Slot()
    def _show_class(self) -> None:
        number = self._class.currentIndex()
        if self._shown is None or number < 0:
            return
        self._picture.setCurves(self._shown.curves(number))
        self._most_f1.setEnabled(self._shown.most_f1(number) is not None)
        self._move_to(self._place)

    @Slot(int)
    def _move_to(self, place: int) -> None:
        number = self._class.currentIndex()
        if self._shown is None or number < 0:
            return
        self._place = place
        self._picture.setPlace(place)
        self._threshold.setValue(place / _STEPS)
        found = self._shown.at(number, place)
        values = (found.precision, found.recall, found.f1)
        for label, value in zip(self._figures.values(), values, strict=True):
            label.setText(formatting.fraction(value))
        self._map.setMatrix(self._shown.matrix(number, place))

    @Slot(float)
    def _on_typed(self, threshold: float) -> None:
        self._move_to(round(threshold * _STEPS))

    @Slot()
    def _take_most_f1(self) -> None:
        if self._shown is not None:
            best = self._shown.most_f1(self._class.currentIndex())
            if best is not None:
                self._move_to(best)

    @Slot()
    def _copy_threshold(self) -> None:
        QGuiApplication.clipboard().setText(f"{self._place / _STEPS:g}")
