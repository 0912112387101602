"""A titled surface that holds one group of settings."""

from collections.abc import Iterable, Mapping

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from gpupanel.domain.problem import Problem, Severity
from gpupanel.ui.forms.kind_form import KindForm
from gpupanel.ui.forms.settings_form import SettingsForm
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.section_head import SectionHead

_ORDER = list(Severity)


class SettingsCard(QFrame):
    """A titled surface that holds one group of settings."""

    errorsChanged = Signal()
    """What is wrong with what was typed changed."""
    foldChanged = Signal()
    """It was folded or unfolded."""

    def __init__(
        self,
        title: str,
        parent: QWidget | None = None,
        *,
        tables: Iterable[str] = (),
    ) -> None:
        """Makes an empty one.

        Args:
            title: Shown at its top.
            parent: The owner in Qt's sense.
            tables: The first parts of the profile keys that it edits (``training``).
        """
        super().__init__(parent)
        self.setProperty("card", "true")
        self.section_title = title
        """What stands at its top."""
        self._error_count, self._in_short = 0, ""
        self._head = SectionHead(title)
        self._head.folded.connect(self._fold)
        content = QWidget(self)
        self.body = column_in(content)
        """What the card holds, from top to bottom."""
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 12, 16, 16)
        layout.setSpacing(8)
        layout.addWidget(self._head)
        layout.addWidget(content, 1)
        self._content = content
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

    @property
    def is_folded(self) -> bool:
        """Whether only the title is seen, with what is set in short."""
        return self._head.is_folded

    def set_folded(self, *, folded: bool) -> None:
        """Folds what is below the title away, or shows it."""
        self._head.set_folded(folded=folded)

    def set_summary(self, words: str) -> None:
        """Says in short what is set, for the time when the card is folded."""
        self._in_short = words
        self._show_head()

    def edits(self, field: str) -> bool:
        """Whether a dotted profile key is changed here."""
        return field.partition(".")[0] in self._tables

    def setProblems(self, problems: Iterable[Problem]) -> None:
        """Shows below each setting the gravest problem with it.

        Args:
            problems: Of the whole profile; those of other keys are left out.
        """
        gravest: dict[str, Problem] = {}
        problems = tuple(problems)
        here = [each for each in problems if self.edits(each.field)]
        self._error_count = sum(each.is_error for each in here)
        self._show_head()
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
        self.set_folded(folded=False)
        key = _key(field)
        forms = [form for _, form in self._forms if key in form.editors()]
        for form in forms:
            form.reveal(key)
        editors = (form.editors()[key] for form in forms)
        shown = (editor for editor in editors if editor.isVisibleTo(self))
        target = next(shown, None) or self.focusProxy() or self
        target.setFocus(Qt.FocusReason.ShortcutFocusReason)
        return target

    @Slot(bool)
    def _fold(self, folded: bool) -> None:
        self._content.setVisible(not folded)
        self.foldChanged.emit()

    def _show_head(self) -> None:
        errors = self._error_count
        counted = "1 problem to fix" if errors == 1 else f"{errors} problems to fix"
        self._head.set_words(counted if errors else self._in_short, is_error=bool(errors))


def _key(field: str) -> str:
    """The setting that a dotted key is about: ``image_size`` of ``data.image_size.0``."""
    return field.split(".")[:2][-1]
