"""Prepares a sweep of the session, and shows the trials that would run."""

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QSplitter,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from gpupanel.domain.choice import Choice
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.sweep import SweepMethod, SweepSettings, Swept
from gpupanel.domain.sweep_mistakes import METRICS
from gpupanel.planning.sweep_offer import first_values, offer_of, swept_offers
from gpupanel.runs.sweeps.proposing import SweepProposal
from gpupanel.ui.dialogs.new_sweep_dialog.setting_finder import SettingFinder
from gpupanel.ui.dialogs.new_sweep_dialog.swept_row import SweptRow
from gpupanel.ui.dialogs.new_sweep_dialog.trials_view import TrialsView
from gpupanel.ui.forms.value_form import ValueForm
from gpupanel.ui.inputs.choice_box import ChoiceBox
from gpupanel.ui.session_layout import VerticalScrollArea
from gpupanel.ui.setting_titles import metric_title
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import EmptyState, ProseLabel, set_role
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.screen_fit import resize_within_screen
from gpupanel.ui.widgets.tips import wrapped

_VALUES = "sweep.values."
_INTRO = (
    "Trains the session several times with other values of its settings. Each trial is a run of "
    "its own, which the queue starts; the window may be closed meanwhile."
)


class NewSweepDialog(QDialog):
    """Edits a sweep; knows the profile only to offer its settings."""

    valueChanged = Signal(object)
    """A person changed the sweep: :class:`SweepSettings`; :meth:`setSweep` is silent."""
    queueRequested = Signal()
    """The sweep is to be started."""
    saveRequested = Signal()
    """The sweep is to be saved with the session's profile."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("new_sweep_dialog")
        self.setWindowTitle("New sweep")
        self._profile = Profile()
        self._sweep = SweepSettings()
        self._rows: dict[str, SweptRow] = {}
        self._proposal: SweepProposal | None = None
        self._is_busy = False
        self.finder = SettingFinder()
        self.finder.chosen.connect(self._add)
        metrics = ChoiceBox([Choice(name, metric_title(name)) for name in METRICS])
        self.form = ValueForm(self._sweep, inputs={"metric": metrics}, elsewhere=("values",))
        self.form.valueChanged.connect(self._take_form)
        self.form.errorsChanged.connect(self._show_buttons)
        self.trials = TrialsView()
        self._list = column_in(rows := QWidget())
        rows.setProperty("page", "true")
        self._list.addStretch(1)
        self._rows_area = VerticalScrollArea(rows)
        self._rows_area.setFrameShape(QFrame.Shape.NoFrame)
        self._rows_area.setAccessibleName("Settings that are tried")
        empty = EmptyState(
            "No settings yet",
            "Add the settings that trials differ in: search for one above. Without any, seeds and "
            "folds show how much the session's own result varies.",
        )
        self._stack = QStackedLayout()
        self._stack.addWidget(self._rows_area)
        self._stack.addWidget(empty)
        self._queue = self._button(
            "&Queue sweep",
            "queue",
            "Adds the trials to the queue, which starts them on the devices",
        )
        set_role(self._queue, "primary")
        self._queue.clicked.connect(self.queueRequested)
        self._save = self._button(
            "&Save with profile", "save", "Saves the sweep as [sweep] in the session's profile"
        )
        self._save.clicked.connect(self.saveRequested)
        self._compose()
        self._show_sweep()
        resize_within_screen(self, 130 * GRID, 80 * GRID)

    def sweep(self) -> SweepSettings:
        """The sweep as edited."""
        return self._sweep

    def row(self, key: str) -> SweptRow | None:
        """What edits the values of a setting; ``None``: it is not tried."""
        return self._rows.get(key)

    def setProfile(self, profile: Profile) -> None:
        """Offer the settings of a profile; rows follow where it has other values or kinds."""
        self._profile = profile.model_copy(update={"sweep": self._sweep})
        for key in [*self._rows]:
            # The row says what the profile has now, and takes what this kind of it takes.
            if offer_of(self._profile, key) != self._rows[key].offer:
                self._drop_row(key)
        self._show_sweep()

    def setSweep(self, sweep: SweepSettings) -> None:
        """Shows another sweep silently."""
        self._sweep = sweep
        self._profile = self._profile.model_copy(update={"sweep": sweep})
        self._show_sweep()

    def setChecking(self) -> None:
        """The trials are being found out: the sweep cannot be started until they are."""
        self._proposal = None
        self.trials.setChecking()
        self._show_buttons()

    def setProposal(
        self, proposal: SweepProposal, words: str = "", problems: Sequence[Problem] = ()
    ) -> None:
        """Show what would run.

        Args:
            proposal: Of the sweep as edited.
            words: About all trials together.
            problems: What else keeps the trials from starting on this machine.
        """
        if not self._sweep.has_trials:
            self._proposal = None
            self._show_problems({})
            self.trials.setProposal(None, "", ())
            self._show_buttons()
            return
        self._proposal = proposal if not problems else None
        all_ = (*proposal.problems, *problems)
        beside = {each.field: each for each in reversed(all_) if self._has_place(each.field)}
        self._show_problems(beside)
        others = [each for each in all_ if not self._has_place(each.field)]
        self.trials.setProposal(proposal, words, others)
        self._show_buttons()

    def setBusy(self, is_busy: bool) -> None:
        """Whether the sweep is being started: nothing can be changed or started again."""
        self._is_busy = is_busy
        for part in (self.finder, self._rows_area, self.form):
            part.setEnabled(not is_busy)
        self._show_buttons()

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.finder.setFocus()

    def errors(self) -> Mapping[str, str]:
        """Why what was typed is no value, by the key of the profile."""
        found = {f"{_VALUES}{key}": row.error() for key, row in self._rows.items()}
        found |= {f"sweep.{key}": error for key, error in self.form.errors().items()}
        return {key: error for key, error in found.items() if error}

    def _has_place(self, field: str) -> bool:
        return self._row_of(field) is not None or field.removeprefix("sweep.") in (
            self.form.editors() if field.startswith("sweep.") else ()
        )

    def _row_of(self, field: str) -> SweptRow | None:
        """The row of a key such as ``sweep.values.training.epochs.low``."""
        if not field.startswith(_VALUES):
            return None
        key = field.removeprefix(_VALUES)
        return self._rows.get(key) or self._rows.get(key.rpartition(".")[0])

    def _show_problems(self, beside: Mapping[str, Problem]) -> None:
        of_rows = {row: each for field, each in beside.items() if (row := self._row_of(field))}
        for row in self._rows.values():
            row.setProblem(of_rows.get(row))
        names = {field.removeprefix("sweep."): each for field, each in beside.items()}
        self.form.setProblems(names)

    def _show_sweep(self) -> None:
        is_grid = self._sweep.method is SweepMethod.GRID
        self.form.setValue(self._sweep)
        self.form.set_shown("trials", shown=not is_grid)
        self.form.set_shown("seed", shown=not is_grid)
        for key in [*self._rows]:
            if key not in self._sweep.values:
                self._drop_row(key)
        for key in self._sweep.values:
            if key not in self._rows:
                self._make_row(key)
        for key, row in self._rows.items():
            row.setValue(self._sweep.values[key], is_grid=is_grid)
        self._stack.setCurrentIndex(0 if self._rows else 1)
        self.finder.setOffers(swept_offers(self._profile), self._sweep.values)
        if not self._sweep.has_trials:
            self.trials.setProposal(None, "", ())
        self._show_buttons()

    def _make_row(self, key: str) -> None:
        offer = offer_of(self._profile, key)
        row = SweptRow(offer)
        row.valueChanged.connect(partial(self._take_values, key))
        row.errorChanged.connect(self._show_buttons)
        row.removed.connect(partial(self._remove, key))
        self._rows[key] = row
        self._list.insertWidget(len(self._rows) - 1, row)

    def _drop_row(self, key: str) -> None:
        row = self._rows.pop(key)
        self._list.removeWidget(row)
        row.hide()
        row.deleteLater()

    @Slot(str)
    def _add(self, key: str) -> None:
        if key in self._sweep.values:
            return
        offer = offer_of(self._profile, key)
        as_range = self._sweep.method is not SweepMethod.GRID
        values = {**self._sweep.values, key: first_values(offer, as_range=as_range)}
        self._change({"values": values})
        self._rows[key].setFocus()
        self._rows_area.ensureWidgetVisible(self._rows[key])

    def _remove(self, key: str) -> None:
        values = {each: swept for each, swept in self._sweep.values.items() if each != key}
        self._change({"values": values})
        self.finder.setFocus()

    def _take_values(self, key: str, swept: Swept) -> None:
        self._change({"values": {**self._sweep.values, key: swept}})

    @Slot(object)
    def _take_form(self, sweep: SweepSettings) -> None:
        self._change({**dict(sweep), "values": self._sweep.values})

    def _change(self, changes: Mapping[str, object]) -> None:
        sweep = self._sweep.model_copy(update=dict(changes))
        if sweep != self._sweep:
            self.setSweep(sweep)
            self.valueChanged.emit(sweep)

    @Slot()
    def _show_buttons(self) -> None:
        is_whole = not self.errors() and not self._is_busy
        is_startable = self._proposal is not None and self._proposal.count > 0
        self._queue.setEnabled(is_whole and is_startable)
        self._save.setEnabled(is_whole and self._sweep.has_trials)

    def _compose(self) -> None:
        left = column_in(left_part := QWidget())
        left.addWidget(self.finder)
        left.addLayout(self._stack, 1)
        right = column_in(right_part := QWidget(), spacing=2 * GRID)
        right_part.setProperty("page", "true")
        right.setContentsMargins(GRID, 0, GRID, 0)
        right.addWidget(self.form)
        right.addWidget(self.trials, 1)
        area = VerticalScrollArea(right_part)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setAccessibleName("Trials")
        parts = QSplitter(self)
        parts.setChildrenCollapsible(False)
        parts.addWidget(left_part)
        parts.addWidget(area)
        parts.setSizes([64 * GRID, 62 * GRID])
        intro = ProseLabel(tone="muted")
        intro.setProse(_INTRO)
        close = self._button("&Close", "close", "Closes this dialog; the sweep stays here")
        close.clicked.connect(self.close)
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID)
        buttons.addWidget(self._queue)
        buttons.addWidget(self._save)
        buttons.addStretch(1)
        buttons.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        layout.addWidget(intro)
        layout.addWidget(parts, 1)
        layout.addLayout(buttons)

    def _button(self, text: str, name: str, tip: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setObjectName(f"new_sweep_{name}")
        button.setToolTip(wrapped(tip))
        button.setAutoDefault(False)
        return button
