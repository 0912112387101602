"""Which batches were seen to fit on each device, how fast they are, and which to use."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHeaderView, QWidget
from typing_extensions import override

from gpupanel.domain.batch_fit import (
    BatchFit,
    BatchProgress,
    BatchSpeed,
    DeviceBatch,
    batch_fit_sentence,
    end_text,
)
from gpupanel.domain.batch_search import BatchTrial
from gpupanel.domain.problem import Severity
from gpupanel.ui import formatting
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.tools.session_report_dialog import ReportWords, SessionReportDialog
from gpupanel.ui.widgets.labels import Caption, Note
from gpupanel.ui.widgets.table_model import Column, TableModel
from gpupanel.ui.widgets.table_view import TableView
from gpupanel.ui.widgets.tips import wrapped
from gpupanel.ui.workers.workplace import machine_name

_WORDS = ReportWords(
    name="batch_fit",
    title="Find the batch",
    again=("T&ry again", "Tries batches with the settings as they are now."),
    cancel=("S&top", "Ends the search and discards its results."),
    empty="Whole training steps with more and more examples, on each device by itself: the largest "
    "batch that fits, and the fastest one, which is often another.",
    unknown=("Not tried yet", ""),
    busy=("Trying batches…", "Building the model, to begin near what fits…"),
    outdated="The settings have changed since. Try again for current results.",
)
_NOTE = (
    "Nothing of these steps is kept. What was held corrects the memory estimate of the same model "
    "on {machine}."
)
_ROW_HEIGHT = 28
_RowT = TypeVar("_RowT")


@dataclass(frozen=True, slots=True)
class _TrialRow:
    """One number of examples on one device."""

    device: str
    trial: BatchTrial
    note: str


class BatchFitDialog(SessionReportDialog[BatchFit, BatchProgress]):
    """Shows what was tried, and offers the batches that were found."""

    batchChosen = Signal(int)
    """A global batch is to be used, divided as the session divides its own."""
    sharesChosen = Signal(object)
    """These shares are to be used, and the global batch that is their sum: a tuple of int."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(_WORDS, parent)
        self._labels = DeviceLabels()
        tip = "Sets the global batch size to the largest one that fits."
        self._use = self._add_button("&Use", "use", wrapped(tip))
        self._use.clicked.connect(self._choose_largest)
        tip = "Sets the global batch size to the one with the most examples a second."
        self._fastest = self._add_button("Use &fastest", "use_fastest", wrapped(tip))
        self._fastest.clicked.connect(self._choose_fastest)
        self._uneven = self._add_button("Use s&hares", "use_shares", "")
        self._uneven.clicked.connect(self._choose_shares)
        self._show_state()

    @override
    def setLabels(self, labels: DeviceLabels) -> None:
        self._labels = labels

    @override
    def _text_of(self, found: BatchFit) -> str:
        if not any(each.trials for each in found.devices):
            return ""
        titles = ("Device", "Examples", "Fits", "Examples/s", "Step MiB")
        rows = [
            (
                row.device,
                f"{row.trial.examples}",
                "yes" if row.trial.fits else "no",
                f"{row.trial.examples_per_second or ''}",
                f"{row.trial.peak_mib or ''}",
            )
            for row in self._trial_rows(found)
        ]
        speeds = [
            (f"{each.global_batch_size}", f"{each.examples_per_second}") for each in found.speeds
        ]
        tables = ("\t".join(row) for row in (titles, *rows, (), ("Global batch", "Examples/s")))
        more = ("\t".join(row) for row in speeds)
        return "\n".join([batch_fit_sentence(found), "", *tables, *more])

    @override
    def _sentence_of(self, found: BatchFit) -> str:
        return batch_fit_sentence(found)

    @override
    def _severity_of(self, found: BatchFit) -> Severity | None:
        return Severity.ERROR if any(each.is_error for each in found.all_problems) else None

    @override
    def _parts_of(self, found: BatchFit) -> list[QWidget]:
        parts: list[QWidget] = [self._row(each) for each in found.all_problems]
        if any(device.trials for device in found.devices):
            if len(found.speeds) > 1 and len(found.shares) > 1:
                parts += [Caption("Global batches"), _speed_table(found.speeds)]
                parts.append(Caption("Examples of one replica, device by device"))
            parts.append(_trial_table(self._trial_rows(found)))
            parts += [Note(words) for words in map(self._held, found.devices) if words]
            parts.append(Note(_NOTE.format(machine=machine_name())))
        return parts

    @Slot(object)
    @override
    def setProgress(self, progress: BatchProgress) -> None:
        name = self._labels.label(progress.device)
        words = f"Starting on {name}…"
        if progress.examples:
            words = f"Trying {formatting.count(progress.examples)} examples a step on {name}"
            fits = f"; {formatting.count(progress.largest)} fit" if progress.largest else ""
            words += f"{fits}…"
        self._doing = words
        self._show_state()

    @override
    @Slot()
    def _show_state(self) -> None:
        super()._show_state()
        found = None if self._is_busy else self._found
        largest = None if found is None else found.largest_batch
        fastest = None if found is None else found.fastest_batch
        uneven = () if found is None else found.uneven_shares
        self._use.setEnabled(bool(largest))
        self._use.setText(f"&Use {formatting.count(largest)}" if largest else "&Use")
        self._fastest.setVisible(fastest is not None and fastest != largest)
        self._fastest.setText(f"Use &fastest: {formatting.count(fastest)}")
        self._uneven.setVisible(bool(uneven))
        shares = " + ".join(map(formatting.count, uneven))
        self._uneven.setText(f"Use s&hares of {formatting.count(sum(uneven))}")
        self._uneven.setToolTip(wrapped(f"Sets the shares to {shares}, as much as each holds."))

    def _trial_rows(self, found: BatchFit) -> tuple[_TrialRow, ...]:
        return tuple(
            _TrialRow(self._label_of(device), trial, self._words_of(device, trial))
            for device in found.devices
            for trial in sorted(device.trials, key=lambda trial: trial.examples)
        )

    def _label_of(self, device: DeviceBatch) -> str:
        label = self._labels.label(device.device)
        logical = device.logical_device.removeprefix("/device:")
        return f"{label}, {logical}" if logical else label

    @staticmethod
    def _words_of(device: DeviceBatch, trial: BatchTrial) -> str:
        largest, fastest = trial.examples == device.largest, trial.examples == device.fastest
        words = ["largest"] * largest + ["fastest"] * fastest
        if largest and end_text(device):
            words.append(end_text(device))
        return ", ".join(words) if trial.fits else "does not fit"

    def _held(self, device: DeviceBatch) -> str:
        if device.peak_mib is None or device.estimated_mib is None:
            return ""
        return (
            f"{self._label_of(device)}: a step of {formatting.count(device.largest)} held "
            f"{formatting.mib(device.peak_mib)} beside weights and data, "
            f"{formatting.mib(device.estimated_mib)} were estimated. The search took "
            f"{device.seconds:g} s."
        )

    @Slot()
    def _choose_largest(self) -> None:
        if self._found is not None and self._found.largest_batch:
            self.batchChosen.emit(self._found.largest_batch)
            self.close()

    @Slot()
    def _choose_fastest(self) -> None:
        if self._found is not None and self._found.fastest_batch:
            self.batchChosen.emit(self._found.fastest_batch)
            self.close()

    @Slot()
    def _choose_shares(self) -> None:
        if self._found is not None and self._found.uneven_shares:
            self.sharesChosen.emit(self._found.uneven_shares)
            self.close()


_TRIAL_COLUMNS: tuple[Column[_TrialRow], ...] = (
    Column("Device", "Where it was tried", lambda row: row.device),
    Column(
        "Examples",
        "Of one step on one replica, all its micro-batches together",
        lambda row: formatting.count(row.trial.examples),
        is_number=True,
    ),
    Column(
        "Speed",
        "Examples a second, without what summing gradients over devices costs",
        lambda row: formatting.rate(row.trial.examples_per_second),
        is_number=True,
    ),
    Column(
        "A step holds",
        "The most that a step held beside weights, what the optimizer keeps and data",
        lambda row: formatting.mib(row.trial.peak_mib),
        is_number=True,
    ),
    Column("", "What came of it", lambda row: row.note),
)
_SPEED_COLUMNS: tuple[Column[BatchSpeed], ...] = (
    Column(
        "Global batch",
        "Divided as the session divides its own",
        lambda row: formatting.count(row.global_batch_size),
        is_number=True,
    ),
    Column(
        "Speed",
        "Examples a second of all devices, as far as that follows from each by itself",
        lambda row: formatting.rate(row.examples_per_second),
        is_number=True,
    ),
    Column("", "", lambda _: ""),
)


def _trial_table(rows: Sequence[_TrialRow]) -> QWidget:
    content = TableModel(_TRIAL_COLUMNS, lambda row: (row.device, row.trial.examples))
    return _whole(TableView(content, "batch_trials", "Batches that were tried", _ROW_HEIGHT), rows)


def _speed_table(rows: Sequence[BatchSpeed]) -> QWidget:
    content = TableModel(_SPEED_COLUMNS, lambda row: row.global_batch_size)
    return _whole(TableView(content, "batch_speeds", "Speeds of global batches", _ROW_HEIGHT), rows)


def _whole(table: TableView[_RowT], rows: Sequence[_RowT]) -> QWidget:
    """Shows all rows: what scrolls is the page."""
    table.content.set_rows(rows, keep_order=True)
    header = table.horizontalHeader()
    header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    header.setMinimumSectionSize(96)
    height = header.sizeHint().height() + len(rows) * _ROW_HEIGHT
    table.setFixedHeight(height + 2 * table.frameWidth())
    return table
