"""A titled surface that holds one group of settings."""

from collections.abc import Iterable, Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from gpupanel.domain.problem import Problem, Severity
from gpupanel.ui.forms.kind_form import KindForm
from gpupanel.ui.forms.settings_form import SettingsForm

_ORDER = list(Severity)


class SettingsCard(QFrame):
    """A titled surface that holds one group of settings."""

    errorsChanged = Signal()
    """What is wrong with what was typed changed."""

    def __init__(
        self, title: str, parent: QWidget | None = None, *, tables: Iterable[str] = ()
    ) -> None:
        """Makes an empty one.

        Args:
            title: Shown at its top.
            parent: The owner in Qt's sense.
            tables: The first parts of the profile keys that it edits (``training``).
        """
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
        self._tables = tuple(tables)
        self._forms: list[tuple[str, SettingsForm | KindForm]] = []

    def add_form(self, form: SettingsForm | KindForm, table: str = "") -> None:
        """Adds a form below what is there; problems lead to its editors.

        Args:
            form: What is added.
            table: The first part of the profile keys that it edits; empty: the card's first.
        """
        self.body.addWidget(form)
        self._forms.append((table or self._tables[0], form))
        form.errorsChanged.connect(self.errorsChanged)
        if self.focusProxy() is None:
            self.setFocusProxy(next(iter(form.editors().values())))

    def edits(self, field: str) -> bool:
        """Whether a dotted profile key is changed here."""
        return field.partition(".")[0] in self._tables

    def setProblems(self, problems: Iterable[Problem]) -> None:
        """Shows below each setting the gravest problem with it.

        Args:
            problems: Of the whole profile; those of other keys are left out.
        """
        gravest: dict[str, Problem] = {}
        for problem in sorted(problems, key=lambda each: _ORDER.index(each.severity)):
            if self.edits(problem.field):
                gravest.setdefault(_key(problem.field), problem)
        for _, form in self._forms:
            form.setProblems(gravest)

    def errors(self) -> Mapping[str, str]:
        """Why what was typed is no value, as a sentence, by the dotted profile key."""
        return {
            f"{table}.{key}": error
            for table, form in self._forms
            if not form.isHidden()
            for key, error in form.errors().items()
        }

    def forget(self) -> None:
        """Forgets what was typed and is no value: it was for another profile."""
        for _, form in self._forms:
            form.discard_errors()

    def focus_editor(self, field: str) -> QWidget:
        """Gives the focus to the editor of a dotted profile key, or to the first one.

        Returns:
            What has the focus now, so that a scroll area can bring it into view.
        """
        key = _key(field)
        forms = [form for _, form in self._forms if key in form.editors()]
        for form in forms:
            form.reveal(key)
        editors = (form.editors()[key] for form in forms)
        shown = (editor for editor in editors if editor.isVisibleTo(self))
        target = next(shown, None) or self.focusProxy() or self
        target.setFocus(Qt.FocusReason.ShortcutFocusReason)
        return target


def _key(field: str) -> str:
    """The setting that a dotted key is about: ``image_size`` of ``data.image_size.0``."""
    return field.split(".")[:2][-1]
