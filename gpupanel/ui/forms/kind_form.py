"""A form for a table of the profile of one of several kinds: a chooser, and a form for each."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import PurePath
from typing import Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpupanel.domain.choice import Choice
from gpupanel.domain.kind import SOURCE, Kind
from gpupanel.domain.problem import Problem
from gpupanel.domain.setting import settings_of
from gpupanel.domain.value import Value
from gpupanel.ui.forms.settings_form import SettingsForm
from gpupanel.ui.forms.value_form import ValueForm
from gpupanel.ui.inputs.choice_box import ChoiceBox
from gpupanel.ui.inputs.text_input import PathEdit
from gpupanel.ui.widgets.layouts import column_in


class KindForm(QWidget):
    """Edits a value of one of several kinds; each kind keeps what was typed for it.

    The form of a kind is made when a value of that kind is first shown: a window opens sooner.
    """

    valueChanged = Signal(object)
    """A person chose another kind, or changed a setting: the new value."""
    errorsChanged = Signal()
    """What is wrong with what was typed for one of the kinds changed."""

    def __init__(
        self,
        kinds: Sequence[Kind],
        value: Any,  # noqa: ANN401 - of one of the kinds
        *,
        title: str,
        tip: str,
        new: Callable[[Kind], Value] = Kind.new,
        inputs: Callable[[Any], Mapping[str, QWidget]] = lambda _: {},
        below_path: QWidget | None = None,
    ) -> None:
        """Shows the value.

        Args:
            kinds: All that there are.
            value: Of one of them.
            title: Of the chooser.
            tip: What the choice is about.
            new: Makes the value of a kind for which nothing was typed.
            inputs: Those of settings that need one of their own, by key, for a value's type.
            below_path: Stands below the row of the path, or above all rows of a kind without one.
        """
        super().__init__()
        self._has_path_apart = below_path is not None
        self._kinds = {kind.source: kind for kind in kinds}
        self._new = new
        self._inputs = inputs
        self._drafts: dict[str, Any] = {}
        self._forms: dict[type[Value], tuple[ValueForm, ...]] = {}
        self._problems: Mapping[str, Problem] = {}
        self._unoffered = "{}"
        self._shown: Collection[str] | None = None
        self._left_out: frozenset[str] = frozenset()
        self.chooser = ChoiceBox([kind.choice for kind in kinds])
        """Chooses the kind."""
        self._head = SettingsForm()
        self._head.add_row(title, self.chooser, tip, key=SOURCE)
        column = column_in(self)
        column.addWidget(self._head)
        self._paths, self._rest = QVBoxLayout(), QVBoxLayout()
        column.addLayout(self._paths)
        if below_path is not None:
            column.addWidget(below_path)
        column.addLayout(self._rest)
        self.chooser.valueChanged.connect(self._choose)
        self.setValue(value)

    def summary(self) -> str:
        """The kind, and the last part of its path where it has one."""
        value = self.value()
        path = PurePath(value.chosen_path).name
        return " · ".join(filter(None, (self._kinds[value.source].name, path)))

    def value(self) -> Any:  # noqa: ANN401 - of one of the kinds
        """The value as shown."""
        return self._value

    def setValue(self, value: Any) -> None:  # noqa: ANN401 - of one of the kinds
        """Shows another value, perhaps of another kind, silently."""
        self._value = value
        self._drafts[value.source] = value
        unoffered = self._unoffered.format(self._kinds[value.source].name)
        self.chooser.setValue(value.source, unoffered=unoffered)
        shown = self._forms_of(value)
        for form in shown:
            form.setValue(value)
        for form in self._all_forms():
            form.setVisible(form in shown)
        self.setProblems(self._problems)

    def change(self, value: Any) -> None:  # noqa: ANN401 - of one of the kinds
        """Takes over a change that a person made, by whatever means."""
        if value != self._value:
            self.setValue(value)
            self.valueChanged.emit(value)

    def draft(self, source: str) -> Any:  # noqa: ANN401 - of that kind
        """What was typed for a kind, or a new value where nothing was."""
        return self._drafts.get(source) or self._new(self._kinds[source])

    def forget(self) -> None:
        """Forgets what was typed for other kinds: it was for another profile."""
        self._drafts.clear()
        self.discard_errors()

    def errors(self) -> Mapping[str, str]:
        """Why what was typed for the kind that is shown is no value, by the setting's key."""
        forms = self._forms_of(self._value)
        return {key: error for form in forms for key, error in form.errors().items()}

    def discard_errors(self) -> None:
        """Shows the values again in place of texts that are none, of every kind."""
        for form in self._all_forms():
            form.discard_errors()

    def setOffered(self, kinds: Sequence[Kind], *, unoffered: str) -> None:
        """Offers some of the kinds only.

        Args:
            kinds: Those that can be chosen.
            unoffered: Says of another one, while it is the value, why it is not offered.
        """
        self._unoffered = f"{{}} ({unoffered})"
        self.chooser.setOffered([kind.choice for kind in kinds])
        self.setValue(self._value)

    def set_chooser_visible(self, *, visible: bool) -> None:
        """Shows or hides the row of the chooser."""
        self._head.set_row_visible(self.chooser, visible=visible)

    def set_only_shown(self, names: Collection[str] | None) -> None:
        """Hides all settings of every kind but these; ``None``: shows all of them."""
        self._shown = names
        self._show_rows()

    def set_left_out(self, names: Collection[str]) -> None:
        """Hides these settings of every kind, whatever else is shown."""
        if self._left_out != frozenset(names):
            self._left_out = frozenset(names)
            self._show_rows()

    def editors(self) -> Mapping[str, QWidget]:
        """The chooser, and what edits each setting of the kind that is shown, by key."""
        forms = (self._head, *self._forms_of(self._value))
        return {key: editor for form in forms for key, editor in form.editors().items()}

    def reveal(self, key: str) -> None:
        """Unfolds the row of a setting of the kind that is shown."""
        for form in self._forms_of(self._value):
            if key in form.editors():
                form.reveal(key)

    def setFound(
        self,
        offers: Mapping[str, Sequence[Choice]],
        found: Mapping[str, int | str | tuple[str, ...]],
    ) -> None:
        """Offers what a preview found for the kind that is shown, as :class:`ValueForm` does."""
        for form in self._forms_of(self._value):
            form.setFound(offers, found)

    def setProblems(self, problems: Mapping[str, Problem]) -> None:
        """Shows below each setting the problem with it, as :class:`SettingsForm` does."""
        self._problems = problems
        for form in (self._head, *self._forms_of(self._value)):
            form.setProblems(problems)

    def _all_forms(self) -> Iterator[ValueForm]:
        return chain.from_iterable(self._forms.values())

    def _forms_of(self, value: Any) -> tuple[ValueForm, ...]:  # noqa: ANN401 - of one of the kinds
        """The form of that kind, behind one of its path where that stands apart."""
        kind: type[Value] = type(value)
        if kind not in self._forms:
            self._forms[kind] = forms = tuple(self._new_forms(value))
            for form in forms:
                form.valueChanged.connect(self.change)
                form.errorsChanged.connect(self.errorsChanged)
                self._show_rows_of(form)
        return self._forms[kind]

    def _new_forms(self, value: Any) -> Iterator[ValueForm]:  # noqa: ANN401 - of one of the kinds
        path = value.path_setting if self._has_path_apart else None
        apart = set() if path is None or path.advanced else {path.name}
        kind: type[Value] = type(value)
        names = {each.name for each in settings_of(kind)}
        if apart:
            of_path = ValueForm(value, elsewhere=names - apart)
            self._paths.addWidget(of_path)
            yield of_path
        form = ValueForm(value, inputs=self._inputs(value), elsewhere=apart)
        self._rest.addWidget(form)
        yield form

    def _show_rows(self) -> None:
        for form in self._all_forms():
            self._show_rows_of(form)

    def _show_rows_of(self, form: ValueForm) -> None:
        form.set_only_shown(self._shown)
        for name in self._left_out.intersection(form.editors()):
            form.set_shown(name, shown=False)

    def choose_kind(self, source: str) -> None:
        """Takes another kind, and asks for its file or folder where it has one and needs it."""
        self.change(self.draft(source))
        if self._value.lacks_path:
            path = self.editors()[self._value.path_setting.name]
            if isinstance(path, PathEdit):
                # When the list is gone.
                QTimer.singleShot(0, path, path.choose)

    def _choose(self, source: str) -> None:
        if self.chooser.is_from_list:
            self.choose_kind(source)
        else:
            self.change(self.draft(source))
