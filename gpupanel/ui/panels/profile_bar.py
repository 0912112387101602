"""The bar on top, its left: the profile, its file, and what can be done with it."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QToolButton,
    QWidget,
)

from gpupanel.domain.visible_text import visible_line
from gpupanel.ui.inputs.input import finish_editing
from gpupanel.ui.widgets.tips import wrapped

_Key = QKeySequence.StandardKey


class ProfileBar(QWidget):
    """Shows the profile's name and file; passes on what a person wants with them."""

    nameEdited = Signal(str)
    newRequested = Signal()
    openRequested = Signal()
    saveRequested = Signal()
    saveAsRequested = Signal()
    fileChosen = Signal(object)
    """A recent profile: its :class:`Path`."""
    exampleChosen = Signal(object)
    """An example profile: its :class:`Path`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("profile_bar")
        self._name = QLineEdit(self)
        self._name.setObjectName("profile_name")
        self._name.setMaxLength(200)
        self._name.setMinimumWidth(220)
        self._name.setMaximumWidth(360)
        self._name.setAccessibleName("Profile name")
        self._name.setToolTip(
            "The profile's name; its runs have it, too.\n"
            "A profile is everything that you choose here, saved as one TOML file."
        )
        self._dirty = QLabel("●", self)
        self._dirty.setObjectName("dirty_mark")
        self._dirty.setToolTip("There are changes that are not saved")
        self._dirty.setAccessibleName("Unsaved changes")
        policy = self._dirty.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._dirty.setSizePolicy(policy)
        self._recent = QMenu("&Recent", self)
        self._examples = QMenu("&Examples", self)
        self._open = _button("Open", "profile_open", "Opens a profile (Ctrl+O)", self)
        self._save = _button("Save", "profile_save", "Saves the profile (Ctrl+S)", self)
        self._menu = self._make_menu()
        self._compose()
        self._connect()

    def setDocument(self, name: str, *, is_dirty: bool, path: Path | None) -> None:
        """Show the profile's name, its file and whether there is something to save."""
        if self._name.text() != name:
            self._name.setText(name)
        self._dirty.setVisible(is_dirty)
        place = str(path) if path is not None else "not saved to a file yet"
        self._save.setToolTip(wrapped(f"Saves the profile (Ctrl+S)\n{place}"))

    def setRecent(self, paths: Sequence[Path]) -> None:
        """Fill the menu of recent profiles, the latest first."""
        self._fill(self._recent, [(path.name, path) for path in paths])

    def setExamples(self, examples: Sequence[tuple[str, Path]]) -> None:
        """Fill the menu of example profiles, each with its title."""
        self._fill(self._examples, examples)

    def _make_menu(self) -> QToolButton:
        menu = QMenu(self)
        for text, key, signal in (
            ("&New", _Key.New, self.newRequested),
            ("&Open…", _Key.Open, self.openRequested),
            ("&Save", _Key.Save, self.saveRequested),
            ("Save &as…", _Key.SaveAs, self.saveAsRequested),
        ):
            action = QAction(text, self)
            action.setShortcut(QKeySequence(key))
            action.triggered.connect(finish_editing)
            action.triggered.connect(signal)
            self.addAction(action)  # the shortcut works while the menu is closed
            menu.addAction(action)
        menu.addSeparator()
        menu.addMenu(self._recent)
        menu.addMenu(self._examples)
        button = QToolButton(self)
        button.setObjectName("profile_menu")
        button.setText("Profile ▾")
        button.setToolTip("New, save as, recent profiles, example profiles")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setMenu(menu)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        return button

    def _compose(self) -> None:
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        for widget in (self._name, self._dirty, self._menu, self._open, self._save):
            layout.addWidget(widget)

    def _connect(self) -> None:
        self._name.editingFinished.connect(self._on_name_edited)
        for button in (self._open, self._save):
            button.clicked.connect(finish_editing)
        self._open.clicked.connect(self.openRequested)
        self._save.clicked.connect(self.saveRequested)
        self._recent.triggered.connect(self._on_recent)
        self._examples.triggered.connect(self._on_example)

    def _fill(self, menu: QMenu, entries: Sequence[tuple[str, Path]]) -> None:
        menu.clear()
        menu.setEnabled(bool(entries))
        for title, path in entries:
            # An & in a file's name is no mnemonic.
            action = menu.addAction(visible_line(title).replace("&", "&&"))
            action.setData(path)
            action.setToolTip(wrapped(str(path)))
        menu.setToolTipsVisible(True)

    @Slot(QAction)
    def _on_recent(self, action: QAction) -> None:
        self.fileChosen.emit(action.data())

    @Slot(QAction)
    def _on_example(self, action: QAction) -> None:
        self.exampleChosen.emit(action.data())

    @Slot()
    def _on_name_edited(self) -> None:
        self.nameEdited.emit(self._name.text())


def _button(text: str, name: str, tip: str, parent: QWidget) -> QPushButton:
    button = QPushButton(text, parent)
    button.setObjectName(name)
    button.setToolTip(tip)
    return button
