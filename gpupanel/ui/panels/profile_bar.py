"""The bar on top, its left: the profile, its file, and what can be done with it."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSize, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QLineEdit, QMenu, QWidget
from typing_extensions import override

from gpupanel.runs.directory.templates import Template
from gpupanel.ui.inputs.input import finish_editing
from gpupanel.ui.menus.window_actions import WindowActions
from gpupanel.ui.widgets.buttons import FollowingButton
from gpupanel.ui.widgets.dropping_row import DroppingRow
from gpupanel.ui.widgets.menu_names import add_name

_LEAST_NAME_WIDTH, _NAME_WIDTH = 120, 220
"""Pixels."""


class ProfileBar(DroppingRow):
    """Shows the profile's name and file; passes on what a person wants with them.

    Args:
        actions: Its buttons follow them; some of its own when left out.
        parent: The owner in Qt's sense.
    """

    nameEdited = Signal(str)
    newRequested = Signal()
    openRequested = Signal()
    openScriptRequested = Signal()
    saveRequested = Signal()
    saveAsRequested = Signal()
    fileChosen = Signal(object)
    """A recent profile: its :class:`Path`."""
    exampleChosen = Signal(object)
    """An example profile: its :class:`Path`."""
    templateChosen = Signal(object)
    """A :class:`~gpupanel.runs.directory.templates.Template`."""

    def __init__(self, actions: WindowActions | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("profile_bar")
        self._actions = actions or WindowActions(self)
        self._name = QLineEdit(self)
        self._name.setObjectName("profile_name")
        self._name.setMaxLength(200)
        self._name.setMinimumWidth(_LEAST_NAME_WIDTH)
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
        self.recent_menu = QMenu("Open &recent", self)
        self.recent_menu.setObjectName("recent")
        self.examples_menu = QMenu("&Examples", self)
        self.examples_menu.setObjectName("examples")
        self.templates_menu = QMenu("New from te&mplate", self)
        self.templates_menu.setObjectName("templates")
        self.menus = (self.recent_menu, self.templates_menu, self.examples_menu)
        self._open = FollowingButton(self._actions.open, "profile_open", self)
        self._save = FollowingButton(self._actions.save, "profile_save", self)
        self._compose()
        self._connect()

    @override
    def sizeHint(self) -> QSize:
        wanted = super().sizeHint()
        return wanted + QSize(_NAME_WIDTH - self._name.sizeHint().width(), 0)

    def setDocument(self, name: str, *, is_dirty: bool, path: Path | None) -> None:
        """Show the profile's name, its file and whether there is something to save."""
        if self._name.text() != name:
            self._name.setText(name)
            # Its beginning says more than its end where not all of it is seen.
            self._name.setCursorPosition(0)
        self._dirty.setVisible(is_dirty)
        place = str(path) if path is not None else "not saved to a file yet"
        self._actions.set_tip(self._actions.save, f"Saves the profile (Ctrl+S)\n{place}")

    def setRecent(self, paths: Sequence[Path]) -> None:
        """Fill the menu of recent profiles, the latest first."""
        self._fill(self.recent_menu, [(path.name, path) for path in paths])

    def setExamples(self, examples: Sequence[tuple[str, Path]]) -> None:
        """Fill the menu of example profiles, each with its title."""
        self._fill(self.examples_menu, examples)

    def setTemplates(self, templates: Sequence[Template]) -> None:
        """Fill the menu of templates."""
        for template in templates:
            add_name(self.templates_menu, template.title, template.about).setData(template)
        self.templates_menu.setToolTipsVisible(True)

    def _compose(self) -> None:
        self.row.setContentsMargins(0, 0, 0, 0)
        self.row.setSpacing(8)
        for widget in (self._name, self._dirty, self._open, self._save):
            self.row.addWidget(widget)
        # Both are in the menu, too, and have keys.
        self.setDroppable((self._open, self._save))

    def _connect(self) -> None:
        self._name.editingFinished.connect(self._on_name_edited)
        actions = self._actions
        for action, requested in (
            (actions.new, self.newRequested),
            (actions.open, self.openRequested),
            (actions.open_script, self.openScriptRequested),
            (actions.save, self.saveRequested),
            (actions.save_as, self.saveAsRequested),
        ):
            action.triggered.connect(finish_editing)
            action.triggered.connect(requested)
        self.recent_menu.triggered.connect(self._on_recent)
        self.examples_menu.triggered.connect(self._on_example)
        self.templates_menu.triggered.connect(self._on_template)

    def _fill(self, menu: QMenu, entries: Sequence[tuple[str, Path]]) -> None:
        menu.clear()
        menu.setEnabled(bool(entries))
        for title, path in entries:
            add_name(menu, title, str(path)).setData(path)
        menu.setToolTipsVisible(True)

    @Slot(QAction)
    def _on_recent(self, action: QAction) -> None:
        self.fileChosen.emit(action.data())

    @Slot(QAction)
    def _on_example(self, action: QAction) -> None:
        self.exampleChosen.emit(action.data())

    @Slot(QAction)
    def _on_template(self, action: QAction) -> None:
        self.templateChosen.emit(action.data())

    @Slot()
    def _on_name_edited(self) -> None:
        self.nameEdited.emit(self._name.text())
