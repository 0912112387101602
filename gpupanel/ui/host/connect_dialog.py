"""Asking which machine to work on."""

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gpupanel.domain.problem_text import problem_sentences
from gpupanel.hosts.here.ssh import host_problem
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import ProseLabel
from gpupanel.ui.widgets.screen_fit import resize_within_screen
from gpupanel.ui.widgets.tips import wrapped

_WORDS = (
    "Opens a window for the GPUs, files and runs of another machine. It is reached by your own "
    "ssh; gpupanel has to be installed there, and no port is opened."
)


class ConnectDialog(QDialog):
    """A name of ssh, typed or chosen, and gpupanel's command there where its shell lacks it.

    Args:
        hosts: To choose from.
        parent: What it stands before.
    """

    chosen = Signal(str, str)
    """A person wants to work on that host, with that command there; empty: the usual one."""

    def __init__(self, hosts: Sequence[str], parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setObjectName("connect_dialog")
        self.setWindowTitle("Connect to another machine")
        self._host = QComboBox(self)
        self._host.setObjectName("connect_host")
        self._host.setEditable(True)
        self._host.addItems(list(hosts))
        self._host.setCurrentText("")
        self._host.setToolTip(wrapped("As ssh takes it: a name of ~/.ssh/config, or user@host"))
        self._there = QLineEdit(self)
        self._there.setObjectName("connect_there")
        self._there.setPlaceholderText("gpupanel")
        self._there.setToolTip(
            wrapped("Where gpupanel is there; empty: as the host's shell finds it")
        )
        self._note = ProseLabel()
        self._connect = QPushButton("&Connect", self)
        self._connect.setObjectName("connect_button")
        self._connect.setDefault(True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        buttons.addButton(self._connect, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.accepted.connect(self._take)
        buttons.rejected.connect(self.reject)
        host, there, words = QLabel("&Host"), QLabel("Command &there"), ProseLabel()
        host.setBuddy(self._host)
        there.setBuddy(self._there)
        words.setProse(_WORDS)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        for widget in (words, host, self._host, there, self._there, self._note, buttons):
            layout.addWidget(widget)
        self._host.currentTextChanged.connect(self._check)
        self._check()
        self._host.setFocus()
        resize_within_screen(self, 60 * GRID, 30 * GRID)

    @Slot()
    def _check(self) -> None:
        name = self._host.currentText().strip()
        problem = host_problem(name) if name else None
        self._note.setProse("" if problem is None else problem_sentences(problem))
        self._connect.setEnabled(bool(name) and problem is None)

    @Slot()
    def _take(self) -> None:
        self.accept()
        self.chosen.emit(self._host.currentText().strip(), self._there.text().strip())
