"""Files of a folder, chosen one by one."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QLineEdit, QPushButton, QWidget

from gpupanel.domain.visible_text import visible_line
from gpupanel.ui.inputs.file_chooser import file_chooser
from gpupanel.ui.widgets.layouts import row_in
from gpupanel.ui.widgets.tips import teach, wrapped

_SHOWN = 20
_ALL = ()


class FilesEdit(QWidget):
    """Shows which files are chosen, with a button that chooses others and one that chooses all."""

    valueChanged = Signal(object)
    """A person chose all: no names; :meth:`setValue` is silent."""
    chosen = Signal(object)
    """A person chose files: a tuple of absolute paths, which may be of another folder."""

    def __init__(
        self, *, file_filter: str, off: str, title: str, parent: QWidget | None = None
    ) -> None:
        """Shows that none is chosen.

        Args:
            file_filter: Qt's filter of file names (``"Images (*.png)"``).
            off: What is said of choosing none.
            title: Of the dialog that the button opens.
            parent: The owner in Qt's sense.
        """
        super().__init__(parent)
        self._filter, self._title = file_filter, title
        self._names: tuple[str, ...] = _ALL
        self._field = QLineEdit(self)
        self._field.setReadOnly(True)
        self._field.setAccessibleName("Chosen files")
        self._field.setPlaceholderText(off[:1].upper() + off[1:])
        self._field.setAcceptDrops(False)  # as PathEdit
        self._browse = QPushButton("Browse…")
        teach(self._browse, "Choose files", "Choose one or several files.")
        self._all = QPushButton("All")
        teach(self._all, "Choose all", f"Take {off}.")
        row = row_in(self)
        row.addWidget(self._field, 1)
        row.addWidget(self._browse)
        row.addWidget(self._all)
        self.setFocusProxy(self._browse)
        self._browse.clicked.connect(self._open_dialog)
        self._all.clicked.connect(self._choose_all)
        self._show()

    def value(self) -> tuple[str, ...]:
        """The names as shown."""
        return self._names

    def setValue(self, names: Sequence[str]) -> None:
        """Shows other names silently."""
        self._names = tuple(names)
        self._show()

    def text(self) -> str:
        """What is shown."""
        return self._field.text()

    def _show(self) -> None:
        count = len(self._names)
        shown = visible_line(", ".join(self._names[:_SHOWN])) + (", …" if count > _SHOWN else "")
        self._field.setText(f"{count:,}: {shown}" if count > 1 else shown)
        self._field.setCursorPosition(0)
        self._field.setToolTip(wrapped(self._field.text()) or self.toolTip())
        self._all.setVisible(bool(count))

    def _open_dialog(self) -> None:
        # Opened, not executed: the event loop goes on and nothing waits for the answer.
        mode = QFileDialog.FileMode.ExistingFiles
        dialog = file_chooser(self, self._title, "", mode, self._filter)
        dialog.filesSelected.connect(self._take)
        dialog.open()

    def _take(self, paths: list[str]) -> None:
        self.chosen.emit(tuple(paths))

    def _choose_all(self) -> None:
        self.setValue(_ALL)
        self.valueChanged.emit(_ALL)
