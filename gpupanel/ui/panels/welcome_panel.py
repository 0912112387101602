"""What a person sees at the first start: four ways to begin."""

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import Note
from gpupanel.ui.widgets.tips import teach

_WIDTH, _LEAST_WIDTH = 520, 360
"""Pixels."""


class WelcomePanel(QWidget):
    """Offers an example, own images, an own table, and a profile; it is shown once."""

    exampleRequested = Signal()
    """The example is to be trained."""
    imagesRequested = Signal()
    tableRequested = Signal()
    profileRequested = Signal()
    skipped = Signal()
    """The settings are to be shown, as they are."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("welcome_panel")
        title = QLabel("Welcome to gpupanel", self)
        title.setProperty("role", "headline")
        note = Note(
            "Choose data and a model, decide how your devices share the work, press Start, and "
            "watch. What would you like to begin with?"
        )
        choices = QGridLayout()
        for row, (name, text, sentence, chosen) in enumerate(
            (
                (
                    "welcome_example",
                    "Train the e&xample",
                    "Handwritten digits, learned in 15 seconds; no download",
                    self.exampleRequested,
                ),
                (
                    "welcome_images",
                    "My &images…",
                    "A folder with images, in one folder per class or with a CSV of labels",
                    self.imagesRequested,
                ),
                (
                    "welcome_table",
                    "My &table…",
                    "A CSV or Parquet file with a column that is to be predicted",
                    self.tableRequested,
                ),
                (
                    "welcome_profile",
                    "Open a &profile…",
                    "A TOML file with everything that was chosen for a run",
                    self.profileRequested,
                ),
            )
        ):
            choices.addWidget(self._button(name, text, sentence, chosen), row, 0)
            choices.addWidget(Note(sentence), row, 1)
        choices.setColumnStretch(1, 1)
        choices.setHorizontalSpacing(2 * GRID)
        choices.setVerticalSpacing(GRID)
        skip = self._button("welcome_skip", "S&kip", "Shows all settings", self.skipped)
        skip.setProperty("role", "quiet")
        card = QWidget(self)
        card.setMinimumWidth(_LEAST_WIDTH)
        card.setMaximumWidth(_WIDTH)
        inner = QVBoxLayout(card)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(2 * GRID)
        inner.addWidget(title)
        inner.addWidget(note)
        inner.addLayout(choices)
        inner.addWidget(skip, 0, Qt.AlignmentFlag.AlignLeft)
        # Not centred by its alignment: that would make it as narrow as its words allow.
        middle = QHBoxLayout()
        middle.addStretch(1)
        middle.addWidget(card, 1_000)
        middle.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 4 * GRID, 2 * GRID, 4 * GRID)
        layout.addStretch(1)
        layout.addLayout(middle)
        layout.addStretch(2)
        self.setFocusProxy(self.findChildren(QPushButton)[0])

    def _button(self, name: str, text: str, tip: str, pressed: SignalInstance) -> QPushButton:
        button = QPushButton(text, self)
        button.setObjectName(name)
        button.setMinimumWidth(160)
        if name == "welcome_example":
            button.setProperty("role", "primary")
        teach(button, text.replace("&", ""), tip)
        button.clicked.connect(pressed)
        return button
