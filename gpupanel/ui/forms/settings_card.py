"""A titled surface that holds one group of settings."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from gpupanel.ui.forms.value_form import ValueForm


class SettingsCard(QFrame):
    """A titled surface that holds one group of settings."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        caption = QLabel(title.upper(), self)
        caption.setProperty("role", "section")
        caption.setAccessibleName(title)
        self.body = QVBoxLayout(self)
        """What the card holds, from top to bottom."""
        self.body.setContentsMargins(16, 12, 16, 16)
        self.body.setSpacing(8)
        self.body.addWidget(caption)
        self._editors: dict[str, QWidget] = {}
        self._reveal: dict[str, Callable[[str], None]] = {}

    def set_editor(
        self, key: str, editor: QWidget, reveal: Callable[[str], None] | None = None
    ) -> None:
        """Names the editor of one profile key (``global_batch_size``).

        Args:
            key: The profile key.
            editor: Gets the focus when a person wants to go to that key.
            reveal: Called with the key before, for an editor that may be folded away.
        """
        if not self._editors:
            self.setFocusProxy(editor)
        self._editors[key] = editor
        if reveal is not None:
            self._reveal[key] = reveal

    def focus_editor(self, field: str) -> QWidget:
        """Gives the focus to the editor of a dotted profile key, or to the first one.

        Returns:
            What has the focus now, so that a scroll area can bring it into view.
        """
        for part in field.split("."):
            if part in self._reveal:
                self._reveal[part](part)
        named = (self._editors.get(part) for part in field.split("."))
        shown = (editor for editor in named if editor is not None and editor.isVisibleTo(self))
        target = next(shown, None) or self.focusProxy() or self
        target.setFocus(Qt.FocusReason.ShortcutFocusReason)
        return target

    def add_form(self, form: ValueForm) -> None:
        """Adds a form; problems lead to its inputs."""
        self.body.addWidget(form)
        self.set_inputs(form)

    def set_inputs(self, form: ValueForm) -> None:
        """Lets problems lead to the inputs of a form, of several for the same keys."""
        for name, widget in form.inputs().items():
            self.set_editor(name, widget, form.unfold)
