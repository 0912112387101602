"""One line of text; a path that is typed, or chosen with a button."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFileDialog, QLineEdit, QMenu, QPushButton, QWidget

from gpupanel.ui.inputs.file_chooser import file_chooser
from gpupanel.ui.widgets.layouts import row_in
from gpupanel.ui.widgets.tips import teach, wrapped


class TextInput(QLineEdit):
    """One line of text."""

    valueChanged = Signal(str)
    """A person typed; :meth:`setValue` is silent."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.textEdited.connect(self.valueChanged)

    def value(self) -> str:
        """The text."""
        return self.text()

    def setValue(self, value: str) -> None:
        """Shows another text silently; what is being typed is left alone."""
        if value != self.text():
            self.setText(value)


class PathEdit(QWidget):
    """A line with a Browse button, for one file or one folder."""

    valueChanged = Signal(str)
    """A person typed or chose another path; :meth:`setValue` is silent."""

    def __init__(
        self,
        *,
        file_filter: str = "",
        placeholder: str = "",
        title: str = "Choose the data",
        may_be_folder: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        """Makes the field.

        Args:
            file_filter: Qt's filter of file names (``"NumPy files (*.npz)"``); empty: a folder
                is chosen.
            placeholder: Shown while the path is empty.
            title: Of the dialog that the button opens.
            may_be_folder: A folder may be chosen as well as a file: the button asks which.
            parent: The owner in Qt's sense.
        """
        super().__init__(parent)
        self._filter = file_filter
        self._title = title
        self._field = QLineEdit(self)
        self._field.setPlaceholderText(placeholder)
        # What is dropped here is for the panel around, which knows what a file is good for.
        self._field.setAcceptDrops(False)
        self._browse = QPushButton("&Browse…")
        thing = "file" if file_filter else "folder"
        thing = "file or folder" if may_be_folder else thing
        teach(self._browse, f"Browse for the {thing}", f"Choose the {thing}.")
        layout = row_in(self)
        layout.addWidget(self._field, 1)
        layout.addWidget(self._browse)
        self.setFocusProxy(self._field)
        self._field.textEdited.connect(self.valueChanged)
        self._menu = QMenu(self._browse) if may_be_folder else None
        if self._menu is not None:
            self._menu.addAction("A &file…").triggered.connect(self._open_dialog)
            self._menu.addAction("A f&older…").triggered.connect(self._open_folder_dialog)
            self._browse.setMenu(self._menu)
        else:
            self._browse.clicked.connect(self._open_dialog)

    def value(self) -> str:
        """The path as shown."""
        return self._field.text()

    def setValue(self, path: str) -> None:
        """Shows a path silently."""
        if path != self._field.text():
            self._field.setText(path)
        self._field.setToolTip(wrapped(path) or self.toolTip())

    @Slot()
    def choose(self) -> None:
        """Opens what the button opens: a dialog, or the menu that asks for file or folder."""
        if self._menu is None:
            self._open_dialog()
        else:
            self._menu.popup(self._browse.mapToGlobal(self._browse.rect().bottomLeft()))

    def _open_dialog(self) -> None:
        # Opened, not executed: the event loop goes on and nothing waits for the answer.
        if not self._filter:
            self._open_folder_dialog()
            return
        self._show(QFileDialog.FileMode.ExistingFile, self._filter)

    def _open_folder_dialog(self) -> None:
        self._show(QFileDialog.FileMode.Directory)

    def _show(self, mode: QFileDialog.FileMode, file_filter: str = "") -> None:
        dialog = file_chooser(self, self._title, self._field.text(), mode, file_filter)
        dialog.fileSelected.connect(self._take)
        dialog.open()

    def _take(self, path: str) -> None:
        if path != self._field.text():
            self.setValue(path)
            self.valueChanged.emit(path)
