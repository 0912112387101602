"""Finds a setting by a part of its title or key, and adds it to the sweep."""

from collections.abc import Collection, Sequence

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QCompleter, QLineEdit, QPushButton, QWidget

from gpupanel.planning.sweep_offer import SweptOffer
from gpupanel.ui.widgets.layouts import row_in
from gpupanel.ui.widgets.tips import teach, wrapped

_KEY = Qt.ItemDataRole.UserRole
_ROWS = 14


class SettingFinder(QWidget):
    """A line to search in, with a list below it while something is typed, and a button for all."""

    chosen = Signal(str)
    """The setting of that key is to be tried."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._offers: tuple[SweptOffer, ...] = ()
        self._taken: frozenset[str] = frozenset()
        self._key = ""
        self._timer = QTimer(self, singleShot=True, interval=0)
        self._timer.timeout.connect(self._add)
        self._model = QStandardItemModel(self)
        self._field = QLineEdit(self)
        self._field.setObjectName("new_sweep_search")
        self._field.setPlaceholderText("Search settings, such as learning rate")
        self._field.setClearButtonEnabled(True)
        teach(
            self._field,
            "Setting to add",
            "Type a part of a setting's title or key, and choose it from the list.",
        )
        self._completer = QCompleter(self._model, self)
        self._completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self._completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._completer.setMaxVisibleItems(_ROWS)
        self._completer.activated[QModelIndex].connect(self._choose)  # type: ignore[index]
        self._field.setCompleter(self._completer)
        self._all = QPushButton("&Add setting…", self)
        self._all.setObjectName("new_sweep_add")
        self._all.setAutoDefault(False)
        self._all.setToolTip(wrapped("Lists all settings of the session that can be tried"))
        self._all.clicked.connect(self._show_all)
        self._field.returnPressed.connect(self._choose_first)
        row = row_in(self)
        row.addWidget(self._field, 1)
        row.addWidget(self._all)
        self.setFocusProxy(self._field)

    def setOffers(self, offers: Sequence[SweptOffer], taken: Collection[str]) -> None:
        """Offer these settings, without those that are tried already."""
        if (tuple(offers), frozenset(taken)) == (self._offers, self._taken):
            return
        self._offers, self._taken = tuple(offers), frozenset(taken)
        self._model.clear()
        for offer in self._offers:
            if offer.key not in self._taken:
                item = QStandardItem(f"{offer.setting.title}  ·  {offer.key}")
                item.setData(offer.key, _KEY)
                item.setToolTip(wrapped(offer.setting.description))
                item.setEditable(False)
                self._model.appendRow(item)

    @Slot()
    def _show_all(self) -> None:
        self._field.clear()
        self._field.setFocus()
        self._completer.setCompletionPrefix("")
        self._completer.complete()

    @Slot(QModelIndex)
    def _choose(self, index: QModelIndex) -> None:
        self._add_soon(index)

    @Slot()
    def _choose_first(self) -> None:
        """Return in the line: the first setting that is found."""
        if self._field.text().strip() and self._completer.completionCount():
            self._add_soon(self._completer.completionModel().index(0, 0))

    def _add_soon(self, index: QModelIndex) -> None:
        # Return in the list is Return in the line first, and what the list says holds. The settings
        # that are offered change only once both were heard, and the completer wrote into the line.
        key = index.data(_KEY)
        if isinstance(key, str):
            self._key = key
            self._timer.start()

    @Slot()
    def _add(self) -> None:
        self._field.clear()
        if self._key not in self._taken:
            self.chosen.emit(self._key)
