"""What is tried of one setting: a list of its values, or a range of numbers."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from gpupanel.domain.choice import Choice
from gpupanel.domain.problem import Problem
from gpupanel.domain.setting import SettingType
from gpupanel.domain.sweep import Swept, SweptRange, SweptValue
from gpupanel.domain.toml_text import toml_value
from gpupanel.planning.sweep_offer import NUMBERS, SweptOffer, as_list, as_range
from gpupanel.ui.forms.input_for import range_within
from gpupanel.ui.inputs.choice_box import ChoiceBox
from gpupanel.ui.inputs.name_choices import NameChoices
from gpupanel.ui.inputs.swept_list_edit import SweptListEdit
from gpupanel.ui.inputs.swept_range_edit import SweptRangeEdit
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import ElidedLabel, Note, Tone, set_tone
from gpupanel.ui.widgets.layouts import row_in
from gpupanel.ui.widgets.tips import teach, wrapped

_LIST, _RANGE = "list", "range"
_FORMS = (
    Choice(_LIST, "Values", "Each of the values that are listed."),
    Choice(_RANGE, "Range", "Numbers between two ends, both included."),
)
_SWITCHED = {"true": True, "false": False}


class ChosenValues(NameChoices):
    """Some of the few values that a setting has.

    Args:
        offer: A choice, or a switch.
    """

    def __init__(self, offer: SweptOffer) -> None:
        super().__init__(off="none", is_optional=False, may_be_one=False)
        self._is_switch = offer.setting.type is SettingType.SWITCH
        switched = (Choice("true", "On"), Choice("false", "Off"))
        self.setFound(switched if self._is_switch else offer.setting.choices, ())

    def swept(self) -> tuple[SweptValue, ...]:
        """The values that are chosen."""
        names = self.value() or ()
        return tuple(_SWITCHED[name] for name in names) if self._is_switch else names

    def setSwept(self, values: Sequence[SweptValue]) -> None:
        """Shows other values silently."""
        self.setValue([each if isinstance(each, str) else toml_value(each) for each in values])


class SweptRow(QFrame):
    """Title and key, what is tried, and what is wrong with it.

    Args:
        offer: The setting.
        parent: Owns it.
    """

    valueChanged = Signal(object)
    """A person chose other values: a ``Swept``; :meth:`setValue` is silent."""
    errorChanged = Signal()
    """What is wrong with what was typed changed."""
    removed = Signal()
    """The setting is not to be tried any more."""

    def __init__(self, offer: SweptOffer, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        self.setObjectName(f"swept_{offer.key}")
        self._offer = offer
        self._value: Swept = ()
        self._problem: Problem | None = None
        title = offer.setting.title
        self._form = ChoiceBox(_FORMS)
        self._form.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        teach(self._form, f"{title}: values or range", "A list of values, or a range of numbers.")
        self._form.setVisible(offer.setting.type in NUMBERS)
        self._form.valueChanged.connect(self._change_form)
        self._list = self._make_list()
        teach(self._list, f"{title}: values", f"{offer.setting.description} Which are tried.")
        self._range: SweptRangeEdit | None = None
        if offer.setting.type in NUMBERS:
            self._range = SweptRangeEdit(range_within(offer.setting.bounds), title)
            self._range.valueChanged.connect(self._take)
            self._range.errorChanged.connect(self._show_note)
        self._note = Note()
        self._compose()
        self.setFocusProxy(self._list)

    @property
    def offer(self) -> SweptOffer:
        """The setting."""
        return self._offer

    def value(self) -> Swept:
        """What is tried, as shown."""
        return self._value

    def setValue(self, value: Swept, *, is_grid: bool) -> None:
        """Shows other values silently.

        Args:
            value: What is tried.
            is_grid: A range says how many values of it are taken.
        """
        self._value = value
        is_range = isinstance(value, SweptRange)
        self._form.setValue(_RANGE if is_range else _LIST)
        self._list.setVisible(not is_range)
        if isinstance(value, SweptRange):
            if self._range is not None:
                self._range.setVisible(True)
                self._range.setValue(value)
                self._range.setGrid(is_grid)
                self.setFocusProxy(self._range)
            return
        if self._range is not None:
            self._range.hide()
        self.setFocusProxy(self._list)
        if isinstance(self._list, ChosenValues):
            self._list.setSwept(value)
        else:
            self._list.setValue(value)

    def error(self) -> str:
        """Why what was typed is no value; empty when it is one."""
        if isinstance(self._value, SweptRange):
            return "" if self._range is None else self._range.error()
        return self._list.error() if isinstance(self._list, SweptListEdit) else ""

    def setProblem(self, problem: Problem | None) -> None:
        """Shows what is wrong with the values, unless what was typed is no value."""
        self._problem = problem
        self._show_note()

    def problem_text(self) -> str:
        """What stands below the values."""
        return self._note.text()

    def _make_list(self) -> ChosenValues | SweptListEdit:
        if self._offer.setting.type in (SettingType.CHOICE, SettingType.SWITCH):
            chosen = ChosenValues(self._offer)
            chosen.valueChanged.connect(self._take_chosen)
            return chosen
        typed = SweptListEdit(self._offer.setting)
        typed.valueChanged.connect(self._take)
        typed.errorChanged.connect(self._show_note)
        return typed

    def _compose(self) -> None:
        setting = self._offer.setting
        title, key = ElidedLabel(setting.title), ElidedLabel()
        title.setProperty("role", "title")
        # As wide as its words; a key that leads to no setting can be of any length.
        title.setMaximumWidth(title.sizeHint().width())
        title.setToolTip(wrapped(setting.description))
        now = "" if self._offer.value is None else f", now {_now(self._offer.value)}"
        key.setText(f"{self._offer.key}{now}")
        key.setToolTip(wrapped(setting.description))
        set_tone(key, Tone.MUTED)
        remove = QToolButton(self)
        remove.setText("✕")
        remove.setProperty("role", "icon")
        teach(remove, f"Remove {setting.title}", f"{setting.title} is not tried any more")
        # What removes the row is not to be gone while Qt still handles the click on it.
        remove.clicked.connect(self.removed)
        head = row_in(head_part := QWidget())
        head.addWidget(title, 1)
        head.addWidget(key, 1)
        head.addWidget(remove)
        values = row_in(values_part := QWidget())
        values.addWidget(self._form, 0, Qt.AlignmentFlag.AlignTop)
        values.addWidget(self._list, 1)
        if self._range is not None:
            values.addWidget(self._range, 1)
        if setting.unit:
            unit = QLabel(f"{setting.unit}s" if setting.type is SettingType.COUNT else setting.unit)
            set_tone(unit, Tone.MUTED)
            values.addWidget(unit)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, GRID, GRID, GRID)
        layout.setSpacing(GRID // 2)
        for part in (head_part, values_part, self._note):
            layout.addWidget(part)
        self._note.hide()

    @Slot(str)
    def _change_form(self, form: str) -> None:
        if form == _RANGE:
            self._take(as_range(self._value, self._offer))
        else:
            self._take(as_list(self._value, self._offer))

    @Slot(object)
    def _take_chosen(self, _: object) -> None:
        assert isinstance(self._list, ChosenValues)
        self._take(self._list.swept())

    @Slot(object)
    def _take(self, value: Any) -> None:  # noqa: ANN401 - a list or a range
        if value != self._value:
            self._value = value
            self.valueChanged.emit(value)

    @Slot()
    def _show_note(self) -> None:
        error = self.error()
        text = error or ("" if self._problem is None else self._problem.message)
        changed = error != self._note.property("typed")
        self._note.setProperty("typed", error)
        self._note.setText(text)
        self._note.setToolTip("" if self._problem is None or error else wrapped(self._problem.hint))
        set_tone(self._note, Tone.ERROR)
        self._note.setVisible(bool(text))
        if changed:
            self.errorChanged.emit()


def _now(value: object) -> str:
    text = value if isinstance(value, str) else toml_value(value)
    return str(getattr(value, "value", text))
