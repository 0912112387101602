"""A combo box of named choices that shows a choice it does not offer truthfully."""

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from gpupanel.domain.choice import Choice
from gpupanel.ui.inputs.quiet_inputs import ComboBox
from gpupanel.ui.widgets.tips import wrapped

_NARROWEST = 96


class ChoiceBox(ComboBox):
    """Chooses one of a few values by its human name."""

    valueChanged = Signal(str)
    """A person chose another entry: its value. :meth:`setValue` is silent."""

    def __init__(self, choices: Sequence[Choice], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_from_list = False
        self._offered = len(choices)
        for choice in choices:
            self._append(choice)
        # The longest entry must not widen the column; the list that drops down shows it whole.
        self.setSizeAdjustPolicy(ComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(8)
        self.setMinimumWidth(_NARROWEST)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.currentIndexChanged.connect(self._report)

    @override
    def showPopup(self) -> None:
        """The list is as wide as its longest entry, however narrow the box is."""
        self.view().setMinimumWidth(self.view().sizeHintForColumn(0) + 32)
        self._is_from_list = True
        super().showPopup()

    @override
    def hidePopup(self) -> None:
        super().hidePopup()
        # Qt reports the entry that was chosen before or after this.
        QTimer.singleShot(0, self, self._forget_list)

    @property
    def is_from_list(self) -> bool:
        """Whether what is reported now was chosen in the list, and not passed by arrow keys."""
        return self._is_from_list

    def value(self) -> str:
        """The value of the entry that is shown."""
        return str(self.currentData())

    def setOffered(self, choices: Sequence[Choice]) -> None:
        """Offers other entries silently; the one that is shown stays shown."""
        with QSignalBlocker(self):
            value, label = self.value(), self.currentText()
            self.clear()
            self._offered = len(choices)
            for choice in choices:
                self._append(choice)
            self.setValue(value, unoffered=label)

    def setValue(self, value: str, *, unoffered: str = "{} (not usable)") -> None:
        """Shows a value silently.

        Args:
            value: One that is not offered gets an entry of its own while it is shown, since a
                profile must not be shown as something else than it is.
            unoffered: The label of such an entry.
        """
        with QSignalBlocker(self):
            index = self.findData(value)
            if index < 0 or index >= self._offered:
                self._forget_unoffered()
                if index < 0 or self.findData(value) < 0:
                    self._append(Choice(value, unoffered.format(value)))
                index = self.findData(value)
            self.setCurrentIndex(index)
            if index < self._offered:
                self._forget_unoffered()

    @Slot()
    def _forget_list(self) -> None:
        self._is_from_list = False

    def _append(self, choice: Choice) -> None:
        self.addItem(choice.label, choice.value)
        self.setItemData(
            self.count() - 1, wrapped(choice.description) or None, Qt.ItemDataRole.ToolTipRole
        )

    def _forget_unoffered(self) -> None:
        while self.count() > self._offered:
            self.removeItem(self.count() - 1)

    def _report(self) -> None:
        self.valueChanged.emit(self.value())
