"""A sweep's trials as a table, and as lines over the values that they have."""

from collections.abc import Callable, Mapping

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSplitter,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from gpupanel.domain.outcome import SET_METRICS
from gpupanel.domain.problem import Problem
from gpupanel.domain.problem_text import problem_sentences
from gpupanel.domain.setting_keys import with_titles
from gpupanel.domain.sweep import SweptValue
from gpupanel.domain.visible_text import visible_line
from gpupanel.runs.sweeps.sweep_status import SweepPhase, SweepStatus
from gpupanel.runs.sweeps.trial_status import TrialRun, TrialStatus
from gpupanel.runs.user_sweeps import SweepsRead
from gpupanel.ui import formatting
from gpupanel.ui.dialogs.trial_columns import (
    exact_text,
    number_or_text,
    setting_column,
    value_text,
)
from gpupanel.ui.formatting import DASH
from gpupanel.ui.setting_titles import (
    metric_title,
    part_and_metric,
    setting_title,
    within_words,
)
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import EmptyState
from gpupanel.ui.widgets.parallel_coordinates import ParallelCoordinates, ParallelLine
from gpupanel.ui.widgets.scatter_axis import (
    CategoryAxis,
    NumberAxis,
    ScatterAxis,
    can_be_log,
    is_wide,
)
from gpupanel.ui.widgets.screen_fit import resize_within_screen
from gpupanel.ui.widgets.table_model import Column, TableModel
from gpupanel.ui.widgets.table_view import TableView
from gpupanel.ui.widgets.tips import wrapped

_NONE = (
    "No sweeps yet",
    (
        "A sweep trains the session several times with other values of its settings, and shows "
        "which were best: New sweep… prepares one."
    ),
)
_LEAST_RUN = 16 * GRID
"""Pixels of the names of runs, which are long: they are cut before others are out of sight."""


class SweepsDialog(QDialog):
    """Shows one sweep at a time, the newest first."""

    sweepChosen = Signal(str)
    """The sweep in the folder of that name is to be shown."""
    stopRequested = Signal(str)
    """The sweep in the folder of that name is to begin no more trials."""
    continueRequested = Signal(str)
    """The sweep in the folder of that name, which the queue does not know, is to go on."""
    newRequested = Signal()
    """Another sweep is to be prepared."""
    runOpened = Signal(str)
    """The run of that name is to be shown in Live."""
    settingsRequested = Signal(str)
    """The settings of the run of that name are to be used for another one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sweeps_dialog")
        self.setWindowTitle("Sweeps")
        self._status: SweepStatus | None = None
        self._is_known = True
        self._damaged = ""
        self._has_problems = False
        self._box = QComboBox(self)
        self._box.setObjectName("sweeps_box")
        self._box.setAccessibleName("Sweep")
        self._box.setToolTip("Which sweep is shown, the newest first")
        self._box.currentIndexChanged.connect(self._on_chosen)
        self._word = QLabel(self)
        self._word.setObjectName("sweeps_word")
        self._word.setTextFormat(Qt.TextFormat.PlainText)
        self._word.setWordWrap(True)
        model = TableModel[TrialStatus]((), lambda trial: trial.number, _tip)
        self._table = TableView(model, "sweeps_trials", "Trials of the sweep", 3 * GRID, self)
        self._table.selectionModel().selectionChanged.connect(self._show_choice)
        self._table.doubleClicked.connect(self._open_run)
        self._plot = ParallelCoordinates(self)
        self._open = self._button("&Open run", "open", "Shows the run of the chosen trial in Live")
        self._open.clicked.connect(self._open_run)
        self._use = self._button("Use settings of the &best trial", "use", "")
        self._use.clicked.connect(self._request_settings)
        tip = "Begins no more trials and stops those in progress; they save"
        self._stop = self._button("&Stop sweep", "stop", tip)
        self._stop.clicked.connect(self._request_stop)
        tip = "Adds the sweep to the queue again, which no longer has it"
        self._continue = self._button("Con&tinue sweep", "continue", tip)
        self._continue.clicked.connect(self._request_continue)
        self._new = self._button("&New sweep…", "new", "Prepares a sweep of the session")
        self._new.clicked.connect(self.newRequested)
        self._compose()
        self._show()
        resize_within_screen(self, 120 * GRID, 84 * GRID)

    def chosen_sweep(self) -> str:
        """The name of the folder of the sweep that is shown; empty: there is none."""
        return self._damaged if self._status is None else self._status.sweep.name

    @Slot(object)
    def setSweeps(self, read: SweepsRead) -> None:
        """Show what there is now; the chosen trial stays chosen."""
        shown = read.damaged if read.shown is None else read.shown.sweep.name
        names = [self._box.itemData(place) for place in range(self._box.count())]
        self._box.blockSignals(True)
        if names != [*read.names]:
            self._box.clear()
            for name in read.names:
                self._box.addItem(visible_line(name), name)
        self._box.setCurrentIndex(self._box.findData(shown))
        self._box.blockSignals(False)
        is_new = (read.shown, read.is_known) != (self._status, self._is_known)
        if is_new or self._has_problems:
            self._status, self._is_known = read.shown, read.is_known
            self._damaged = read.damaged
            self._show()
        if read.damaged:
            self._damaged = read.damaged
            self._show_damage(read.problems)

    @Slot(object)
    def setProblems(self, problems: tuple[Problem, ...]) -> None:
        """Say why the sweeps cannot be read, until they can."""
        self._has_problems = True
        self._word.setText("\n".join(with_titles(problem_sentences(each)) for each in problems))

    def offerAgain(self) -> None:
        """Let be ordered again what was refused."""
        status = self._status
        is_left = status is not None and status.state is SweepPhase.IN_PROGRESS
        self._stop.setEnabled(is_left)
        self._continue.setVisible(is_left and not self._is_known)

    def _show_damage(self, problems: tuple[Problem, ...]) -> None:
        self._empty.setTexts("This sweep cannot be read", "Choose another one above.")
        self.setProblems(problems)

    def _compose(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(GRID)
        label = QLabel("S&weep", self)
        label.setBuddy(self._box)
        top.addWidget(label)
        top.addWidget(self._box, 1)
        parts = QSplitter(Qt.Orientation.Vertical, self)
        parts.setChildrenCollapsible(False)
        parts.addWidget(self._plot)
        parts.addWidget(self._table)
        self._empty = EmptyState(*_NONE)
        self._stack = QStackedLayout()
        self._stack.addWidget(parts)
        self._stack.addWidget(self._empty)
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID)
        buttons.addWidget(self._use)
        buttons.addWidget(self._open)
        buttons.addWidget(self._stop)
        buttons.addWidget(self._continue)
        buttons.addWidget(self._new)
        buttons.addStretch(1)
        close = self._button("&Close", "close", "Closes this dialog; the sweep continues")
        close.clicked.connect(self.close)
        buttons.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        layout.addLayout(top)
        layout.addWidget(self._word)
        layout.addLayout(self._stack, 1)
        layout.addLayout(buttons)

    def _button(self, text: str, name: str, tip: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setObjectName(f"sweeps_{name}")
        button.setToolTip(wrapped(tip))
        button.setAutoDefault(False)
        return button

    def _show(self) -> None:
        status = self._status
        self._empty.setTexts(*_NONE)
        self._stack.setCurrentIndex(1 if status is None else 0)
        self._has_problems = False
        self.offerAgain()
        self._word.setText("" if status is None else _words(status, is_known=self._is_known))
        if status is not None:
            before = [column.title for column in self._table.content.columns]
            columns = _columns(status)
            self._table.content.set_columns(columns, status.trials)
            is_new = before != [column.title for column in columns]
            self._table.fit_columns(anew=is_new, least_last=_LEAST_RUN)
            self._draw(status)
        self._show_choice()

    def _draw(self, status: SweepStatus) -> None:
        keys = status.keys
        rows = [
            (trial, (*(number_or_text(trial.values.get(key)) for key in keys), trial.value))
            for trial in status.trials
        ]
        # Round numbers stand beside an axis: no zeros at their ends.
        of_metric = (
            formatting.fraction if _is_fraction(status.metric) else formatting.setting_number
        )
        words = [*(formatting.setting_number for _ in keys), of_metric]
        axes = [
            _axis(
                [values[n] for _, values in rows],
                words[n],
                status.logarithmic.get(key),
                are_chosen=key != status.metric and key not in status.logarithmic,
            )
            for n, key in enumerate((*keys, status.metric))
        ]
        reached = [trial.value for trial in status.trials if trial.value is not None]
        low, high = min(reached, default=0.0), max(reached, default=0.0)

        def merit(value: float | None) -> float | None:
            if value is None:
                return None
            part = (value - low) / (high - low) if high > low else 1.0
            return part if status.more_is_better or high <= low else 1.0 - part

        lines = [ParallelLine(trial.number, values, merit(trial.value)) for trial, values in rows]
        titles = (*map(setting_title, keys), metric_title(status.metric))
        self._plot.setLines(lines, axes, titles, status.best)

    @Slot()
    def _show_choice(self) -> None:
        chosen = self._table.chosen_rows()
        self._open.setEnabled(bool(chosen) and chosen[0].run is not None)
        used = self._used()
        is_best = self._status is None or used is None or used.number == self._status.best
        self._use.setText(f"Use settings of {'the &best trial' if is_best else 'this trial'}")
        self._use.setEnabled(used is not None and used.run is not None)
        self._use.setToolTip(wrapped(_use_tip(used)))
        self._plot.setChosen(chosen[0].number if chosen else None)

    @Slot()
    def _on_chosen(self) -> None:
        self.sweepChosen.emit(self._box.currentData())

    @Slot()
    def _open_run(self) -> None:
        chosen = self._table.chosen_rows()
        if chosen and chosen[0].run is not None:
            self.runOpened.emit(chosen[0].run)

    def _used(self) -> TrialStatus | None:
        """The chosen trial; the best one where none is chosen."""
        chosen = self._table.chosen_rows()
        status = self._status
        if chosen or status is None:
            return chosen[0] if chosen else None
        return next((trial for trial in status.trials if trial.number == status.best), None)

    @Slot()
    def _request_settings(self) -> None:
        used = self._used()
        if used is not None and used.run is not None:
            self.settingsRequested.emit(used.run)

    @Slot()
    def _request_stop(self) -> None:
        self._stop.setEnabled(False)
        self.stopRequested.emit(self.chosen_sweep())

    @Slot()
    def _request_continue(self) -> None:
        self._continue.hide()
        self.continueRequested.emit(self.chosen_sweep())


def _words(status: SweepStatus, *, is_known: bool) -> str:
    ended = status.ended_count
    words = f"{status.name}: {status.state}, {ended:,} of {status.trial_count:,} trials have ended"
    best = next((trial for trial in status.trials if trial.number == status.best), None)
    if best is not None:
        values = ", ".join(
            f"{within_words(setting_title(key))} {value_text(value)}"
            for key, value in best.values.items()
        )
        title = within_words(metric_title(status.metric))
        figure = f"{title} {_metric_words(status.metric)(best.value)}"
        if best.spread is not None:
            spread = _metric_words(status.metric)(best.spread)
            figure += f" ± {spread} over {best.measured:,} runs"
        words += f". Best: trial {best.number} with {figure} ({values})"
    if status.state is SweepPhase.IN_PROGRESS and not is_known:
        words += ". The queue does not know it, so no more trials begin"
    if status.problem is not None:
        words += f". {with_titles(problem_sentences(status.problem))}"
    return visible_line(words)


def _use_tip(trial: TrialStatus | None) -> str:
    if trial is None:
        return "No trial has been measured yet"
    if trial.run is None:
        return f"Trial {trial.number} was not started yet"
    return (
        f"Copies the settings of trial {trial.number} into the Session tab; its run stays as it is"
    )


def _columns(status: SweepStatus) -> list[Column[TrialStatus]]:
    number: Column[TrialStatus] = Column(
        "Trial",
        "In the order in which they were chosen",
        lambda trial: str(trial.number),
        order=lambda trial: trial.number,
        is_number=True,
    )
    settings = [setting_column(key, _values, status.trials) for key in status.keys]
    words = _metric_words(status.metric)
    reached: Column[TrialStatus] = Column(
        metric_title(status.metric),
        f"The best {within_words(metric_title(status.metric))} after an epoch; "
        f"{'more' if status.more_is_better else 'less'} is better",
        lambda trial: words(trial.value),
        order=lambda trial: trial.value,
        is_number=True,
    )
    spread: Column[TrialStatus] = Column(
        "Spread",
        "The standard deviation over the trial's runs",
        lambda trial: words(trial.spread),
        order=lambda trial: trial.spread,
        is_number=True,
    )
    measured: Column[TrialStatus] = Column(
        "n",
        "How many of its runs were measured: the value is their mean",
        lambda trial: str(trial.measured),
        order=lambda trial: trial.measured,
        is_number=True,
    )
    epoch: Column[TrialStatus] = Column(
        "Epoch",
        "After which that was reached",
        lambda trial: DASH if trial.epoch is None else str(trial.epoch),
        order=lambda trial: trial.epoch,
        is_number=True,
    )
    state: Column[TrialStatus] = Column(
        "State",
        "Pruned: ended early, because others were better at the same epoch. Paused: it continues "
        "if it is among the best there",
        _state_text,
        order=lambda trial: str(trial.state),
    )
    name = "The name of its first run" if status.has_repeats else "The name of its run"
    run: Column[TrialStatus] = Column("Run", name, lambda trial: trial.run or DASH)
    how = [spread, measured] if status.has_repeats else [epoch]
    return [number, *settings, reached, *how, state, run]


def _values(trial: TrialStatus) -> Mapping[str, SweptValue]:
    return trial.values


def _state_text(trial: TrialStatus) -> str:
    text = trial.state_text
    return f"{text[:1].upper()}{text[1:]}"


def _tip(trial: TrialStatus) -> str:
    values = [f"{setting_title(key)}: {exact_text(value)}" for key, value in trial.values.items()]
    problem = [] if trial.problem is None else [with_titles(problem_sentences(trial.problem))]
    run = [] if trial.run is None else [f"Run: {visible_line(trial.run)}"]
    if trial.runs:
        run = [*map(_run_tip, trial.runs)]
    reason = f": {trial.reason}" if trial.reason else ""
    head = f"Trial {trial.number}: {_state_text(trial)}{reason}"
    return "\n".join([head, *values, *run, *problem])


def _run_tip(run: TrialRun) -> str:
    own = ", ".join(
        f"{within_words(setting_title(key))} {exact_text(value)}"
        for key, value in run.values.items()
    )
    value = DASH if run.value is None else formatting.setting_number(run.value)
    name = "" if run.run is None else f", {visible_line(run.run)}"
    return f"{own}: {value}, {run.state}{name}"


def _metric_words(metric: str) -> Callable[[float | None], str]:
    """How values of that metric are written, here and in the table of runs."""
    return formatting.fraction if _is_fraction(metric) else formatting.number


def _is_fraction(metric: str) -> bool:
    measured = SET_METRICS.get(part_and_metric(metric)[1])
    return measured is not None and measured.is_fraction


def _axis(
    values: list[str | float | None],
    words: Callable[[float], str],
    is_by_factors: bool | None,
    *,
    are_chosen: bool,
) -> ScatterAxis:
    """The axis of a setting or of the metric.

    Args:
        values: Of the trials.
        words: What a number is called.
        is_by_factors: As the sweep has its range; ``None``: it has none, and the values tell.
        are_chosen: The profile lists the values.
    """
    there = [value for value in values if value is not None]
    numbers = [value for value in there if isinstance(value, float)]
    if not numbers or len(numbers) < len(there):
        return CategoryAxis(str(value) for value in there)
    is_log = is_wide(numbers) if is_by_factors is None else is_by_factors
    is_log = is_log and can_be_log(numbers)
    return NumberAxis(numbers, words, is_log=is_log, are_chosen=are_chosen)
